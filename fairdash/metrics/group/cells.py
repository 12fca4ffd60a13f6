r"""Cells: how many rows in each place have which outcome and decision.

A measure of decisions depends on rows by their sums alone: in each place of a table,
such as a group in a subgroup, and for each outcome and decision, how many rows there
are and what their weights, the squares and the fourth powers of these add up to; with
units, the sum of the weights of each unit. So rows are counted once for any number of
measures, groups and models that are looked at in the same places. Measures of scores
depend on rows in the same way, by outcome and distinct score: rows whose scores repeat,
such as deciles, are counted too. Other scores and numbers need every row, as do
decisions drawn with others.

`Cells.estimate` makes every estimate there is, each with what its interval follows
from. `fairdash.metrics.group.sums` counts, `fairdash.metrics.group.entries` estimates.
"""

from typing import Literal, NamedTuple, Self

import numpy as np
import pandas as pd

from fairdash._arrays import Codes, FloatArray
from fairdash.metrics.group.catalog import measure_of
from fairdash.metrics.group.cell_values import CellValues
from fairdash.metrics.group.entries import Entries, ValueRange
from fairdash.metrics.group.sample import Sample
from fairdash.metrics.group.sums import (
    Sums,
    count_rows,
    flags_of_kind,
    kind_of_flags,
    with_scaled_weights,
)

Says = Literal["decision", "score"] | None
_LEAST_REPEATS = 4  # rows an entry of scores, at least; else it is not worth counting
_PROBED = 5_000  # rows that show whether scores repeat


class Cells(NamedTuple):
    """Entries of a table by place, each of rows that say the same to the measures.

    Attributes
    ----------
    sample : Sample
        One row of each entry.
    place : int array
        Of each entry in the table; negative for none.
    sums : Sums
        Over the rows of each entry.
    """

    sample: Sample
    place: Codes
    sums: Sums

    @classmethod
    def of(
        cls, sample: Sample, place: Codes, n_places: int, *, says: Says = None
    ) -> Self:
        """Return the cells of rows at some places.

        Rows are counted where sums say all that a measure needs of them, else each row
        is an entry of its own.

        Parameters
        ----------
        place : int array of shape (n_rows,)
            Negative for none.
        says : {"decision", "score", None}
            What a row says beside an outcome of 0 or 1; None for other outcomes.
        """
        sample = with_scaled_weights(sample)
        if sample.row is not None:
            place = place[sample.row]
        counted = None
        if says == "decision" and _is_countable(sample):
            counted = cls._of_decisions(sample, place, n_places)
        elif says == "score" and sample.unit is None:
            counted = cls._of_scores(sample, place, n_places)
        if counted is not None:
            return counted
        return cls(sample, place, Sums.of(sample))

    @classmethod
    def _of_decisions(cls, sample: Sample, place: Codes, n_places: int) -> Self:
        """Count rows by place, outcome and decision, with units by unit too."""
        kind = kind_of_flags(sample.y, sample.predicted)
        counted = count_rows(sample, kind, 2**2, place, n_places)
        y, decided = flags_of_kind(counted.kind, 2)
        weight = None if sample.plain else counted.sums.mass
        entries = Sample(y, decided, weight, unit=counted.unit)
        return cls(entries, counted.place, counted.sums)

    @classmethod
    def _of_scores(cls, sample: Sample, place: Codes, n_places: int) -> Self | None:
        """Count rows by place, outcome and score; None where scores hardly repeat."""
        most = len(sample.y) // (_LEAST_REPEATS * 2 * n_places)
        levels = _distinct(sample.predicted, most)
        if levels is None:
            return None
        codes, scores = levels
        kind = 2 * codes + sample.y.astype(np.int64)
        counted = count_rows(sample, kind, 2 * len(scores), place, n_places)
        weight = None if sample.plain else counted.sums.mass
        entries = Sample(
            (counted.kind % 2).astype(np.float64), scores[counted.kind // 2], weight
        )
        return cls(entries, counted.place, counted.sums)

    def estimate(
        self, measure: str, cell_of_place: Codes, shape: tuple[int, ...]
    ) -> CellValues:
        """Return a measure in the cells of a table of ``shape``.

        ``cell_of_place`` is the cell of each place, negative for none: a cell may be of
        several places, such as a group of all its subgroups.
        """
        return self._estimate(measure, self._cells_of(cell_of_place), shape)

    def estimate_by_outcome(
        self, measure: str, cell_of_place: Codes, shape: tuple[int, ...]
    ) -> CellValues:
        """Return a measure at outcome 0 and at outcome 1, in cells of (2, *shape)."""
        cell = self._cells_of(cell_of_place)
        outcome = self.sample.y.astype(np.int64)
        n_cells = int(np.prod(shape))
        cell = np.where(cell < 0, -1, outcome * n_cells + cell)
        return self._estimate(measure, cell, (2, *shape))

    def means(self, cell_of_place: Codes, shape: tuple[int, ...]) -> CellValues:
        """Return the means of predicted numbers with their standard errors.

        Their skewness, which intervals of means need, costs more than all else.
        """
        entries = self._entries(self._cells_of(cell_of_place), int(np.prod(shape)))
        return entries.means(self._range).in_table(shape)

    def decided_rows(self, cell_of_place: Codes, n_cells: int) -> "DecidedRows":
        """Return how many rows, or people, are in each cell, and were decided 1."""
        cell = self._cells_of(cell_of_place)
        inside = cell >= 0
        cell = cell[inside]
        rows = self.sums.rows[inside]
        decided = rows * self.sample.predicted[inside]
        return DecidedRows(
            *(
                np.rint(np.bincount(cell, part, n_cells)).astype(np.int64)
                for part in (rows, decided)
            )
        )

    def _cells_of(self, cell_of_place: Codes) -> Codes:
        """Return the cell of each entry, negative for none."""
        # The last one is of entries without a place, of index -1.
        return np.append(cell_of_place, -1)[self.place]

    def _estimate(
        self, measure: str, cell: Codes, shape: tuple[int, ...]
    ) -> CellValues:
        """Return a measure in cells; ``cell`` is that of each entry, negative: none."""
        # The range of a number is that of all rows, so that cells have the same.
        limits = (0.0, 0.0)
        if measure_of(measure).outcome != "classes":
            limits = self._range
        entries = self._entries(cell, int(np.prod(shape)))
        return entries.estimate(measure, limits).in_table(shape)

    @property
    def _range(self) -> ValueRange:
        """The least and the largest predicted number."""
        predicted = self.sample.predicted
        return float(predicted.min()), float(predicted.max())

    def _entries(self, cell: Codes, n_cells: int) -> Entries:
        """Return the entries that are in a cell."""
        entries = Entries(self.sample, self.sums, cell, n_cells)
        inside = cell >= 0
        return entries if inside.all() else entries.take(inside)


class DecidedRows(NamedTuple):
    """How many rows, or people, there are, and how many of these are decided 1."""

    n: Codes
    decided: Codes


def _distinct(scores: FloatArray, most: int) -> tuple[Codes, FloatArray] | None:
    """Return the code of every score and the distinct ones; None of more than so many.

    Scores that all differ are given up after the first thousands.
    """
    if not most or len(np.unique(scores[:_PROBED])) > most:
        return None
    codes, levels = pd.factorize(scores)
    return None if len(levels) > most else (codes.astype(np.int64), levels)


def _is_countable(sample: Sample) -> bool:
    """Return whether sums say all of rows of decisions.

    Of rows that share a draw, and of drawn ones of a unit, pairs count as well.
    """
    return sample.content is None and (sample.unit is None or sample.row is None)
