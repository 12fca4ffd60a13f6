"""How far a run in training is, and how long it still takes.

Each stack of a run has an expected time, by the pace of the last runs. The bar is the
share of this time that is behind, so it only grows. What is left is corrected by how
long the run itself has taken for what is behind.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from fairdash import sweep
from fairdash.audits.crowding import crowd
from fairdash.audits.pace import Pace, is_trained, makespan, n_workers
from fairdash.audits.trials.sizes import rows_used
from fairdash.store import Snapshot, Store, TrialRecord

_RESUMING = 3.0  # seconds in which an engine says nothing of its speed yet
_PRIOR = 0.25  # share of a run after which its own speed counts as the expected one
_LATE = 0.75  # most of a stack that its clock says is behind: it may be late


@dataclass(frozen=True)
class ExpectedStack:
    """A stack of a run: keys of its trials, and its expected time in seconds."""

    keys: tuple[str, ...]
    seconds: float


@lru_cache(maxsize=64)
def expected_stacks(store: Store, run_id: str) -> tuple[ExpectedStack, ...]:
    """Return the stacks of a run with their expected times, the same at each call."""
    snapshot = store.snapshot(run_id, curves=False)
    run = snapshot.run
    pace = Pace.of(store)
    n_rows = rows_used(store, run.dataset_id, run.spec.get("train_rows"))
    trials = [
        sweep.Trial(trial.key, trial.method, trial.params, trial.seed, data_key="")
        for trial in snapshot.trials
    ]
    stacks = []
    for stack in sweep.planning.plan(trials):
        work = stack.work(n_rows=n_rows)
        n_models = len(stack.trials)
        span = pace.seconds(stack.method, work, n_models, run.dataset_id)
        keys = tuple(trial.key for trial in stack.trials)
        stacks.append(ExpectedStack(keys, span.seconds))
    return tuple(stacks)


def seconds_left(
    store: Store, snapshot: Snapshot, resumed: float = 0.0
) -> float | None:
    """Return how long the run still takes; None while it has not begun.

    What is left of each stack is dealt out to the workers. The expected time is
    corrected by how long the run took for what is behind, the more so the more that is.
    Models that were on disk when it began, or when an engine ``resumed`` it, say
    nothing of its speed.
    """
    started = snapshot.run.started
    if started is None or 0 < time.time() - resumed < _RESUMING:
        return None
    started = max(started, resumed)
    behind = []
    ahead = []
    for seconds, share in _trained_since(store, snapshot, started):
        behind.append(seconds * share)
        ahead.append(seconds * (1 - share))
    workers = n_workers()
    done = makespan(behind, workers)
    remaining = makespan(ahead, workers)
    prior = _PRIOR * (done + remaining)
    if not prior:
        return None
    # The prior keeps the first stacks of a run from deciding how slow it is.
    slower = (time.time() - started + prior * crowd(workers)) / (done + prior)
    return remaining * slower


def share_done(store: Store, snapshot: Snapshot) -> float:
    """Return the share of the work of a run that is behind, which only grows."""
    started = snapshot.run.started
    if started is None:
        return 0.0
    stacks = list(_trained_since(store, snapshot, started))
    total = sum(seconds for seconds, _ in stacks)
    done = sum(seconds * share for seconds, share in stacks)
    return done / total if total else 1.0


def _trained_since(
    store: Store, snapshot: Snapshot, started: float
) -> Iterator[tuple[float, float]]:
    """Yield the expected time of each stack, and the share of it that is behind.

    Of models that lay on disk before nothing is trained: they count neither way.
    """
    trials = {trial.key: trial for trial in snapshot.trials}
    for stack in expected_stacks(store, snapshot.run.id):
        members = [trials[key] for key in stack.keys if is_trained(store, key, started)]
        if members:
            shares = [_share(trial, stack.seconds) for trial in members]
            seconds = stack.seconds * len(members) / len(stack.keys)
            yield seconds, sum(shares) / len(shares)


def _share(trial: TrialRecord, seconds: float) -> float:
    """Return the share of a trial that is behind, by the clock where no epochs tell."""
    if trial.status != "running" or trial.progress is None or trial.progress.epoch:
        return trial.share
    began = trial.progress.event.get("began")
    if began is None or "n_epochs" in trial.params:
        return trial.share
    taken = max(0.0, time.time() - began)
    return min(taken / max(taken, seconds), _LATE)
