"""The life of an engine: turn after turn, until nobody needs it."""

import json
import logging
import os
import signal
import threading
import time
from pathlib import Path

from distributed import Client

from fairdash.jobs._cluster import local_cluster
from fairdash.jobs._engine import CARD, code_version
from fairdash.jobs._host import Host
from fairdash.jobs._lease import APPS, take
from fairdash.store import open_store

TURN_SECONDS = 0.2


def serve(home: Path, *, scheduler: str | None, n_workers: int, linger: float) -> None:
    """Drive the runs of a home folder until nobody needs it.

    Parameters
    ----------
    home : Path
    scheduler : str or None
        Address of a running Dask scheduler whose workers see ``home``; None starts
        workers here.
    n_workers : int
        Worker processes started here.
    linger : float
        Seconds to stay without an app and without an open run.
    """
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    logging.getLogger("distributed").setLevel(logging.WARNING)
    store = open_store(home)
    store.tidy()
    cluster = None
    if scheduler is None:
        cluster = local_cluster(n_workers)
        scheduler = str(cluster.scheduler_address)
    try:
        client = Client(scheduler, set_as_default=False)
    except OSError:
        logging.error("no scheduler answers at %s", scheduler)
        return  # a poll starts the next engine while a run is open
    with client:
        threads = None
        host, needed = Host(store, client), time.monotonic()
        while not stop.is_set():
            if client.status != "running" or not _is_connected(client):
                # Crash-only: what counts is in the store, and a poll starts the next.
                logging.error("the scheduler is lost")
                os._exit(1)
            busy = host.turn()
            if host.n_threads != threads:
                threads = host.n_threads
                _announce(home, scheduler, threads)
            alone = take(home / APPS)
            if busy or alone is None:
                needed = time.monotonic()
            if alone is not None:
                if time.monotonic() - needed > linger:
                    break  # keeping the lock: no app can attach to what is ending
                alone.close()
            host.bell.wait(TURN_SECONDS)
            host.bell.clear()
    if cluster is not None:
        cluster.close(timeout=5)
    store.close()


def _announce(home: Path, scheduler: str, threads: int) -> None:
    """Write who serves, with which code, and with how many threads of workers."""
    facts = {
        "pid": os.getpid(),
        "scheduler": scheduler,
        "threads": threads,
        "started": time.time(),
        "code": code_version(),
    }
    beside = home / ".engine.json"
    beside.write_text(json.dumps(facts))
    beside.replace(home / CARD)


def _is_connected(client: Client) -> bool:
    link = client.scheduler_comm
    return link is not None and not link.comm.closed()
