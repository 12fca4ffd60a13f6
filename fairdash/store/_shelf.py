"""Uploaded tables and the data sets made from them."""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import sqlalchemy as sa

from fairdash.datasets import (
    Dataset,
    Roles,
    Subgroups,
    TableFormat,
    convert_table,
    load_table,
    make_dataset,
)
from fairdash.store._artifacts import WRITING, write_folder
from fairdash.store._database import Database
from fairdash.store._recent import Recent
from fairdash.store._records import DatasetRecord, TableRecord
from fairdash.store._schema import DATASETS, TABLES

TABLE_FILE, FORMAT_FILE = "table.parquet", "format.json"
LOADED = 8  # tables and data sets kept in memory, each
LIMIT = 1 << 30  # bytes of them, each; one of any size is kept
APART: dict[str, Any] = {  # fields of roles that decide no row
    "subgroup_columns": (),
    "left_out": {},
    "feature_order": (),
    "positive_name": "",
    "positive_is": None,
}
ID_LENGTH = 16  # of the key of a data set; enough to be unique, short in an address


class Shelf(Database):
    """Tables by the hash of their file, data sets by the hash of table and roles."""

    def __init__(self, home: Path, url: str | None = None) -> None:
        super().__init__(home, url)
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
    ) -> str:
        """Keep an uploaded file and return its sha256; twice the same is once.

        The table is written as Parquet while it is read, so that memory holds a few
        rows only. Another sheet or another format makes another table.

        Raises
        ------
        ValueError
            When the file cannot be read as a table.
        """
        digest = _digest(source, sheet, table_format)
        if self._known_table(digest):
            return digest
        self.home.joinpath("tables").mkdir(exist_ok=True)
        with TemporaryDirectory(prefix=WRITING, dir=self.home / "tables") as beside:
            path = Path(beside) / TABLE_FILE
            known = convert_table(
                source, path, name=name, sheet=sheet, table_format=table_format
            )
            form = json.dumps(asdict(known.table_format)).encode()
            files: dict[str, bytes | Path] = {TABLE_FILE: path, FORMAT_FILE: form}
            write_folder(self._table_folder(digest), files)
        record = {
            "sha256": digest,
            "name": name,
            "n_rows": known.n_rows,
            "n_columns": known.n_columns,
            "size": len(source) if isinstance(source, bytes) else source.stat().st_size,
            "created": time.time(),
        }
        with self.writing() as connection:
            self.upsert(connection, TABLES, [record])
        return digest

    def table_format(self, digest: str) -> TableFormat | None:
        """Return how an uploaded file was read, or None where that was not kept."""
        path = self._table_folder(digest) / FORMAT_FILE
        return TableFormat(**json.loads(path.read_text())) if path.exists() else None

    def was_read_from(self, digest: str, source: bytes | Path) -> bool:
        """Tell whether a table was read from a file, in whatever format that was."""
        form = self.table_format(digest)
        sheet = form.sheet if form else None
        ways = [(None, None), (sheet, None), (None, form), (sheet, form)]
        return digest in {_digest(source, *way) for way in ways}

    def tables(self) -> list[TableRecord]:
        """Return all uploaded files, newest first."""
        query = sa.select(TABLES).order_by(TABLES.c.created.desc())
        with self.reading() as connection:
            return [TableRecord(**row) for row in connection.execute(query).mappings()]

    def table(self, digest: str) -> pd.DataFrame:
        """Return an uploaded file as it was read.

        Raises
        ------
        ValueError
            When no such file was uploaded.
        """
        return self._table(digest).copy(deep=False)

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

        Raises
        ------
        ValueError
            When the table is unknown or the roles do not fit it.
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
        with self.writing() as connection:
            self.upsert(connection, DATASETS, [record], update=["roles", "subgroups"])
        return dataset_id

    def datasets(self) -> list[DatasetRecord]:
        """Return all data sets, newest first."""
        query = _DATASETS.order_by(DATASETS.c.created.desc())
        with self.reading() as connection:
            return [_record(row) for row in connection.execute(query).mappings()]

    def dataset_record(self, dataset_id: str) -> DatasetRecord:
        """Return what is known of a data set without reading its rows.

        Raises
        ------
        ValueError
            When there is no such data set.
        """
        query = _DATASETS.where(DATASETS.c.id == dataset_id)
        with self.reading() as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            raise ValueError(f"There is no data set {dataset_id!r} in {self.home}.")
        return _record(row)

    def dataset(self, dataset_id: str) -> Dataset:
        """Return a data set, from memory when it was used lately.

        Raises
        ------
        ValueError
            When there is no such data set.
        """
        record = self.dataset_record(dataset_id)
        return self.draft_dataset(record.table_sha256, record.roles, record.name)

    def draft_dataset(self, table: str, roles: Roles, name: str) -> Dataset:
        """Return the data set that `add_dataset` would keep, without keeping it.

        Raises
        ------
        ValueError
            When the table is unknown or the roles do not fit it.
        """
        return self._dataset(table, roles.model_dump_json(), name)

    def rename_dataset(self, dataset_id: str, name: str) -> None:
        """Give a data set another name."""
        change = sa.update(DATASETS).where(DATASETS.c.id == dataset_id)
        with self.writing() as connection:
            connection.execute(change.values(name=name))

    def _known_table(self, digest: str) -> bool:
        query = sa.select(TABLES.c.sha256).where(TABLES.c.sha256 == digest)
        with self.reading() as connection:
            return connection.execute(query).first() is not None

    def _table_folder(self, digest: str) -> Path:
        return self.home / "tables" / digest[:2] / digest

    def _read_table(self, digest: str) -> pd.DataFrame:
        if not self._known_table(digest):
            raise ValueError(f"No table {digest!r} was uploaded to {self.home}.")
        return load_table(self._table_folder(digest) / TABLE_FILE, compact=True)

    def _make_dataset(self, table: str, roles: str, name: str) -> Dataset:
        known = Roles.model_validate_json(roles)
        if not set(known.subgroup_columns) <= set(self._table(table)):
            return make_dataset(self.table(table), known, name=name)  # says which
        rows = self._rows(table, known.model_copy(update=APART).model_dump_json())
        return replace(rows, roles=known, name=name)

    def _use_rows(self, table: str, roles: str) -> Dataset:
        known = Roles.model_validate_json(roles)
        return make_dataset(self.table(table), known, name="", key=table)


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


def _digest(source: bytes | Path, sheet: str | None, form: TableFormat | None) -> str:
    """Return the sha256 of a file, and of how it is read where that was chosen."""
    if isinstance(source, bytes):
        digest = sha256(source).hexdigest()
    else:
        with open(source, "rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
    if sheet is None and form is None:
        return digest
    return sha256(f"{digest} {sheet!r} {form!r}".encode()).hexdigest()
