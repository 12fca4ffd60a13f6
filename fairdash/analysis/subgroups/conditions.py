"""Conditions on columns: intervals of numbers, levels, and small unions of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._wording import NO_SUBGROUPS, listing
from fairdash.datasets import Subgroups, column_kinds, quantile_cuts

# Of a column; rarer ones are in no condition of their own.
MOST_LEVELS = 8
# Levels up to which two of them make a condition.
_PAIRED = 6
# Different numbers up to which a column is not cut.
_BY_VALUE = 4


class Condition(NamedTuple):
    """Some values of one column.

    Any of ``levels``, or, without any, an interval that holds its lower end and not its
    upper; None is open.
    """

    column: str
    levels: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    whole: bool = False

    def __str__(self) -> str:
        """Return words such as "age 25–34", "age under 25" or "site Port or Quay"."""
        if self.levels:
            return f"{self.column} {' or '.join(self.levels)}"
        if self.low is None:
            return f"{self.column} under {_number(self.high)}"
        if self.high is None:
            return f"{self.column} {_number(self.low)} or more"
        last = self.high - 1 if self.whole else self.high
        if last == self.low:
            return f"{self.column} {_number(last)}"
        dash = "–" if self.low >= 0 else " to "
        return f"{self.column} {_number(self.low)}{dash}{_number(last)}"

    def holds(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Return which rows of a table it holds for; not where the value is missing."""
        column = frame[self.column]
        if self.levels:
            codes, labels = column_kinds.label_codes(column)
            wanted = [i for i, label in enumerate(labels) if label in self.levels]
            return np.isin(codes, wanted)
        numbers = column.to_numpy(dtype=float, na_value=np.nan)
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        is_within: NDArray[np.bool_] = (numbers >= low) & (numbers < high)
        return is_within


@dataclass(frozen=True, eq=False)
class SearchColumn:
    """A column in few base bins, and the conditions that put them together.

    Attributes
    ----------
    codes : uint8 array of shape (n_rows,)
        Base bin of every row; ``n_bins`` where it is in none.
    items : bool array of shape (n_conditions, n_bins)
        Which bins a condition holds for.
    conditions : tuple of Condition
    """

    name: str
    codes: NDArray[np.uint8]
    n_bins: int
    items: NDArray[np.bool_]
    conditions: tuple[Condition, ...]


def search_columns(
    frame: pd.DataFrame, names: Sequence[str], *, bins: int, min_size: int
) -> tuple[list[SearchColumn], dict[str, str]]:
    """Return the columns that can be searched, and of the others why not.

    A number of more than four different values is cut in ``bins`` bins of about equally
    many rows, and a condition is one bin, or all below or above a cut; with at most
    four values these are the bins. Of another column the (at most eight) commonest
    levels with ``min_size`` rows are conditions, and up to six of them two at a time.
    Conditions with fewer than ``min_size`` rows, or that hold everywhere, are none.
    """
    searched: list[SearchColumn] = []
    skipped: dict[str, str] = {}
    for name in names:
        column = frame[name]
        if pd.api.types.is_datetime64_any_dtype(column):
            skipped[name] = "holds dates; make numbers of them"
            continue
        if column_kinds.is_number(column):
            coded = _intervals(column, bins)
        else:
            coded = _levels(column, min_size)
        supported = _supported(coded, min_size)
        if len(supported.conditions):
            searched.append(supported)
        else:
            skipped[name] = _why_not(column, min_size)
    return searched, skipped


def describe(conditions: Sequence[Condition]) -> str:
    """Return "age under 25, site Port and income 30,000–40,000"."""
    return listing(map(str, conditions)) if conditions else NO_SUBGROUPS


