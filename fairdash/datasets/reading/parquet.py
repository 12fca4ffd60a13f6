"""Parquet: files of others as columns, and our own tables written and loaded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from fairdash.datasets.reading.memory import (
    as_series,
    check_kind,
    give_back,
    is_bytes,
    is_text,
    least_bytes,
    plain_column,
    value_kind,
)
from fairdash.datasets.reading.source import (
    Source,
    check_columns,
    check_memory,
    check_rows,
)
from fairdash.datasets.table_notes import TableNotes, notes_in

GROUP_ROWS = 100_000  # that are written at once
BATCH_CELLS = 1 << 20  # read at once, in batches of ...
LEAST_BATCH = 1_024  # ... so many rows or more
LARGEST_BATCH = 8_192  # rows of a table with text


class ParquetRows:
    """The columns of a Parquet file, without the index pandas may have kept there.

    Raises ValueError when the file is damaged, takes too much memory, or a column holds
    lists, records or bytes that are no text.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        try:
            with source.open() as file:
                content = parquet.ParquetFile(file)
                schema = content.schema_arrow
                n_rows = content.metadata.num_rows
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(error) from error
        try:
            # A stranger's metadata may be any JSON.
            index_names = (schema.pandas_metadata or {}).get("index_columns", [])
            index = {name for name in index_names if isinstance(name, str)}
        except (AttributeError, RecursionError, TypeError, ValueError) as error:
            raise self._damaged(error) from error
        self._positions = [
            position for position, name in enumerate(schema.names) if name not in index
        ]
        self.header = [schema.names[i] for i in self._positions]
        self.notes = notes_in(schema.metadata)
        check_columns(source.name, self.header)
        check_rows(source, n_rows, len(self.header))
        kinds = [schema.types[i] for i in self._positions]
        for name, kind in zip(self.header, kinds, strict=True):
            check_kind(source.name, name, kind)
        check_memory(source, n_rows * sum(map(least_bytes, kinds)))
        plain = list(map(value_kind, kinds))
        self._has_text = any(is_text(kind) or is_bytes(kind) for kind in plain)

    def columns(self) -> list[Any]:
        """Return the columns: dates as moments, decimals as floats."""
        try:
            return self._read()
        except MemoryError:
            raise
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(error) from error

    def _read(self) -> list[Any]:
        """Return the columns, read in batches whose memory is checked one by one.

        A file may hold a long text once that all of its rows repeat in memory.
        """
        chunks: list[list[Any]] = [[] for _ in self.header]
        n_rows = max(LEAST_BATCH, BATCH_CELLS // len(self.header))
        if self._has_text:
            n_rows = min(n_rows, LARGEST_BATCH)
        n_bytes = 0
        with self.source.open() as file:
            for batch in parquet.ParquetFile(file).iter_batches(n_rows):
                for index, name in enumerate(self.header):
                    cells = batch.column(self._positions[index])
                    column = plain_column(cells, name, self.source.name)
                    n_bytes += column.nbytes
                    chunks[index].append(column)
                check_memory(self.source, n_bytes)
        return [pa.chunked_array(column or [pa.nulls(0)]) for column in chunks]

    def _damaged(self, error: Exception) -> ValueError:
        message = f"{self.source.name} is a damaged Parquet file"
        return ValueError(f"{message}; write it again.")


def load_table(path: Path | BinaryIO) -> pd.DataFrame:
    """Return a table that `convert_table` wrote, as `read_table` would."""
    table = parquet.ParquetFile(path).read()
    names = table.column_names
    columns = table.columns
    notes = notes_in(table.schema.metadata)
    del table
    # Arrays, not series: pandas would compare the index of each with that of all.
    arrays: dict[str, Any] = {}
    for name in names:  # one by one: what Arrow holds of a column goes
        arrays[name] = as_series(columns.pop(0)).array
        pa.default_memory_pool().release_unused()
    give_back()
    return notes.put(pd.DataFrame(arrays, copy=False))


def table_notes(path: Path) -> TableNotes:
    """Return the notes on a table that `convert_table` wrote, without its rows."""
    notes = notes_in(parquet.read_schema(path).metadata)
    give_back()
    return notes


def write_table(
    columns: Sequence[Any], names: Sequence[str], file: BinaryIO, notes: TableNotes
) -> None:
    """Write columns as a Parquet file."""
    table = pa.table(list(columns), list(names), metadata=notes.metadata())
    parquet.write_table(table, file, row_group_size=GROUP_ROWS)
    file.flush()
