"""Batches of a monitor that counts a source where it lies: cells, and no row.

A look is one `GROUP BY` of the columns of the policy and the column of dates. What a
monitor keeps of a batch are cells: each combination of values with its number of rows.
So a batch stays when its rows are deleted at the source.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fairdash._validation import check_one_of
from fairdash.audits.tables.reading import asked_columns, is_cellwise
from fairdash.audits.tables.watched import Monitor, by_period
from fairdash.datasets import sources


@dataclass(frozen=True)
class KeptCells:
    """The cells of a batch, as JSON keeps them.

    Attributes
    ----------
    kinds : dict of str to str
        Type of each column by its name.
    columns : dict of str to list
        Values of each column, one for each cell.
    people : list of int
        How many rows each cell stands for.
    count : str
        The column of these numbers in `frame`.
    """

    kinds: dict[str, str]
    columns: dict[str, list[Any]]
    people: list[int]
    count: str

    @classmethod
    def of(cls, frame: pd.DataFrame, count: str) -> "KeptCells":
        """Return the cells of a table of counts."""
        values = frame.drop(columns=count)
        for name, kind in values.dtypes.items():
            if isinstance(kind, pd.CategoricalDtype):
                values[name] = values[name].astype(kind.categories.dtype)
        return cls(
            {str(name): str(kind) for name, kind in values.dtypes.items()},
            {str(name): _plain(values[name]) for name in values},
            frame[count].astype(int).tolist(),
            count,
        )

    @property
    def frame(self) -> pd.DataFrame:
        """The table of counts, with the types that the source had."""
        columns: dict[str, Any] = {}
        for name, values in self.columns.items():
            kind = self.kinds[name]
            if kind.startswith("datetime64"):
                moments = pd.to_datetime(pd.Series(values), format="ISO8601")
                columns[name] = moments.astype(pd.api.types.pandas_dtype(kind))
            else:
                columns[name] = pd.Series(values, dtype=kind)
        columns[self.count] = self.people
        return pd.DataFrame(columns)

    @property
    def n_rows(self) -> int:
        """How many rows they stand for."""
        return sum(self.people)


def check_countable(monitor: Monitor) -> None:
    """Raise ValueError where a monitor of an address needs what counts do not say."""
    policy = monitor.limits
    if monitor.date is None:
        raise ValueError(
            "An address has no files that are batches. Name its column of dates: "
            "`--date COLUMN`."
        )
    if monitor.outcomes is not None or monitor.join is not None:
        raise ValueError(
            "A monitor of an address reads no rows, so it cannot join a file. Join in "
            "a view or in the query of the address, or write batches to files."
        )
    if not is_cellwise(policy):
        raise ValueError(
            "A monitor of an address reads no rows, and units, weights and steps that "
            "look at several columns need them. Write batches to files, or leave "
            "these out of the policy."
        )


def count_batches(monitor: Monitor) -> dict[str, KeptCells]:
    """Ask the source of a monitor for the cells of each period, by its first day.

    Raises
    ------
    ValueError
        As `check_countable` and `fairdash.datasets.sources.count_source` do; when the
        source lacks a column, or holds no date in a row.
    """
    check_countable(monitor)
    names = sources.source_columns(monitor.source)
    date = str(monitor.date)
    check_one_of("--date", date, names)
    columns = asked_columns(monitor.limits.question, names)
    counted = sources.count_source(monitor.source, [date, *columns])
    periods = by_period(counted.frame, monitor, counted.count)
    return {
        label: KeptCells.of(_summed(frame, columns, counted.count), counted.count)
        for label, frame in periods
    }


def with_kept(
    new: Mapping[str, KeptCells], kept: Mapping[str, KeptCells]
) -> Iterator[tuple[str, KeptCells]]:
    """Yield all batches in the order of their days; what a source says now counts."""
    together = {**kept, **new}
    for label in sorted(together):
        yield label, together[label]


def _summed(frame: pd.DataFrame, columns: list[str], count: str) -> pd.DataFrame:
    """Return the cells of all days of a period."""
    cells = frame.groupby(columns, dropna=False, observed=True, sort=True)
    return cells[count].sum().reset_index()


def _plain(column: "pd.Series[Any]") -> list[Any]:
    """Return values as JSON has them, a missing one as None."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return [None if pd.isna(value) else value.isoformat() for value in column]
    return [None if pd.isna(value) else value for value in column.tolist()]
