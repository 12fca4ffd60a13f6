"""Uploaded tables and the data sets made from them."""

import time
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import sqlalchemy as sa

from fairdash.datasets import Dataset, Roles, Subgroups, make_dataset, read_table
from fairdash.store._artifacts import write_folder
from fairdash.store._database import Database
from fairdash.store._records import DatasetRecord, TableRecord
from fairdash.store._schema import DATASETS, TABLES

LOADED = 8  # tables and data sets kept in memory, each
ID_LENGTH = 16  # of the key of a data set; enough to be unique, short in an address


class Shelf(Database):
    """Tables by the hash of their file, data sets by the hash of table and roles."""

    def __init__(self, home: Path, url: str | None = None) -> None:
        super().__init__(home, url)
        self._table = lru_cache(LOADED)(self._read_table)
        self._dataset = lru_cache(LOADED)(self._make_dataset)

    def add_table(self, content: bytes, name: str) -> str:
        """Keep an uploaded file and return its sha256; twice the same is once.

        Raises
        ------
        ValueError
            When the file cannot be read as a table.
        """
        digest = sha256(content).hexdigest()
        if self._known_table(digest):
            return digest
        frame = read_table(content, name=name)
        write_folder(
            self._table_folder(digest),
            {"table.parquet": frame.to_parquet(index=False)},
        )
        record = {
            "sha256": digest,
            "name": name,
            "n_rows": len(frame),
            "n_columns": frame.shape[1],
            "size": len(content),
            "created": time.time(),
        }
        with self.writing() as connection:
            self.upsert(connection, TABLES, [record])
        return digest

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
        dataset = self._dataset(table, roles.model_dump_json(), name)
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
        roles = record.roles.model_dump_json()
        return self._dataset(record.table_sha256, roles, record.name)

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
        return pd.read_parquet(self._table_folder(digest) / "table.parquet")

    def _make_dataset(self, table: str, roles: str, name: str) -> Dataset:
        known = Roles.model_validate_json(roles)
        return make_dataset(self.table(table), known, name=name, key=table)


_DATASETS = sa.select(DATASETS, TABLES.c.name.label("table_name"), TABLES.c.n_rows)
_DATASETS = _DATASETS.join(TABLES, TABLES.c.sha256 == DATASETS.c.table_sha256)


def _record(row: Mapping[Any, Any]) -> DatasetRecord:
    known = {str(name): value for name, value in row.items()}
    known["roles"] = Roles.model_validate_json(known["roles"])
    known["subgroups"] = Subgroups.model_validate_json(known["subgroups"])
    return DatasetRecord(**known)
