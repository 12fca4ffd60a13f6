"""Worker processes on this machine: how they start, and what runs in them."""

import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import dask
import distributed.scheduler
import distributed.utils
from distributed import Event, LocalCluster, get_worker

from fairdash import methods
from fairdash.jobs._work import Outcome, work
from fairdash.methods import Device
from fairdash.store import Store, open_store
from fairdash.sweep import Stack

SETTINGS = {
    # A forked worker is ready in a quarter of a second and shares torch's pages.
    "distributed.worker.multiprocessing-method": "forkserver",
    # An idle engine should cost nothing: nobody reads what these would measure.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "60s",
    "distributed.client.scheduler-info-interval": "10s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.work-stealing": False,  # the host gives a stack a thread
    # The host counts deaths itself: Dask also blames stacks that only wait.
    "distributed.scheduler.allowed-failures": 0,
}
HEARTBEAT_SECONDS = 5.0  # of an idle worker
LOOK_SECONDS = 0.2  # between two looks at the stop flag; a look costs 0.6 ms
PROGRESS, BEGUN = "fairdash-progress", "fairdash-begun"  # topics of Dask's event log


def local_cluster(n_workers: int) -> Any:
    """Start workers of one thread each, reachable from this machine alone."""
    dask.config.set(SETTINGS)
    distributed.utils._forkserver_preload_set = True  # or Dask replaces our list
    # Dask has no option for it; its 0.5 s is most of what an idle engine costs.
    distributed.scheduler.heartbeat_interval = lambda n: HEARTBEAT_SECONDS
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",  # None would still open a public port
        memory_limit=0,
    )


async def kill_worker(dask_worker: Any = None) -> None:
    """Kill a worker, from within its nanny, which then starts a new one."""
    await dask_worker.kill(timeout=0.1)


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
