"""Subgroups: the regions of a table in which fairness is measured."""

import json
import math
from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._counts import quantiles
from fairdash._record import Record, Whole
from fairdash._validation import Count, as_frame, check_positive
from fairdash._wording import NO_SUBGROUPS, is_bare
from fairdash.datasets import ranges
from fairdash.datasets._roles import Labels
from fairdash.datasets.column_kinds import (
    count_codes,
    is_age,
    is_number,
    is_whole,
    label_codes,
    range_labels,
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
    if not len(values):
        return AGE_WIDTH if is_age(str(column.name)) else 1.0
    low, high = quantiles(values, (0.05, 0.95), counts).tolist()
    if is_age(str(column.name)) and high >= AGE_WIDTH:  # not in decades
        return AGE_WIDTH
    if high == low:  # nearly all rows have one value: the others make the bins
        low = float(values[0])
        high = float(values[-1])
    least = float(high - low) / MOST_BINS
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    widths = [step * power * scale for scale in (1, 10) for step in NICE_STEPS]
    if is_whole(column):
        widths = [width for width in widths if width.is_integer()] or [1.0]
    wide_enough = (width for width in widths if width >= least)
    return next(wide_enough, widths[-1])


def has_bins(column: "pd.Series[Any]") -> bool:
    """Return whether a column is cut in bins when nothing else is said."""
    return is_number(column) and column.nunique() > FEW_VALUES


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
    is_paper = edges == "paper"
    in_years = is_age(str(column.name)) and width >= 1
    anchor = AGE_ANCHOR % width if in_years and not is_paper else 0.0
    # Rounded, so that .3 / .1 is 3 and lies on an edge.
    scaled = np.round((values[present] - anchor) / width, 9)
    bin_of_value = np.ceil(scaled) - 1 if is_paper else np.floor(scaled)
    numbers, position = np.unique(bin_of_value, return_inverse=True)
    rows = _rows_by_value(value_codes, len(values), people)[present]
    counts = np.bincount(position, weights=rows).astype(np.int64)
    first = 0
    last = len(counts) - 1
    if not is_paper:
        first, last = _open_ends(counts)
    # The extra entry answers to code -1, a missing value.
    bins = np.full(len(values) + 1, -1, dtype=np.int64)
    bins[:-1][present] = np.clip(position, first, last) - first
    codes = bins[value_codes]
    whole = is_whole(column)
    if is_paper:
        return codes, _paper_names(numbers, width, whole)
    least = float(values[present].min())
    if first == last:
        largest = float(values[present].max())
        return codes, [_name(least, largest + whole, whole, least)]
    names = []
    for number in numbers[first : last + 1]:
        low = anchor + number * width
        high = anchor + (number + 1) * width
        names.append(_name(low, high, whole, least))
    if last < len(numbers) - 1:
        names[-1] = f"{_number(anchor + numbers[last] * width)}+"
    if first > 0:
        names[0] = f"under {_number(anchor + (numbers[first] + 1) * width)}"
    return codes, names


def _rows_by_value(
    codes: NDArray[np.int64], n_values: int, people: NDArray[np.float64] | None
) -> NDArray[Any]:
    """Return how many rows, or people, have each value; code -1 is missing."""
    if people is None:
        return count_codes(codes, n_values)
    present = codes >= 0
    return np.bincount(codes[present], np.asarray(people)[present], n_values)


def _paper_names(numbers: NDArray[np.float64], width: float, whole: bool) -> list[str]:
    """Return the names of bins as in the ROAD paper, with their upper edges."""
    names = []
    for number in numbers:
        low = number * width
        high = (number + 1) * width
        if whole:  # from the first whole number above an edge
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


def _cut_names(cuts: Sequence[float], is_whole: bool) -> list[str]:
    """Return the names of the ranges below, between and above cut points."""
    whole = is_whole and all(float(cut).is_integer() for cut in cuts)
    between = [_name(low, high, whole, low) for low, high in pairwise(cuts)]
    return [f"under {_number(cuts[0])}", *between, f"{_number(cuts[-1])} or more"]


def _cut_ranges(
    column: "pd.Series[Any]", cuts: Sequence[float]
) -> tuple[NDArray[np.int64], list[str]]:
    """Cut a column of ranges that are written as text; see `cut_column`."""
    codes, labels = label_codes(column)
    parts = ranges.parts_between(str(column.name), labels, cuts)
    # The last entry answers to code -1, a missing value.
    part_of_code = np.array([*(parts[label] for label in labels), -1], dtype=np.int64)
    return part_of_code[codes], _cut_names(cuts, ranges.are_whole(labels))


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


def _open_ends(counts: NDArray[np.int64]) -> tuple[int, int]:
    """Return the first and last bin once small ones at the ends are joined."""
    share_from_below = np.cumsum(counts) / counts.sum()
    share_from_above = np.cumsum(counts[::-1]) / counts.sum()
    first = int(np.argmax(share_from_below >= TAIL_SHARE))
    last = len(counts) - 1 - int(np.argmax(share_from_above >= TAIL_SHARE))
    return first, last


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
    dash = "–" if low >= 0 else " to "  # "−5–3" would be hard to read
    return f"{_number(low)}{dash}{_number(high)}"


def _number(value: float) -> str:
    """Return a number as it stands in the name of a bin."""
    text = f"{value:,.0f}" if float(value).is_integer() else f"{value:.10g}"
    return text.replace("-", "−")


class Subgroups(Record):
    """How rows are put together in subgroups.

    Numbers are cut in bins, other columns go by their values, and the columns are
    crossed. A number of at most eight different values goes by value too, unless its
    bins are chosen.

    Attributes
    ----------
    columns : tuple of str
        Columns that describe subgroups; none puts all rows in one.
    widths : dict of str to float
        Bin width of numbers; by default 10 for an age, else a round number that gives
        five to eight bins for most rows.
    quantiles : dict of str to int
        Numbers cut in that many bins of about equally many rows each, instead of bins
        of one width.
    cuts : dict of str to tuple of float
        Numbers cut at these points, each the lower end of a bin, instead. So are
        ranges that are written as text, such as "25-34".
    crossed : bool
        True: columns are crossed. Subgroups stored by earlier versions may have False.
    edges : {"customary", "paper"}
        Where bins of one width begin: ages at 25, 35 and so on, or as in the ROAD paper
        at 21, 31 and so on, with no bins joined at the ends.
    where : dict of str to tuple of str
        Only rows with these values are in a subgroup.
    """

    columns: tuple[str, ...] = ()
    widths: dict[str, float] = field(default_factory=dict)
    quantiles: dict[str, Annotated[int, Whole(2, 20)]] = field(default_factory=dict)
    cuts: dict[str, tuple[float, ...]] = field(default_factory=dict)
    crossed: bool = True
    edges: Edges = "customary"
    where: dict[str, Labels] = field(default_factory=dict)
    min_size: Count = 50

    def _check(self) -> None:
        for column, width in self.widths.items():
            check_positive(f"widths[{column!r}]", width)
        for column, points in self.cuts.items():
            if not points:
                raise ValueError(f"`cuts[{column!r}]` is empty; give at least one cut.")
            if list(points) != sorted(set(points)):
                raise ValueError(f"`cuts[{column!r}]` must rise, got {points}.")
        ways = [*self.widths, *self.quantiles, *self.cuts]
        ambiguous = sorted({name for name in ways if ways.count(name) > 1})
        if ambiguous:
            message = f"{ambiguous} have bins in more than one way"
            raise ValueError(f"{message}; give a width, quantiles or cuts.")
        repeated = sorted({c for c in self.columns if self.columns.count(c) > 1})
        if repeated:
            raise ValueError(f"`columns` names {repeated} more than once.")

    def __hash__(self) -> int:
        """Return a hash of all that is defined: results are kept by it."""
        return hash(json.dumps(self.model_dump(mode="json"), sort_keys=True))

    def label(
        self, frame: pd.DataFrame, people: NDArray[np.float64] | None = None
    ) -> "pd.Series[Any]":
        """Name the subgroup of each row.

        Bins at both ends follow the data, so label a whole table and choose rows
        after.

        Names are such as "age 25–34" or "Female 25–34", values first, then the bins,
        in order of size; missing outside ``where`` and where a column is missing.
        ``people`` says how many each row stands for, where rows are counts.
        Raises ValueError if a column is not in the table, or text has a bin width.
        """
        frame = as_frame("frame", frame)
        self._check_frame(frame)
        pieces = [self._piece(frame[column], people) for column in self._ordered(frame)]
        # One number for each combination of values, the last column changing fastest.
        code = np.zeros(len(frame), dtype=np.int64)
        missing = ~self._inside(frame)
        for codes, labels in pieces:
            missing |= codes < 0
            code = code * len(labels) + codes
        present = np.unique(code[~missing])
        names = _names(present, [labels for _, labels in pieces])
        values = pd.Categorical.from_codes(
            np.where(missing, -1, np.searchsorted(present, code)),
            categories=pd.Index(names),
            ordered=True,
        )
        return pd.Series(values, index=frame.index, name="subgroup")

    def _ordered(self, frame: pd.DataFrame) -> list[str]:
        """Return the columns as names say them: values first, then bins."""
        binned = [name for name in self.columns if self._is_binned(frame[name])]
        return [name for name in self.columns if name not in binned] + binned

    def _is_binned(self, column: "pd.Series[Any]") -> bool:
        return str(column.name) in self._bins() or has_bins(column)

    def _bins(self) -> set[str]:
        """Return the columns whose bins are chosen."""
        return {*self.widths, *self.quantiles, *self.cuts}

    def _piece(
        self, column: "pd.Series[Any]", people: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.int64], list[str]]:
        """Return a column's part of the subgroups: codes of rows, and their names."""
        name = str(column.name)
        if self._is_binned(column):
            codes, labels = self._cut(column, people)
            # "Female 25–34" is understood; bins of another column need its name.
            is_clear = is_age(name) and len(self.columns) > 1
        else:
            codes, labels = label_codes(column)
            is_clear = not any(is_bare(label) for label in labels)
        if not is_clear:
            labels = [f"{name} {label}" for label in labels]
        return codes, labels

    def _cut(
        self, column: "pd.Series[Any]", people: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.int64], list[str]]:
        """Cut a column as chosen: by quantiles, at points, or in bins of one width."""
        name = str(column.name)
        cuts = self.cuts.get(name, ())
        if name in self.quantiles:
            cuts = quantile_cuts(column, self.quantiles[name], people)
        if cuts:
            return cut_column(column, cuts)
        width = self.widths.get(name) or default_width(column, people)
        return bin_column(column, width, self.edges, people)

    def _inside(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Return the rows with the values that ``where`` asks for."""
        inside = np.ones(len(frame), dtype=bool)
        for column, values in self.where.items():
            codes, labels = label_codes(frame[column])
            allowed = [i for i, label in enumerate(labels) if label in values]
            inside &= np.isin(codes, allowed)
        return inside

    def _check_frame(self, frame: pd.DataFrame) -> None:
        if not self.crossed and len(self.columns) > 1:
            raise ValueError("Subgroups overlap with `crossed=False`; cross columns.")
        absent = [c for c in (*self.columns, *self.where) if c not in frame]
        if absent:
            message = f"The table has no columns {absent} to make subgroups from"
            raise ValueError(f"{message}; choose among {list(frame.columns)[:20]}.")
        binned = self._bins()
        text = [
            name
            for name in self.columns
            if name in binned
            and not is_number(frame[name])
            and (name not in self.cuts or range_labels(frame[name]) is None)
        ]
        if text:
            raise ValueError(
                f"{text} hold no numbers, so they have no bins; remove them from "
                "`widths`, `quantiles` and `cuts`."
            )


def _names(cells: NDArray[np.int64], labels: list[list[str]]) -> list[str]:
    """Return the names of combinations of values; with dots where words are unclear."""
    if not labels:
        return [NO_SUBGROUPS] * len(cells)
    positions = np.unravel_index(cells, [max(len(column), 1) for column in labels])
    parts = [
        [column[i] for i in position]
        for column, position in zip(labels, positions, strict=True)
    ]
    names = [" ".join(part) for part in zip(*parts, strict=True)]
    if len(set(names)) < len(names):
        names = [" · ".join(part) for part in zip(*parts, strict=True)]
    return names
