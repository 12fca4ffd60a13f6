"""Worker processes: on this machine, or at a Dask scheduler elsewhere."""

import os
import sys
from contextlib import suppress
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

import dask
import distributed
import distributed.scheduler
import distributed.utils
from distributed import LocalCluster, Security

from fairdash.jobs._certificates import new_certificate, warn_of_the_end
from fairdash.store import Store, home_folder, open_store

if TYPE_CHECKING:
    from fairdash.jobs._work import Outcome
    from fairdash.sweep import planning

SETTINGS = {
    # A forked worker is ready in a quarter of a second and shares torch's pages.
    "distributed.worker.multiprocessing-method": "forkserver",
    # An idle engine should cost nothing: nobody reads what these would measure.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "60s",
    "distributed.client.scheduler-info-interval": "10s",
    "distributed.scheduler.active-memory-manager.start": False,
    # The host gives a stack a thread; one that comes while a worker is away or not yet
    # ready is put behind another's, and goes to the next that is free.
    "distributed.scheduler.work-stealing": True,
    # The host counts deaths itself: Dask also blames stacks that only wait.
    "distributed.scheduler.allowed-failures": 0,
}
POLITE = int(os.environ.get("FAIRDASH_NICE") or 19)  # pages go before training
HEARTBEAT_SECONDS = 5.0  # of an idle worker
MOST_HOMES = 4  # whose data sets a worker keeps in memory

# Of a room above this one, which only a worker loads.
FIRST_ANSWERS = "fairdash.linked:first_answers"

_stores: dict[Path, Store] = {}


def local_cluster(n_workers: int) -> Any:
    """Start workers of one thread each, reachable from this process alone.

    A certificate that nobody else has keeps other accounts of this machine out.
    """
    certificate, key = new_certificate(days=3650)  # an engine may live long
    pems = {}
    for role in ("client", "scheduler", "worker"):
        pems[f"tls_{role}_cert"] = certificate
        pems[f"tls_{role}_key"] = key
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
        security=Security(require_encryption=True, tls_ca_file=certificate, **pems),
    )


async def kill_worker(dask_worker: Any = None) -> None:
    """Kill a worker, from within its nanny, which then starts a new one."""
    await dask_worker.kill(timeout=0.1)


def run_stack(
    home: str, place: str | None, run_id: str, stack: "planning.Stack", *, polite: bool
) -> "list[Outcome] | None":
    """Work on a stack; the data set is read from the store, once per process.

    The store is that of a folder, or, where all is elsewhere, that of a ``place`` below
    the worker's own folder. A ``polite`` worker gives its training thread the lowest
    priority; the thread that speaks to the scheduler stays as it is.
    """
    from fairdash.jobs._work import StoreLink, work  # loads scikit-learn

    store = _store(Path(home) if place is None else home_folder() / place)
    run = store.run(run_id)
    store.dataset(run.dataset_id)  # which keeps it in memory
    if polite:
        os.setpriority(os.PRIO_PROCESS, 0, POLITE)
        # Linux counts niceness only within a session, and gives each session a share of
        # the processors: so the worker has one of its own, and that is nice as well.
        with suppress(OSError):
            os.setsid()
        with suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(POLITE))
    return work(store, run, stack, StoreLink(store, run_id))


def answer_first(home: str, place: str | None, run_id: str) -> None:
    """Compute what pages of a run that is over ask first, and keep it with the run.

    Arguments are those of `run_stack`.
    """
    store = _store(Path(home) if place is None else home_folder() / place)
    module, _, function = FIRST_ANSWERS.partition(":")
    getattr(import_module(module), function)(store, run_id)


def _store(home: Path) -> Store:
    """Return the store of a home, one of the last `MOST_HOMES` that were worked for."""
    store = _stores.pop(home, None) or open_store(home)
    _stores[home] = store  # the newest is last
    for oldest in list(_stores)[:-MOST_HOMES]:
        _stores.pop(oldest).close()  # with the tables it has in memory
    return store


def check_encrypted(address: str, host: str = "") -> None:
    """Raise ValueError unless only this machine can reach an address, or it has TLS.

    ``host`` is where workers listen, by default that of the address, which is such as
    "tls://10.0.0.5:8786".
    """
    parts = urlsplit(address)
    if parts.scheme not in ("tcp", "tls") or not parts.hostname or not parts.port:
        raise ValueError(
            f"A scheduler's address is like tls://10.0.0.5:8786, got {address!r}."
        )
    host = host or parts.hostname
    # Another name may lead anywhere, whatever it leads to now.
    try:
        is_local = host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a name
        is_local = False
    if parts.scheme != "tls" and not is_local:
        raise ValueError(
            f"{host} is reached by other machines, and whoever reaches a scheduler or "
            "worker without TLS runs code there. Use an address tls://… with the "
            "certificates of `fairdash cluster init`; or keep to 127.0.0.1."
        )


def serve_worker(address: str, *, n_workers: int, host: str = "127.0.0.1") -> NoReturn:
    """Become `dask worker`: work for a scheduler until it or a signal ends it.

    Each of the ``n_workers`` processes has one thread and must see the home folder of
    the runs, unless their database and files are elsewhere
    (`fairdash.store.open_store`). They listen at the address ``host`` of this machine
    and on no other: whoever reaches it can run code; a scheduler on another machine
    must reach it. Raises ValueError as `check_encrypted`.
    """
    check_encrypted(address)
    check_encrypted(address, host)
    warn_of_the_end()
    os.environ["OMP_NUM_THREADS"] = "1"  # of torch: two workers beat two threads
    options = {
        "--nworkers": n_workers,
        "--nthreads": 1,
        "--memory-limit": 0,
        "--host": host,
        "--dashboard-address": "127.0.0.1:0",
    }
    command = [sys.executable, "-P", "-m", "distributed.cli.dask_worker", address]
    for name, value in options.items():
        command += [name, str(value)]
    os.execv(sys.executable, command)


def check_cluster(address: str, *, host: str | None = None) -> int:
    """Ask a scheduler for its workers; return how many there are.

    ``host`` counts those only that listen at this address. Raises ValueError when the
    scheduler does not answer within five seconds, or when no worker is there that
    ``host`` asks for.
    """
    check_encrypted(address)
    try:
        with distributed.Client(address, timeout=5, set_as_default=False) as client:
            workers = client.scheduler_info(n_workers=-1)["workers"]
    except OSError as error:
        raise ValueError(f"No scheduler answers at {address}.") from error
    n_workers = sum(host in (None, urlsplit(worker).hostname) for worker in workers)
    if host is not None and n_workers == 0:
        raise ValueError(f"The scheduler at {address} knows no worker at {host}.")
    return n_workers
