"""Uploaded tables, the data sets made from them, and roles that are being edited."""

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import sqlalchemy as sa

from fairdash.box import Watch
from fairdash.datasets import (
    Dataset,
    Roles,
    Subgroups,
    TableNotes,
    make_dataset,
    overviews,
    reading,
)
from fairdash.store._database import DATASETS, TABLES, Database
from fairdash.store._documents import DRAFTS, DocumentFiles, Documents, DocumentTable
from fairdash.store._files import WRITING, Files, make_folder
from fairdash.store._records import DatasetRecord, Draft, TableRecord
from fairdash.store._summaries import SummaryStore

TABLE_FILE = "table.parquet"
FORMAT_FILE = "format.json"
MOST_TABLES = 3  # in memory
MOST_DATASETS = 8  # in memory; they share the rows of tables
MOST_NOTES = 64  # on tables, small where no column was renamed
# Fields of roles that decide no row: data sets that differ in these alone share their
# rows in memory.
NO_ROW_DECISIONS: dict[str, Any] = {
    "subgroup_columns": (),
    "left_out": {},
    "feature_order": (),
    "positive_name": "",
    "positive_is": None,
    "scores": (),
}
OVERVIEW = sha256(b"overview").hexdigest()[:16]  # the name of that answer
MOST_OVERVIEWS = 8  # in memory
ID_LENGTH = 16  # of the key of a data set; enough to be unique, short in an address


