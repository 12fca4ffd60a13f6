"""A copy of a home, made while it is in use, that opens as a home.

A file is there before the row that names it, and goes after that row. So files are
copied first, then the database, then the files that came meanwhile. Of what the copied
database names only that can be missing which was deleted since; then the database is
copied again. No lock is held: training and uploads go on.

The copied database takes its place last, by a rename. Until then the folder is the
backup before, with some files more.
"""

import errno
import fcntl
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa

from fairdash._wording import size
from fairdash.store._database import BACKUP, METADATA, Database, backup_record
from fairdash.store._documents import KEPT, DocumentFiles
from fairdash.store._errors import DAMAGED, StoreError, explaining
from fairdash.store._files import WRITING, Files, make_folder, sync, write_file
from fairdash.store._homes import Homes
from fairdash.store._store import KINDS, Store
from fairdash.store.server.users import USERS

DATABASE = "store.db"
LOCK = "backup.lock"
ROUNDS = 10  # in which the database is copied again after deletions
ROWS = 1000  # of a Postgres in memory
IGNORED = {LOCK, "lost+found"}  # of a folder that counts as empty
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_UNUSABLE = (errno.EACCES, errno.EROFS, errno.EPERM, errno.ENOTDIR, errno.EEXIST)


@dataclass
class Backup:
    """The counts of a finished backup.

    Attributes
    ----------
    n_homes : int
        The server's own and those of its users.
    n_new : int
        Tables, models, scores and summaries that were not in the folder.
    n_bytes : int
        Of these.
    damaged : set of Path
        Folders of the home that are not what was written, or that its database names
        and that are not there.
    """

    n_homes: int = 0
    n_new: int = 0
    n_bytes: int = 0
    damaged: set[Path] = field(default_factory=set)


def back_up(store: Store, folder: Path) -> Backup:
    """Copy a home, with those of its users, into a folder, while it is in use.

    The folder opens as a home. Into a backup of the same home only what is new is
    copied, and what was deleted in the home is deleted. Sessions, locks and logs stay
    out.

    Raises
    ------
    ValueError
        If the folder holds something else, lies in the home, has been used as a home
        since, is written by another backup, or cannot be written.
    """
    _check_place(store.home, folder)
    backup = Backup()
    with _written(folder), _alone(folder):
        record = _Record.begin(store.home, folder)
        _copy_home(store, folder, DATABASE, record, backup)
        homes = Homes(store)
        for user in homes.users():
            target = folder / USERS / user
            make_folder(target)
            with closing(homes.open(user)) as home:
                _copy_home(home, target, f"{USERS}/{user}/{DATABASE}", record, backup)
        record.end()
    return backup


class _Record:
    """The record of a backup in its folder: its home, and its databases.

    The digests of databases tell a backup from a home that has been used since. Until
    the first backup is whole, ``written`` is None, and the folder opens as no home.
    """

    def __init__(
        self,
        path: Path,
        home: str,
        written: float | None,
        databases: dict[str, list[str]],
    ) -> None:
        self._path = path
        self._home = home
        self._written = written
        self._databases = databases

    @classmethod
    def begin(cls, home: Path, folder: Path) -> "_Record":
        """Read the record of a folder or begin one; ValueError if that may not be."""
        path = folder / BACKUP
        named = str(home.resolve())
        facts = backup_record(folder)
        if facts is None:
            if {entry.name for entry in folder.iterdir()} - IGNORED:
                raise ValueError(
                    f"{folder} holds other files and no backup. Name an empty folder, "
                    "or one that `fairdash store backup` has written."
                )
            record = cls(path, named, None, {})
            record._write()
            return record
        if facts["home"] != named:
            raise ValueError(
                f"{folder} holds a backup of another home, {facts['home']}. Name "
                "another folder."
            )
        record = cls(path, **facts)
        check_unused(folder, record._databases)
        return record

    def accept(self, name: str, database: Path) -> None:
        """Say that a database may be the one of the backup, before it takes its place.

        The one before may be so as well: who dies now leaves either.
        """
        digest = _digest(database)
        digests = self._databases.setdefault(name, [])
        if digest not in digests:
            digests.append(digest)
            self._write()

    def end(self) -> None:
        """Say that the backup is whole."""
        self._written = time.time()
        self._databases = {
            name: [_digest(self._path.parent / name)]
            for name in self._databases
            if (self._path.parent / name).exists()
        }
        self._write()

    def _write(self) -> None:
        facts = {
            "home": self._home,
            "written": self._written,
            "databases": self._databases,
        }
        write_file(self._path, json.dumps(facts, indent=1))
        sync(self._path)


