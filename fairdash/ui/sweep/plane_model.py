"""A plane of a run at any setting, by NumPy alone, and the same setting exactly."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from scipy.special import expit

from fairdash.datasets import encode, split, training_rows
from fairdash.methods import CATALOG, Effort, Plane
from fairdash.metrics import local_di, mean_local_di
from fairdash.store import RunRecord, TrialRecord
from fairdash.sweep import MethodGrid, SweepSpec, expand, score
from fairdash.ui.results.results import model_label, rows_of
from fairdash.ui.widgets.state import store


@dataclass(frozen=True)
class Shown:
    """One model, averaged over seeds: metrics, and local DI on test rows."""

    label: str
    colour_role: str
    metrics: "pd.Series[float]"
    local: pd.DataFrame


def at_point(
    run: RunRecord, trials: tuple[TrialRecord, ...], point: Mapping[str, float]
) -> Shown:
    """Return what the planes of all seeds say of a setting, by NumPy alone."""
    method = CATALOG[trials[0].method]
    scores = {}
    for trial in trials:
        X, dataset = _features(run.dataset_id, trial.seed, spec_of(run).scaling)
        parts = split(dataset, trial.seed)
        rows = np.concatenate([parts.validation, parts.test])
        network = _plane(trial).predictor.fold(list(point.values()))
        scores[trial.seed] = np.zeros(dataset.n_rows, dtype=np.float32)
        scores[trial.seed][rows] = expit(network.logits(X[rows]))
    label = model_label(trials[0].method, dict(point))
    return _averaged(run, scores, label, method.colour_role)


def weights_at(
    run: RunRecord, trial: TrialRecord, point: Mapping[str, float]
) -> tuple[NDArray[np.float32] | None, NDArray[np.object_]]:
    """Return r of the training rows at a setting, and the group of each."""
    X, dataset = _features(run.dataset_id, trial.seed, spec_of(run).scaling)
    train = training_rows(dataset, trial.seed, spec_of(run).train_rows)
    groups = dataset.sensitive_features[train]
    ratio = _plane(trial).weights(
        list(point.values()), X[train], dataset.y[train], sensitive_features=groups
    )
    return ratio, groups


def exact_model(run: RunRecord, spec: SweepSpec) -> Shown | None:
    """Return the setting trained exactly, None unless all its seeds are on disk."""
    trials = expand(spec, store().dataset(run.dataset_id).key)
    if not all(store().artifact(trial.key).exists() for trial in trials):
        return None
    scores = {trial.seed: store().artifact(trial.key).scores() for trial in trials}
    label = model_label(trials[0].method, trials[0].params)
    return _averaged(run, scores, label, CATALOG[trials[0].method].colour_role)


def _averaged(
    run: RunRecord, scores: Mapping[int, NDArray[np.float32]], label: str, role: str
) -> Shown:
    subgroups = spec_of(run).subgroups
    dataset = store().dataset(run.dataset_id)
    metrics, tables = [], []
    for seed, mine in scores.items():
        metrics.append(score(dataset, seed, mine[None], subgroups).iloc[0])
        rows = rows_of(run.dataset_id, seed, subgroups.model_dump_json())
        predicted = (mine[rows.where] > 0.5).astype(np.int64)
        tables.append(local_di(predicted, **rows.groups))
    means = pd.DataFrame(metrics).mean(numeric_only=True)
    return Shown(label, role, means, mean_local_di(tables))


def exact_spec(
    run: RunRecord,
    trials: tuple[TrialRecord, ...],
    point: Mapping[str, float],
    effort: Effort,
) -> SweepSpec:
    """Return the same setting, splits and constraint, trained on their own."""
    shared = ("constraints", "normalisation")
    known = {n: v for n, v in trials[0].params.items() if n in shared}
    method = CATALOG[trials[0].method].approximates
    grid = MethodGrid(method=method, params={**known, **point}, effort=effort)
    change = {
        "methods": (grid,),
        "seeds": tuple(trial.seed for trial in trials),
        "equal_models": False,
    }
    return spec_of(run).model_copy(update=change)


def spec_of(run: RunRecord) -> SweepSpec:
    """Return the specification of a run."""
    return SweepSpec.model_validate(run.spec)


def _plane(trial: TrialRecord) -> Plane:
    key = store().artifact(trial.key).plane()
    assert key is not None, "a trial of a plane names it"
    return _stored_plane(key)


@st.cache_resource(max_entries=32, show_spinner=False)
def _stored_plane(key: str) -> Plane:
    return Plane.from_arrays(store().artifact(key).network())


@st.cache_resource(max_entries=8, show_spinner=False)
def _features(dataset_id: str, seed: int, scaling: Any) -> tuple[Any, Any]:
    """Return the encoded rows and the data set."""
    dataset = store().dataset(dataset_id)
    encoded = encode(dataset, split(dataset, seed).train, scaling=scaling)
    return encoded.X, dataset
