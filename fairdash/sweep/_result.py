"""What training a trial leaves behind."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.sweep._monitor import Event
from fairdash.sweep._trials import Trial


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
    network : mapping of str to ndarray
        Parameters of the predictor; `fairdash.methods.scorer_of` makes it again.
    ratio : ndarray of shape (n_train,) or None
        Weights of the rows of `fairdash.datasets.training_rows`.
    ratio_history : dict or None
        ``epoch`` (k,) and ``ratio`` (k, n_train).
    seconds : float
        Its share of the time of its stack.
    """

    trial: Trial
    scores: NDArray[np.float32]
    history: pd.DataFrame
    network: Mapping[str, NDArray[Any]]
    ratio: NDArray[np.float32] | None
    ratio_history: dict[str, NDArray[Any]] | None
    seconds: float


def begun(trial: Trial) -> Event:
    """Return the event that says a trial has begun."""
    return {
        "key": trial.key,
        "epoch": 0,
        "n_epochs": trial.params.get("n_epochs", 1),
        "seconds": 0.0,
        "curves": {},
        "ratio": None,
    }


def finite(trial: Trial, scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return scores to keep; a ValueError when training diverged."""
    broken = ~np.isfinite(scores)
    if broken.any():
        message = f"Training diverged: {broken.sum()} scores are not finite"
        raise ValueError(f"{message} at {trial.params}; lower `learning_rate`.")
    return scores
