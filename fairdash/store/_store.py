"""The store of one home folder."""

import os
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import pandas as pd
import sqlalchemy as sa

from fairdash.store._database import (
    DATASETS,
    RUN_TRIALS,
    RUNS,
    TABLES,
    TRIALS,
    Database,
)
from fairdash.store._documents import MONITORS
from fairdash.store._errors import DAMAGED, StoreError
from fairdash.store._files import Files
from fairdash.store._looks import LOOKS, LookStore
from fairdash.store._runs import RunStore
from fairdash.store._scores import ScoreStore
from fairdash.store._sessions import SessionFiles, SessionRecords, SessionTable
from fairdash.store._summaries import ANSWERS, SUMMARIES
from fairdash.store.server.users import USERS, server_of

KINDS = (
    "tables",
    "artifacts",
    "scores",
    SUMMARIES,
    ANSWERS,
    LOOKS,
)  # folders of the home


@dataclass(frozen=True)
class Kept:
    """A data set with its table and models, or a file that no data set is of.

    Attributes
    ----------
    kind : {"data set", "file"}
        A file holds scores or groups that a question needed.
    id : str
        What `Store.remove` takes.
    n_rows : int
        Of the table.
    n_bytes : int
        On the disk. A table of two data sets counts for each.
    created : float
        When it was added, in seconds since 1970.
    """

    kind: Literal["data set", "file"]
    id: str
    name: str
    n_rows: int
    n_runs: int
    n_bytes: int
    created: float