def check_unused(folder: Path, databases: dict[str, list[str]]) -> None:
    """Raise ValueError where a database of a backup is not one that was written.

    ``databases`` are the digests of each by its name, as the record says.
    """
    for name, digests in databases.items():
        database = folder / name
        if not database.exists():
            continue  # of a half backup, or somebody deleted it: it is copied anew
        journal = database.with_name(f"{database.name}-wal")
        is_open = journal.exists() and journal.stat().st_size > 0
        if is_open or _digest(database) not in digests:
            raise ValueError(
                f"{database} is not what was written: this backup was used as a "
                "home since, or it is damaged. Name another folder."
            )


def _copy_home(
    store: Store, target: Path, name: str, record: _Record, backup: Backup
) -> None:
    """Copy one home; its database is ``name`` in the record."""
    _remove_partial(target)
    _check_room(store, target)
    _copy_files(store, target, backup)
    lost: set[Path] = set()
    for _ in range(ROUNDS):
        with TemporaryDirectory(prefix=WRITING, dir=target) as scratch:
            database = Path(scratch) / DATABASE
            _copy_database(store.database, database)
            copied = _copy_files(store, target, backup)
            needed = _needed(store, database)
            # What was copied before it was deleted is here.
            missing = {name for name in needed - copied if not (target / name).exists()}
            # What a newer database names still was not deleted: the home has lost it.
            if missing <= lost:
                for kind in KEPT:
                    _mirror(store.documents.all(kind), kind, DocumentFiles(target))
                record.accept(name, database)
                os.replace(database, target / DATABASE)
                sync(target)
                break
            lost = missing
    else:
        raise ValueError(
            "Tables and runs were deleted while they were copied, again and again. "
            "Try again in a moment."
        )
    backup.damaged |= {store.home / name for name in missing}
    _delete_others(target, needed | copied)
    backup.n_homes += 1


def _copy_files(store: Store, target: Path, backup: Backup) -> set[Path]:
    """Copy all folders that are not copied yet; return those of the home, by name."""
    files = store.files
    copied = set()
    for kind in KINDS:
        for folder, stat in files.listed(kind).items():
            name = folder.relative_to(files.home)
            if not files.is_copied(folder, target / name):
                try:
                    is_intact = files.copy(folder, target / name)
                    if not is_intact:  # or it was deleted and written anew meanwhile
                        is_intact = files.copy(folder, target / name)
                except FileNotFoundError:
                    continue  # it was deleted meanwhile
                except ValueError:  # an object that is no folder
                    backup.damaged.add(folder)
                    continue
                if not is_intact:
                    backup.damaged.add(folder)
                backup.n_new += 1
                backup.n_bytes += stat.size
            copied.add(name)
    return copied


def _copy_database(database: Database, path: Path) -> None:
    """Write the rows of one moment as an SQLite file; StoreError if it is damaged."""
    path.touch(mode=0o600)
    with explaining():
        if database.is_sqlite:
            _copy_sqlite(Path(database.engine.url.database or ""), path)
        else:
            _copy_rows(database, path)
        with closing(sqlite3.connect(path)) as link:
            # As a home has it: opening the copy does not write to it.
            link.execute("PRAGMA journal_mode=WAL")
            (verdict,) = link.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise StoreError(DAMAGED)
    sync(path)


def _copy_sqlite(file: Path, path: Path) -> None:
    address = f"{file.resolve().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(address, uri=True)) as source,
        closing(sqlite3.connect(path)) as link,
    ):
        source.backup(link)


