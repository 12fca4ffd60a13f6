"""The life of an engine: it drives open runs, turn by turn, until nobody needs it."""

import json
import logging
import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from distributed import Client

from fairdash.jobs._certificates import warn_of_the_end
from fairdash.jobs._sharing import Host
from fairdash.jobs._workers import check_encrypted, local_cluster
from fairdash.jobs.engine import APPS, CARD, code_version, is_asked_to_end, take
from fairdash.store import Claim, Store, private

TURN_SECONDS = 0.2
IDLE_SECONDS = 0.5  # between turns while no run is open

log = logging.getLogger("fairdash.jobs")


@dataclass(frozen=True)
class Patience:
    """Seconds that an engine stays without an open run."""

    apps: float  # while an app lives
    alone: float  # since the last app has ended


def serve(
    store: Store,
    claim: Claim,
    *,
    scheduler: str | None,
    n_workers: int,
    patience: Patience,
) -> None:
    """Drive the runs of a server until nobody needs it.

    These are those of its home folder, whose store is given with the right to drive
    them, and of its users' homes in there. ``scheduler`` is the address of a running
    Dask scheduler whose workers see the home; None starts ``n_workers`` processes here.
    """
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    logging.getLogger("distributed").setLevel(logging.WARNING)
    store.tidy()
    cluster = None
    security = None
    if scheduler is None:
        cluster = local_cluster(n_workers)
        scheduler = str(cluster.scheduler_address)
        security = cluster.security
    else:
        check_encrypted(scheduler)
        warn_of_the_end()
    try:
        client = Client(scheduler, security=security, set_as_default=False)
    except OSError:
        logging.error("no scheduler answers at %s", scheduler)
        return  # a poll starts the next engine while a run is open
    with client:
        host = Host(store, claim, client, elsewhere=cluster is None)
        host.deaths.listen(client)
        announced: tuple[int, dict[str, int], dict[str, int]] | None = None
        used = time.monotonic()
        attached = used
        began = time.time()
        while not stop.is_set() and not is_asked_to_end(store.home, began):
            if client.status != "running" or not _is_connected(client):
                # Crash-only: what counts is in the store, and a poll starts the next.
                logging.error("the scheduler is lost")
                os._exit(0)
            claim.check()
            busy = host.turn()
            # Pages read the card at every poll: it is written when something changed.
            facts = (host.n_threads, host.training, dict(host.ended))
            if facts != announced:
                announced = facts
                _announce(store.home, scheduler, *facts, began)
            clock = time.monotonic()
            alone = take(store.home / APPS)
            if busy:
                used = clock
            if alone is None:
                attached = clock
            unneeded = clock - max(used, attached) > patience.alone
            if unneeded or clock - used > patience.apps:
                # The lock of apps is kept: none can attach to an engine that is ending.
                break
            if alone is not None:
                alone.close()
            host.bell.wait(TURN_SECONDS if busy else IDLE_SECONDS)
            host.bell.clear()
        host.close()
    if cluster is not None:
        cluster.close(timeout=5)


def _announce(
    home: Path,
    scheduler: str,
    threads: int,
    training: dict[str, int],
    ended: dict[str, int],
    since: float,
) -> None:
    """Tell pages who the engine is, how many models of which runs it trains.

    ``ended`` are the models that it has seen end, by how.
    """
    facts = {
        "pid": os.getpid(),
        "scheduler": scheduler,
        "threads": threads,
        "training": training,
        "ended": ended,
        "code": code_version(),
        "since": since,
        "reads_mark": True,
    }
    partial_file = home / ".engine.json"
    with open(partial_file, "w", opener=private) as file:
        json.dump(facts, file)
    partial_file.replace(home / CARD)


def _is_connected(client: Client) -> bool:
    link = client.scheduler_comm
    return link is not None and not link.comm.closed()
