"""A worker for a scheduler elsewhere, that outlives the scheduler."""

import asyncio
import contextlib
import logging
import signal
import time

import dask
import distributed.utils
from distributed import Nanny

from fairdash.jobs._cluster import SETTINGS
from fairdash.jobs._warm import warm_up

PATIENCE_SECONDS = 2.0  # between two tries to reach a scheduler
CONNECT_SECONDS = 10.0

log = logging.getLogger("fairdash.jobs")


def serve_worker(address: str, *, n_workers: int) -> None:
    """Work for a Dask scheduler until a signal ends it.

    Dask's own workers end with their scheduler and stay away. These wait until one
    answers at the address again, so that a restarted scheduler finds them.

    Parameters
    ----------
    address : str
        Of the scheduler, such as "tcp://10.0.0.5:8786". It is not authenticated: use a
        trusted network, or TLS ("tls://").
    n_workers : int
        Processes, of one thread each. All must see the home folder of the runs.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    # its own words would bury the two that matter here
    logging.getLogger("distributed").setLevel(logging.WARNING)
    warm_up()
    dask.config.set(SETTINGS)
    distributed.utils._forkserver_preload_set = True  # or Dask replaces our list
    dask.config.set({"distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s"})
    while True:
        try:
            asked = asyncio.run(_work(address, n_workers))
        except (OSError, RuntimeError) as error:  # a nanny says both
            log.warning("no scheduler at %s: %s", address, error)
            asked = False
        if asked:
            return
        time.sleep(PATIENCE_SECONDS)


async def _work(address: str, n_workers: int) -> bool:
    """Work until the scheduler is gone (False) or a signal has come (True)."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with contextlib.AsyncExitStack() as stack:
        nannies = [
            await stack.enter_async_context(
                Nanny(
                    address,
                    nthreads=1,
                    memory_limit=0,
                    dashboard_address="127.0.0.1:0",
                )
            )
            for _ in range(n_workers)
        ]
        log.info("%d workers at %s", n_workers, address)
        asked = asyncio.ensure_future(stop.wait())
        gone = [asyncio.ensure_future(nanny.finished()) for nanny in nannies]
        await asyncio.wait([asked, *gone], return_when=asyncio.FIRST_COMPLETED)
        for task in (asked, *gone):
            task.cancel()
    return stop.is_set()
