"""A Parquet file as batches whose columns a table can have."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyarrow import compute, parquet

from fairdash.datasets._read_source import Source

BATCH_ROWS = 65_536


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
                raise ValueError(f"{message}; leave it out.") from error
        return column

    def _damaged(self, error: Exception) -> ValueError:
        message = f"{self.source.name} is a damaged Parquet file ({error})"
        return ValueError(f"{message}; write it again.")
