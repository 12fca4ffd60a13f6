"""The rows of a source in Arrow batches, only the columns asked for."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import dataset as arrow_dataset
from pyarrow import parquet
from pyarrow.fs import LocalFileSystem

from fairdash._lazy import load
from fairdash.datasets.sources.address import SCHEME, Address, shown
from fairdash.datasets.sources.cursor import BATCH_ROWS
from fairdash.datasets.sources.database import select
from fairdash.datasets.sources.faults import check_object_library, reached
from fairdash.datasets.table_notes import TableNotes, notes_in

_PATTERNS = set("*?[")  # a file name with one is a pattern to DuckDB


class ParquetRows:
    """The rows of one or many Parquet files, in the order of their names."""

    def __init__(self, files: Any, name: str) -> None:
        self._files = files
        self._name = name

    @property
    def names(self) -> list[str]:
        """Names of all columns, those of the folders (``year=2024``) too."""
        return list(self._files.schema.names)

    @property
    def notes(self) -> TableNotes:
        """Notes on the first file."""
        return notes_in(self._files.schema.metadata)

    def count(self) -> int:
        """Return the number of rows, from the footers."""
        with reached(self._name):
            return int(self._files.count_rows())

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows of some columns; the others are not read."""
        with reached(self._name):
            yield from self._files.to_batches(
                columns=list(columns), batch_size=BATCH_ROWS
            )

    @property
    def local_files(self) -> list[str] | None:
        """Paths of the files; None where they are elsewhere, or a name is a pattern."""
        files = list(self._files.files)
        is_here = isinstance(self._files.filesystem, LocalFileSystem)
        plain = not any(set(file) & _PATTERNS for file in files)
        return files if is_here and plain else None

    def count_values(self, columns: Sequence[str], count: str, most: int) -> pa.Table:
        """Return each combination of values with its number of rows, in no order.

        It ends early where there are more than ``most`` combinations.
        """
        sums: pa.Table | None = None
        for batch in self.batches(columns):
            ones = pa.array(np.ones(len(batch), dtype=np.int64))
            part = pa.Table.from_batches([batch]).append_column(count, ones)
            merged = part if sums is None else pa.concat_tables([sums, part])
            grouped = merged.group_by(list(columns)).aggregate([(count, "sum")])
            sums = grouped.rename_columns([*columns, count])
            if len(sums) > most:
                break
        if sums is None:  # there is no row
            return pa.table({count: pa.array([], pa.int64())})
        return sums

    def as_stored(self, table: pa.Table) -> pa.Table:
        """Return a table with the types that its columns have in the files."""
        for position, name in enumerate(table.column_names):
            if name not in self.names:
                continue
            kind = self._files.schema.field(name).type
            if pa.types.is_dictionary(kind):
                kind = kind.value_type
            table = table.set_column(position, name, table[name].cast(kind))
        return table


def open_parquet(address: Address) -> ParquetRows:
    """Return the rows of a folder, a glob or a prefix of an object store."""
    name = shown(address.place)
    scheme = SCHEME.match(address.place)
    if scheme:
        check_object_library(scheme[1].lower())
    with reached(name):
        system: Any = None
        if scheme:
            system, paths = _objects(address.place)
        else:
            paths = _files(Path(address.place))
        files = sorted(path for path in paths if path.endswith((".parquet", ".pq")))
    if not files:
        raise ValueError(f"{name} holds no Parquet file; name their folder.")
    with reached(name):
        arrow_files = arrow_dataset.dataset(
            files, filesystem=system, format="parquet", partitioning="hive"
        )
    return ParquetRows(arrow_files, name)


def _objects(place: str) -> tuple[Any, list[str]]:
    """Return an object store and the names in it under a prefix or a glob."""
    system, path = load("fsspec").url_to_fs(place)
    names = system.glob(path) if "*" in path else system.find(path)
    return system, list(names)


def _files(place: Path) -> list[str]:
    """Return the files of a glob or a folder, at any depth; a file is one itself."""
    matches = [place]
    if "*" in str(place):
        anchor = place.anchor or "."
        matches = list(Path(anchor).glob(str(place.relative_to(anchor))))
    files: list[str] = []
    for path in matches:
        if path.is_dir():
            files.extend(map(str, path.rglob("*")))
        else:
            files.append(str(path))
    return files


def spool(address: Address, columns: Sequence[str] | None, path: Path) -> ParquetRows:
    """Copy rows of a database, only the columns asked for, into a file of ours.

    Two queries may give the rows in two orders, a file gives them in one.
    """
    try:
        is_written = write_rows(select(address, columns), path)
    except pa.ArrowException:
        raise ValueError(
            f"{address.name} has a column of a kind that is not kept, such as an "
            "interval. Name other columns, or cast it in a query: CAST(… AS VARCHAR)."
        ) from None
    if not is_written:
        raise ValueError(f"{address.name} has no rows.")
    return ParquetRows(arrow_dataset.dataset(path, format="parquet"), address.name)


def write_rows(
    batches: Iterator[Any], path: Path, notes: TableNotes | None = None
) -> bool:
    """Write batches as a Parquet file; return whether there is one."""
    writer: Any = None
    for batch in batches:
        if writer is None:
            writer = parquet.ParquetWriter(path, _noted(batch.schema, notes))
        writer.write_batch(batch.replace_schema_metadata(writer.schema.metadata))
    if writer is not None:
        writer.close()
    return writer is not None


def _noted(schema: Any, notes: TableNotes | None) -> Any:
    """Return a schema with notes among its metadata."""
    metadata = None if notes is None else notes.metadata()
    if metadata is None:
        return schema
    return schema.with_metadata({**(schema.metadata or {}), **metadata})
