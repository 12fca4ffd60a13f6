"""Parquet: files of others as columns, and our own tables written and loaded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa
from pyarrow import compute, parquet

from fairdash.datasets.reading.memory import (
    as_series,
    check_kind,
    least_bytes,
    value_kind,
)
from fairdash.datasets.reading.source import (
    Source,
    check_cell,
    check_columns,
    check_memory,
    check_rows,
)
from fairdash.datasets.table_notes import TableNotes, notes_in

GROUP_ROWS = 100_000  # that are written at once
BATCH_CELLS, LEAST_BATCH, LARGEST_BATCH = 1 << 20, 1_024, 8_192  # read at once


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
                schema, n_rows = content.schema_arrow, content.metadata.num_rows
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(error) from error
        try:
            index_names = (schema.pandas_metadata or {}).get("index_columns", [])
            index = {name for name in index_names if isinstance(name, str)}
        except (AttributeError, RecursionError, TypeError, ValueError) as error:
            raise self._damaged(error) from error
        self._positions = [i for i, n in enumerate(schema.names) if n not in index]
        self.header = [schema.names[i] for i in self._positions]
        self.notes = notes_in(schema.metadata)
        check_columns(source.name, self.header)
        check_rows(source, n_rows, len(self.header))
        kinds = [schema.types[i] for i in self._positions]
        for name, kind in zip(self.header, kinds, strict=True):
            check_kind(source.name, name, kind)
        check_memory(source, n_rows * sum(map(least_bytes, kinds)))
        plain = list(map(value_kind, kinds))
        self._has_text = any(_is_text(kind) or _is_bytes(kind) for kind in plain)

    def columns(self) -> list[Any]:
        """Return the columns: dates as moments, decimals as floats."""
        try:
            return self._read()
        except MemoryError:
            raise
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(error) from error

    def _read(self) -> list[Any]:
        # in parts: a long text that stands there once may be that of all rows
        parts: list[list[Any]] = [[] for _ in self.header]
        n_rows = max(LEAST_BATCH, BATCH_CELLS // len(self.header))
        if self._has_text:
            n_rows = min(n_rows, LARGEST_BATCH)
        n_bytes = 0
        with self.source.open() as file:
            for batch in parquet.ParquetFile(file).iter_batches(n_rows):
                for place, name in enumerate(self.header):
                    column = self._plain(batch.column(self._positions[place]), name)
                    n_bytes += column.nbytes
                    parts[place].append(column)
                check_memory(self.source, n_bytes)
        return [pa.chunked_array(part or [pa.nulls(0)]) for part in parts]

    def _plain(self, column: Any, name: str) -> Any:
        kind = column.type
        if kind != (plain := value_kind(kind)):
            # as values: pandas keeps categories that no row has
            return self._plain(compute.cast(column, plain), name)
        if pa.types.is_string_view(kind):
            column = compute.cast(column, pa.string())
            kind = column.type
        if _is_text(kind):
            check_cell(name, compute.max(compute.utf8_length(column)).as_py())
            return column
        short = pa.types.is_null(kind) or pa.types.is_float16(kind)
        if short or pa.types.is_decimal(kind):
            return compute.cast(column, pa.float64())
        if pa.types.is_date(kind):
            return compute.cast(column, pa.timestamp("ms"))
        if pa.types.is_time(kind) or pa.types.is_duration(kind):
            return compute.cast(column, pa.string())
        if _is_bytes(kind):
            try:
                return compute.cast(column, pa.string())
            except pa.ArrowInvalid as error:
                message = f"{self.source.name} holds bytes in the column {name!r}"
                raise ValueError(f"{message}; exclude it.") from error
        return column

    def _damaged(self, error: Exception) -> ValueError:
        message = f"{self.source.name} is a damaged Parquet file"
        return ValueError(f"{message}; write it again.")


def load_table(path: Path | BinaryIO) -> pd.DataFrame:
    """Return a table that `convert_table` wrote, as `read_table` would."""
    table = parquet.ParquetFile(path).read()
    names, columns = table.column_names, table.columns
    notes = notes_in(table.schema.metadata)
    del table
    series: dict[str, pd.Series[Any]] = {}
    for name in names:  # one by one: what Arrow holds of a column goes
        series[name] = as_series(columns.pop(0))
        pa.default_memory_pool().release_unused()
    return notes.put(pd.DataFrame(series, copy=False))


def table_notes(path: Path) -> TableNotes:
    """Return the notes on a table that `convert_table` wrote, without its rows."""
    return notes_in(parquet.read_schema(path).metadata)


def _is_text(kind: Any) -> bool:
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
    )


def _is_bytes(kind: Any) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def write_table(
    columns: Sequence[Any], names: Sequence[str], file: BinaryIO, notes: TableNotes
) -> None:
    """Write columns as a Parquet file."""
    table = pa.table(list(columns), list(names), metadata=notes.metadata())
    parquet.write_table(table, file, row_group_size=GROUP_ROWS)
    file.flush()
