"""The store of one home folder."""

import os
from pathlib import Path

from fairdash.store._removal import Removal
from fairdash.store._trials import Trials


class Store(Removal, Trials):
    """What survives: tables, data sets and drafts, runs, trials and artifacts."""


def home_folder() -> Path:
    """Return the folder of all data: ``$FAIRDASH_HOME``, else ``~/.fairdash``."""
    return Path(os.environ.get("FAIRDASH_HOME") or "~/.fairdash").expanduser()


def open_store(home: Path | None = None, url: str | None = None) -> Store:
    """Open the store of a home folder; create it or bring it up to date if needed.

    Parameters
    ----------
    home : Path, optional
        Folder of all files. Default: ``$FAIRDASH_HOME``, else ``~/.fairdash``.
    url : str, optional
        SQLAlchemy address of the database. Default: ``$FAIRDASH_DATABASE``, else an
        SQLite file in ``home``.
    """
    url = url or os.environ.get("FAIRDASH_DATABASE")
    return Store(Path(home) if home else home_folder(), url)
