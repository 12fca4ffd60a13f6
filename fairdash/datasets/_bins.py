"""Numbers cut in bins of one width, with edges a person would choose."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._columns import count_codes, is_age, is_whole

AGE_WIDTH = 10.0
AGE_ANCHOR = 25.0
TAIL_SHARE = 0.01
MOST_BINS = 7.2
NICE_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.5)


def default_width(column: "pd.Series[Any]") -> float:
    """Return 10 for an age, else a round width giving about five to eight bins.

    The bins are counted over the middle 90 % of the values, so that a few large values
    do not widen them.
    """
    if is_age(str(column.name)):
        return AGE_WIDTH
    values = column.to_numpy(dtype=float, na_value=np.nan)
    low, high = np.nanquantile(values, [0.05, 0.95])
    if high == low:
        low, high = np.nanmin(values), np.nanmax(values)
    least = float(high - low) / MOST_BINS
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    widths = [step * power * tens for tens in (1, 10) for step in NICE_STEPS]
    if is_whole(column):
        widths = [width for width in widths if width.is_integer()] or [1.0]
    return next(width for width in widths if width >= least or width == widths[-1])


def bin_column(
    column: "pd.Series[Any]", width: float
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the bin of each row (-1 where missing) and the names of the bins.

    Edges are multiples of ``width``; for ages they pass through 25, which gives the
    customary bands 18–24, 25–34 and so on. Bins at either end that together hold less
    than 1 % of the rows join the next bin, which is then open ("65+"). Bins of whole
    numbers are named by their first and last number, others by their edges, of which
    the upper is not included. Empty bins are left out.
    """
    row_value, distinct = pd.factorize(column)
    values = np.asarray(distinct, dtype=float)
    present = np.isfinite(values)
    if not present.any():
        return np.full(len(column), -1, dtype=np.int64), []
    anchor = AGE_ANCHOR % width if is_age(str(column.name)) else 0.0
    number = np.floor(np.round((values[present] - anchor) / width, 9))
    numbers, position = np.unique(number, return_inverse=True)
    rows = count_codes(row_value, len(values))[present]
    counts = np.bincount(position, weights=rows).astype(np.int64)
    first, last = _open_ends(counts)
    # the extra entry answers to code -1, a missing value
    bins = np.full(len(values) + 1, -1, dtype=np.int64)
    bins[:-1][present] = np.clip(position, first, last) - first
    codes = bins[row_value]
    whole = is_whole(column)
    low_end, high_end = float(values[present].min()), float(values[present].max())
    if first == last:
        return codes, [_name(low_end, high_end + whole, whole, low_end)]
    names = [
        _name(anchor + n * width, anchor + (n + 1) * width, whole, low_end)
        for n in numbers[first : last + 1]
    ]
    if last < len(numbers) - 1:
        names[-1] = f"{_number(anchor + numbers[last] * width)}+"
    if first > 0:
        names[0] = f"under {_number(anchor + (numbers[first] + 1) * width)}"
    return codes, names


def cut_column(
    column: "pd.Series[Any]", cuts: Sequence[float]
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the range of each row between cut points (-1 where missing) and names.

    A range includes its lower end: cuts at 25 and 45 give "under 25", "25–44" (whole
    numbers; else "25–45") and "45 or more". Every range is named, also an empty one.
    """
    values = column.to_numpy(dtype=float, na_value=np.nan)
    codes = np.searchsorted(cuts, values, side="right").astype(np.int64)
    codes[np.isnan(values)] = -1
    whole = is_whole(column) and all(float(cut).is_integer() for cut in cuts)
    middle = [_name(low, high, whole, low) for low, high in pairwise(cuts)]
    first, last = _number(cuts[0]), _number(cuts[-1])
    return codes, [f"under {first}", *middle, f"{last} or more"]


def quantile_cuts(column: "pd.Series[Any]", n_bins: int) -> tuple[float, ...]:
    """Return cut points of bins with about equally many rows each.

    The k-th is the least value with at least a share k / ``n_bins`` of the rows below
    it. There are fewer where many rows have one value.
    """
    values = column.to_numpy(dtype=float, na_value=np.nan)
    points, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    below = np.cumsum(counts) - counts
    wanted = np.arange(1, n_bins) / n_bins * counts.sum()
    found = np.unique(np.searchsorted(below, wanted))
    return tuple(float(points[i]) for i in found if 0 < i < len(points))


def _open_ends(counts: NDArray[np.int64]) -> tuple[int, int]:
    """Return the first and last bin after sparse ends are merged into them."""
    share = np.cumsum(counts) / counts.sum()
    from_above = np.cumsum(counts[::-1]) / counts.sum()
    first = int(np.argmax(share >= TAIL_SHARE))
    last = len(counts) - 1 - int(np.argmax(from_above >= TAIL_SHARE))
    return first, last


def _name(low: float, high: float, whole: bool, low_end: float) -> str:
    if whole:
        low = max(math.ceil(low), low_end)
        high = math.ceil(high) - 1
        if low == high:
            return _number(low)
    dash = "–" if low >= 0 else " to "
    return f"{_number(low)}{dash}{_number(high)}"


def _number(value: float) -> str:
    """Write a number with a real minus sign and at most ten digits."""
    text = f"{value:,.0f}" if float(value).is_integer() else f"{value:.10g}"
    return text.replace("-", "−")
