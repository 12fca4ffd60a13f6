"""The engine of a home folder: ``python -m fairdash.jobs.host HOME``.

One detached process per home folder owns the workers, or talks to a given scheduler,
and ends when no app and no open run has needed it for a while.
"""

import argparse
import logging
import os
from pathlib import Path

from fairdash.jobs._lease import ENGINE, Lease, take
from fairdash.jobs._warm import warm_up


def main() -> None:
    """Read the command line, take the lock, serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--lock", type=int, help="descriptor of the lock, if taken")
    arguments = parser.parse_args()
    home = arguments.home.resolve()
    given = arguments.lock
    lock = take(home / ENGINE) if given is None else Lease(given)
    if lock is None:
        return  # another engine lives
    os.set_inheritable(lock.descriptor, False)  # or workers would hold it after us
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s"
    )
    with lock:
        scheduler = os.environ.get("FAIRDASH_SCHEDULER")
        if scheduler is None:
            warm_up()
        from fairdash.jobs._serve import serve  # takes a while, as warming up does

        serve(
            home,
            scheduler=scheduler,
            n_workers=int(os.environ.get("FAIRDASH_WORKERS") or os.cpu_count() or 1),
            linger=float(os.environ.get("FAIRDASH_LINGER", "30")),
        )


if __name__ == "__main__":
    main()
