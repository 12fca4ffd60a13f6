"""Train a plane once; take any number of trials from it, then or later."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.special import expit

from fairdash.datasets import Dataset, encode, split, training_rows
from fairdash.methods import CATALOG, Plane
from fairdash.sweep._monitor import REPORT_SECONDS, Event, summarise_ratio, thin
from fairdash.sweep._plan import Stack
from fairdash.sweep._result import TrialResult, begun, finite


@dataclass(frozen=True)
class TrainedPlane:
    """A plane and how its training went.

    Attributes
    ----------
    plane : Plane
    history : DataFrame
        One row per epoch: mean losses over the settings drawn.
    seconds : float
        Time it has just taken; 0 of one that was trained before.
    """

    plane: Plane
    history: pd.DataFrame
    seconds: float = 0.0


def train_plane(
    stack: Stack,
    dataset: Dataset,
    *,
    scaling: Literal["standard", "minmax"] = "standard",
    train_rows: int | None = None,
    report: Callable[[Event], None] = lambda event: None,
    stopped: Callable[[], bool] = lambda: False,
) -> TrainedPlane | None:
    """Train the plane of a stack; which trials the stack holds makes no difference.

    Parameters and errors are those of `train_stack`. Returns None when it was stopped.
    """
    for trial in stack.trials:
        report(begun(trial))
    encoded = encode(dataset, split(dataset, stack.seed).train, scaling=scaling)
    train = training_rows(dataset, stack.seed, train_rows)
    # the estimator wants a point of its own: any corner of the range
    corner = {"fairness_weight": 0.0}
    if "min_tau" in stack.params:
        corner["tau"] = float(stack.params["min_tau"])
    estimator = CATALOG[stack.method].estimator(
        {**stack.params, **corner}, random_state=stack.seed
    )
    progress = _Progress([trial.key for trial in stack.trials], report, stopped)
    estimator.set_callbacks(progress)
    began = time.monotonic()
    estimator.fit(
        encoded.rows(train),
        dataset.y[train],
        sensitive_features=dataset.sensitive_features[train],
    )
    if progress.was_stopped:
        return None
    seconds = time.monotonic() - began
    return TrainedPlane(estimator.plane_, estimator.history_, seconds)


def take_points(
    stack: Stack,
    trained: TrainedPlane,
    dataset: Dataset,
    *,
    scaling: Literal["standard", "minmax"] = "standard",
    train_rows: int | None = None,
    report: Callable[[Event], None] = lambda event: None,
) -> list[TrialResult]:
    """Return every trial of a stack as its plane has it.

    Raises
    ------
    ValueError
        When a trial lies outside the range of the plane, or training diverged.
    """
    began = time.monotonic()
    encoded = encode(dataset, split(dataset, stack.seed).train, scaling=scaling)
    train = training_rows(dataset, stack.seed, train_rows)
    groups, X = dataset.sensitive_features[train], encoded.rows(train)
    names = CATALOG[stack.method].stackable()
    settings = [[float(point[name]) for name in names] for point in stack.points]
    networks = [trained.plane.predictor.fold(setting) for setting in settings]
    scores = np.empty((len(networks), dataset.n_rows), dtype=np.float32)
    for part in encoded.parts():
        rows = encoded.rows(part)
        for row, network in zip(scores, networks, strict=True):
            row[part] = expit(network.logits(rows))
    results = []
    for i, (trial, network) in enumerate(zip(stack.trials, networks, strict=True)):
        ratio = trained.plane.weights(
            settings[i], X, dataset.y[train], sensitive_features=groups
        )
        result = TrialResult(
            trial=trial,
            scores=finite(trial, scores[i]),
            history=trained.history,
            network=network.arrays(),
            ratio=ratio,
            ratio_history=None,
            seconds=0.0,
        )
        results.append(result)
        summary = None if ratio is None else summarise_ratio(ratio, groups)
        report({"key": trial.key, **_progress(trained.history), "ratio": summary})
    seconds = (trained.seconds + time.monotonic() - began) / len(results)
    return [replace(result, seconds=seconds) for result in results]


class _Progress:
    """A scikit-learn callback that tells all trials of a stack how far it is."""

    def __init__(
        self,
        keys: Sequence[str],
        report: Callable[[Event], None],
        stopped: Callable[[], bool],
    ) -> None:
        self.keys = keys
        self.report = report
        self.stopped = stopped
        self.was_stopped = False
        self._began = self._reported = time.monotonic()

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing: the clock runs already."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing: all there is to say is said between epochs."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing: only the ends of epochs are of interest."""

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, fitted_estimator: Any = None
    ) -> bool:
        """Report after an epoch, if it is time to; return True to stop."""
        if context.task_name != "epoch":
            return False
        now = time.monotonic()
        if now - self._reported >= REPORT_SECONDS:
            self._reported = now
            stack = fitted_estimator.stack_
            losses = {name: [v[0] for v in vs] for name, vs in stack.history.items()}
            history = pd.DataFrame({"epoch": range(1, stack.epoch + 1), **losses})
            event = _progress(history, stack.n_epochs, now - self._began)
            for key in self.keys:
                self.report({"key": key, **event, "ratio": None})
        self.was_stopped = self.was_stopped or self.stopped()
        return self.was_stopped


def _progress(
    history: pd.DataFrame, n_epochs: int | None = None, seconds: float = 0.0
) -> Event:
    """Return what an event says of a history, that of a whole training by default."""
    names = ["epoch", "loss", "adversary_loss"]
    rows = history[names].to_numpy(float).tolist()
    seen = thin([dict(zip(names, row, strict=True)) for row in rows])
    return {
        "epoch": len(history),
        "n_epochs": n_epochs or len(history),
        "seconds": seconds,
        "curves": {name: [values[name] for values in seen] for name in names},
    }
