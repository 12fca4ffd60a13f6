"""Train one stack: split, encode, fit all its models at once, score all rows."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets import Dataset, Subgroups, encode, split
from fairdash.methods import CATALOG
from fairdash.sweep._monitor import Event, Monitor, validation_metrics
from fairdash.sweep._trials import Stack, Trial


@dataclass(frozen=True)
class TrialResult:
    """A trained model.

    Attributes
    ----------
    trial : Trial
    scores : ndarray of shape (n_rows,)
        Probability of the positive outcome of all rows of the data set, float32.
    history : DataFrame
        One row per epoch: losses, and the validation metrics where they were looked at.
    network : dict of str to ndarray
        Parameters of the predictor; empty where it is a mixture of many.
    ratio : ndarray of shape (n_train,) or None
        Weights of the training rows of `fairdash.datasets.split`.
    ratio_history : dict or None
        ``epoch`` (k,) and ``ratio`` (k, n_train).
    seconds : float
        Its share of the time of its stack.
    """

    trial: Trial
    scores: NDArray[np.float32]
    history: pd.DataFrame
    network: dict[str, NDArray[np.floating]]
    ratio: NDArray[np.float32] | None
    ratio_history: dict[str, NDArray[Any]] | None
    seconds: float


def train_stack(
    stack: Stack,
    dataset: Dataset,
    *,
    scaling: Literal["standard", "minmax"] = "standard",
    subgroups: Subgroups,
    report: Callable[[Event], None] = lambda event: None,
    stopped: Callable[[], bool] = lambda: False,
) -> list[TrialResult] | None:
    """Train the models of a stack on the training rows of its seed.

    Parameters
    ----------
    stack : Stack
    dataset : Dataset
    scaling : {"standard", "minmax"}
        Of numeric features.
    subgroups : Subgroups
        Of the local metrics in the curves; they have no part in training.
    report : callable, optional
        Receives progress events: plain dicts, ready for JSON.
    stopped : callable, optional
        Asked after every epoch; True ends training.

    Returns
    -------
    list of TrialResult, or None
        In the order of the trials; None when it was stopped.

    Raises
    ------
    ValueError
        When a parameter is out of range or training diverged.
    """
    for trial in stack.trials:
        report(_begun(trial))
    train, validation, _ = split(dataset, stack.seed)
    encoded = encode(dataset, train, scaling=scaling)
    groups = dataset.sensitive_features
    monitor = Monitor(
        [trial.key for trial in stack.trials],
        X=encoded.X[validation],
        validation=validation_metrics(
            dataset.y[validation],
            groups=groups[validation],
            subgroups=subgroups.label(dataset.frame).iloc[validation],
            min_size=subgroups.min_size,
        ),
        groups=groups[train],
        report=report,
        stopped=stopped,
    )
    method = CATALOG[stack.method]
    estimator = method.estimator(stack.params, random_state=stack.seed)
    estimator.set_callbacks(monitor)
    if method.needs_names:
        estimator.set_params(feature_names=encoded.feature_names)
    began = time.monotonic()
    models = estimator.fit_many(
        stack.points,
        encoded.X[train],
        dataset.y[train],
        sensitive_features=groups[train],
    )
    if monitor.was_stopped:
        return None
    seconds = (time.monotonic() - began) / len(models)
    known = {"sensitive_features": groups} if method.needs_groups else {}
    return [
        TrialResult(
            trial=trial,
            scores=_scores(trial, model.predict_proba(encoded.X, **known)[:, 1]),
            history=model.history_.merge(monitor.table(i), on="epoch", how="left"),
            network={} if model.network_ is None else model.network_.arrays(),
            ratio=model.ratio_,
            ratio_history=model.ratio_history_,
            seconds=seconds,
        )
        for i, (trial, model) in enumerate(zip(stack.trials, models, strict=True))
    ]


def _begun(trial: Trial) -> Event:
    return {
        "key": trial.key,
        "epoch": 0,
        "n_epochs": trial.params.get("n_epochs", 1),
        "seconds": 0.0,
        "curves": {},
        "ratio": None,
    }


def _scores(trial: Trial, scores: NDArray[np.float64]) -> NDArray[np.float32]:
    broken = ~np.isfinite(scores)
    if broken.any():
        message = f"Training diverged: {broken.sum()} scores are not finite"
        raise ValueError(f"{message} at {trial.params}; lower `learning_rate`.")
    return scores.astype(np.float32)
