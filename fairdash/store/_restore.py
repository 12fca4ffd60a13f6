"""Make a home of a backup: a copy of which every file is compared with its digest.

It is a backup of the backup, so it is safe in the same ways: until all is there the
folder opens as no home, and who was killed goes on where they stopped.
"""

import os
from contextlib import closing
from pathlib import Path

from fairdash.store._backup import IGNORED, LOCK, Backup, back_up, check_unused
from fairdash.store._database import BACKUP, backup_record
from fairdash.store._store import Store

ELSEWHERE = ("FAIRDASH_DATABASE", "FAIRDASH_FILES")


def restore(folder: Path, home: Path) -> Backup:
    """Copy a backup, with the homes of its users, to a place where no home is.

    Parameters
    ----------
    folder : Path
        Which `back_up` has written, and nobody has used as a home since.
    home : Path
        A folder that is empty, or not there, or half restored from the same backup.

    Returns
    -------
    Backup
        What was copied, and which folders of the backup are damaged.

    Raises
    ------
    ValueError
        If the folder is no whole backup, the home is in use, or cannot be written; or
        if the data of this server are in a Postgres or an object store.
    """
    for variable in ELSEWHERE:
        if os.environ.get(variable):
            raise ValueError(
                f"{variable} is set, and a backup is restored to a folder only. Unset "
                "it; or move runs by `fairdash store export` and `store import`."
            )
    record = backup_record(folder)
    if record is None:
        raise ValueError(
            f"{folder} holds no backup. Name a folder that `fairdash store backup` has "
            "written."
        )
    if record["written"] is None:
        raise ValueError(
            f"{folder} holds half a backup: it was stopped. Name another one, or "
            "finish it by `fairdash store backup`."
        )
    check_unused(folder, record["databases"])
    _check_free(home, folder)
    with closing(Store(folder)) as store:
        done = back_up(store, home)
    for name in (BACKUP, LOCK):  # it is a home from now on
        (home / name).unlink()
    return done


def _check_free(home: Path, folder: Path) -> None:
    """Raise ValueError unless a home is empty or half restored from a folder."""
    if not home.is_dir() or not {entry.name for entry in home.iterdir()} - IGNORED:
        return
    record = backup_record(home) or {"home": None, "written": None}
    is_of_folder = record["home"] == str(folder.resolve())
    if not is_of_folder or record["written"] is not None:
        raise ValueError(
            f"{home} is not empty, and a backup takes the place of nothing. Move what "
            "is there away, or name another folder by --home."
        )