class Store(ScoreStore, RunStore, LookStore):
    """Tables, data sets and drafts, runs, trials and artifacts: all that survives.

    All files are in ``home``, unless ``files`` is the fsspec address of an object
    store, and the database too, unless ``url`` is the SQLAlchemy address of another.

    Attributes
    ----------
    user : str
        Id of the user whose home it is; "" where it is that of the server.
    root : Path
        Home folder of the server, whose engine drives the runs of all its homes.
    """

    def __init__(
        self, home: str | Path, url: str | None = None, files: str | None = None
    ) -> None:
        folder = Path(home)
        self.root = server_of(folder)
        self.user = folder.name if self.root != folder else ""
        schema = folder.name if folder.parent.name == USERS else None
        super().__init__(Database(folder, url, schema), Files(folder, files))
        # Where workers need not see the home folder: its name below theirs, else None.
        self.place: str | None = None
        if not self.database.is_sqlite and self.files.away is not None:
            self.place = f"{USERS}/{schema}" if schema else ""

    def delete_run(self, run_id: str) -> None:
        """Delete a run as `RunStore.delete_run`, and what was asked of it."""
        super().delete_run(run_id)
        self.delete_looks(run_id)

    def close(self) -> None:
        """Close all connections; what is asked afterwards opens new ones."""
        self.database.close()

    def check(self) -> None:
        """Raise StoreError unless the database of this store answers."""
        self.database.check()

    def has_engine(self) -> bool:
        """Tell whether an engine, of any machine, has claimed the runs of this server.

        It is False where a lock of the home folder says so.
        """
        schema = None if self.user else self.database.schema
        return self.database.is_claimed(schema)

    def delete_dataset(self, dataset_id: str) -> None:
        """Delete a data set with its runs, and its table if no other one is of it.

        Models of its runs go as in `delete_run`. Raises ValueError when there is no
        such data set, or a run on it is still open; nothing is deleted then.
        """
        record = self.dataset_record(dataset_id)
        runs = self.runs(dataset_id)
        still = [run.name for run in runs if not run.over]
        if still:
            message = f"{len(still)} runs on {record.name!r} are still open"
            raise ValueError(f"{message}: {', '.join(still[:3])}; cancel them first.")
        for run in runs:
            self.delete_run(run.id)
        with self.database.writing() as connection:
            new = sa.select(RUNS.c.id).where(RUNS.c.dataset_id == dataset_id)
            if connection.execute(new).first() is not None:
                message = f"A run on {record.name!r} was started just now"
                raise ValueError(f"{message}; cancel it first.")
            connection.execute(sa.delete(DATASETS).where(DATASETS.c.id == dataset_id))
        self.drop_draft(dataset_id)
        self.delete_scores(dataset_id)
        self.delete_looks(dataset_id)
        table = record.table_sha256
        with suppress(ValueError):  # another data set is of it, perhaps since just now
            self.delete_table(table)

    def kept(self) -> list[Kept]:
        """Return everything that is kept, with sizes and dates, newest first."""
        models = sa.select(RUNS.c.dataset_id, RUN_TRIALS.c.key).distinct()
        models = models.join(RUN_TRIALS, RUN_TRIALS.c.run_id == RUNS.c.id)
        with self.database.reading() as connection:
            tables = {row.sha256: row for row in connection.execute(sa.select(TABLES))}
            datasets = connection.execute(sa.select(DATASETS)).all()
            runs = pd.Series(connection.scalars(sa.select(RUNS.c.dataset_id)).all())
            trained = connection.execute(models).all()
        if any(data.table_sha256 not in tables for data in datasets):
            raise StoreError(DAMAGED)
        # By the id of a table or of a data set.
        n_bytes: Counter[str] = Counter()
        for folder, stat in self.files.listed("tables").items():
            n_bytes[folder.name] += stat.size
        for dataset_id, key in trained:
            model = self.files.stat(self.artifact(key).folder)
            if model is not None:
                n_bytes[dataset_id] += model.size
        for folder, stat in self.files.listed("scores").items():
            n_bytes[folder.parent.name] += stat.size
        n_runs = runs.value_counts().to_dict()
        entries: list[Kept] = []
        for data in datasets:
            table = tables[data.table_sha256]
            entry = Kept(
                kind="data set",
                id=data.id,
                name=data.name,
                n_rows=table.n_rows,
                n_runs=n_runs.get(data.id, 0),
                n_bytes=n_bytes[table.sha256] + n_bytes[data.id],
                created=data.created,
            )
            entries.append(entry)
        for digest in tables.keys() - {data.table_sha256 for data in datasets}:
            table = tables[digest]
            entry = Kept(
                kind="file",
                id=digest,
                name=table.name,
                n_rows=table.n_rows,
                n_runs=0,
                n_bytes=n_bytes[digest],
                created=table.created,
            )
            entries.append(entry)
        return sorted(entries, key=lambda entry: entry.created, reverse=True)

    def remove(self, key: str) -> None:
        """Delete a data set with its runs, or a file that no data set is of.

        Raises ValueError when nothing of this key is kept, or a run is still open.
        """
        if any(data.id == key for data in self.datasets()):
            self.delete_dataset(key)
        elif any(table.sha256 == key for table in self.tables()):
            self.delete_table(key)
        else:
            raise ValueError(f"Nothing that is kept here has the id {key!r}.")

    def tidy(self) -> None:
        """Finish or undo what processes that died left half done."""
        # Under the write lock: what is deleted now must not be added meanwhile.
        with self.database.writing() as connection:
            trials = set(connection.scalars(sa.select(TRIALS.c.key)))
            tables = set(connection.scalars(sa.select(TABLES.c.sha256)))
            needed = {"tables": tables, "artifacts": trials}
            for kind in KINDS:
                self.files.tidy(kind, needed.get(kind))

    def sessions(self) -> SessionRecords:
        """Return the sessions of a server on this store, which its replicas share."""
        if self.database.is_sqlite:
            return SessionFiles(self.home / "sessions")
        return SessionTable(self.database)

    def keep_monitor(self, name: str, text: str) -> None:
        """Keep the text of a monitor, in place of the one before."""
        self.documents.write(MONITORS, _monitor_name(name), text)

    def monitor(self, name: str) -> str:
        """Return the text of a monitor; ValueError if there is none."""
        text = self.documents.get(MONITORS, _monitor_name(name))
        if text is None:
            raise ValueError(
                f"There is no monitor {name!r}; see `fairdash monitor show`."
            )
        return text

    def monitors(self) -> list[str]:
        """Return the texts of all monitors, in no order of meaning."""
        return list(self.documents.all(MONITORS).values())

    def delete_monitor(self, name: str) -> None:
        """Delete a monitor with what it has seen; ValueError if there is none."""
        self.monitor(name)
        self.documents.delete(MONITORS, _monitor_name(name))


def home_folder() -> Path:
    """Return the folder of all data: ``$FAIRDASH_HOME``, else ``~/.fairdash``."""
    return Path(os.environ.get("FAIRDASH_HOME") or "~/.fairdash").expanduser()


def open_store(
    home: str | Path | None = None, url: str | None = None, files: str | None = None
) -> Store:
    """Open the store of a home folder; create it if needed.

    The folder is ``$FAIRDASH_HOME`` by default, else ``~/.fairdash``; the SQLAlchemy
    address of the database ``$FAIRDASH_DATABASE``, else an SQLite file in the folder;
    the fsspec address of all files ``$FAIRDASH_FILES``, else the folder. Users of a
    server share neither tables nor files: each has a schema of the database and a
    folder of the object store.
    """
    folder = Path(home or home_folder())
    url = url or os.environ.get("FAIRDASH_DATABASE")
    files = files or os.environ.get("FAIRDASH_FILES")
    if files and folder.parent.name == USERS:
        files = f"{files.rstrip('/')}/{USERS}/{folder.name}"
    return Store(folder, url, files)


def _monitor_name(name: str) -> str:
    """Return the name of the document of a monitor: a user's word is never a path."""
    return sha256(name.encode()).hexdigest()[:32]
