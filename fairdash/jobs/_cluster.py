"""Worker processes on this machine, ready to train at once."""

from typing import Any

import dask
import distributed.utils
from distributed import LocalCluster

SETTINGS = {
    # A forked worker is ready in a quarter of a second and shares torch's pages.
    "distributed.worker.multiprocessing-method": "forkserver",
    "distributed.worker.profile.enabled": False,
    # The host counts deaths itself: Dask also blames stacks that only wait.
    "distributed.scheduler.allowed-failures": 0,
}


def local_cluster(n_workers: int) -> Any:
    """Start workers of one thread each, reachable from this machine alone."""
    dask.config.set(SETTINGS)
    distributed.utils._forkserver_preload_set = True  # or Dask replaces our list
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
