"""How long a sweep will take here: work foretold, speed measured on this machine."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from fairdash.datasets import encode, split
from fairdash.methods import CATALOG, n_multiplied_columns
from fairdash.results.rows import rows_used
from fairdash.store import Store, TrialRecord
from fairdash.sweep import SweepSpec, expand, makespan, plan, work

_SEEN = 20_000  # rows that tell what columns cost
_LATEST = 10  # runs that tell how fast this machine is now
_FIRST_SHARE = 0.2  # of a matrix product's speed that training reaches
_SIDE = 512  # of the matrices of that product


@dataclass(frozen=True)
class ExpectedCost:
    """What a sweep asks for.

    Attributes
    ----------
    total, missing : int
        Models, and those of them that are still to train.
    seconds : float
        Until the last one has finished.
    measured : bool
        Whether models trained here before say so; else a matrix product does.
    """

    total: int
    missing: int
    seconds: float
    measured: bool


def expected_cost(store: Store, dataset_id: str, spec: SweepSpec) -> ExpectedCost:
    """Return the models a sweep asks for and about how long they take here.

    The speed is that of the models trained here last, so it is right for this machine
    and for whatever else it is doing; before the first one, that of a matrix product.

    Raises
    ------
    ValueError
        When a method, a parameter or a value is not in the catalog.
    """
    dataset = store.dataset(dataset_id)
    trials = expand(spec, dataset.key)
    missing = [t for t in trials if not store.artifact(t.key).exists()]
    n_rows, n_features = _size(store, dataset_id, spec.train_rows)
    so_far = _speed_so_far(store)
    speed = so_far or _speed_of_products()
    seconds = [
        stack.work(n_rows=n_rows, n_features=n_features) / speed
        for stack in plan(missing)
    ]
    foretold = makespan(seconds, n_workers())
    return ExpectedCost(len(trials), len(missing), foretold, so_far is not None)


def n_workers() -> int:
    """Return how many worker processes an engine has on this machine."""
    return int(os.environ.get("FAIRDASH_WORKERS") or os.cpu_count() or 1)


def _size(store: Store, dataset_id: str, train_rows: int | None) -> tuple[int, int]:
    """Return the training rows and the columns after encoding that cost a product."""
    return rows_used(store, dataset_id, train_rows), _width(store, dataset_id)


@lru_cache(maxsize=64)
def _width(store: Store, dataset_id: str) -> int:
    dataset = store.dataset(dataset_id)
    train = split(dataset, 0).train
    some = train[:: max(1, len(train) // _SEEN)]
    return n_multiplied_columns(encode(dataset, some).rows(some))


def _speed_so_far(store: Store) -> float | None:
    """Return multiply-adds per second of stacks trained here, or None before any.

    The upper quartile: the first stack of a worker waits for its libraries.
    """
    runs = [run.id for run in store.runs() if run.over][:_LATEST]
    speeds = [speed for run_id in runs for speed in _speeds(store, run_id)]
    return float(np.quantile(speeds, 0.75)) if speeds else None


@lru_cache(maxsize=64)
def _speeds(store: Store, run_id: str) -> Sequence[float]:
    """Return the speed of each stack of a run that is over, of networks alone.

    A stack is told by its seconds: every model of it keeps the same share.
    """
    snapshot = store.snapshot(run_id, curves=False)
    run = snapshot.run
    n_rows, n_features = _size(store, run.dataset_id, run.spec.get("train_rows"))
    stacks: dict[tuple[str, int, float], list[TrialRecord]] = {}
    for trial in snapshot.trials:
        if trial.seconds and trial.method in CATALOG:
            alike = trial.method, trial.seed, trial.seconds
            stacks.setdefault(alike, []).append(trial)
    return [
        work(
            trials[0].params,
            n_rows=n_rows,
            n_features=n_features,
            n_models=len(trials),
        )
        / (seconds * len(trials))
        for (_, _, seconds), trials in stacks.items()
        if "n_adversary_steps" in trials[0].params
    ]


@cache
def _speed_of_products() -> float:
    one = np.ones((_SIDE, _SIDE), dtype=np.float32)
    best = np.inf
    for _ in range(5):
        began = time.perf_counter()
        one @ one
        best = min(best, time.perf_counter() - began)
    return _FIRST_SHARE * _SIDE**3 / best
