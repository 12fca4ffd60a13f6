"""Bins of a column of numbers or ranges: edges, names and the bin of each row."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._counts import quantiles
from fairdash.datasets import ranges
from fairdash.datasets.column_kinds import (
    by_code,
    count_codes,
    is_age,
    is_number,
    is_whole,
    label_codes,
)

AGE_WIDTH = 10.0
AGE_ANCHOR = 25.0  # an edge of the customary bands 18–24, 25–34 and so on
TAIL_SHARE = 0.01  # of the rows, below which bins at an end are joined
MOST_BINS = 7.2  # between the 5 % and the 95 % quantile, before rounding the width
Edges = Literal["customary", "paper"]
NICE_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.5)
FEW_VALUES = 8


def default_width(
    column: "pd.Series[Any]", people: NDArray[np.float64] | None = None
) -> float:
    """Return 10 for an age in years, else a round width of about five to eight bins.

    ``people`` says how many each row stands for, where rows are counts.
    """
    values, counts = _distinct(column, people)
    says_age = is_age(str(column.name))
    if not len(values):
        return AGE_WIDTH if says_age else 1.0
    low, high = quantiles(values, (0.05, 0.95), counts).tolist()
    # An age may be in decades.
    if says_age and high >= AGE_WIDTH:
        return AGE_WIDTH
    # Where nearly all rows have one value, the others make the bins.
    if high == low:
        low = float(values[0])
        high = float(values[-1])
    least = float(high - low) / MOST_BINS
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    widths = [step * power for step in NICE_STEPS]
    widths += [step * power * 10 for step in NICE_STEPS]
    if is_whole(column):
        widths = [width for width in widths if width.is_integer()] or [1.0]
    for width in widths:
        if width >= least:
            return width
    return widths[-1]


def has_bins(column: "pd.Series[Any]") -> bool:
    """Return whether a column is cut in bins when nothing else is said."""
    return is_number(column) and column.nunique() > FEW_VALUES


def quantile_cuts(
    column: "pd.Series[Any]", n_bins: int, people: NDArray[np.float64] | None = None
) -> tuple[float, ...]:
    """Return cut points of bins with about equally many rows each.

    The k-th is the least value with at least a share k / ``n_bins`` of the rows below
    it. There are fewer where many rows have one value.
    """
    values, counts = _distinct(column, people)
    rows_below = np.cumsum(counts) - counts
    targets = np.arange(1, n_bins) / n_bins * counts.sum()
    indices = np.unique(np.searchsorted(rows_below, targets))
    return tuple(float(values[i]) for i in indices if 0 < i < len(values))


def _distinct(
    column: "pd.Series[Any]", people: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the finite values of a column in order, and how many people have each."""
    values = column.to_numpy(dtype=float, na_value=np.nan)
    times = np.ones(len(values)) if people is None else np.asarray(people)
    used = np.isfinite(values) & (times > 0)
    distinct, index = np.unique(values[used], return_inverse=True)
    counts = np.bincount(index, times[used], len(distinct))
    return distinct, counts.astype(np.float64)


