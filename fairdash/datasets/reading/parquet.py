"""Parquet: files of others as columns, and our own tables written and loaded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa
from pyarrow import compute, parquet

from fairdash.datasets.reading.source import (
    Source,
    check_cell,
    check_columns,
    check_rows,
    check_text,
)

GROUP_ROWS = 100_000  # that are written at once
LOADED = 64  # columns that are loaded at once
LARGE = 1_000_000  # rows of a table whose memory counts
MOST_LEVELS = 10_000  # of text, in the first rows, that is kept as codes
LARGEST_EXACT = 1 << 53  # whole numbers up to it are floats as well
WHOLE = (pa.int8(), pa.int16(), pa.int32())


class ParquetRows:
    """The columns of a Parquet file, without the index pandas may have kept there.

    Raises ValueError when the file is damaged, or a column holds bytes that are no
    text.
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
            kept = (schema.pandas_metadata or {}).get("index_columns", [])
            index = {name for name in kept if isinstance(name, str)}
        except (AttributeError, RecursionError, TypeError, ValueError) as error:
            raise self._damaged(error) from error
        self._positions = [i for i, n in enumerate(schema.names) if n not in index]
        self.header = [schema.names[i] for i in self._positions]
        check_columns(source.name, self.header)
        check_rows(source, n_rows, len(self.header))

    def columns(self) -> list[Any]:
        """Return the columns: dates as moments, decimals as floats."""
        try:
            with self.source.open() as file:
                table = parquet.ParquetFile(file).read()
            columns = [
                self._plain(table.column(position), name)
                for position, name in zip(self._positions, self.header, strict=True)
            ]
        except MemoryError:
            raise
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(error) from error
        texts = (column for column in columns if _is_text(column.type))
        check_text(self.source.name, sum(column.nbytes for column in texts))
        return columns

    def _plain(self, column: Any, name: str) -> Any:
        kind = column.type
        if pa.types.is_dictionary(kind):
            # as values: pandas keeps categories that no row has
            return self._plain(compute.cast(column, kind.value_type), name)
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
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            try:
                return compute.cast(column, pa.string())
            except pa.ArrowInvalid as error:
                message = f"{self.source.name} holds bytes in the column {name!r}"
                raise ValueError(f"{message}; exclude it.") from error
        return column

    def _damaged(self, error: Exception) -> ValueError:
        message = f"{self.source.name} is a damaged Parquet file"
        return ValueError(f"{message}; write it again.")


def load_table(
    path: Path | BinaryIO,
    columns: Sequence[str] | None = None,
    *,
    compact: bool = False,
) -> pd.DataFrame:
    """Return a table that `convert_table` wrote, as `read_table` would.

    Columns are loaded one by one, so that memory holds the table and little more.

    Parameters
    ----------
    compact : bool, default=False
        Whether in a large table (a million rows) text of few different values becomes
        categorical and whole numbers take as few bytes as hold them: about a third of
        the memory, and counted in less time.
    """
    file = parquet.ParquetFile(path)
    large = file.metadata.num_rows >= LARGE
    names = file.schema_arrow.names if columns is None else columns
    loaded: dict[str, pd.Series[Any]] = {}
    for start in range(0, len(names), 1 if large else LOADED):
        some = names[start : start + (1 if large else LOADED)]
        loaded |= _load(path, file, some, large and compact)
    # the columns of a small file are views that cannot be written to
    return pd.DataFrame(loaded, copy=not large)


def _load(
    path: Path | BinaryIO, file: Any, names: Sequence[str], compact: bool
) -> "dict[str, pd.Series[Any]]":
    """Return columns by name; compact ones are asked for one by one."""
    if compact and _has_few(file, *names):
        file = parquet.ParquetFile(path, read_dictionary=names)
    table = file.read(names)
    if compact:
        table = table.set_column(0, *names, _narrow(table.column(0)))
    for place, column in enumerate(table.columns):
        if _would_round(column):
            text = column.cast(pa.string())
            table = table.set_column(place, table.field(place).name, text)
    return dict(table.to_pandas().items())


def _would_round(column: Any) -> bool:
    """Tell whether pandas would change whole numbers, which become floats by gaps."""
    if not pa.types.is_integer(column.type) or not column.null_count:
        return False
    ends = compute.min_max(column).as_py().values()
    return any(end is not None and abs(end) > LARGEST_EXACT for end in ends)


def _narrow(column: Any) -> Any:
    """Return whole numbers without gaps in the narrowest type that holds them all."""
    if not pa.types.is_integer(column.type) or column.null_count or not len(column):
        return column
    ends = compute.min_max(column).as_py().values()
    for kind in WHOLE:
        limit = 1 << (kind.bit_width - 1)
        if kind.bit_width < column.type.bit_width and all(
            -limit <= end < limit for end in ends
        ):
            return column.cast(kind)
    return column


def _has_few(file: Any, name: str) -> bool:
    """Tell whether a column is text of few different values, by its first rows."""
    if not _is_text(file.schema_arrow.field(name).type):
        return False
    first = file.read_row_group(0, [name]).column(0)
    return bool(compute.count_distinct(first).as_py() <= MOST_LEVELS)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def write_table(columns: Sequence[Any], names: Sequence[str], file: BinaryIO) -> None:
    """Write columns as a Parquet file."""
    table = pa.table(list(columns), list(names))
    parquet.write_table(table, file, row_group_size=GROUP_ROWS)
    file.flush()
