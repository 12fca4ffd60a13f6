"""The life of an engine: it drives open runs, turn by turn, until nobody needs it."""

import json
import logging
import os
import signal
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distributed import Client, KilledWorker

from fairdash.jobs._deaths import MEMORY, Death, Deaths
from fairdash.jobs._work import begin, describe, end, fail, record
from fairdash.jobs._workers import (
    check_encrypted,
    kill_worker,
    local_cluster,
    run_stack,
)
from fairdash.jobs.engine import APPS, CARD, code_version, lacks_room, take
from fairdash.store import RunRecord, Store, open_store, private
from fairdash.sweep import planning

TURN_SECONDS = 0.2
IDLE_SECONDS = 0.5  # between turns while no run is open
CLAIM_SECONDS = 15.0  # between looks whether another machine still drives the runs
TRIES = 3  # workers that may die of a stack: of its memory, or by a crash
MOST_PAUSE = 60.0  # seconds before a stack whose workers are killed is tried again
GRACE_SECONDS = 5.0  # between telling a stack to stop and killing its worker

log = logging.getLogger("fairdash.jobs")


def serve(home: Path, *, scheduler: str | None, n_workers: int, linger: float) -> None:
    """Drive the runs of a home folder until nobody needs it.

    ``scheduler`` is the address of a running Dask scheduler whose workers see ``home``;
    None starts ``n_workers`` processes here. It stays ``linger`` seconds without an app
    and without an open run.
    """
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    logging.getLogger("distributed").setLevel(logging.WARNING)
    store = open_store(home)
    with store.database.claim() as hold:
        if hold is not None:
            _serve(store, hold, stop, scheduler, n_workers, linger)
        else:  # another machine drives these runs: look again later
            _announce(home, "", 0)  # its engine has a scheduler
            stop.wait(CLAIM_SECONDS)
    store.close()


def _serve(
    store: Store,
    hold: Callable[[], None],
    stop: threading.Event,
    scheduler: str | None,
    n_workers: int,
    linger: float,
) -> None:
    store.tidy()
    cluster, security = None, None
    if scheduler is None:
        cluster = local_cluster(n_workers)
        scheduler, security = str(cluster.scheduler_address), cluster.security
    else:
        check_encrypted(scheduler)
    try:
        client = Client(scheduler, security=security, set_as_default=False)
    except OSError:
        logging.error("no scheduler answers at %s", scheduler)
        return  # a poll starts the next engine while a run is open
    with client:
        host, threads = Host(store, client, elsewhere=cluster is None), -1
        host.deaths.listen(client)
        needed = time.monotonic()
        while not stop.is_set():
            if client.status != "running" or not _is_connected(client):
                # Crash-only: what counts is in the store, and a poll starts the next.
                logging.error("the scheduler is lost")
                os._exit(0)
            hold()
            busy = host.turn()
            if host.n_threads != threads:
                threads = host.n_threads
                _announce(store.home, scheduler, threads)
            alone = take(store.home / APPS)
            if busy or alone is None:
                needed = time.monotonic()
            if alone is not None:
                if time.monotonic() - needed > linger:
                    break  # keeping the lock: no app can attach to what is ending
                alone.close()
            host.bell.wait(TURN_SECONDS if busy else IDLE_SECONDS)
            host.bell.clear()
    if cluster is not None:
        cluster.close(timeout=5)


def _announce(home: Path, scheduler: str, threads: int) -> None:
    facts = {
        "pid": os.getpid(),
        "scheduler": scheduler,
        "threads": threads,
        "code": code_version(),
        "since": time.time(),
    }
    beside = home / ".engine.json"
    with open(beside, "w", opener=private) as file:
        json.dump(facts, file)
    beside.replace(home / CARD)


def _is_connected(client: Client) -> bool:
    link = client.scheduler_comm
    return link is not None and not link.comm.closed()


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
        now = time.monotonic()
        rested = [stack for at, stack in self.resting if at <= now]
        self.resting = [(at, stack) for at, stack in self.resting if at > now]
        self.waiting.extendleft(rested)


class Host:
    """Gives stacks to workers, one per thread, and writes what comes back.

    All truth is in the store: a new host goes on where another one died.
    """

    def __init__(self, store: Store, client: Any, *, elsewhere: bool) -> None:
        self.store = store
        self.client = client
        self.elsewhere = elsewhere  # whether workers may be on other machines
        self.deaths = Deaths()
        self.runs: dict[str, OpenRun] = {}
        self.bell = threading.Event()  # rung when a stack has ended: do not sleep on

    @property
    def n_threads(self) -> int:
        """Number of threads that all workers have together."""
        return sum(self.client.nthreads().values())

    def turn(self) -> bool:
        """Begin, collect, end and give out. True while runs are open."""
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
        self._give_out()
        return bool(records)

    def _drive(self, open_run: RunRecord) -> None:
        run = self.runs.get(open_run.id) or self._begin(open_run)
        if run is None:
            return
        self._collect(run)
        if open_run.cancel_asked is not None:
            self._cancel(run)
        elif run.is_over:
            end(self.store, run.id)
            self._forget(run)

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
                record(self.store, run.id, task.future.result() or [])
            elif death is not None:
                self._lost(run, task.stack, death)
            elif error is not None:
                fail(self.store, run.id, task.stack, describe(error))
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
            fail(self.store, run.id, stack, _reason(run.deaths[stack.key]))

    def _cancel(self, run: OpenRun) -> None:
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
        self.client.cancel(futures, force=True)  # first, or they run again elsewhere
        if workers:
            self.client.run(kill_worker, workers=workers, nanny=True, on_error="ignore")
        run.tasks.clear()

    def _forget(self, run: OpenRun) -> None:
        del self.runs[run.id]
        log.info("run %s: %s", run.id, self.store.run(run.id).status)

    def _give_out(self) -> None:
        # Nothing waits at a worker: a death has one culprit, a cancelled run no queue.
        # Nothing begins whose result would find no room.
        if lacks_room(self.store.home):
            return
        tasks = [task for run in self.runs.values() for task in run.tasks.values()]
        busy = {trial.key for task in tasks for trial in task.stack.trials}
        free = self.n_threads - len(tasks)
        turns = deque(run for run in self.runs.values() if run.waiting)
        while free > 0 and turns:
            run = turns.popleft()
            keys = {trial.key for trial in run.waiting[0].trials}
            if keys & busy:  # another run trains the same: it will be on disk then
                continue
            self._submit(run, run.waiting.popleft())
            busy |= keys
            free -= 1
            if run.waiting:
                turns.append(run)

    def _submit(self, run: OpenRun, stack: planning.Stack) -> None:
        n_tries = len(run.deaths[stack.key]) + run.kills[stack.key]
        key = f"{run.id}-{stack.key}-{n_tries}"
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


def _reason(deaths: list[Death]) -> str:
    how = ", ".join(death.how for death in deaths)
    reason = f"The worker died {len(deaths)} times during training: {how}."
    if any(death.kind == MEMORY for death in deaths):
        reason += " Use fewer workers or fewer rows, or a machine with more memory."
    return reason
