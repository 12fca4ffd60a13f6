"""Start the process that workers are forked from: it loads torch once for all."""

import multiprocessing
import multiprocessing.forkserver
import os

PRELOADED = [
    "distributed",
    "torch._dynamo",  # torch's optimisers load it on first use, for two seconds
    "fairdash.methods.road",
    "fairdash.jobs._serve",
]


def warm_up() -> None:
    """Load what workers need; call before dask is imported, which takes a while."""
    os.environ["OMP_NUM_THREADS"] = "1"  # of torch: two workers beat two threads
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    multiprocessing.forkserver.ensure_running()
