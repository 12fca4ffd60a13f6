"""Open runs in this process, one stack after the other: for tests and notebooks."""

import time
from collections.abc import Callable
from typing import Any

from fairdash import methods
from fairdash.jobs._lease import ENGINE, take
from fairdash.jobs._ledger import begin, end, fail, record
from fairdash.jobs._work import describe, work
from fairdash.store import RunRecord, Store

LOOK_SECONDS = 0.2  # between two looks at the cancel mark


class StoreLink:
    """A stack's line straight to the store."""

    def __init__(self, store: Store, run_id: str, watch: Callable[[], object]) -> None:
        self.store = store
        self.run_id = run_id
        self.watch = watch
        self._looked = 0.0
        self._asked = False

    def report(self, event: dict[str, Any]) -> None:
        """Write a progress event."""
        self.store.put_progress([event])
        self.watch()

    def stopped(self) -> bool:
        """Tell whether the run is marked to be cancelled."""
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self._looked = time.monotonic()
            self._asked = self.store.run(self.run_id).cancel_asked is not None
        return self._asked


def run_open(store: Store, watch: Callable[[], object] = lambda: None) -> None:
    """Run all open runs to their end, unless an engine is at them.

    Parameters
    ----------
    store : Store
    watch : callable, optional
        Called after every progress event.
    """
    lock = take(store.home / ENGINE)
    if lock is None:
        return
    with lock:
        for run in store.open_runs():
            _run(store, run, watch)


def _run(store: Store, run: RunRecord, watch: Callable[[], object]) -> None:
    try:
        stacks = begin(store, run, methods.training_device())
    except ValueError as error:
        store.set_status(run.id, "failed", error=str(error))
        return
    for stack in stacks:
        link = StoreLink(store, run.id, watch)
        try:
            outcomes = None if link.stopped() else work(store, run, stack, link)
        except Exception as error:  # a failing stack does not stop the others
            fail(store, run.id, stack, describe(error))
            continue
        if outcomes is None:
            store.set_status(run.id, "cancelled")
            return
        record(store, run.id, outcomes)
        watch()
    end(store, run.id)
