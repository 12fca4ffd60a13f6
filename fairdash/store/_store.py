"""The store of one home folder."""

import os
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import sqlalchemy as sa

from fairdash._wording import plural, size
from fairdash.store._database import (
    DATASETS,
    RUN_TRIALS,
    RUNS,
    TABLES,
    TRIALS,
    Database,
    make_schema,
)
from fairdash.store._disk import ABANDONED_SECONDS, Stat
from fairdash.store._files import Files
from fairdash.store._monitors import MonitorStore
from fairdash.store._runs import RunStore
from fairdash.store._scores import ScoreStore
from fairdash.store._tables import TableStore
from fairdash.store._trouble import DAMAGED, StoreError

USERS = "users"  # folder of the home folders of users, where there is a login
KINDS = "tables", "artifacts", "scores"  # folders of the home


@dataclass(frozen=True)
class Kept:
    """A data set with its table and models, or a file that no data set is of.

    Attributes
    ----------
    kind : {"data set", "file"}
        A file holds scores or groups that a question needed.
    id : str
        What `Store.remove` takes.
    n_rows, n_columns : int
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
    n_columns: int
    n_runs: int
    n_bytes: int
    created: float


class Store:
    """What survives: tables, data sets and drafts, runs, trials and artifacts.

    Its verbs are those of `TableStore`, `ScoreStore` and `RunStore`, on one database;
    what concerns several stands here. All files are in ``home``, unless ``files`` is
    the fsspec address of an object store, and the database too, unless ``url`` is the
    SQLAlchemy address of another.
    """

    def __init__(
        self, home: str | Path, url: str | None = None, files: str | None = None
    ) -> None:
        self.home = Path(home)
        self.database = Database(self.home, url)
        self.files = Files(self.home, files)
        # where workers need not see the home folder, its name below theirs, else None
        self.place: str | None = None
        if not self.database.is_sqlite and self.files.away is not None:
            of_user = self.home.parent.name == USERS
            self.place = f"{USERS}/{self.home.name}" if of_user else ""

        tables = self._tables = TableStore(self.database, self.files)
        self.add_table = tables.add_table
        self.adopt_table = tables.adopt_table
        self.workspace = tables.workspace
        self.table_path = tables.table_path
        self.table = tables.table
        self.tables = tables.tables
        self.table_format = tables.table_format
        self.was_read_from = tables.was_read_from
        self.delete_table = tables.delete_table
        self.add_dataset = tables.add_dataset
        self.dataset = tables.dataset
        self.datasets = tables.datasets
        self.dataset_record = tables.dataset_record
        self.draft_dataset = tables.draft_dataset
        self.rename_dataset = tables.rename_dataset
        self.draft = tables.draft
        self.keep_draft = tables.keep_draft
        self.drop_draft = tables.drop_draft

        scores = self._scores = ScoreStore(self.database, tables, self.files)
        self.log_scores = scores.log_scores
        self.log_model = scores.log_model
        self.score_model = scores.score_model
        self.own_scores = scores.own_scores
        self.carry_scores = scores.carry_scores
        self.left_scores = scores.left_scores
        self.packed_scores = scores.packed_scores
        self.adopt_scores = scores.adopt_scores
        self.score_values = scores.score_values
        self.delete_scores = scores.delete_scores

        runs = RunStore(self.database, self.files)
        self.add_run = runs.add_run
        self.run = runs.run
        self.runs = runs.runs
        self.open_runs = runs.open_runs
        self.run_of = runs.run_of
        self.rename_run = runs.rename_run
        self.ask_cancel = runs.ask_cancel
        self.set_status = runs.set_status
        self.delete_run = runs.delete_run
        self.snapshot = runs.snapshot
        self.unfinished = runs.unfinished
        self.put_trial = runs.put_trial
        self.fail_trial = runs.fail_trial
        self.put_progress = runs.put_progress
        self.forget_progress = runs.forget_progress
        self.artifact = runs.artifact

        monitors = MonitorStore(self.home)
        self.keep_monitor = monitors.keep_monitor
        self.monitor = monitors.monitor
        self.monitors = monitors.monitors
        self.delete_monitor = monitors.delete_monitor

    def close(self) -> None:
        """Close all connections; what is asked afterwards opens new ones."""
        self.database.close()

    def delete_dataset(self, dataset_id: str) -> None:
        """Delete a data set with its runs, and its table if no other one is of it.

        Models of its runs go as in `RunStore.delete_run`. Raises ValueError when there
        is no such data set, or a run on it is still open; nothing is deleted then.
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
        table = record.table_sha256
        with suppress(ValueError):  # another data set is of it, perhaps since just now
            self.delete_table(table)

    def kept(self) -> list[Kept]:
        """Return everything that is kept, with sizes and dates, newest first."""
        with self.database.reading() as connection:
            tables = {row.sha256: row for row in connection.execute(sa.select(TABLES))}
            datasets = connection.execute(sa.select(DATASETS)).all()
            runs = connection.execute(sa.select(RUNS.c.id, RUNS.c.dataset_id)).all()
            trained = sa.select(RUNS.c.dataset_id, RUN_TRIALS.c.key).distinct()
            trained = trained.join(RUN_TRIALS, RUN_TRIALS.c.run_id == RUNS.c.id)
            models = connection.execute(trained).all()
        if any(data.table_sha256 not in tables for data in datasets):
            raise StoreError(DAMAGED)
        n_runs, model_bytes = defaultdict[str, int](int), defaultdict[str, int](int)
        for run in runs:
            n_runs[run.dataset_id] += 1
        for model in models:
            stat = self.files.stat(self.artifact(model.key).folder)
            model_bytes[model.dataset_id] += 0 if stat is None else stat.size
        for folder, stat in self.files.listed("scores").items():
            model_bytes[folder.parent.name] += stat.size
        there = self.files.listed("tables").items()
        table_bytes = defaultdict(int, {path.name: stat.size for path, stat in there})
        found = [
            Kept(
                "data set",
                data.id,
                data.name,
                tables[data.table_sha256].n_rows,
                tables[data.table_sha256].n_columns,
                n_runs[data.id],
                table_bytes[data.table_sha256] + model_bytes[data.id],
                data.created,
            )
            for data in datasets
        ]
        of_data = {data.table_sha256 for data in datasets}
        found += [
            Kept(
                "file",
                digest,
                table.name,
                table.n_rows,
                table.n_columns,
                0,
                table_bytes[digest],
                table.created,
            )
            for digest, table in tables.items()
            if digest not in of_data
        ]
        return sorted(found, key=lambda one: one.created, reverse=True)

    def remove(self, key: str) -> None:
        """Delete a data set with its runs, or a file that no data set is of.

        Raises ValueError when nothing of this key is kept, or a run is still open.
        """
        kinds = {one.id: one.kind for one in self.kept()}
        if key not in kinds:
            raise ValueError(f"Nothing that is kept here has the id {key!r}.")
        if kinds[key] == "data set":
            self.delete_dataset(key)
        else:
            self.delete_table(key)

    def check(self) -> list[str]:
        """Return what is wrong, in words: of the database, of files, and orphans.

        Every file is read and compared with the digest it was written with. A folder
        that nothing listed belongs to is an orphan, such as a run that was deleted
        while it was trained leaves.
        """
        found = self.database.faults()
        finished = RUN_TRIALS.c.status == "finished"
        with self.database.reading() as connection:
            needed = {
                "tables": set(connection.scalars(sa.select(TABLES.c.sha256))),
                "artifacts": set(
                    connection.scalars(sa.select(RUN_TRIALS.c.key).where(finished))
                ),
            }
            orphans = self._orphans(connection)
        there = {kind: self.files.listed(kind) for kind in KINDS}
        for kind, keys in needed.items():
            missing = keys - {folder.name for folder in there[kind]}
            found += [f"{key} of {kind} is missing." for key in sorted(missing)]
        for folder, stat in orphans.items():
            kind = folder.relative_to(self.home).parts[0]
            found.append(f"{folder.name} of {kind} is an orphan of {size(stat.size)}.")
        for folders in there.values():
            found += [line for one in folders for line in self.files.damage(one)]
        return found

    def tidy(self) -> None:
        """Finish or undo what processes that died left half done."""
        with self.database.writing() as connection:  # nobody deletes meanwhile
            trials = set(connection.scalars(sa.select(TRIALS.c.key)))
            tables = set(connection.scalars(sa.select(TABLES.c.sha256)))
            kept = {"tables": tables, "artifacts": trials}
            for kind in KINDS:
                self.files.tidy(kind, kept.get(kind, set()))

    def vacuum(self, *, dry_run: bool = False) -> list[str]:
        """Remove what belongs to nothing, compact the database; return what that frees.

        Orphans of `check` and half written files go when they are an hour old: whoever
        writes them may still be alive. With ``dry_run`` everything stays.
        """
        with self.database.writing() as connection:  # nobody begins to use one
            old = {
                folder: stat
                for folder, stat in self._orphans(connection).items()
                if time.time() - stat.written > ABANDONED_SECONDS
            }
            half = [stat for kind in KINDS for stat in self.files.half(kind).values()]
            if not dry_run:
                with self.files.removing(old):
                    pass
        if not dry_run:
            self.tidy()
        freed = {
            plural(len(old), "orphan"): sum(stat.size for stat in old.values()),
            plural(len(half), "half written folder"): sum(one.size for one in half),
            "pages of the database": self.database.compact(dry_run=dry_run),
        }
        return [f"{what}: {size(n_bytes)}" for what, n_bytes in freed.items()]

    def _orphans(self, connection: sa.Connection) -> dict[Path, Stat]:
        """Return the folders that belong to nothing that is listed."""
        owners = TABLES.c.sha256, TRIALS.c.key, DATASETS.c.id
        found = {}
        for kind, column in zip(KINDS, owners, strict=True):
            known = set(connection.scalars(sa.select(column)))
            for folder, stat in self.files.listed(kind).items():
                owner = folder.parent if kind == "scores" else folder
                if owner.name not in known:
                    found[folder] = stat
        return found


