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
LARGEST_EXACT = 1 << 53  # whole numbers up to it are floats as well


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
            index_names = (schema.pandas_metadata or {}).get("index_columns", [])
            index = {name for name in index_names if isinstance(name, str)}
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


def load_table(path: Path | BinaryIO) -> pd.DataFrame:
    """Return a table that `convert_table` wrote, as `read_table` would."""
    table = parquet.ParquetFile(path).read()
    for place, column in enumerate(table.columns):
        if _would_round(column):
            text = column.cast(pa.string())
            table = table.set_column(place, table.field(place).name, text)
    # a copy: the columns of a small file are views that cannot be written to
    return table.to_pandas(self_destruct=True).copy()


def _would_round(column: Any) -> bool:
    """Tell whether pandas would change whole numbers, which become floats by gaps."""
    if not pa.types.is_integer(column.type) or not column.null_count:
        return False
    ends = compute.min_max(column).as_py().values()
    return any(end is not None and abs(end) > LARGEST_EXACT for end in ends)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def write_table(columns: Sequence[Any], names: Sequence[str], file: BinaryIO) -> None:
    """Write columns as a Parquet file."""
    table = pa.table(list(columns), list(names))
    parquet.write_table(table, file, row_group_size=GROUP_ROWS)
    file.flush()
