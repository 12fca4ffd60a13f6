"""What runs in a worker process of Dask."""

import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from distributed import Event, get_worker

from fairdash import methods
from fairdash.jobs._work import Outcome, work
from fairdash.methods import Device
from fairdash.store import Store, open_store
from fairdash.sweep import Stack

LOOK_SECONDS = 0.2  # between two looks at the stop flag; a look costs 0.6 ms
PROGRESS, BEGUN = "fairdash-progress", "fairdash-begun"  # topics of Dask's event log


def stop_flag(run_id: str) -> str:
    """Return the name of the Dask event that tells the stacks of a run to stop."""
    return f"fairdash-stop-{run_id}"


class DaskLink:
    """A stack's line to the host: progress by the event log, stop by an event."""

    def __init__(self, run_id: str) -> None:
        self.worker = get_worker()
        self.flag = Event(stop_flag(run_id))
        self._looked = 0.0

    def report(self, event: dict[str, Any]) -> None:
        """Send a progress event; this costs 0.02 ms."""
        self.worker.log_event(PROGRESS, event)

    def stopped(self) -> bool:
        """Tell whether the run is to stop."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return False
        self._looked = time.monotonic()
        return bool(self.flag.is_set())


def device() -> Device:
    """Tell where this worker trains."""
    return methods.training_device()


def run_stack(home: str, run_id: str, stack: Stack) -> list[Outcome] | None:
    """Work on a stack; the data set is read from the store, once per process."""
    link = DaskLink(run_id)
    link.worker.log_event(BEGUN, {"stack": stack.key, "worker": link.worker.address})
    store = _store(home)
    return work(store, store.run(run_id), stack, link)


@lru_cache
def _store(home: str) -> Store:
    return open_store(Path(home))
