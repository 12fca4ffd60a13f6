"""How often each combination of values occurs in a source: one GROUP BY, no rows.

Measures of decisions need numbers of people by subgroup, group, decision and outcome.
So a source that groups its own rows answers with a small table of counts, whatever its
size, and the audit of that table is the audit of the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import compute

from fairdash._validation import check_one_of
from fairdash._wording import listing
from fairdash.datasets.reading.read import read_table
from fairdash.datasets.sources.address import Address, parse_address
from fairdash.datasets.sources.batches import open_parquet, write_rows
from fairdash.datasets.sources.database import (
    column_names,
    count_files,
    count_rows,
    counts_files,
)
from fairdash.datasets.sources.deadline import TooSlowError, most_seconds
from fairdash.datasets.sources.faults import reached, too_slow

MOST_CELLS = 100_000  # combinations of values that come back
COUNT = "people"
# What a column of a kind is read as where all its values are missing.
_MISSING = {
    "numbers": "float64",
    "moments": "datetime64[us]",
    "true and false": "object",
    "text": "str",
}
_NO_ROWS = pa.record_batch({COUNT: pa.array([], pa.int64())})


@dataclass(frozen=True, eq=False)
class CountedSource:
    """The rows of a source, counted.

    Attributes
    ----------
    name : str
        Name of the table.
    frame : DataFrame
        A row for each combination of values that occurs, in order of the values, and
        how many rows of the source have it.
    count : str
        The column of these numbers: "people", or a longer name where that is taken.
    """

    name: str
    frame: pd.DataFrame
    count: str

    @property
    def n_rows(self) -> int:
        """How many rows the source has."""
        return int(self.frame[self.count].sum())

    @property
    def columns(self) -> list[str]:
        """The columns by which rows were counted."""
        return [str(name) for name in self.frame if name != self.count]

    @property
    def digest(self) -> str:
        """SHA-256 of the counts: the same counts have the same."""
        content = self.frame.to_json(orient="split", index=False)
        return sha256(content.encode()).hexdigest()

    def merge(self, other: "CountedSource") -> "CountedSource":
        """Return the counts of both together, as of one source with all their rows.

        Raises ValueError if the other has other columns, or one holds values of another
        kind.
        """
        columns = self.columns
        if columns != other.columns:
            raise ValueError(
                f"{other.name} was counted by {listing(other.columns)}, {self.name} by "
                f"{listing(columns)}. Count both by the same columns, in one order."
            )
        merged = pd.DataFrame({name: self._together(other, name) for name in columns})
        merged[self.count] = [*self.frame[self.count], *other.frame[other.count]]
        cells = merged.groupby(columns, dropna=False, observed=True, sort=True)
        frame = cells[self.count].sum().reset_index()
        for name in columns:
            if frame[name].dtype == object:  # in which grouping writes NaN for None
                frame[name] = frame[name].where(frame[name].notna(), None)
        return replace(self, frame=_in_order(frame, columns))

    def _together(self, other: "CountedSource", name: str) -> "pd.Series[Any]":
        """Return the values of a column of both."""
        parts = [self.frame[name], other.frame[name]]
        kinds = [_kind(part) for part in parts]
        if "" not in kinds and kinds[0] != kinds[1]:
            raise ValueError(
                f"{name!r} holds {kinds[0]} in {self.name} and {kinds[1]} in "
                f"{other.name}. Cast it to one kind in a query of either, and count "
                "again."
            )
        # A column without a value has no kind of its own.
        for place, kind in enumerate(kinds):
            if not kind and kinds[1 - place]:
                missing = [None] * len(parts[place])
                parts[place] = pd.Series(missing, dtype=_MISSING[kinds[1 - place]])
        return pd.concat(parts, ignore_index=True)


def _kind(column: "pd.Series[Any]") -> str:
    """Return the kind of values that a column has, "" without any."""
    values = column.dropna()
    if values.empty:
        return ""
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return "moments"
    if values.map(type).isin((bool, np.bool_)).all():
        return "true and false"
    return "numbers" if pd.api.types.is_numeric_dtype(values.dtype) else "text"


def source_columns(address: str | Address) -> list[str]:
    """Return the names of the columns of a source; ValueError if it cannot be read."""
    source = parse_address(address) if isinstance(address, str) else address
    if source.kind == "parquet":
        return open_parquet(source).names
    return column_names(source)


def count_source(
    address: str | Address, columns: Sequence[str], *, most_cells: int = MOST_CELLS
) -> CountedSource:
    """Return how many rows of a source have each combination of some columns.

    Rows are not read: a database groups them itself, and only these columns of Parquet
    files are read.

    Parameters
    ----------
    address : str
        As of `write_source`: a folder or glob of Parquet files, here or in an object
        store, or a table or query of a database.
    columns : sequence of str
        Such as groups, decision, outcome and subgroups.
    most_cells : int, default=100_000
        Most combinations.

    Raises
    ------
    ValueError
        If the source cannot be read, lacks a column, has no rows, or there are more
        combinations; the message names the column with most values.
    """
    source = parse_address(address) if isinstance(address, str) else address
    wanted = list(dict.fromkeys(columns))
    if not wanted:
        raise ValueError("`columns`: name at least one column to count by.")
    names = source_columns(source)
    for column in wanted:
        check_one_of("column", column, names)
    count = free_name(COUNT, names)
    if source.kind == "parquet":
        table = _count_files(source, wanted, count, most_cells + 1)
    else:
        batches = list(count_rows(source, wanted, count, most_cells + 1))
        table = pa.Table.from_batches(batches or [_NO_ROWS])
    if table.num_rows > most_cells:
        raise ValueError(_too_many(source.name, table, wanted, most_cells))
    return counted_table(source.name, table, wanted, count)


def counted_table(
    name: str, table: pa.Table, columns: list[str], count: str
) -> CountedSource:
    """Return the counts that a source gave; ValueError if it has no rows."""
    if not table.num_rows:
        raise ValueError(f"{name} has no rows.")
    return CountedSource(name, _in_order(_as_read(table), columns), count)


def _in_order(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    return frame.sort_values(columns, kind="stable", ignore_index=True)


def free_name(name: str, taken: Sequence[str]) -> str:
    """Return a name that no column has, in capitals or not."""
    used = {column.casefold() for column in taken}
    while name in used:
        name += "_"
    return name


def _count_files(
    source: Address, columns: list[str], count: str, most: int
) -> pa.Table:
    """Count Parquet files by DuckDB where it can: it is much faster than Arrow.

    It cannot tell a column "Age" from "age", and takes a star in the name of a file for
    a pattern.
    """
    rows = open_parquet(source)
    files = rows.local_files
    distinct_names = {name.casefold() for name in rows.names}
    is_ambiguous = len(distinct_names) < len(rows.names)
    if is_ambiguous or files is None or not counts_files():
        return rows.count_values(columns, count, most)
    try:
        with reached(source.name):
            table = count_files(files, columns, count, most)
            return rows.as_stored(table)
    except TooSlowError:
        raise too_slow(source.name, most_seconds()) from None


def _as_read(table: pa.Table) -> pd.DataFrame:
    """Return a table as it is read from a file: the values have the same labels."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "counts.parquet"
        write_rows(iter(table.to_batches()), path)
        return read_table(path)


def _too_many(name: str, table: pa.Table, columns: list[str], most: int) -> str:
    """Return the message of too many combinations, with the column to leave out."""

    def n_values(column: str) -> int:
        return int(compute.count_distinct(table[column]).as_py())

    widest = max(columns, key=n_values)
    return (
        f"{name} has more than {most:,} combinations of {listing(columns)}; the most "
        f"values has {widest!r}. Leave it out, name a column of fewer values, or draw "
        "some rows (`--sample-rows 1000000`)."
    )
