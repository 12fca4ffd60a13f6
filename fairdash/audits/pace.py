"""How long training takes on this machine: learned from its last runs.

`fairdash.sweep.planning.work` counts the multiply-adds of a stack from its epochs,
rows, models and networks. How many seconds so much work takes differs by method and by
data set, since columns differ in kind and number, so it is learned from the stacks
trained here last. Where nothing was trained yet, a short product of matrices tells the
order of magnitude, and the estimate is a range.
"""

import heapq
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Self

import numpy as np

from fairdash import sweep
from fairdash.audits.crowding import MOST, crowd
from fairdash.audits.trials.sizes import rows_used
from fairdash.methods import CATALOG
from fairdash.store import Store, TrialRecord

N_LATEST = 20  # runs that are learned from
_HALF_LIFE = 12.0  # stacks after which what was measured counts half
_SIMILAR = 1.0  # difference of the logarithms of work within which stacks are alike
_LEAST_WEIGHT = 0.02  # of a stack of the same method, however different its size
_OTHER_DATA = 0.1  # weight of a stack of another data set
_MODEL_SECONDS = 0.05  # to score and store a model, before runs tell
FOLLOWING = 0.4  # seconds beside training, of a run that finds its workers loaded
# a run that just ended counts half beside what is measured now, and fades
_LATELY, _FADES = 0.5, 300.0  # seconds after which it counts half of that
# factors within which an estimate usually holds
_OF_BOTH = 1.3
_OF_METHOD = 1.7
_OF_OTHERS = 2.5
_CALIBRATED = 4.0
# seconds of a unit of `work` beside those of a multiply-add of small matrices
_NETWORK_RATIO = 1.0
_EXACT_RATIO = 0.01
_CALIBRATION = 20  # products of matrices, some milliseconds


@dataclass(frozen=True)
class Span:
    """An expected time in seconds, and the ends between which it usually lies."""

    seconds: float
    low: float
    high: float

    @classmethod
    def within(cls, seconds: float, factor: float) -> Self:
        """Return a time that is right within a factor."""
        return cls(seconds, seconds / factor, seconds * factor)

    def times(self, factor: float, plus: float = 0.0) -> "Span":
        """Return this time ``factor`` times, and some seconds more."""
        low, seconds, high = (
            factor * end + plus for end in (self.low, self.seconds, self.high)
        )
        return Span(seconds, low, high)


@dataclass(frozen=True)
class TrainedStack:
    """A stack that was trained here: its method, its work, what it took, on what data.

    ``data`` is the id of the data set.
    """

    method: str
    work: float
    seconds: float
    data: str = ""

    @property
    def unit(self) -> float:
        """Seconds of a unit of work."""
        return self.seconds / self.work


@dataclass(frozen=True)
class RunTime:
    """The time of a finished run: in all, and the part that its models explain.

    Attributes
    ----------
    seconds : float
        From its start to its end, at ``ended``.
    training : float
        Seconds of a processor that its stacks trained, dealt out to the workers.
    n_models : int
    """

    seconds: float
    ended: float
    training: float
    n_models: int

    @property
    def model_seconds(self) -> float:
        """Seconds a model beside training: to score and store it, or to wait."""
        rest_of_time = self.seconds - FOLLOWING - self.training
        return min(max(0.0, rest_of_time / self.n_models), 1.0)

    def slower(self, model_seconds: float) -> float:
        """Return how many times as long it took as on idle processors."""
        alone = self.training + model_seconds * self.n_models + FOLLOWING
        return min(MOST, max(1.0, self.seconds / alone))


@cache
def calibrated() -> float:
    """Return the seconds of a multiply-add in a product of small matrices here."""
    rng = np.random.default_rng(0)
    rows = rng.random((512, 64))
    weights = rng.random((64, 64))
    spent = []
    for _ in range(_CALIBRATION):
        began = time.thread_time()
        rows @ weights
        spent.append(time.thread_time() - began)
    # the quickest: others are slower where another process has the processor's caches
    return max(min(spent), 1e-6) / (rows.size * weights.shape[1])


