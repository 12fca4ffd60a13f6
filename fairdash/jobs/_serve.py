"""The life of an engine: it drives open runs, turn by turn, until nobody needs it."""

import json
import logging
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distributed import Client, KilledWorker

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
TRIES = 3  # workers that may die under a stack
GRACE_SECONDS = 5.0  # between telling a stack to stop and killing its worker
KILLED = "The worker died {n} times during training, as it does when memory runs out."

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
    """A run that is being driven: stacks not yet given out, and those at workers."""

    id: str
    waiting: deque[planning.Stack]
    tasks: dict[str, Task] = field(default_factory=dict)
    deaths: Counter[str] = field(default_factory=Counter)
    cancel_sent: float | None = None


class Host:
    """Gives stacks to workers, one per thread, and writes what comes back.

    All truth is in the store: a new host goes on where another one died.
    """

    def __init__(self, store: Store, client: Any, *, elsewhere: bool) -> None:
        self.store = store
        self.client = client
        self.elsewhere = elsewhere  # whether workers may be on other machines
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
        elif not run.waiting and not run.tasks:
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
        for key, task in list(run.tasks.items()):
            if not task.future.done():
                continue
            del run.tasks[key]
            status = task.future.status
            if status == "finished":
                record(self.store, run.id, task.future.result() or [])
            elif status == "error":
                self._failed(run, task.stack, task.future.exception())
            elif run.cancel_sent is None:  # not by us: the scheduler was reset
                run.waiting.appendleft(task.stack)

    def _failed(
        self, run: OpenRun, stack: planning.Stack, error: BaseException
    ) -> None:
        if not isinstance(error, KilledWorker):
            fail(self.store, run.id, stack, describe(error))
            return
        run.deaths[stack.key] += 1
        log.warning("a worker died under stack %s of run %s", stack.key, run.id)
        if run.deaths[stack.key] < TRIES:
            run.waiting.appendleft(stack)
        else:
            fail(self.store, run.id, stack, KILLED.format(n=TRIES))

    def _cancel(self, run: OpenRun) -> None:
        run.waiting.clear()
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
        key = f"{run.id}-{stack.key}-{run.deaths[stack.key]}"
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
