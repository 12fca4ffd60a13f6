"""Load columns of a table that was written as Parquet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import compute, parquet

LARGE = 1_000_000  # rows of a table whose memory counts
MOST_LEVELS = 10_000  # of text, in the first rows, that is kept as codes
WHOLE = (pa.int8(), pa.int16(), pa.int32())


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