def home_folder() -> Path:
    """Return the folder of all data: ``$FAIRDASH_HOME``, else ``~/.fairdash``."""
    return Path(os.environ.get("FAIRDASH_HOME") or "~/.fairdash").expanduser()


def open_store(
    home: str | Path | None = None, url: str | None = None, files: str | None = None
) -> Store:
    """Open the store of a home folder; create it or bring it up to date if needed.

    The folder is ``$FAIRDASH_HOME`` by default, else ``~/.fairdash``; the SQLAlchemy
    address of the database ``$FAIRDASH_DATABASE``, else an SQLite file in the folder;
    the fsspec address of all files ``$FAIRDASH_FILES``, else the folder.
    """
    folder = Path(home or home_folder())
    return Store(folder, database_of(folder, url), files_of(folder, files))


def files_of(home: Path, url: str | None = None) -> str | None:
    """Return the address of the files of a home folder, None for the folder itself."""
    url = url or os.environ.get("FAIRDASH_FILES")
    if not url or home.parent.name != USERS:
        return url
    return f"{url.rstrip('/')}/{USERS}/{home.name}"


def database_of(home: Path, url: str | None = None) -> str | None:
    """Return the address of the database of a home folder, None for its own file.

    Users share no tables: each has a schema of the database that the server names.
    """
    url = url or os.environ.get("FAIRDASH_DATABASE")
    if not url or home.parent.name != USERS:
        return url
    address = sa.make_url(url)
    make_schema(address, home.name)
    own = address.update_query_dict({"options": f"-csearch_path={home.name}"})
    return own.render_as_string(hide_password=False)
