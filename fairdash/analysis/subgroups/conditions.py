"""Conditions on columns: intervals of numbers, levels, and small unions of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._wording import NO_SUBGROUPS, listing
from fairdash.datasets import Subgroups, column_kinds, quantile_cuts

MOST_LEVELS = 8  # of a column; rarer ones are in no condition of their own
_PAIRED = 6  # levels up to which two of them make a condition
_BY_VALUE = 4  # different numbers up to which a column is not cut


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
        inside: NDArray[np.bool_] = (numbers >= low) & (numbers < high)
        return inside


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
    searched, skipped = [], {}
    for name in names:
        column = frame[name]
        if pd.api.types.is_datetime64_any_dtype(column):
            skipped[name] = "holds dates; make numbers of them"
            continue
        coded = (
            _intervals(column, bins)
            if column_kinds.is_number(column)
            else _levels(column, min_size)
        )
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
    cuts = {
        condition.column: tuple(
            end for end in (condition.low, condition.high) if end is not None
        )
        for condition in conditions
        if not condition.levels
    }
    names = tuple(condition.column for condition in conditions)
    return Subgroups(columns=names, cuts=cuts, min_size=start.min_size)


def _intervals(column: "pd.Series[Any]", bins: int) -> SearchColumn:
    values = column.to_numpy(dtype=float, na_value=np.nan)
    cuts = np.asarray(quantile_cuts(column, bins))
    if len(cuts) < _BY_VALUE:
        present = np.unique(values[np.isfinite(values)])
        cuts = present[1:] if len(present) <= _BY_VALUE else cuts
    n = len(cuts) + 1
    codes = np.searchsorted(cuts, values, side="right").astype(np.uint8)
    codes[~np.isfinite(values)] = n
    spans = [(i, i + 1) for i in range(n)]
    spans += [(0, j) for j in range(2, n)] + [(i, n) for i in range(1, n - 1)]
    items = np.array([[i <= b < j for b in range(n)] for i, j in spans], bool).reshape(
        -1, n
    )
    whole = column_kinds.is_whole(column)
    ends = [None, *map(float, cuts), None]
    conditions = tuple(
        Condition(str(column.name), (), ends[i], ends[j], whole) for i, j in spans
    )
    return SearchColumn(str(column.name), codes, n, items, conditions)


def _levels(column: "pd.Series[Any]", min_size: int) -> SearchColumn:
    codes, labels = column_kinds.label_codes(column)
    rows = np.bincount(codes + 1, minlength=len(labels) + 1)[1:]
    common = np.argsort(-rows, kind="stable")[:MOST_LEVELS]
    frequent = np.sort(common[rows[common] >= min_size])
    place = np.full(len(labels) + 1, len(frequent), np.uint8)
    place[frequent] = np.arange(len(frequent))
    unions: list[tuple[int, ...]] = [(i,) for i in range(len(frequent))]
    if 2 < len(frequent) <= _PAIRED:
        unions += combinations(range(len(frequent)), 2)
    items = np.zeros((len(unions), len(frequent)), bool)
    for item, union in zip(items, unions, strict=True):
        item[list(union)] = True
    conditions = tuple(
        Condition(str(column.name), tuple(labels[frequent[i]] for i in union))
        for union in unions
    )
    return SearchColumn(
        str(column.name), place[codes], len(frequent), items, conditions
    )


def _supported(column: SearchColumn, min_size: int) -> SearchColumn:
    rows = np.bincount(column.codes, minlength=column.n_bins + 1)[:-1]
    held = column.items @ rows
    keep = (held >= min_size) & (held < len(column.codes))
    conditions = tuple(c for c, k in zip(column.conditions, keep, strict=True) if k)
    return SearchColumn(
        column.name, column.codes, column.n_bins, column.items[keep], conditions
    )


def _why_not(column: "pd.Series[Any]", min_size: int) -> str:
    levels = int(column.nunique())
    if levels <= 1:
        return "is constant" if levels else "has no values"
    return f"has {levels:,} values, none of them in {min_size:,} rows"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    text = f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
    return text.replace("-", "−")
