"""The open runs of one home folder: begun, given to workers, written, ended."""

import logging
import threading
import time
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from distributed import KilledWorker, fire_and_forget

from fairdash.jobs._deaths import MEMORY, Death, Deaths
from fairdash.jobs._work import Outcome, begin, describe, end, fail, record
from fairdash.jobs._workers import answer_first, kill_worker, run_stack
from fairdash.store import RunRecord, Store
from fairdash.sweep import planning

TRIES = 3  # workers that may die of a stack: of its memory, or by a crash
MOST_PAUSE = 60.0  # seconds before a stack whose workers are killed is tried again
GRACE_SECONDS = 5.0  # between telling a stack to stop and killing its worker

log = logging.getLogger("fairdash.jobs")


@dataclass
class Task:
    """A stack at a worker."""

    stack: planning.Stack
    future: Any


@dataclass
class OpenRun:
    """A run that is being driven: stacks not yet given out, and those at workers.

    A stack that lost its worker is in ``resting``, with the time when it may go on.
    By the key of a stack, ``deaths`` are those that it is blamed for, ``kills`` counts
    the others.
    """

    id: str
    waiting: deque[planning.Stack]
    tasks: dict[str, Task] = field(default_factory=dict)
    resting: list[tuple[float, planning.Stack]] = field(default_factory=list)
    deaths: dict[str, list[Death]] = field(default_factory=lambda: defaultdict(list))
    kills: Counter[str] = field(default_factory=Counter)
    cancel_sent: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether no stack is left."""
        return not (self.waiting or self.tasks or self.resting)

    def wake(self) -> None:
        """Let stacks that have rested go first."""
        clock = time.monotonic()
        rested = [stack for at, stack in self.resting if at <= clock]
        self.resting = [(at, stack) for at, stack in self.resting if at > clock]
        self.waiting.extendleft(rested)


class Driver:
    """Drives the runs of one home folder, and writes what comes back from workers.

    All truth is in the store: a new driver goes on where another one died.
    """

    def __init__(
        self,
        store: Store,
        client: Any,
        bell: threading.Event | None = None,
        deaths: Deaths | None = None,
        ended: Counter[str] | None = None,
        *,
        elsewhere: bool,
    ) -> None:
        self.store = store
        self.client = client
        self.elsewhere = elsewhere  # whether workers may be on other machines
        self.deaths = deaths or Deaths()
        # models that ended, by how; all drivers of an engine count into one
        self.ended: Counter[str] = Counter() if ended is None else ended
        self.runs: dict[str, OpenRun] = {}
        self.bell = bell or threading.Event()  # rung when a stack has ended

    @property
    def n_at_work(self) -> int:
        """Number of stacks at workers."""
        return sum(len(run.tasks) for run in self.runs.values())

    @property
    def training(self) -> dict[str, int]:
        """Number of models at workers, by run."""
        return {
            run.id: sum(len(task.stack.trials) for task in run.tasks.values())
            for run in self.runs.values()
            if run.tasks
        }

    @property
    def has_news(self) -> bool:
        """Whether a stack has ended that is not collected yet."""
        for run in self.runs.values():
            if any(task.future.done() for task in run.tasks.values()):
                return True
        return False

    def turn(self) -> bool:
        """Begin, collect and end. True while runs are open."""
        records = self.store.open_runs()
        for gone in self.runs.keys() - {run.id for run in records}:
            del self.runs[gone]  # ended by another hand: its stacks hold no thread
        for open_run in records:
            try:
                self._drive(open_run)
            except ValueError:
                if any(run.id == open_run.id for run in self.store.runs()):
                    raise
                self.runs.pop(open_run.id, None)  # over and deleted in this moment
        return bool(records)

    def next_run(self) -> OpenRun | None:
        """Return the run whose next stack may begin, None if there is none.

        That is the oldest of those with the fewest stacks at workers.
        """
        busy: set[str] = set()
        for run in self.runs.values():
            for task in run.tasks.values():
                busy.update(trial.key for trial in task.stack.trials)
        ready = []
        for run in self.runs.values():
            if not run.waiting:
                continue
            # Where another run trains the same model, it is on disk when that ends.
            if busy.isdisjoint(trial.key for trial in run.waiting[0].trials):
                ready.append(run)
        return min(ready, key=lambda run: len(run.tasks), default=None)

    def give_out(self, run: OpenRun) -> None:
        """Give the next stack of a run to a worker."""
        stack = run.waiting.popleft()
        # Dask keeps the result of a key, so each try needs one of its own. So does each
        # home: two may have a run of one id, which came to both in a bundle.
        n_tries = len(run.deaths[stack.key]) + run.kills[stack.key]
        key = f"{self.store.user}/{run.id}-{stack.key}-{n_tries}"
        future = self.client.submit(
            run_stack,
            str(self.store.home.resolve()),
            self.store.place if self.elsewhere else None,
            run.id,
            stack,
            polite=not self.elsewhere,
            key=key,
            pure=False,
            retries=0,
        )
        future.add_done_callback(lambda _: self.bell.set())
        run.tasks[key] = Task(stack, future)

    def stop(self) -> None:
        """Stop all stacks as if the engine had died, and forget the runs."""
        for run in self.runs.values():
            if run.tasks:
                self._kill(run)
        self.runs.clear()

    def _drive(self, open_run: RunRecord) -> None:
        run = self.runs.get(open_run.id) or self._begin(open_run)
        if run is None:
            return
        self._collect(run)
        if open_run.cancel_asked is not None:
            self._cancel(run)
        elif run.is_over:
            is_whole = end(self.store, run.id)
            self._forget(run)
            if is_whole:
                self._answer_first(run)

    def _answer_first(self, run: OpenRun) -> None:
        """Have a worker compute what pages of a run ask first, so that none waits.

        Nobody waits for the worker: where it dies, a page computes it.
        """
        future = self.client.submit(
            answer_first,
            str(self.store.home.resolve()),
            self.store.place if self.elsewhere else None,
            run.id,
            key=f"{self.store.user}/{run.id}-answers",
            pure=False,
            retries=0,
        )
        fire_and_forget(future)

    def _begin(self, open_run: RunRecord) -> OpenRun | None:
        try:
            stacks = begin(self.store, open_run)
        except ValueError as error:
            self.store.set_status(open_run.id, "failed", error=str(error))
            return None
        log.info("run %s: %d stacks", open_run.id, len(stacks))
        self.runs[open_run.id] = OpenRun(open_run.id, deque(stacks))
        return self.runs[open_run.id]

    def _collect(self, run: OpenRun) -> None:
        """Write what stacks brought back; try those again that lost their worker."""
        run.wake()
        for key, task in list(run.tasks.items()):
            if not task.future.done():
                continue
            status = task.future.status
            error = task.future.exception() if status == "error" else None
            death = None
            if isinstance(error, KilledWorker):
                death = self.deaths.why(error.last_worker)
                if death is None:  # its nanny has not said yet
                    continue
            del run.tasks[key]
            if status == "finished":
                self._record(run, task.future.result() or [])
            elif death is not None:
                self._lost(run, task.stack, death)
            elif error is not None:
                self._fail(run, task.stack, describe(error))
            elif run.cancel_sent is None:  # not by us: the scheduler was reset
                run.waiting.appendleft(task.stack)

    def _lost(self, run: OpenRun, stack: planning.Stack, death: Death) -> None:
        """Try a stack again whose worker died, or fail it where that is its own doing.

        One whose workers are killed from outside is never failed for it, but rests
        longer each time.
        """
        log.warning("a worker died %s, stack %s of %s", death.how, stack.key, run.id)
        pause = 0.0
        if death.counts:
            run.deaths[stack.key].append(death)
        else:
            # 0, .5, 1.5, 3.5 … seconds; the exponent is bounded, or it would overflow
            pause = min((2.0 ** min(run.kills[stack.key], 30) - 1) / 2, MOST_PAUSE)
            run.kills[stack.key] += 1
        if len(run.deaths[stack.key]) < TRIES:
            run.resting.append((time.monotonic() + pause, stack))
        else:
            self._fail(run, stack, _reason(run.deaths[stack.key]))

    def _record(self, run: OpenRun, outcomes: list[Outcome]) -> None:
        record(self.store, run.id, outcomes)
        self.ended.update("failed" if o.row is None else "finished" for o in outcomes)

    def _fail(self, run: OpenRun, stack: planning.Stack, error: str) -> None:
        fail(self.store, run.id, stack, error)
        self.ended["failed"] += len(stack.trials)

    def _cancel(self, run: OpenRun) -> None:
        """Wait until the stacks at workers have stopped; kill what takes too long.

        They read the mark in the store themselves: Dask cannot stop a running task.
        """
        run.waiting.clear()
        run.resting.clear()
        if run.cancel_sent is None:
            run.cancel_sent = time.monotonic()
        elif run.tasks and time.monotonic() - run.cancel_sent > GRACE_SECONDS:
            self._kill(run)
        if not run.tasks:
            self.store.set_status(run.id, "cancelled")
            self._forget(run)

    def _kill(self, run: OpenRun) -> None:
        workers = [
            address
            for address, keys in self.client.processing().items()
            if not run.tasks.keys().isdisjoint(keys)
        ]
        log.warning("killing %s for run %s", workers, run.id)
        futures = [task.future for task in run.tasks.values()]
        # Cancelled first: Dask would run the tasks of a dead worker again elsewhere.
        self.client.cancel(futures, force=True)
        if workers:
            self.client.run(kill_worker, workers=workers, nanny=True, on_error="ignore")
        run.tasks.clear()

    def _forget(self, run: OpenRun) -> None:
        del self.runs[run.id]
        log.info("run %s: %s", run.id, self.store.run(run.id).status)


def _reason(deaths: list[Death]) -> str:
    how = ", ".join(death.how for death in deaths)
    reason = f"The worker died {len(deaths)} times during training: {how}."
    if any(death.kind == MEMORY for death in deaths):
        reason += " Use fewer workers or fewer rows, or a machine with more memory."
    return reason
