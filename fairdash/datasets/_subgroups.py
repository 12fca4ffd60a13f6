"""Subgroups: the regions of a table in which fairness is measured."""

import json
from dataclasses import field
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._record import Record, Whole
from fairdash._validation import Count, as_frame, check_positive
from fairdash._wording import NO_SUBGROUPS, is_bare
from fairdash.datasets._values import Labels
from fairdash.datasets.bins import (
    Edges,
    bin_column,
    cut_column,
    default_width,
    has_bins,
    quantile_cuts,
)
from fairdash.datasets.column_kinds import (
    is_age,
    is_number,
    label_codes,
    range_labels,
)


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
        # One number for each combination of values, the last column changing fastest.
        cell = np.zeros(len(frame), dtype=np.int64)
        missing = ~self._inside(frame)
        labels_by_column: list[list[str]] = []
        for column in self._ordered(frame):
            codes, labels = self._piece(frame[column], people)
            missing |= codes < 0
            cell = cell * len(labels) + codes
            labels_by_column.append(labels)
        present = np.unique(cell[~missing])
        position = np.searchsorted(present, cell)
        values = pd.Categorical.from_codes(
            np.where(missing, -1, position),
            categories=pd.Index(_names(present, labels_by_column)),
            ordered=True,
        )
        return pd.Series(values, index=frame.index, name="subgroup")

    def _ordered(self, frame: pd.DataFrame) -> list[str]:
        """Return the columns as names say them: values first, then bins."""
        by_value: list[str] = []
        binned: list[str] = []
        for name in self.columns:
            if self._is_binned(frame[name]):
                binned.append(name)
            else:
                by_value.append(name)
        return by_value + binned

    def _is_binned(self, column: "pd.Series[Any]") -> bool:
        """Return whether bins of a column are chosen, or usual."""
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

    def _can_be_cut(self, column: "pd.Series[Any]") -> bool:
        """Return whether a column has the numbers, or ranges to cut, of its bins."""
        if is_number(column):
            return True
        return str(column.name) in self.cuts and range_labels(column) is not None

    def _check_frame(self, frame: pd.DataFrame) -> None:
        """Raise ValueError if a column is not in the table, or text has bins."""
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
            if name in binned and not self._can_be_cut(frame[name])
        ]
        if text:
            raise ValueError(
                f"{text} hold no numbers, so they have no bins; remove them from "
                "`widths`, `quantiles` and `cuts`."
            )


def _names(cells: NDArray[np.int64], labels_by_column: list[list[str]]) -> list[str]:
    """Return the names of combinations of values; with dots where words are unclear."""
    if not labels_by_column:
        return [NO_SUBGROUPS] * len(cells)
    shape = [max(len(labels), 1) for labels in labels_by_column]
    codes_by_column = np.unravel_index(cells, shape)
    words_by_column = []
    for labels, codes in zip(labels_by_column, codes_by_column, strict=True):
        words_by_column.append([labels[code] for code in codes])
    words_by_cell = list(zip(*words_by_column, strict=True))
    names = [" ".join(words) for words in words_by_cell]
    if len(set(names)) < len(names):
        names = [" · ".join(words) for words in words_by_cell]
    return names