def as_subgroups(conditions: Sequence[Condition], start: Subgroups) -> Subgroups:
    """Return the definition of subgroups of which one is what the conditions hold for.

    Numbers are cut at the ends of their intervals; levels stand for themselves, so a
    union of two levels is two subgroups.
    """
    cuts: dict[str, tuple[float, ...]] = {}
    for condition in conditions:
        if not condition.levels:
            ends = (condition.low, condition.high)
            cuts[condition.column] = tuple(end for end in ends if end is not None)
    names = tuple(condition.column for condition in conditions)
    return Subgroups(columns=names, cuts=cuts, min_size=start.min_size)


def _intervals(column: "pd.Series[Any]", bins: int) -> SearchColumn:
    """Return a number in bins: conditions are a bin, or all below or above a cut."""
    name = str(column.name)
    values = column.to_numpy(dtype=float, na_value=np.nan)
    is_finite = np.isfinite(values)
    cuts = np.asarray(quantile_cuts(column, bins))
    if len(cuts) < _BY_VALUE:
        distinct = np.unique(values[is_finite])
        if len(distinct) <= _BY_VALUE:
            cuts = distinct[1:]
    n_bins = len(cuts) + 1
    codes = np.searchsorted(cuts, values, side="right").astype(np.uint8)
    codes[~is_finite] = n_bins
    # From the first bin of a condition to the first after it.
    spans = [(bin_, bin_ + 1) for bin_ in range(n_bins)]
    spans += [(0, stop) for stop in range(2, n_bins)]
    spans += [(start, n_bins) for start in range(1, n_bins - 1)]
    items = np.zeros((len(spans), n_bins), bool)
    for item, (start, stop) in zip(items, spans, strict=True):
        item[start:stop] = True
    whole = column_kinds.is_whole(column)
    ends = [None, *map(float, cuts), None]
    conditions = tuple(
        Condition(name, low=ends[start], high=ends[stop], whole=whole)
        for start, stop in spans
    )
    return SearchColumn(name, codes, n_bins, items, conditions)


def _levels(column: "pd.Series[Any]", min_size: int) -> SearchColumn:
    """Return a column by its commonest levels: conditions are one or two of them."""
    name = str(column.name)
    codes, labels = column_kinds.label_codes(column)
    n_rows = column_kinds.count_codes(codes, len(labels))
    commonest = np.argsort(-n_rows, kind="stable")[:MOST_LEVELS]
    frequent = np.sort(commonest[n_rows[commonest] >= min_size])
    n_bins = len(frequent)
    # Rarer levels, and missing values of code -1, are in no bin.
    bin_of_code = np.full(len(labels) + 1, n_bins, np.uint8)
    bin_of_code[frequent] = np.arange(n_bins)
    unions: list[tuple[int, ...]] = [(bin_,) for bin_ in range(n_bins)]
    if 2 < n_bins <= _PAIRED:
        unions += combinations(range(n_bins), 2)
    items = np.zeros((len(unions), n_bins), bool)
    conditions: list[Condition] = []
    for item, union in zip(items, unions, strict=True):
        item[list(union)] = True
        levels = tuple(labels[frequent[bin_]] for bin_ in union)
        conditions.append(Condition(name, levels))
    return SearchColumn(name, bin_of_code[codes], n_bins, items, tuple(conditions))


def _supported(column: SearchColumn, min_size: int) -> SearchColumn:
    """Return a column with the conditions that enough rows meet, but not all."""
    n_rows = np.bincount(column.codes, minlength=column.n_bins + 1)[:-1]
    n_met = column.items @ n_rows
    is_supported = (n_met >= min_size) & (n_met < len(column.codes))
    conditions = tuple(compress(column.conditions, is_supported))
    return replace(column, items=column.items[is_supported], conditions=conditions)


def _why_not(column: "pd.Series[Any]", min_size: int) -> str:
    """Return why a column has no condition that enough rows meet."""
    n_values = int(column.nunique())
    if n_values == 0:
        return "has no values"
    if n_values == 1:
        return "is constant"
    return f"has {n_values:,} values, none of them in {min_size:,} rows"


def _number(value: float | None) -> str:
    """Return an end of an interval in words, "" of an open one."""
    if value is None:
        return ""
    text = f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
    return text.replace("-", "−")
