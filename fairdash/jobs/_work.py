"""The work on one stack, the same in every process: train, keep, measure."""

import traceback
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fairdash.datasets import Dataset
from fairdash.methods import Plane
from fairdash.store import RunRecord, Store
from fairdash.sweep import (
    Stack,
    SweepSpec,
    TrainedPlane,
    TrialResult,
    plan,
    score,
    take_points,
    train_plane,
    train_stack,
)

ERROR_LENGTH = 8_000  # characters of a traceback that are kept


class Link(Protocol):
    """A stack's line to whoever asked for it."""

    def report(self, event: dict[str, Any]) -> None:
        """Send a progress event."""

    def stopped(self) -> bool:
        """Tell whether the run is to stop."""


@dataclass(frozen=True)
class Outcome:
    """What became of a trial: its metrics, or an error."""

    key: str
    row: dict[str, Any] | None = None
    seconds: float | None = None
    error: str | None = None


def work(
    store: Store, run: RunRecord, stack: Stack, link: Link
) -> list[Outcome] | None:
    """Train what is not on disk yet, keep it there, and measure all for the run.

    It may be repeated: what is on disk is not trained again. A stack that fails is
    tried model by model, so that a failing setting does not stop the others.

    Returns
    -------
    list of Outcome, or None
        One per trial; None when it was stopped.
    """
    spec = SweepSpec.model_validate(run.spec)
    dataset = store.dataset(run.dataset_id)
    failed = []
    missing = [t for t in stack.trials if not store.artifact(t.key).exists()]
    waiting = plan(missing, max_models=len(missing))
    while waiting:
        part = waiting.pop(0)
        try:
            results = _train(store, part, dataset, spec, link)
        except Exception as error:  # whatever a method raises is what became of it
            if len(part.trials) > 1 and not _plane_failed(store, part, dataset, spec):
                waiting = part.split() + waiting
            else:
                what = describe(error)
                failed += [Outcome(trial.key, error=what) for trial in part.trials]
            continue
        if results is None:
            return None
        for result in results:
            _keep(store, result, spec.train_rows, _plane_key(part, dataset, spec))
    lost = {outcome.key for outcome in failed}
    keys = [trial.key for trial in stack.trials if trial.key not in lost]
    return failed + _measure(store, dataset, stack.seed, keys, spec)


def describe(error: BaseException) -> str:
    """Return the end of an error's traceback, which says what went wrong."""
    return "".join(traceback.format_exception(error))[-ERROR_LENGTH:]


def _train(
    store: Store, stack: Stack, dataset: Dataset, spec: SweepSpec, link: Link
) -> list[TrialResult] | None:
    """Train a stack, or take its trials from a plane that is on disk by then."""
    how: dict[str, Any] = {
        "scaling": spec.scaling,
        "train_rows": spec.train_rows,
        "report": link.report,
    }
    key = _plane_key(stack, dataset, spec)
    if key is None:
        return train_stack(
            stack, dataset, subgroups=spec.subgroups, stopped=link.stopped, **how
        )
    kept = store.artifact(key)
    if kept.exists():
        plane = Plane.from_arrays(kept.network())
        trained = TrainedPlane(plane, kept.history())
        return take_points(stack, trained, dataset, **how)
    fresh = train_plane(stack, dataset, stopped=link.stopped, **how)
    if fresh is None:
        return None
    kept.write(
        row={
            "key": key,
            "method": stack.method,
            "params": stack.params,
            "seed": stack.seed,
            "data_key": dataset.key,
            "seconds": fresh.seconds,
        },
        history=fresh.history,
        network=fresh.plane.arrays(),
    )
    return take_points(stack, fresh, dataset, **how)


def _plane_key(stack: Stack, dataset: Dataset, spec: SweepSpec) -> str | None:
    if not stack.is_plane:
        return None
    return stack.plane_key(
        data=dataset.key, scaling=spec.scaling, train_rows=spec.train_rows
    )


def _plane_failed(
    store: Store, stack: Stack, dataset: Dataset, spec: SweepSpec
) -> bool:
    """Tell whether a stack has no plane: then its trials fail alike, one by one too."""
    key = _plane_key(stack, dataset, spec)
    return key is not None and not store.artifact(key).exists()


def _keep(
    store: Store, result: TrialResult, train_rows: int | None, plane: str | None
) -> None:
    trial = result.trial
    store.artifact(trial.key).write(
        row={
            "key": trial.key,
            "method": trial.method,
            "params": trial.params,
            "seed": trial.seed,
            "data_key": trial.data_key,
            "seconds": result.seconds,
            **({"train_rows": train_rows} if train_rows else {}),
            **({"plane": plane} if plane else {}),
        },
        scores=result.scores,
        history=result.history,
        network=result.network,
        ratio=result.ratio,
        ratio_history=result.ratio_history,
    )


def _measure(
    store: Store, dataset: Dataset, seed: int, keys: list[str], spec: SweepSpec
) -> list[Outcome]:
    if not keys:
        return []
    artifacts = [store.artifact(key) for key in keys]
    scores = np.stack([artifact.scores() for artifact in artifacts])
    metrics = score(dataset, seed, scores, spec.subgroups)
    rows: list[dict[Any, Any]] = metrics.to_dict("records")
    return [
        Outcome(key, row=row, seconds=artifact.row()["seconds"])
        for key, row, artifact in zip(keys, rows, artifacts, strict=True)
    ]
