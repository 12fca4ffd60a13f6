"""Rows that say the same are one row with their number: all that decisions need."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._counts import RowCounts

# Of fewer rows nothing is gained.
FEWEST_ROWS = 10_000
# Rows a cell, on average.
_LEAST_REPEATS = 4
# Of all values crossed, present or not.
_MOST_CELLS = 2**40


class Cells(NamedTuple):
    """Each combination of values that occurs, and how many rows have it.

    Attributes
    ----------
    first : array of int
        A row of each combination.
    counts : RowCounts
    """

    first: NDArray[np.int64]
    counts: RowCounts

    def of(self, values: Any) -> Any:
        """Return the values of the combinations, None of None."""
        if values is None:
            return None
        if isinstance(values, pd.Series | pd.DataFrame):
            return values.iloc[self.first]
        return np.asarray(values)[self.first]


def cells_of(y: Any, decided: Any, *labels: Any) -> Cells | None:
    """Return the cells of decided rows, None where rows are to be read one by one.

    That is where they are few or hardly repeat, and where a value is missing or no 0 or
    1: whoever measures them then names the first such row.

    Parameters
    ----------
    y : array-like of 0 and 1, optional
    decided : array-like of 0 and 1
    *labels : array-like, optional
        Groups and subgroups.
    """
    n_rows = len(decided)
    if n_rows < FEWEST_ROWS:
        return None
    cell = np.zeros(n_rows, dtype=np.int64)
    n_cells = 1
    outcomes = [values for values in (y, decided) if values is not None]
    groups = [values for values in labels if values is not None]
    for values in outcomes:
        codes, distinct = pd.factorize(_column(values))
        has_missing = codes.min() < 0
        if has_missing or not set(distinct) <= {0, 1}:
            return None
        n_cells *= len(distinct)
        cell = cell * len(distinct) + codes
    for values in groups:
        # A missing label is a label of its own.
        codes, distinct = pd.factorize(_column(values), use_na_sentinel=False)
        n_cells *= len(distinct)
        if n_cells > _MOST_CELLS:
            return None
        cell = cell * len(distinct) + codes
    _, first, counts = np.unique(cell, return_index=True, return_counts=True)
    if len(first) * _LEAST_REPEATS > n_rows:
        return None
    return Cells(first.astype(np.int64), counts.astype(np.float64).view(RowCounts))


def _column(values: Any) -> "pd.Series[Any]":
    """Return values as a column of pandas."""
    if isinstance(values, pd.Series):
        return values
    return pd.Series(np.asarray(values))
