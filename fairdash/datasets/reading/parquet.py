"""Parquet: files of others as batches, and our own tables written and loaded."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import compute, parquet

from fairdash.datasets.reading.source import Source

BATCH_ROWS = 65_536
GROUP_ROWS = 100_000  # that are written at once
LARGE = 1_000_000  # rows of a table whose memory counts
MOST_LEVELS = 10_000  # of text, in the first rows, that is kept as codes
WHOLE = (pa.int8(), pa.int16(), pa.int32())


class ParquetRows:
    """The columns of a Parquet file, without the index pandas may have kept there.

    Attributes
    ----------
    header : list of str

    Raises
    ------
    ValueError
        When the file is damaged, or a column holds bytes that are no text.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        try:
            with source.open() as file:
                schema = parquet.ParquetFile(file).schema_arrow
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(error) from error
        kept = (schema.pandas_metadata or {}).get("index_columns", [])
        index = {name for name in kept if isinstance(name, str)}
        self._positions = [i for i, n in enumerate(schema.names) if n not in index]
        self.header = [schema.names[i] for i in self._positions]

    def batches(self) -> Iterator[Any]:
        """Yield the rows from the first on: dates as moments, decimals as floats."""
        names = [str(position) for position in range(len(self.header))]
        with self.source.open() as file:
            try:
                for batch in parquet.ParquetFile(file).iter_batches(BATCH_ROWS):
                    columns = [
                        self._plain(batch.column(position), name)
                        for position, name in zip(
                            self._positions, self.header, strict=True
                        )
                    ]
                    yield pa.RecordBatch.from_arrays(columns, names)
            except (OSError, pa.ArrowException) as error:
                raise self._damaged(error) from error

    def _plain(self, column: Any, name: str) -> Any:
        kind = column.type
        if pa.types.is_null(kind) or pa.types.is_decimal(kind):
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
        message = f"{self.source.name} is a damaged Parquet file ({error})"
        return ValueError(f"{message}; write it again.")


def load_table(
    path: Path, columns: Sequence[str] | None = None, *, compact: bool = False
) -> pd.DataFrame:
    """Return a table that `convert_table` wrote, as `read_table` would.

    Columns are loaded one by one, so that memory holds the table and little more.

    Parameters
    ----------
    path : Path
    columns : sequence of str, optional
        Those to load; by default all.
    compact : bool, default=False
        Whether in a large table (a million rows) text of few different values becomes
        categorical and whole numbers take as few bytes as hold them: about a third of
        the memory, and counted in less time.
    """
    file = parquet.ParquetFile(path)
    large = file.metadata.num_rows >= LARGE
    names = file.schema_arrow.names if columns is None else columns
    loaded = {name: _load(path, file, name, large and compact) for name in names}
    # the columns of a small file are views that cannot be written to
    return pd.DataFrame(loaded, copy=not large)


def _load(path: Path, file: Any, name: str, compact: bool) -> "pd.Series[Any]":
    if compact and _has_few(file, name):
        file = parquet.ParquetFile(path, read_dictionary=[name])
    table = file.read([name])
    if compact:
        table = table.set_column(0, name, _narrow(table.column(0)))
    column: pd.Series[Any] = table.to_pandas()[name]
    return column


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
    kind = file.schema_arrow.field(name).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return False
    first = file.read_row_group(0, [name]).column(0)
    return bool(compute.count_distinct(first).as_py() <= MOST_LEVELS)


class ParquetSink:
    """A sink that writes a Parquet file, many batches at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: Any = None
        self._batches: list[Any] = []
        self._n_rows = 0

    def begin(self, schema: Any) -> None:
        """Begin a file with these columns; what was written before is void."""
        self.__exit__()
        self._writer = parquet.ParquetWriter(self._path, schema)

    def write(self, batch: Any) -> None:
        """Take the next rows."""
        self._batches.append(batch)
        self._n_rows += len(batch)
        if self._n_rows >= GROUP_ROWS:
            self._flush()

    def __enter__(self) -> "ParquetSink":
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._flush()
            self._writer.close()
            self._writer = None

    def _flush(self) -> None:
        if self._batches:
            table = pa.Table.from_batches(self._batches)
            self._writer.write_table(table, row_group_size=len(table))
        self._batches, self._n_rows = [], 0
