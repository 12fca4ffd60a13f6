"""Stored models of a data set and their audits, cached by what decides them.

Keys of trials and data sets name contents, so an entry can never be stale.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from fairdash._wording import listing
from fairdash.audits import (
    AuditedModel,
    AuditRows,
    CertificateSummary,
    Certified,
    Counterparts,
    FairMetricSpec,
    Scaling,
    Yardstick,
    audit_counterparts,
    audit_flips,
    audits_table,
    certify,
    encoding_of,
    fair_radius_yardstick,
    flip_values,
    read_model,
    search_counterparts,
    summarise_certificates,
)
from fairdash.methods import CATALOG
from fairdash.metrics import FairMetric
from fairdash.results import Setting
from fairdash.store import TrialRecord
from fairdash.sweep import SweepSpec
from fairdash.ui.individual.form import Question
from fairdash.ui.widgets.state import store

MOST_MODELS = 40
MOST_SEEDS = 3  # that are certified
THRESHOLD = 1.25  # of the loss ratio


@dataclass(frozen=True)
class Audits:
    """Audits of models, and why some are excluded.

    Attributes
    ----------
    table : DataFrame
        Of `fairdash.audits.audits_table`, the chosen model first.
    excluded : dict of str to str
        Reason by label.
    """

    table: pd.DataFrame
    excluded: dict[str, str]


def audits_of(models: Sequence[Setting], question: Question, dataset_id: str) -> Audits:
    """Audit models on the seeds of the chosen one, so on the same people.

    Those that lack one of them are excluded, and those beyond the first 40.

    Raises
    ------
    ValueError
        When the chosen model cannot be audited.
    """
    chosen = question.model
    ordered = [chosen, *(model for model in models if model is not chosen)]
    rows: list[dict[str, object]] = []
    beyond = f"only {MOST_MODELS} are compared"
    excluded = {model.label: beyond for model in ordered[MOST_MODELS:]}
    for one in ordered[:MOST_MODELS]:
        model, lacking = one.on(chosen.seeds), chosen.seeds - one.seeds
        if lacking:
            excluded[one.label] = f"has no seed {listing(map(str, sorted(lacking)))}"
            continue
        known = {
            "label": model.label,
            "method": CATALOG[model.method].label,
            "colour_role": CATALOG[model.method].colour_role,
            "chosen": one is chosen,
            "fairness_weight": model.trials[0].params.get(
                "fairness_weight", float("nan")
            ),
        }
        try:
            found = [_audit(dataset_id, trial, question) for trial in model.trials]
        except ValueError as error:
            if one is chosen:
                raise
            excluded[model.label] = str(error)
            continue
        rows += [known | numbers for numbers in found]
    return Audits(audits_table(rows), excluded)


def certified_seeds(question: Question, dataset_id: str) -> CertificateSummary:
    """Return what is certified of the first seeds of the chosen network."""
    text, radius = question.spec.text(), max(question.radius, 1e-6)
    return summarise_certificates(
        [
            _certified(dataset_id, trial.key, text, radius, question.n_people, trial)
            for trial in question.model.trials[:MOST_SEEDS]
        ]
    )


def model_of(dataset_id: str, trial: TrialRecord) -> AuditedModel:
    """Return a stored model with its rows.

    Raises
    ------
    ValueError
        When it was trained by an earlier version.
    """
    return _model(dataset_id, trial.key, trial)


def metric_of(rows: AuditRows, spec: FairMetricSpec) -> FairMetric:
    """Return the fair metric of a choice, see `FairMetricSpec.build`."""
    return _metric(rows.key, spec.text(), rows)


def people_of(dataset_id: str, trial: TrialRecord, question: Question) -> Counterparts:
    """Return people with their worst counterparts within the radius."""
    text, n = question.spec.text(), question.n_people
    return _people(dataset_id, trial.key, text, question.radius, n, trial)


def yardstick_of(rows: AuditRows, question: Question) -> Yardstick:
    """Return how far apart real people are under the fair metric."""
    text, n = question.spec.text(), question.n_people
    return _yardstick(rows.key, text, question.radius, n, rows)


def _audit(dataset_id: str, trial: TrialRecord, question: Question) -> dict[str, float]:
    if question.spec.columns:
        return _flipped(dataset_id, trial.key, question.spec.columns, trial)
    found = people_of(dataset_id, trial, question)
    return audit_counterparts(model_of(dataset_id, trial), found)


@st.cache_resource(max_entries=256, show_spinner=False)
def _people(
    dataset_id: str,
    key: str,
    spec: str,
    radius: float,
    n_people: int,
    _trial: TrialRecord,
) -> Counterparts:
    model = model_of(dataset_id, _trial)
    places = model.rows.sample(n_people)
    metric = _metric(model.rows.key, spec, model.rows)
    return search_counterparts(model, metric, places=places, radius=radius)


@st.cache_data(max_entries=2000, show_spinner=False)
def _flipped(
    dataset_id: str, key: str, columns: tuple[str, ...], _trial: TrialRecord
) -> dict[str, float]:
    model = model_of(dataset_id, _trial)
    return audit_flips(model, flip_values(model.rows.dataset, columns))


@st.cache_data(max_entries=500, show_spinner=False)
def _certified(
    dataset_id: str,
    key: str,
    spec: str,
    radius: float,
    n_people: int,
    _trial: TrialRecord,
) -> Certified:
    model = model_of(dataset_id, _trial)
    return certify(
        model,
        _metric(model.rows.key, spec, model.rows),
        places=model.rows.sample(n_people),
        radius=radius,
        threshold=THRESHOLD,
    )


@st.cache_data(max_entries=500, show_spinner=False)
def _yardstick(
    key: str, spec: str, radius: float, n_people: int, _rows: AuditRows
) -> Yardstick:
    metric = _metric(key, spec, _rows)
    places = _rows.sample(n_people)
    return fair_radius_yardstick(_rows, metric, places=places, radius=radius)


@st.cache_resource(max_entries=128, show_spinner=False)
def _metric(key: str, spec: str, _rows: AuditRows) -> FairMetric:
    return FairMetricSpec.model_validate_json(spec).build(_rows, store())


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
