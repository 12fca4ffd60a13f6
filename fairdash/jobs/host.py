"""The engine of a server: ``python -m fairdash.jobs.host HOME``.

One detached process drives the runs of a home folder and of all homes of users in it.
It owns the workers, or talks to a given scheduler, and ends when no open run has needed
it for a while.
"""

import argparse
import logging
import multiprocessing
import multiprocessing.forkserver
import os
from contextlib import closing
from pathlib import Path

from fairdash.jobs.engine import CARD, ENGINE, Lease, log_to_stderr, take
from fairdash.store import open_store, trouble

PRELOADED = ["distributed", "torch", "fairdash.methods.catalog", "fairdash.jobs._serve"]


def main() -> None:
    """Read the command line, take the lock, serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--lock", type=int, help="descriptor of the lock, if taken")
    arguments = parser.parse_args()
    home = arguments.home.resolve()
    descriptor = arguments.lock
    lock = take(home / ENGINE) if descriptor is None else Lease(descriptor)
    if lock is None:
        return  # another engine lives
    (home / CARD).unlink(missing_ok=True)  # the last engine's
    os.set_inheritable(lock.descriptor, False)  # or workers would hold it after us
    os.umask(0o077)  # of workers too, which are forked from here
    log_to_stderr()
    with lock:
        try:
            _drive(home)
        except (OSError, ValueError) as error:
            reason = trouble(error)
            if reason is None and isinstance(error, OSError):
                raise
            logging.error("%s", reason or error)
            os._exit(1)  # crash-only; whoever started it tries again after a while


def _drive(home: Path) -> None:
    """Drive the runs of a server, unless another machine does."""
    with closing(open_store(home)) as store, store.database.claim() as claim:
        if claim is None:
            return
        scheduler = os.environ.get("FAIRDASH_SCHEDULER")
        if scheduler is None:
            start_forkserver()
        # Imported now: it takes a while, in which the forkserver starts.
        from fairdash.jobs._serve import Patience, serve

        patience = Patience(
            apps=float(os.environ.get("FAIRDASH_IDLE") or 600),
            alone=float(os.environ.get("FAIRDASH_LINGER") or 30),
        )
        n_workers = int(os.environ.get("FAIRDASH_WORKERS") or os.cpu_count() or 1)
        serve(store, claim, scheduler=scheduler, n_workers=n_workers, patience=patience)


def start_forkserver() -> None:
    """Start the process that workers are forked from: it loads torch once for all."""
    os.environ["OMP_NUM_THREADS"] = "1"  # of torch: two workers beat two threads
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    multiprocessing.forkserver.ensure_running()


if __name__ == "__main__":
    main()
