"""Stored models of a data set and their audits, cached by what decides them.

Keys of trials and data sets name contents, so an entry can never be stale.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from fairdash.audits import (
    AuditedModel,
    AuditRows,
    Certified,
    Counterparts,
    Scaling,
    audit_flips,
    audit_search,
    certify,
    encoding_of,
    flip_values,
    read_model,
    search_counterparts,
)
from fairdash.methods import CATALOG
from fairdash.metrics import summarise_seeds
from fairdash.store import TrialRecord
from fairdash.sweep import SweepSpec
from fairdash.ui.individual.alike import Alike, fair_metric
from fairdash.ui.individual.form import Asked
from fairdash.ui.results.results import Setting
from fairdash.ui.widgets.state import store

MOST_MODELS = 40
MOST_SEEDS = 3  # that are certified
THRESHOLD = 1.25  # of the loss ratio


@dataclass(frozen=True)
class Audits:
    """Audits of models, and why some were left out.

    Attributes
    ----------
    table : DataFrame
        A row for each model, the chosen one first: ``label``, ``method``,
        ``colour_role``, ``chosen``, ``fairness_weight`` (NaN without), ``n_seeds`` and
        the numbers of
        `fairdash.audits.audit_flips` as means over seeds, with their spread ``_sd``.
    left_out : dict of str to str
        Reason by label.
    """

    table: pd.DataFrame
    left_out: dict[str, str]


def audits_of(models: Sequence[Setting], asked: Asked, dataset_id: str) -> Audits:
    """Audit models on all their seeds; those beyond the first 40 are left out.

    Raises
    ------
    ValueError
        When the chosen model cannot be audited.
    """
    chosen, alike, n_people = asked.model, asked.alike, asked.n_people
    ordered = [chosen, *(model for model in models if model is not chosen)]
    rows: list[dict[str, object]] = []
    beyond = f"only {MOST_MODELS} are compared"
    left_out = {model.label: beyond for model in ordered[MOST_MODELS:]}
    for model in ordered[:MOST_MODELS]:
        try:
            found = [
                _audit(dataset_id, t.key, alike, asked.radius, n_people, t)
                for t in model.trials
            ]
        except ValueError as error:
            if model is chosen:
                raise
            left_out[model.label] = str(error)
            continue
        weight = model.trials[0].params.get("fairness_weight", np.nan)
        known = {
            "label": model.label,
            "method": CATALOG[model.method].label,
            "colour_role": CATALOG[model.method].colour_role,
            "chosen": model is chosen,
            "fairness_weight": float(weight),
        }
        rows += [known | numbers for numbers in found]
    by = ["label", "method", "colour_role", "chosen", "fairness_weight"]
    table = pd.DataFrame(rows)
    return Audits(summarise_seeds(table, by), left_out)


def certified_seeds(
    model: Setting, dataset_id: str, alike: Alike, radius: float, n_people: int
) -> list[Certified]:
    """Return the certificates of the first seeds of a network."""
    return [
        _certified(dataset_id, trial.key, alike, max(radius, 1e-6), n_people, trial)
        for trial in model.trials[:MOST_SEEDS]
    ]


def model_of(dataset_id: str, trial: TrialRecord) -> AuditedModel:
    """Return a stored model with its rows.

    Raises
    ------
    ValueError
        When it was trained by an earlier version.
    """
    return _model(dataset_id, trial.key, trial)


def people_of(
    dataset_id: str, trial: TrialRecord, alike: Alike, radius: float, n_people: int
) -> Counterparts:
    """Return people with their worst counterparts within the radius."""
    return _people(dataset_id, trial.key, alike, radius, n_people, trial)


@st.cache_resource(max_entries=64, show_spinner=False)
def _people(
    dataset_id: str,
    key: str,
    alike: Alike,
    radius: float,
    n_people: int,
    _trial: TrialRecord,
) -> Counterparts:
    model = model_of(dataset_id, _trial)
    places = model.rows.sample(n_people)
    metric = fair_metric(model.rows, alike)
    return search_counterparts(model, metric, places=places, radius=radius)


@st.cache_data(max_entries=2000, show_spinner=False)
def _audit(
    dataset_id: str,
    key: str,
    alike: Alike,
    radius: float,
    n_people: int,
    _trial: TrialRecord,
) -> dict[str, float]:
    model = model_of(dataset_id, _trial)
    if alike.columns:
        return audit_flips(model, flip_values(model.rows.dataset, alike.columns))
    metric = fair_metric(model.rows, alike)
    return audit_search(model, metric, n_people=n_people, radius=radius)


@st.cache_data(max_entries=500, show_spinner=False)
def _certified(
    dataset_id: str,
    key: str,
    alike: Alike,
    radius: float,
    n_people: int,
    _trial: TrialRecord,
) -> Certified:
    model = model_of(dataset_id, _trial)
    return certify(
        model,
        fair_metric(model.rows, alike),
        places=model.rows.sample(n_people),
        radius=radius,
        threshold=THRESHOLD,
    )


@st.cache_resource(max_entries=256, show_spinner=False)
def _model(dataset_id: str, key: str, _trial: TrialRecord) -> AuditedModel:
    spec = SweepSpec.of_run(store().run_of(key).spec)
    scaling, drawn = encoding_of(store().dataset(dataset_id), _trial, spec)
    return read_model(store(), _trial, _rows(dataset_id, _trial.seed, scaling, drawn))


@st.cache_resource(max_entries=32, show_spinner=False)
def _rows(
    dataset_id: str, seed: int, scaling: Scaling, train_rows: int | None
) -> AuditRows:
    dataset = store().dataset(dataset_id)
    return AuditRows.of(dataset, seed, scaling=scaling, train_rows=train_rows)
