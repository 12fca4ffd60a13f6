"""What Individual fairness shows: a stored model with its rows, audited under a metric.

Everything is computed from the stored network on test rows of its split. Cached by the
keys of trial and data set and by the choice of what does not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairdash.datasets import Dataset, Encoder, encode, split, training_rows
from fairdash.methods import CATALOG, Network
from fairdash.metrics import (
    DIFCertificate,
    FairMetric,
    FreeRange,
    LossRatio,
    WorstCase,
    ctf_score,
    dif_certificate,
    evaluate,
    flip_columns,
    loss_ratio,
    prediction_consistency,
    wilson_interval,
    worst_case,
)
from fairdash.store import TrialRecord
from fairdash.sweep import trial_key
from fairdash.ui._results import Setting
from fairdash.ui._state import store

AUDITED_ROWS = 600
_FEW_VALUES = 12
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False)
class Audited:
    """A stored network with the rows it is audited on.

    Attributes
    ----------
    key : str
        Of the trial.
    network : Network
    encoder : Encoder
    dataset : Dataset
    train, X, y : ndarray
        Encoded training rows; encoded test rows and their outcome, at most 600.
    where : ndarray
        Which rows of the data set ``X`` are.
    n_test : int
        Test rows in all.
    """

    key: str
    network: Network
    encoder: Encoder
    dataset: Dataset
    train: NDArray[np.float32]
    train_groups: NDArray[np.object_]
    X: NDArray[np.float32]
    y: NDArray[np.int8]
    where: NDArray[np.int64]
    n_test: int

    @property
    def frame(self) -> pd.DataFrame:
        """The audited rows as they are in the table."""
        features = list(self.dataset.roles.features)
        return self.dataset.frame.iloc[self.where][features]

    def probability(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return P(1) of rows of a table."""
        return _probability(self.network, self.encoder.transform(frame))


@dataclass(frozen=True, eq=False)
class Audit:
    """What was found of one model.

    Attributes
    ----------
    consistency : float
        Share of people whose prediction is the same in every variant; with its 95 %
        Wilson interval ``low`` and ``high``.
    ctf : float
        Mean standard deviation of P(1) over the variants.
    balanced_accuracy : float
        On the same rows.
    n : int
        People audited.
    """

    consistency: float
    low: float
    high: float
    ctf: float
    balanced_accuracy: float
    n: int


def has_network(model: Setting) -> bool:
    """Tell whether the models of a setting are stored as a network of features."""
    method = CATALOG[model.method]
    return not method.needs_groups and "weight_0" in _arrays(model.trials[0].key)


def scaling_of(trial: TrialRecord, dataset: Dataset) -> str:
    """Return how the features of a trial were scaled: its key knows."""
    for scaling in ("standard", "minmax"):
        question: dict[str, Any] = {
            "method": trial.method,
            "params": trial.params,
            "seed": trial.seed,
            "data": dataset.key,
            "scaling": scaling,
            "train_rows": store().artifact(trial.key).train_rows(),
        }
        if trial_key(**question) == trial.key:
            return scaling
    raise ValueError(
        "This model was trained by an earlier version, so its features cannot be "
        "encoded as they were; train it again."
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def audited(dataset_id: str, key: str, _trial: TrialRecord) -> Audited:
    """Return the network of a trial with its training and test rows."""
    dataset = store().dataset(dataset_id)
    rows = split(dataset, _trial.seed)
    train = training_rows(dataset, _trial.seed, store().artifact(key).train_rows())
    scaling = scaling_of(_trial, dataset)
    encoded = encode(dataset, rows.train, scaling=scaling)  # type: ignore[arg-type]
    rng = np.random.default_rng(_trial.seed)
    where = rows.test
    if len(where) > AUDITED_ROWS:
        where = np.sort(rng.choice(where, AUDITED_ROWS, replace=False))
    return Audited(
        key=key,
        network=Network.from_arrays(_arrays(key)),
        encoder=encoded.encoder,
        dataset=dataset,
        train=encoded.X[train],
        train_groups=dataset.sensitive_features[train],
        X=encoded.X[where],
        y=dataset.y[where],
        where=where,
        n_test=len(rows.test),
    )


def audit(model: Audited, metric: FairMetric, columns: Sequence[str]) -> Audit:
    """Return consistency, CTF and balanced accuracy of a model.

    With columns, the variants of a person are all combinations of their values;
    without, the person and the worst counterpart along what does not count.
    """
    if columns:
        values = {name: _values(model.dataset, name) for name in columns}
        features = model.dataset.roles.features
        variants = flip_columns(model.frame, values, features=features)
        p = np.stack([model.probability(v) for v in [model.frame, *variants]])
    else:
        case = worst(model, metric, 0.0)
        p = np.stack([_probability(model.network, X) for X in (model.X, case.X)])
    decided = p > 0.5
    n = p.shape[1]
    share = prediction_consistency(decided)
    low, high = wilson_interval(round(share * n), n)
    rows = evaluate(
        model.y,
        p[0],
        sensitive_features=model.dataset.sensitive_features[model.where],
    )
    accuracy = float(rows["balanced_accuracy"].iloc[0])
    return Audit(share, float(low), float(high), ctf_score(p), accuracy, n)


def worst(model: Audited, metric: FairMetric, radius: float) -> WorstCase:
    """Return the worst counterparts of the audited rows."""
    free = FreeRange.of(model.train, metric)
    return worst_case(model.network, model.X, metric, radius=radius, free=free)


def certificates(
    model: Audited, metric: FairMetric, radius: float, threshold: float
) -> tuple[DIFCertificate, LossRatio]:
    """Return the DIF certificate and the loss ratio."""
    free = FreeRange.of(model.train, metric)
    certificate = dif_certificate(
        model.network, model.X, metric, radius=radius, free=free
    )
    ratio = loss_ratio(
        model.network,
        model.X,
        model.y,
        metric,
        radius=radius,
        threshold=threshold,
        free=free,
    )
    return certificate, ratio


def _values(dataset: Dataset, name: str) -> list[object]:
    """Return the values a column is set to: all of few, else some quantiles."""
    column = dataset.frame[name].dropna()
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > _FEW_VALUES:
        at = column.quantile(list(_QUANTILES), interpolation="nearest")
        return list(dict.fromkeys(at.tolist()))
    return sorted(column.unique().tolist(), key=str)


def _probability(network: Network, X: NDArray[np.floating]) -> NDArray[np.float64]:
    p: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(network.logits(X), -500, 500)))
    return p


@st.cache_resource(max_entries=256, show_spinner=False)
def _arrays(key: str) -> dict[str, NDArray[np.float32]]:
    return store().artifact(key).network()