class TableStore(SummaryStore):
    """Tables by the hash of their file, data sets by the hash of table and roles.

    A draft of roles belongs to one of them.

    Attributes
    ----------
    documents : Documents
        Where drafts and monitors are kept.
    """

    def __init__(self, database: Database, files: Files) -> None:
        self.database = database
        self.files = files
        self.home = files.home
        self.documents: Documents = DocumentFiles(files.home)
        if not database.is_sqlite:
            self.documents = DocumentTable(database, self.documents)
        self._table = lru_cache(MOST_TABLES)(self._read_table)
        self._notes = lru_cache(MOST_NOTES)(self._read_notes)
        self._overview = lru_cache(MOST_OVERVIEWS)(self._read_overview)
        self._rows = lru_cache(MOST_TABLES)(self._use_rows)
        self._dataset = lru_cache(MOST_DATASETS)(self._make_dataset)

    def add_table(
        self,
        source: bytes | Path,
        name: str,
        *,
        sheet: str | None = None,
        table_format: reading.TableFormat | None = None,
        watch: Watch = lambda seconds, waiting: None,
    ) -> str:
        """Keep an uploaded file and return its sha256; twice the same is once.

        Another sheet or another format makes another table. Bytes come from outside:
        they are read in the box, see `fairdash.datasets.reading.convert_apart`; a path
        is of a file of this machine. Raises ValueError when it cannot be read.
        """
        digest = reading.table_digest(source, sheet, table_format)
        if self._has_table(digest):
            return digest
        with self.workspace() as folder:
            path = Path(folder) / TABLE_FILE
            form: dict[str, Any] = {
                "name": name,
                "sheet": sheet,
                "table_format": table_format,
            }
            if isinstance(source, bytes):
                owner = str(self.home)
                table = reading.convert_apart(source, path, watch, owner=owner, **form)
            else:
                table = reading.convert_table(source, path, **form)
            self.adopt_table(digest, path, table, name, table.table_format)
        return digest

    def add_frame(self, frame: pd.DataFrame, name: str) -> str:
        """Keep a table that was made of others, with its notes; return its digest."""
        with self.workspace() as folder:
            path = Path(folder) / "made.parquet"
            frame.to_parquet(path, index=False)
            return self.add_table(path, name)

    def adopt_table(
        self,
        digest: str,
        path: Path,
        table: reading.TableFile,
        name: str,
        table_format: reading.TableFormat | None,
    ) -> None:
        """Keep a table that was read from a file of this digest.

        ``path`` is of the table as `convert_table` wrote it, ``name`` of the file it
        was read from; ``table_format`` says how.
        """
        size = path.stat().st_size
        files: dict[str, bytes | Path] = {TABLE_FILE: path}
        if table_format is not None:
            files[FORMAT_FILE] = json.dumps(asdict(table_format)).encode()
        record = {
            "sha256": digest,
            "name": name,
            "n_rows": table.n_rows,
            "n_columns": table.n_columns,
            "size": size,
            "created": time.time(),
        }
        # Under the write lock, so that nobody deletes the table between its row and its
        # files.
        with self.database.writing() as connection:
            self.database.upsert(connection, TABLES, [record])
            self.files.write(self.table_folder(digest), files)

    def workspace(self) -> TemporaryDirectory[str]:
        """Return a folder for files that are being made into some of the store."""
        make_folder(self.home / "tables")
        return TemporaryDirectory(prefix=WRITING, dir=self.home / "tables")

    def table_format(self, digest: str) -> reading.TableFormat | None:
        """Return the format of an uploaded file, or None where it was not kept."""
        path = self.files.local(self.table_folder(digest)) / FORMAT_FILE
        if not path.exists():
            return None
        return reading.TableFormat(**json.loads(path.read_text()))

    def tables(self) -> list[TableRecord]:
        """Return all uploaded files, newest first."""
        query = sa.select(TABLES).order_by(TABLES.c.created.desc())
        return [TableRecord(**row) for row in self.database.rows(query)]

    def table(self, digest: str) -> pd.DataFrame:
        """Return an uploaded file as it was read.

        Raises ValueError when no such file was uploaded.
        """
        return self._table(digest).copy(deep=False)

    def delete_table(self, digest: str) -> None:
        """Delete an uploaded table that no data set is of.

        Raises ValueError when a data set is of it.
        """
        of_it = sa.select(DATASETS.c.name).where(DATASETS.c.table_sha256 == digest)
        with self.database.writing() as connection:
            names = connection.execute(of_it).scalars().all()
            if names:
                message = f"The table is of the data sets {list(names)}"
                raise ValueError(f"{message}; delete these.")
            connection.execute(sa.delete(TABLES).where(TABLES.c.sha256 == digest))
        # The row goes first, and its transaction is over before a file is touched: who
        # dies between the two leaves files without a row, which `tidy` deletes. The
        # table may have been added again since then.
        again = sa.select(TABLES.c.sha256).where(TABLES.c.sha256 == digest)
        with self.database.writing() as connection:
            if connection.execute(again).first() is None:
                self.files.delete([self.table_folder(digest)])
        self.delete_answers(digest)
        self._table.cache_clear()
        self._notes.cache_clear()
        self._overview.cache_clear()
        self._dataset.cache_clear()
        self.drop_draft(digest)

    def add_dataset(
        self, table: str, roles: Roles, name: str, subgroups: Subgroups | None = None
    ) -> str:
        """Keep the roles of a table and return the id of the data set.

        The id begins the data set's key, which follows from the table and from
        everything in the roles that decides training. Subgroups are chosen at reading
        time: the same data set with other subgroups keeps its id, name and results.
        Raises ValueError when the table is unknown, or deleted meanwhile, or the roles
        do not fit it.
        """
        dataset = self.draft_dataset(table, roles, name)
        dataset_id = dataset.key[:ID_LENGTH]
        subgroups = subgroups or Subgroups(columns=roles.subgroup_columns)
        record = {
            "id": dataset_id,
            "table_sha256": table,
            "name": name,
            "roles": roles.model_dump_json(),
            "subgroups": subgroups.model_dump_json(),
            "created": time.time(),
        }
        try:
            with self.database.writing() as connection:
                self.database.upsert(
                    connection, DATASETS, [record], update=["roles", "subgroups"]
                )
        except sa.exc.IntegrityError:
            raise ValueError("The table was deleted just now; add it again.") from None
        return dataset_id

    def datasets(self) -> list[DatasetRecord]:
        """Return all data sets, newest first."""
        query = _DATASETS.order_by(DATASETS.c.created.desc())
        return [_record(row) for row in self.database.rows(query)]

    def dataset_record(self, dataset_id: str) -> DatasetRecord:
        """Return the record of a data set, without reading its rows.

        Raises ValueError when there is no such data set.
        """
        rows = self.database.rows(_DATASETS.where(DATASETS.c.id == dataset_id))
        if not rows:
            raise ValueError(f"There is no data set {dataset_id!r} in this store.")
        return _record(rows[0])

    def dataset(self, dataset_id: str) -> Dataset:
        """Return a data set, from memory when it was used lately.

        Raises ValueError when there is no such data set.
        """
        record = self.dataset_record(dataset_id)
        return self.draft_dataset(record.table_sha256, record.roles, record.name)

    def draft_dataset(self, table: str, roles: Roles, name: str) -> Dataset:
        """Return the data set that `add_dataset` would keep, without keeping it.

        Raises ValueError when the table is unknown or the roles do not fit it.
        """
        return self._dataset(table, roles.model_dump_json(), name)

    def draft(self, key: str) -> Draft | None:
        """Return the draft kept under ``key``, the id of a data set or of a table.

        None if there is none, or it was written by a version with other roles.
        """
        text = self.documents.get(DRAFTS, _draft_name(key))
        if text is None:
            return None
        try:
            draft = json.loads(text)
            return Draft(
                Roles.model_validate(draft["roles"]),
                Subgroups.model_validate(draft["subgroups"]),
                int(draft["version"]),
            )
        except (KeyError, ValueError):
            return None

    def keep_draft(self, key: str, draft: Draft) -> None:
        """Keep a draft instead of the one before."""
        values = {
            "roles": draft.roles.model_dump(mode="json"),
            "subgroups": draft.subgroups.model_dump(mode="json"),
            "version": draft.version,
        }
        self.documents.write(DRAFTS, _draft_name(key), json.dumps(values))

    def drop_draft(self, key: str) -> None:
        """Forget a draft; nothing happens if there is none."""
        self.documents.delete(DRAFTS, _draft_name(key))

    def _has_table(self, digest: str) -> bool:
        query = sa.select(TABLES.c.sha256).where(TABLES.c.sha256 == digest)
        return bool(self.database.rows(query))

    def table_folder(self, digest: str) -> Path:
        """Return the folder of a table, whether or not it exists yet."""
        return self.home / "tables" / digest[:2] / digest

    def table_path(self, digest: str) -> Path:
        """Return the Parquet file of a table that is kept; ValueError if damaged."""
        return self.files.intact(self.table_folder(digest) / TABLE_FILE)

    def table_notes(self, digest: str) -> TableNotes:
        """Return the notes on a table, without its rows; ValueError if damaged."""
        return self._notes(digest)

    def overview(self, digest: str, *, isolated: bool = False) -> "overviews.Overview":
        """Return what is shown first of a table: its guessed roles, and checks of them.

        It is computed once and kept with the table; computed anew where other code
        computed it. With ``isolated`` the box computes it, unless that comes to its
        limits: other sessions of a server do not wait then. Raises ValueError when no
        such table was uploaded.
        """
        return self._overview(digest, isolated)

    def has_overview(self, digest: str) -> bool:
        """Return whether an overview of a table was kept, by any version."""
        return self.has_answer(digest, OVERVIEW)

    def _read_overview(self, digest: str, isolated: bool) -> "overviews.Overview":
        query = sa.select(TABLES.c.name).where(TABLES.c.sha256 == digest)
        rows = self.database.rows(query)
        if not rows:
            raise _no_table(digest)
        name = rows[0]["name"]
        version = overviews.overview_version()
        content = self.answer(digest, OVERVIEW, version)
        overview = None if content is None else overviews.read_overview(content, name)
        if overview is not None:
            return overview
        if isolated:
            path = self.table_path(digest)
            overview = overviews.overview_apart(path, name, owner=str(self.home))
        if overview is None:
            overview = overviews.overview_of(self.table(digest), name)
        content = overview.model_dump_json().encode()
        self.keep_answer(digest, OVERVIEW, version, content)
        return overview

    def _read_notes(self, digest: str) -> TableNotes:
        return reading.table_notes(self.table_path(digest))

    def _read_table(self, digest: str) -> pd.DataFrame:
        with suppress(FileNotFoundError):  # it is deleted right now
            if self._has_table(digest):
                return reading.load_table(self.table_path(digest))
        raise _no_table(digest)

    def _make_dataset(self, table: str, roles: str, name: str) -> Dataset:
        checked_roles = Roles.model_validate_json(roles)
        if not set(checked_roles.columns()) <= set(self._table(table)):
            # A column is missing: this raises the error that says which.
            return make_dataset(self.table(table), checked_roles, name=name)
        rows = self._rows(
            table, checked_roles.model_copy(update=NO_ROW_DECISIONS).model_dump_json()
        )
        return replace(rows, roles=checked_roles, name=name)

    def _use_rows(self, table: str, roles: str) -> Dataset:
        checked_roles = Roles.model_validate_json(roles)
        return make_dataset(self.table(table), checked_roles, name="", key=table)


_DATASETS = sa.select(DATASETS, TABLES.c.name.label("table_name"), TABLES.c.n_rows)
_DATASETS = _DATASETS.join(TABLES, TABLES.c.sha256 == DATASETS.c.table_sha256)


def _draft_name(key: str) -> str:
    """Return the name of a draft; a key of an address may be any text."""
    return Path(key).name


def _no_table(digest: str) -> ValueError:
    return ValueError(f"No table {digest!r} was uploaded here.")


def _record(row: Mapping[Any, Any]) -> DatasetRecord:
    fields = {str(name): value for name, value in row.items()}
    fields["roles"] = Roles.model_validate_json(fields["roles"])
    fields["subgroups"] = Subgroups.model_validate_json(fields["subgroups"])
    return DatasetRecord(**fields)