@dataclass(frozen=True)
class Pace:
    """The speed of a machine, by its last runs.

    Attributes
    ----------
    stacks : tuple of TrainedStack
        The newest first.
    model_seconds : float
        To score and store one model.
    calibrate : callable
        Returns seconds of a multiply-add; asked where no stack of a kind was trained.
    newest : RunTime or None
        The newest run that trained a model.
    """

    stacks: tuple[TrainedStack, ...] = ()
    model_seconds: float = _MODEL_SECONDS
    calibrate: Callable[[], float] = calibrated
    newest: RunTime | None = None

    @classmethod
    def of(cls, store: Store) -> Self:
        """Return the pace of the machine of a store by its last finished runs."""
        runs = [run for run in store.runs() if run.over][:N_LATEST]
        stacks = [stack for run in runs for stack in trained_stacks(store, run.id)]
        times = [time for run in runs if (time := run_time(store, run.id)) is not None]
        # where other processes slow runs down, the quickest tell what a model takes
        seconds_of_models = [time.model_seconds for time in times] or [_MODEL_SECONDS]
        seconds = float(np.quantile(seconds_of_models, 0.25))
        return cls(tuple(stacks), seconds, newest=next(iter(times), None))

    def slower(self) -> float:
        """Return how many times as long work takes now as on idle processors.

        Between what is measured now and what the newest run met, as a geometric mean:
        the load of a moment changes, and so does that of a while ago.
        """
        present_crowd = crowd(n_workers())
        if self.newest is None:
            return present_crowd
        age = max(0.0, time.time() - self.newest.ended)
        weight = _LATELY * 0.5 ** (age / _FADES)
        lately = self.newest.slower(self.model_seconds)
        return float(present_crowd ** (1 - weight) * lately**weight)

    def seconds(
        self, method: str, work: float, n_models: int = 1, data: str = ""
    ) -> Span:
        """Return how long a stack trains on one idle processor.

        The time of a unit of work is the weighted median of that of the stacks trained
        here: of the same method, of the data set ``data``, of similar size and lately.
        Of a method that was not trained it is that of methods of its kind, with epochs
        or without. What was trained on other data is taken as much longer or shorter
        as methods tell that were trained on both.
        """
        kind = _by_epochs(method)
        same_kind = [stack for stack in self.stacks if _by_epochs(stack.method) == kind]
        same = [stack for stack in same_kind if stack.method == method]
        if same:
            data_known = any(stack.data == data for stack in same)
            unit = _expected_unit(same, work, data, _data_ratios(same_kind, data))
            factor = _OF_BOTH if data_known else _OF_METHOD
        elif same_kind:
            unit = _expected_unit(same_kind, work, data, _data_ratios(same_kind, data))
            factor = _OF_OTHERS
        else:
            ratio = _NETWORK_RATIO if kind else _EXACT_RATIO
            unit = ratio * self.calibrate()
            factor = _CALIBRATED
        return Span.within(unit * work, factor).times(1, self.model_seconds * n_models)


def makespan(seconds: Iterable[float], n_workers: int) -> float:
    """Return how long workers take that each begin the next stack when they are free.

    Examples
    --------
    >>> makespan([3.0, 2.0, 2.0], 2)
    4.0
    """
    workers = [0.0] * n_workers
    for stack_seconds in seconds:
        heapq.heapreplace(workers, workers[0] + stack_seconds)
    return max(workers)