def bin_column(
    column: "pd.Series[Any]",
    width: float,
    edges: Edges = "customary",
    people: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the bin of each row (-1 where missing) and the names of the bins.

    Edges are multiples of ``width``; for ages they pass through 25, which gives the
    customary bands 18–24, 25–34 and so on. Bins at either end that together hold less
    than 1 % of the rows join the next bin, which is then open ("65+"). Bins of whole
    numbers are named by their first and last number, others by their edges, of which
    the upper is not included. Empty bins are excluded.

    With ``edges="paper"``, as in the public code of the ROAD paper, edges of ages too
    are multiples of ``width``, a bin includes its upper edge and not its lower, and no
    bins are joined: ages 21–30, 31–40 and so on.

    ``people`` says how many each row stands for, where rows are counts.
    """
    # Bins are computed of the distinct values, which are few beside the rows.
    value_codes, distinct = pd.factorize(column)
    values = np.asarray(distinct, dtype=float)
    present = np.isfinite(values)
    if not present.any():
        return np.full(len(column), -1, dtype=np.int64), []
    whole = is_whole(column)
    if edges == "paper":
        bins, names = _paper_bins(values[present], width, whole)
    else:
        rows = _rows_by_value(value_codes, len(values), people)
        in_years = is_age(str(column.name)) and width >= 1
        anchor = AGE_ANCHOR % width if in_years else 0.0
        bins, names = _customary_bins(
            values[present], rows[present], width, anchor, whole
        )
    # The extra entry answers to code -1, a missing value.
    bin_of_value = np.full(len(values) + 1, -1, dtype=np.int64)
    bin_of_value[:-1][present] = bins
    return bin_of_value[value_codes], names


def _customary_bins(
    values: NDArray[np.float64],
    rows: NDArray[Any],
    width: float,
    anchor: float,
    whole: bool,
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the bin of each value, and names, with small bins at the ends joined."""
    bin_of_value = np.floor(_in_widths(values - anchor, width))
    numbers, position = np.unique(bin_of_value, return_inverse=True)
    counts = np.bincount(position, weights=rows).astype(np.int64)
    first, last = _open_ends(counts)
    bins = np.clip(position, first, last) - first
    least = float(values.min())
    if first == last:
        largest = float(values.max())
        return bins, [_name(least, largest + whole, whole, least)]
    names = []
    for number in numbers[first : last + 1]:
        low = anchor + number * width
        high = anchor + (number + 1) * width
        names.append(_name(low, high, whole, least))
    if last < len(numbers) - 1:
        low = anchor + numbers[last] * width
        names[-1] = f"{_number(low)}+"
    if first > 0:
        high = anchor + (numbers[first] + 1) * width
        names[0] = f"under {_number(high)}"
    return bins, names


def _paper_bins(
    values: NDArray[np.float64], width: float, whole: bool
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the bin of each value, and names, as in the ROAD paper."""
    bin_of_value = np.ceil(_in_widths(values, width)) - 1
    numbers, position = np.unique(bin_of_value, return_inverse=True)
    return position, _paper_names(numbers, width, whole)


def _in_widths(values: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Return values in units of a width; rounded, so that .3 / .1 lies on an edge."""
    return np.round(values / width, 9)


def _rows_by_value(
    codes: NDArray[np.int64], n_values: int, people: NDArray[np.float64] | None
) -> NDArray[Any]:
    """Return how many rows, or people, have each value; code -1 is missing."""
    if people is None:
        return count_codes(codes, n_values)
    present = codes >= 0
    return np.bincount(codes[present], np.asarray(people)[present], n_values)


def _open_ends(counts: NDArray[np.int64]) -> tuple[int, int]:
    """Return the first and last bin once small ones at the ends are joined."""
    share_from_below = np.cumsum(counts) / counts.sum()
    share_from_above = np.cumsum(counts[::-1]) / counts.sum()
    first = int(np.argmax(share_from_below >= TAIL_SHARE))
    last = len(counts) - 1 - int(np.argmax(share_from_above >= TAIL_SHARE))
    return first, last


def _paper_names(numbers: NDArray[np.float64], width: float, whole: bool) -> list[str]:
    """Return the names of bins as in the ROAD paper, with their upper edges."""
    names = []
    for number in numbers:
        low = number * width
        high = (number + 1) * width
        if whole:
            # A bin begins with the first whole number above its lower edge.
            low = math.floor(low) + 1
            high = math.floor(high) + 1
        names.append(_name(low, high, whole, low))
    return names


def cut_column(
    column: "pd.Series[Any]", cuts: Sequence[float]
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the range of each row between cut points (-1 where missing) and names.

    A range includes its lower end: cuts at 25 and 45 give "under 25", "25–44" (whole
    numbers; else "25–45") and "45 or more". Every range is named, also an empty one.
    Ranges that are written as text are put together; a word among them is in none.
    Raises ValueError if a cut lies inside such a range.
    """
    if not is_number(column):
        return _cut_ranges(column, cuts)
    values = column.to_numpy(dtype=float, na_value=np.nan)
    codes = np.searchsorted(cuts, values, side="right").astype(np.int64)
    codes[np.isnan(values)] = -1
    return codes, _cut_names(cuts, is_whole(column))


def _cut_ranges(
    column: "pd.Series[Any]", cuts: Sequence[float]
) -> tuple[NDArray[np.int64], list[str]]:
    """Cut a column of ranges that are written as text; see `cut_column`."""
    codes, labels = label_codes(column)
    part_of_label = ranges.parts_between(str(column.name), labels, cuts)
    parts = [part_of_label[label] for label in labels]
    names = _cut_names(cuts, ranges.are_whole(labels))
    return by_code(parts, codes, missing=-1), names


def _cut_names(cuts: Sequence[float], is_whole: bool) -> list[str]:
    """Return the names of the ranges below, between and above cut points."""
    whole = is_whole and all(float(cut).is_integer() for cut in cuts)
    names = [f"under {_number(cuts[0])}"]
    for low, high in pairwise(cuts):
        names.append(_name(low, high, whole, low))
    names.append(f"{_number(cuts[-1])} or more")
    return names


def _name(low: float, high: float, whole: bool, least: float) -> str:
    """Return the name of a bin from ``low`` up to, not including, ``high``.

    ``least`` is the smallest value of the column: no bin begins below it, if values are
    whole, nor below 0 unless values do.
    """
    if whole:
        low = max(math.ceil(low), least)
        high = math.ceil(high) - 1
        if low == high:
            return _number(low)
    if least >= 0:
        low = max(low, 0.0)
    # "−5–3" would be hard to read.
    dash = "–" if low >= 0 else " to "
    return f"{_number(low)}{dash}{_number(high)}"


def _number(value: float) -> str:
    """Return a number as it stands in the name of a bin."""
    text = f"{value:,.0f}" if float(value).is_integer() else f"{value:.10g}"
    return text.replace("-", "−")