def _copy_rows(database: Database, path: Path) -> None:
    # A dump needs pg_dump of the server's version, and opens as no home; the tables of
    # a store are the same in SQLite.
    engine = sa.create_engine(sa.URL.create("sqlite", database=str(path)))
    METADATA.create_all(engine)
    with database.reading() as source, engine.begin() as link:
        for table in METADATA.sorted_tables:
            rows = source.execution_options(yield_per=ROWS).execute(sa.select(table))
            for part in rows.mappings().partitions():
                link.execute(sa.insert(table), [dict(row) for row in part])
    engine.dispose()


def _needed(store: Store, database: Path) -> set[Path]:
    """Return the names of the folders without which a database's rows are no use."""
    with closing(sqlite3.connect(database)) as link:
        tables = link.execute("SELECT sha256 FROM tables").fetchall()
        finished = "SELECT DISTINCT key FROM run_trials WHERE status = 'finished'"
        trials = link.execute(finished).fetchall()
    folders = {store.table_folder(digest) for (digest,) in tables}
    folders |= {store.artifact(key).folder for (key,) in trials}
    return {folder.relative_to(store.home) for folder in folders}


def _mirror(texts: Mapping[str, str], kind: str, target: DocumentFiles) -> None:
    """Make the small texts of a kind in a backup those of the home."""
    for name, text in texts.items():
        target.write(kind, name, text)
    for name in target.all(kind):
        if name not in texts:
            target.delete(kind, name)


def _delete_others(target: Path, names: set[Path]) -> None:
    """Delete the folders of a backup that no longer are in its home."""
    files = Files(target)
    for kind in KINDS:
        for folder in files.listed(kind):
            if folder.relative_to(target) not in names:
                files.delete([folder])


def _remove_partial(target: Path) -> None:
    """Delete what backups that were killed have left half written."""
    for pattern in (f"{WRITING}*", f"*/{WRITING}*", f"*/*/{WRITING}*"):
        for path in target.glob(pattern):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def _check_place(home: Path, folder: Path) -> None:
    """Raise ValueError unless a folder lies beside the home."""
    place = folder.resolve()
    inside = home.resolve()
    if place.exists() and not place.is_dir():
        raise ValueError(f"{folder} is a file. Name a folder.")
    if place == inside or inside in place.parents:
        raise ValueError(
            f"{folder} lies in the home folder {home}, with which it would be lost. "
            "Name a folder elsewhere, best on another disk."
        )
    if place in inside.parents:
        raise ValueError(f"{folder} holds the home folder {home}. Name another folder.")


def _check_room(store: Store, target: Path) -> None:
    """Raise ValueError unless the disk has room for all that is new."""
    files = store.files
    needed = 0
    if store.database.is_sqlite:
        needed += Path(store.database.engine.url.database or "").stat().st_size
    for kind in KINDS:
        for folder, stat in files.listed(kind).items():
            if not (target / folder.relative_to(files.home)).exists():
                needed += stat.size
    free = shutil.disk_usage(target).free
    if needed > free:
        raise ValueError(
            f"The backup needs {size(needed)}, and the disk of {target} has "
            f"{size(free)} free. Make room on it, or name another folder. A backup "
            "that was there stands."
        )


@contextmanager
def _written(folder: Path) -> Iterator[None]:
    """Say of the folder of a backup, not of the store, that it cannot be written."""
    try:
        make_folder(folder)
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise ValueError(
                f"The disk of {folder} is full. Make room on it, or name another "
                "folder. A backup that was there stands."
            ) from error
        if error.errno in _UNUSABLE:
            name = error.filename or folder
            raise ValueError(
                f"{name} cannot be used: {error.strerror}. Name a folder that the user "
                "who runs this command may write."
            ) from error
        raise


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other backups out of a folder; ValueError if one is being made into it."""
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise ValueError(
            f"Another backup into {folder} is being made. Wait for its end."
        ) from None
    finally:
        os.close(lock)


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()
