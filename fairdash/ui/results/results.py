"""From the models of a run to finished tables: means over seeds, paired changes.

Everything is read from stored scores under the subgroups asked for, so a change of
subgroups never retrains. Cached by the keys of trial and data set and the subgroups as
JSON: all of them name contents, so an entry can never be stale.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairdash.datasets import Subgroups, split, training_rows
from fairdash.methods import CATALOG
from fairdash.metrics import compare, evaluate, noise_floor, summarise_seeds
from fairdash.store import TrialRecord
from fairdash.ui.widgets.state import store

BASELINE = "unconstrained"


@dataclass(frozen=True)
class Setting:
    """One method at one setting, with the finished trials of all its seeds.

    Attributes
    ----------
    method : str
        Key in the catalog.
    label : str
        "ROAD λ 2.1 τ 0.3".
    trials : tuple of TrialRecord
        In order of seed.
    """

    method: str
    label: str
    trials: tuple[TrialRecord, ...]


def model_label(method: str, params: dict[str, Any]) -> str:
    """Return a method with the parameters that have a letter: "ROAD λ 2.1 τ 0.3"."""
    known = CATALOG[method]
    letters = [
        f"{param.letter} {params[param.name]:.4g}"
        for param in known.params
        if param.letter and param.name in params
    ]
    return " ".join([known.label, *letters])


def single_values(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that have one value; an axis of a grid has several."""
    return {n: v for n, v in params.items() if not isinstance(v, tuple | list)}


def settings(trials: Sequence[TrialRecord]) -> list[Setting]:
    """Put the finished trials of the same method and parameters together.

    Those of methods that earlier versions had are left where they are.
    """
    alike: dict[str, list[TrialRecord]] = {}
    for trial in trials:
        if trial.status == "finished" and trial.method in CATALOG:
            same = json.dumps([trial.method, trial.params], sort_keys=True)
            alike.setdefault(same, []).append(trial)
    return [
        Setting(
            members[0].method,
            model_label(members[0].method, members[0].params),
            tuple(sorted(members, key=lambda trial: trial.seed)),
        )
        for members in alike.values()
    ]


def share_seed(one: Setting, other: Setting) -> bool:
    """Tell whether two models were trained and tested on the same split."""
    return not {t.seed for t in one.trials}.isdisjoint(t.seed for t in other.trials)


def metrics_by_setting(
    chosen: Sequence[Setting], dataset_id: str, subgroups: Subgroups
) -> pd.DataFrame:
    """Return one row per setting: its metrics on test rows, averaged over seeds.

    Columns: label, method, colour_role, n_seeds and those of
    `fairdash.metrics.summarise_seeds` over `fairdash.metrics.evaluate`.
    """
    text = subgroups.model_dump_json()
    rows = [
        {
            "label": setting.label,
            "method": setting.method,
            "colour_role": CATALOG[setting.method].colour_role,
            "seed": trial.seed,
            **_evaluated(trial.key, dataset_id, trial.seed, text),
        }
        for setting in chosen
        for trial in setting.trials
    ]
    return summarise_seeds(pd.DataFrame(rows), ["label", "method", "colour_role"])


def paired_changes(
    setting: Setting, reference: Setting, dataset_id: str, subgroups: Subgroups
) -> pd.DataFrame:
    """Return how a setting differs from a reference on the same test rows.

    The table of `fairdash.metrics.compare`, averaged over the seeds both have.
    """
    text = subgroups.model_dump_json()
    others = {trial.seed: trial.key for trial in reference.trials}
    tables = [
        _compared(trial.key, others[trial.seed], dataset_id, trial.seed, text)
        for trial in setting.trials
        if trial.seed in others
    ]
    return pd.concat(tables).groupby("metric", sort=False).mean().reset_index()


def chance_worst(setting: Setting, dataset_id: str, subgroups: Subgroups) -> float:
    """Return what Worst-1-DI stays below, in 95 % of cases, by chance alone.

    The 95 % point of the noise floor on test rows, averaged over seeds.
    """
    text = subgroups.model_dump_json()
    floors = [
        _floor(trial.key, dataset_id, trial.seed, text) for trial in setting.trials
    ]
    return float(np.mean(floors))


@st.cache_data(max_entries=5000, show_spinner=False)
def _evaluated(key: str, dataset_id: str, seed: int, subgroups: str) -> dict[str, Any]:
    rows = rows_of(dataset_id, seed, subgroups)
    table = evaluate(rows.y, rows.scores(key), **rows.groups)
    return dict(table.iloc[0])


@st.cache_data(max_entries=5000, show_spinner=False)
def _compared(
    key: str, reference: str, dataset_id: str, seed: int, subgroups: str
) -> pd.DataFrame:
    rows = rows_of(dataset_id, seed, subgroups)
    predictions, others = rows.predictions(key), rows.predictions(reference)
    return compare(rows.y, predictions, others, **rows.groups)


@st.cache_data(max_entries=5000, show_spinner=False)
def _floor(key: str, dataset_id: str, seed: int, subgroups: str) -> float:
    rows = rows_of(dataset_id, seed, subgroups)
    return noise_floor(rows.predictions(key), **rows.groups).quantile


@dataclass(frozen=True)
class Rows:
    """Some rows of a data set, as the metrics want them.

    Attributes
    ----------
    where : ndarray of int64
        Which rows of the data set.
    y : ndarray of int8
    groups : dict
        The keyword arguments sensitive_features, subgroups and min_size.
    """

    where: NDArray[np.int64]
    y: NDArray[np.int8]
    groups: dict[str, Any]

    def scores(self, key: str) -> NDArray[np.float32]:
        """Return the scores of a trial on these rows."""
        return store().artifact(key).scores()[self.where]

    def predictions(self, key: str) -> NDArray[np.int64]:
        """Return the 0/1 predictions of a trial on these rows."""
        return (self.scores(key) > 0.5).astype(np.int64)


@st.cache_resource(max_entries=32, show_spinner=False)
def rows_of(dataset_id: str, seed: int, subgroups: str) -> Rows:
    """Return the test rows of a seed under subgroups given as JSON."""
    where = split(store().dataset(dataset_id), seed).test
    return _rows(dataset_id, where, subgroups)


def rows_trained_on(dataset_id: str, seed: int, key: str, subgroups: str) -> Rows:
    """Return the rows a trial was trained on, in the order of its weights."""
    return _trained_on(dataset_id, seed, store().artifact(key).train_rows(), subgroups)


@st.cache_resource(max_entries=32, show_spinner=False)
def _trained_on(dataset_id: str, seed: int, n_rows: int | None, subgroups: str) -> Rows:
    where = training_rows(store().dataset(dataset_id), seed, n_rows)
    return _rows(dataset_id, where, subgroups)


def _rows(dataset_id: str, where: NDArray[np.int64], subgroups: str) -> Rows:
    dataset = store().dataset(dataset_id)
    chosen = Subgroups.model_validate_json(subgroups)
    groups = {
        "sensitive_features": dataset.sensitive_features[where],
        "subgroups": chosen.label(dataset.frame).iloc[where],
        "min_size": chosen.min_size,
    }
    return Rows(where, dataset.y[where], groups)
