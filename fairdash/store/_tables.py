"""Uploaded tables, the data sets made from them, and roles that are being edited."""

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, Generic, TypeVar

import pandas as pd
import sqlalchemy as sa

from fairdash.box import Watch
from fairdash.datasets import (
    Dataset,
    Roles,
    Subgroups,
    TableFile,
    TableFormat,
    convert_apart,
    convert_table,
    find_reading,
    load_table,
    make_dataset,
    table_digest,
)
from fairdash.store._database import DATASETS, TABLES, Database
from fairdash.store._disk import WRITING, make_folder, write_file
from fairdash.store._files import Files
from fairdash.store._records import DatasetRecord, Draft, TableRecord

TABLE_FILE, FORMAT_FILE = "table.parquet", "format.json"
LOADED = 8  # tables and data sets kept in memory, each
LIMIT = 1 << 30  # bytes of them, each; one of any size is kept
APART: dict[str, Any] = {  # fields of roles that decide no row
    "subgroup_columns": (),
    "left_out": {},
    "feature_order": (),
    "positive_name": "",
    "positive_is": None,
    "scores": (),
}
ID_LENGTH = 16  # of the key of a data set; enough to be unique, short in an address

Value = TypeVar("Value")


class TableStore:
    """Tables by the hash of their file, data sets by the hash of table and roles.

    A draft of roles belongs to one of them, in a file beside the database.
    """

    def __init__(self, database: Database, files: Files) -> None:
        self._database, self._files = database, files
        self._home = files.home
        self._table = Recent(self._read_table, _bytes, most=LOADED, limit=LIMIT)
        self._rows = Recent(self._use_rows, _own_bytes, most=LOADED, limit=LIMIT)
        self._dataset = Recent(self._make_dataset, _own_bytes, most=LOADED, limit=LIMIT)

    def add_table(
        self,
        source: bytes | Path,
        name: str,
        *,
        sheet: str | None = None,
        table_format: TableFormat | None = None,
        watch: Watch = lambda seconds, waiting: None,
    ) -> str:
        """Keep an uploaded file and return its sha256; twice the same is once.

        The table is written as Parquet while it is read, so that memory holds a few
        rows only. Another sheet or another format makes another table. Bytes come from
        outside: they are read in the box, see `fairdash.datasets.convert_apart`; a path
        is of a file of this machine. Raises ValueError when it cannot be read.
        """
        digest = table_digest(source, sheet, table_format)
        if self._known_table(digest):
            return digest
        with self.workspace() as folder:
            path = Path(folder) / TABLE_FILE
            told: dict[str, Any] = {
                "name": name,
                "sheet": sheet,
                "table_format": table_format,
            }
            if isinstance(source, bytes):
                size = len(source)
                table = convert_apart(
                    source, path, watch, owner=str(self._home), **told
                )
            else:
                size = source.stat().st_size
                table = convert_table(source, path, **told)
            self._keep(digest, name, size, path, table, table.table_format)
        return digest

    def adopt_table(
        self,
        digest: str,
        path: Path,
        table: TableFile,
        name: str,
        table_format: TableFormat | None,
    ) -> None:
        """Keep a table that another store read from a file of this digest.

        ``path`` is of the table as `convert_table` wrote it, ``name`` of the file it
        was read from; ``table_format`` says how.
        """
        size = path.stat().st_size
        self._keep(digest, name, size, path, table, table_format)

    def workspace(self) -> TemporaryDirectory[str]:
        """Return a folder for files that are being made into some of the store."""
        make_folder(self._home / "tables")
        return TemporaryDirectory(prefix=WRITING, dir=self._home / "tables")

    def _keep(
        self,
        digest: str,
        name: str,
        size: int,
        path: Path,
        known: TableFile,
        table_format: TableFormat | None,
    ) -> None:
        """Make a table that was converted to ``path`` one of the store."""
        files: dict[str, bytes | Path] = {TABLE_FILE: path}
        if table_format is not None:
            files[FORMAT_FILE] = json.dumps(asdict(table_format)).encode()
        record = {
            "sha256": digest,
            "name": name,
            "n_rows": known.n_rows,
            "n_columns": known.n_columns,
            "size": size,
            "created": time.time(),
        }
        with self._database.writing() as connection:  # nobody deletes meanwhile
            self._database.upsert(connection, TABLES, [record])
            self._files.write(self._table_folder(digest), files)

    def table_format(self, digest: str) -> TableFormat | None:
        """Return how an uploaded file was read, or None where that was not kept."""
        path = self._files.local(self._table_folder(digest)) / FORMAT_FILE
        return TableFormat(**json.loads(path.read_text())) if path.exists() else None

    def was_read_from(self, digest: str, source: bytes | Path) -> bool:
        """Tell whether a table was read from a file, in whatever format that was."""
        return find_reading(digest, source, self.table_format(digest)) is not None

    def tables(self) -> list[TableRecord]:
        """Return all uploaded files, newest first."""
        query = sa.select(TABLES).order_by(TABLES.c.created.desc())
        return [TableRecord(**row) for row in self._database.rows(query)]

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
        with ExitStack() as removal, self._database.writing() as connection:
            names = connection.execute(of_it).scalars().all()
            if names:
                message = f"The table is of the data sets {list(names)}"
                raise ValueError(f"{message}; delete these.")
            connection.execute(sa.delete(TABLES).where(TABLES.c.sha256 == digest))
            folder = self._table_folder(digest)
            removal.enter_context(self._files.removing([folder]))
        self._table.clear()
        self._dataset.clear()
        self.drop_draft(digest)

    def add_dataset(
        self,
        table: str,
        roles: Roles,
        name: str,
        subgroups: Subgroups | None = None,
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
            with self._database.writing() as connection:
                self._database.upsert(
                    connection, DATASETS, [record], update=["roles", "subgroups"]
                )
        except sa.exc.IntegrityError:
            raise ValueError("The table was deleted just now; add it again.") from None
        return dataset_id

    def datasets(self) -> list[DatasetRecord]:
        """Return all data sets, newest first."""
        query = _DATASETS.order_by(DATASETS.c.created.desc())
        return [_record(row) for row in self._database.rows(query)]

    def dataset_record(self, dataset_id: str) -> DatasetRecord:
        """Return what is known of a data set without reading its rows.

        Raises ValueError when there is no such data set.
        """
        found = self._database.rows(_DATASETS.where(DATASETS.c.id == dataset_id))
        if not found:
            raise ValueError(f"There is no data set {dataset_id!r} in this store.")
        return _record(found[0])

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

    def rename_dataset(self, dataset_id: str, name: str) -> None:
        """Give a data set another name."""
        change = sa.update(DATASETS).where(DATASETS.c.id == dataset_id)
        self._database.execute(change.values(name=name))

    def draft(self, key: str) -> Draft | None:
        """Return the draft kept under ``key``, the id of a data set or of a table.

        None if there is none, or it was written by a version with other roles.
        """
        try:
            known = json.loads(self._draft_path(key).read_text())
            return Draft(
                Roles.model_validate(known["roles"]),
                Subgroups.model_validate(known["subgroups"]),
                int(known["version"]),
            )
        except (FileNotFoundError, KeyError, ValueError):
            return None

    def keep_draft(self, key: str, draft: Draft) -> None:
        """Keep a draft instead of the one before."""
        path = self._draft_path(key)
        values = {
            "roles": draft.roles.model_dump(mode="json"),
            "subgroups": draft.subgroups.model_dump(mode="json"),
            "version": draft.version,
        }
        write_file(path, json.dumps(values))

    def drop_draft(self, key: str) -> None:
        """Forget a draft; nothing happens if there is none."""
        self._draft_path(key).unlink(missing_ok=True)

    def _known_table(self, digest: str) -> bool:
        query = sa.select(TABLES.c.sha256).where(TABLES.c.sha256 == digest)
        return bool(self._database.rows(query))

    def _table_folder(self, digest: str) -> Path:
        return self._home / "tables" / digest[:2] / digest

    def table_path(self, digest: str) -> Path:
        """Return the Parquet file of a table that is kept; ValueError if damaged."""
        return self._files.intact(self._table_folder(digest) / TABLE_FILE)

    def _read_table(self, digest: str) -> pd.DataFrame:
        with suppress(FileNotFoundError):  # it is deleted right now
            if self._known_table(digest):
                return load_table(self.table_path(digest), compact=True)
        raise ValueError(f"No table {digest!r} was uploaded here.")

    def _make_dataset(self, table: str, roles: str, name: str) -> Dataset:
        known = Roles.model_validate_json(roles)
        if not set(known.columns()) <= set(self._table(table)):
            return make_dataset(self.table(table), known, name=name)  # says which
        rows = self._rows(table, known.model_copy(update=APART).model_dump_json())
        return replace(rows, roles=known, name=name)

    def _use_rows(self, table: str, roles: str) -> Dataset:
        known = Roles.model_validate_json(roles)
        return make_dataset(self.table(table), known, name="", key=table)

    def _draft_path(self, key: str) -> Path:
        return self._home / "drafts" / f"{Path(key).name}.json"


class Recent(Generic[Value]):
    """Values made from keys, kept until others have taken their room.

    The value made last is kept whatever its size, so one large table at most. ``make``
    returns the value of a key, ``size`` its bytes; at most ``most`` of them are kept,
    and ``limit`` bytes.
    """

    def __init__(
        self,
        make: Callable[..., Value],
        size: Callable[[Value], int],
        *,
        most: int,
        limit: int,
    ) -> None:
        self._make, self._size = make, size
        self._most, self._limit = most, limit
        self._kept: OrderedDict[tuple[Hashable, ...], tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, *key: Hashable) -> Value:
        """Return the value of a key, made anew if it is not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
        value = self._make(*key)
        with self._lock:
            self._kept[key] = value, self._size(value)
            while len(self._kept) > 1 and self._is_full():
                self._kept.popitem(last=False)
        return value

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._kept.clear()

    def _is_full(self) -> bool:
        size = sum(size for _, size in self._kept.values())
        return len(self._kept) > self._most or size > self._limit


def _bytes(frame: pd.DataFrame) -> int:
    return int(frame.memory_usage().sum())


def _own_bytes(dataset: Dataset) -> int:
    """Return the bytes of a data set, its frame if that is not the whole table's."""
    own = dataset.y.nbytes + dataset.group.nbytes + dataset.row_number.nbytes
    return own + (_bytes(dataset.frame) if len(dataset.excluded) else 0)


_DATASETS = sa.select(DATASETS, TABLES.c.name.label("table_name"), TABLES.c.n_rows)
_DATASETS = _DATASETS.join(TABLES, TABLES.c.sha256 == DATASETS.c.table_sha256)


def _record(row: Mapping[Any, Any]) -> DatasetRecord:
    known = {str(name): value for name, value in row.items()}
    known["roles"] = Roles.model_validate_json(known["roles"])
    known["subgroups"] = Subgroups.model_validate_json(known["subgroups"])
    return DatasetRecord(**known)