@lru_cache(maxsize=256)
def trained_stacks(store: Store, run_id: str) -> tuple[TrainedStack, ...]:
    """Return the stacks that a run that is over trained here."""
    snapshot = store.snapshot(run_id, curves=False)
    run = snapshot.run
    n_rows = rows_used(store, run.dataset_id, run.spec.get("train_rows"))
    return tuple(
        TrainedStack(
            trials[0].method,
            sweep.planning.work(trials[0].params, n_rows=n_rows, n_models=len(trials)),
            len(trials) * float(trials[0].seconds or 0.0),
            run.dataset_id,
        )
        for trials in _stacks_of(snapshot.trials)
        if trials[0].method in CATALOG
    )


@lru_cache(maxsize=256)
def run_time(store: Store, run_id: str) -> RunTime | None:
    """Return what a run that is over took; None where it trained no model."""
    snapshot = store.snapshot(run_id, curves=False)
    run = snapshot.run
    if run.started is None or run.finished is None:
        return None
    trained = [t for t in snapshot.trials if is_trained(store, t.key, run.started)]
    stacks = list(_stacks_of(trained))
    n_models = sum(map(len, stacks))
    if not n_models:
        return None
    seconds = [len(trials) * float(trials[0].seconds or 0.0) for trials in stacks]
    training = makespan(seconds, n_workers())
    return RunTime(run.finished - run.started, run.finished, training, n_models)


def is_trained(store: Store, key: str, started: float) -> bool:
    """Tell whether a model was, or is to be, trained by a run: none lay on disk."""
    written = store.artifact(key).written()
    return written is None or written >= started


def n_workers() -> int:
    """Return how many worker processes an engine has on this machine."""
    return int(os.environ.get("FAIRDASH_WORKERS") or os.cpu_count() or 1)


def _stacks_of(trials: Sequence[TrialRecord]) -> Iterator[list[TrialRecord]]:
    """Yield the trials that were trained together: they share their stack's time."""
    stacks: dict[tuple[str, int, float], list[TrialRecord]] = {}
    for trial in trials:
        if trial.seconds:
            stack = trial.method, trial.seed, trial.seconds
            stacks.setdefault(stack, []).append(trial)
    yield from stacks.values()


def _by_epochs(method: str) -> bool:
    return any(param.name == "n_epochs" for param in CATALOG[method].params)


def _data_ratios(stacks: Sequence[TrainedStack], data: str) -> dict[str, float]:
    """Return how many times as long work takes on ``data`` as on each data set.

    The median over the methods trained on both, nearer to 1 the fewer they are: a
    method differs from others in what of its work the columns make longer.
    """
    units: dict[str, dict[str, list[float]]] = {data: {}}
    for stack in stacks:
        by_method = units.setdefault(stack.data, {})
        by_method.setdefault(stack.method, []).append(stack.unit)
    medians = {method: np.median(times) for method, times in units[data].items()}
    ratios = {}
    for other_data, by_method in units.items():
        logarithms = [
            math.log(medians[method] / np.median(times))
            for method, times in by_method.items()
            if method in medians
        ]
        n_methods = len(logarithms)
        middle = float(np.median(logarithms)) if logarithms else 0.0
        ratios[other_data] = math.exp(middle * n_methods / (n_methods + 1))
    return ratios


def _expected_unit(
    stacks: Sequence[TrainedStack],
    work: float,
    data: str,
    data_ratios: dict[str, float],
) -> float:
    """Return the weighted median of the time of a unit of work, the newest first."""
    units = np.array([stack.unit * data_ratios[stack.data] for stack in stacks])
    sizes = np.log([stack.work for stack in stacks])
    similar = np.exp(-(((sizes - math.log(work)) / _SIMILAR) ** 2) / 2)
    lately = 0.5 ** (np.arange(len(stacks)) / _HALF_LIFE)
    data_factor = np.where([stack.data == data for stack in stacks], 1.0, _OTHER_DATA)
    weights = np.maximum(similar, _LEAST_WEIGHT) * lately * data_factor
    order = np.argsort(units)
    below = np.cumsum(weights[order])
    middle = int(np.searchsorted(below, below[-1] / 2))
    return float(units[order][middle])
