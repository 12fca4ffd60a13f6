"""Two models on the same rows: the means of both in groups, and their changes.

Rows are counted by place, outcome and both decisions, so that every change between two
models is of one count. `TwoModels` counts, `GroupMeans` says how means changed.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from fairdash._arrays import FloatArray
from fairdash._validation import check_lengths
from fairdash.metrics.group import counting, intervals
from fairdash.metrics.group.cell_values import FEWEST, CellValues
from fairdash.metrics.group.drawn import (
    Drawn,
    chances,
    draw_variance,
    shared_variance,
)
from fairdash.metrics.group.largest_change import PairGaps
from fairdash.metrics.group.sample import Sample
from fairdash.metrics.group.sums import (
    Sums,
    count_rows,
    flags_of_kind,
    kind_of_flags,
    with_scaled_weights,
)
from fairdash.metrics.group.variance import Variance, unit_codes, worth

_AFTER_LESS_BEFORE = np.array([-1.0, 1.0])


class Draws(NamedTuple):
    """How decisions of rows are drawn.

    Attributes
    ----------
    chance : array of shape (n_rows,)
    content : int array of shape (n_rows,), optional
        Rows that share a draw.
    """

    chance: FloatArray
    content: NDArray[np.int64] | None

    @classmethod
    def of(cls, decisions: ArrayLike | Drawn, *, counted: bool) -> Self | None:
        """Return the draws of `Drawn` decisions, None for other decisions.

        Rows that are ``counted`` stand for several people.
        """
        if not isinstance(decisions, Drawn):
            return None
        return cls(chances("decisions", decisions), decisions.shared(counted=counted))

    def at(self, rows: NDArray[np.bool_]) -> Self:
        """Return the draws of some rows."""
        content = None if self.content is None else self.content[rows]
        return type(self)(self.chance[rows], content)

    def variance(
        self,
        change: FloatArray,
        cell: NDArray[np.int64],
        n_cells: int,
        people: FloatArray,
    ) -> FloatArray:
        """Return the variance of the means of cells by the draws.

        ``change`` is of the mean when a person is decided 1 instead of 0, ``people``
        how many a row stands for.
        """
        # The draws of the people of one row are independent: variances add up.
        variance = draw_variance(np.sqrt(people) * change, self.chance, cell, n_cells)
        if self.content is None:
            return variance
        return variance + shared_variance(
            change, self.chance, cell, n_cells, self.content, people
        )


class TwoModels(NamedTuple):
    """Entries of rows that two models decide, each of rows that say the same.

    Attributes
    ----------
    y : array
        Outcome of each entry.
    before, after : array
        Its decisions, or their chances.
    place : int array
        Negative for none.
    unit : int array or None
    sums : Sums
        Over the rows of each entry.
    is_weighted : bool
        Whether rows have sampling weights.
    draws : two of Draws or None
        Where decisions are drawn; each row is then an entry of its own.
    """

    y: FloatArray
    before: FloatArray
    after: FloatArray
    place: NDArray[np.int64]
    unit: NDArray[np.int64] | None
    sums: Sums
    is_weighted: bool
    draws: tuple[Draws | None, Draws | None]

    @classmethod
    def of(
        cls,
        y: FloatArray,
        before: ArrayLike | Drawn,
        after: ArrayLike | Drawn,
        place: NDArray[np.int64],
        n_places: int,
        *,
        sample_weight: ArrayLike | None = None,
        cluster: ArrayLike | None = None,
    ) -> Self:
        """Return the entries of checked outcomes and decisions at some places.

        Raises ValueError for what is no number in [0, 1], and wrong weights or units.
        """
        old = chances("before", before)
        new = chances("after", after)
        check_lengths(old, new, y, place)
        n_rows = len(old)
        people = counting.people("sample_weight", sample_weight, n_rows)
        weight = counting.sampling_weights("sample_weight", sample_weight, n_rows)
        unit = unit_codes(cluster, n_rows)
        sample = Sample(y, new, weight, unit=unit, people=people)
        sample = with_scaled_weights(sample)
        draws = (
            Draws.of(before, counted=people is not None),
            Draws.of(after, counted=people is not None),
        )
        is_weighted = weight is not None
        is_drawn = any(draw is not None for draw in draws)
        # Units have few rows: to count those of each costs more than it saves.
        if is_drawn or unit is not None or not (_is_binary(old) and _is_binary(new)):
            sums = Sums.of(sample)
            return cls(y, old, new, place, unit, sums, is_weighted, draws)
        kind = kind_of_flags(y, old, new)
        counted = count_rows(sample, kind, 2**3, place, n_places)
        y, old, new = flags_of_kind(counted.kind, 3)
        return cls(
            y,
            old,
            new,
            counted.place,
            None,
            counted.sums,
            is_weighted,
            draws,
        )

    def mass(
        self, cell_of_place: NDArray[np.int64], n_cells: int
    ) -> NDArray[np.float64]:
        """Return what the rows of each cell weigh together."""
        cell = self._cells_of(cell_of_place)
        inside = cell >= 0
        mass = np.bincount(cell[inside], self.sums.mass[inside], n_cells)
        return mass.astype(np.float64)

    def rates(self, cell_of_place: NDArray[np.int64], n_cells: int) -> "GroupMeans":
        """Return the rates of positive decisions in each cell.

        ``cell_of_place`` is the cell of each place, negative for none.
        """
        change = np.ones(len(self.y))
        cell = self._cells_of(cell_of_place)
        return self._means((self.before, self.after), change, cell, n_cells)

    def accuracies(self) -> "GroupMeans":
        """Return the shares of right decisions over all rows, as of one group."""
        right = (1 - np.abs(self.y - self.before), 1 - np.abs(self.y - self.after))
        # A row decided 1 instead of 0 becomes right if its outcome is 1, else wrong.
        change = 2 * self.y - 1
        return self._means(right, change, np.zeros(len(self.y), np.int64), 1)

    def _cells_of(self, cell_of_place: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cell of each entry, negative for none."""
        # The last one is of entries without a place, of index -1.
        return np.append(cell_of_place, -1)[self.place]

    def _take(self, entries: NDArray[np.bool_]) -> Self:
        """Return some of the entries."""
        before, after = self.draws
        return self._replace(
            y=self.y[entries],
            before=self.before[entries],
            after=self.after[entries],
            place=self.place[entries],
            unit=None if self.unit is None else self.unit[entries],
            sums=self.sums.take(entries),
            draws=(
                None if before is None else before.at(entries),
                None if after is None else after.at(entries),
            ),
        )

    def _means(
        self,
        numbers: tuple[FloatArray, FloatArray],
        change: FloatArray,
        cell: NDArray[np.int64],
        n_cells: int,
    ) -> "GroupMeans":
        """Return the means of two numbers of each entry, by cell.

        ``change`` is of a number when its entry is decided 1 instead of 0.
        """
        # What weighs nothing is no row of the sample.
        counts = (cell >= 0) & (self.sums.mass > 0)
        if not counts.all():
            some = self._take(counts)
            columns = (numbers[0][counts], numbers[1][counts])
            return some._means(columns, change[counts], cell[counts], n_cells)
        sums = self.sums
        total_mass = np.bincount(cell, sums.mass, n_cells).astype(np.float64)
        totals = [np.bincount(cell, sums.mass * column, n_cells) for column in numbers]
        mean = counting.divide(np.stack(totals, axis=1), total_mass[:, None])
        deviations = [
            (column - mean[cell, when]) / total_mass[cell]
            for when, column in enumerate(numbers)
        ]
        covariance = _covariance(deviations, sums, cell, n_cells, self.unit)
        self._add_draws(covariance, change / total_mass[cell], cell)
        rows = total_mass
        if self.unit is not None:
            rows = worth(sums.mass, cell, n_cells, self.unit)
        elif self.is_weighted:
            squares = np.bincount(cell, sums.squares, n_cells)
            rows = np.nan_to_num(counting.divide(total_mass**2, squares))
        return GroupMeans(mean, covariance, rows)

    def _add_draws(
        self, covariance: FloatArray, change: FloatArray, cell: NDArray[np.int64]
    ) -> None:
        """Add the variance of drawn decisions to that of means by cell.

        ``change`` is of a mean when a row of weight 1 is decided 1 instead of 0.
        """
        n_cells = len(covariance)
        group = np.arange(n_cells)
        for when, draw in enumerate(self.draws):
            if draw is not None:
                weight = self.sums.mass / self.sums.rows
                variance = draw.variance(weight * change, cell, n_cells, self.sums.rows)
                covariance[group, when, group, when] += variance


def _is_binary(decisions: FloatArray) -> bool:
    """Return whether all decisions are 0 or 1, so that rows can be counted."""
    return bool(((decisions == 0) | (decisions == 1)).all())


class GroupMeans(NamedTuple):
    """Means of two numbers a row, before and after, in each group.

    Attributes
    ----------
    mean : array of shape (groups, 2)
    covariance : array of shape (groups, 2, groups, 2)
    rows : array of shape (groups,)
        Kish's number of independent rows that weigh as much.
    """

    mean: FloatArray
    covariance: FloatArray
    rows: FloatArray

    def gap_change(self, confidence: float) -> intervals.Interval:
        """Return the change of the largest difference between groups."""
        value = np.array(np.diff(self.largest_gaps())[0])
        compared = self._compared()
        if np.isnan(value) or len(compared) < 2:
            return intervals.Interval(value, *np.full(2, np.nan))
        pairs = np.array(list(itertools.permutations(compared, 2)))
        return intervals.Interval(value, *self.largest_change(pairs, confidence))

    def largest_gaps(self) -> FloatArray:
        """Return the largest difference before and after, NaN without all means.

        Groups with too few rows beside every other one are left out, unless all are.
        """
        mean = self.mean
        if self.n_left_out:
            mean = mean[self._compared()]
        gaps: FloatArray = np.ptp(mean, axis=0)
        return gaps

    @property
    def n_left_out(self) -> int:
        """How many groups have too few rows to be part of the largest differences."""
        n_compared = len(self._compared())
        if not n_compared or np.isnan(self.mean).any():
            return 0
        return len(self.mean) - n_compared

    def largest_change(
        self, pairs: NDArray[np.int64], confidence: float
    ) -> intervals.Bounds:
        """Return the ends of the change of the largest difference of some pairs.

        ``pairs``, (pairs, 2), has each of them both ways.
        """
        contrast = np.zeros((len(pairs), len(self.mean)))
        row = np.arange(len(pairs))
        contrast[row, pairs[:, 0]] = 1.0
        contrast[row, pairs[:, 1]] = -1.0
        covariance = self._with_two_more()
        of_change = _of_changes(covariance)
        self._widen_few(covariance)
        # A group of one row or unit has that shrunk rate's spread alone.
        covariance = np.nan_to_num(covariance)
        of_change = np.where(np.isnan(of_change), _of_changes(covariance), of_change)
        gaps = PairGaps(contrast, self.mean, covariance, of_change)
        return gaps.interval_of_largest(confidence)

    def mean_change(self, confidence: float) -> intervals.Interval:
        """Return the change of the mean of the first group."""
        covariance = self._with_two_more()[0, :, 0]
        value = self.mean[0] @ _AFTER_LESS_BEFORE
        variance = _AFTER_LESS_BEFORE @ covariance @ _AFTER_LESS_BEFORE
        half = intervals.normal_quantile(confidence) * np.sqrt(variance)
        return intervals.Interval(value, value - half, value + half)

    def _with_two_more(self) -> FloatArray:
        """Return the covariance with two changed decisions more, one each way.

        Few changed decisions understate their variance (Bonett and Price 2012).
        """
        group = np.arange(len(self.mean))
        rows = np.maximum(self.rows, 1.0)
        covariance = self.covariance.copy()
        of_changes = np.outer(_AFTER_LESS_BEFORE, _AFTER_LESS_BEFORE)
        covariance[group, :, group, :] += of_changes / (2 * rows[:, None, None] ** 2)
        return covariance

    def _widen_few(self, covariance: FloatArray) -> None:
        """Give groups of few decisions of either kind the spread of a shrunk rate.

        A rate of 0 or 1 of few rows has no spread of its own (Agresti and Caffo 2000).
        """
        rows = np.maximum(self.rows, 1.0)[:, None]
        expected = np.minimum(self.mean, 1 - self.mean) * rows
        shrunk = (self.mean * rows + 1) / (rows + 2)
        least = np.where(expected < FEWEST, shrunk * (1 - shrunk) / (rows + 2), 0.0)
        group = np.arange(len(rows))
        for when in (0, 1):
            variance = covariance[group, when, group, when]
            covariance[group, when, group, when] = np.fmax(variance, least[:, when])

    def _compared(self) -> NDArray[np.int64]:
        """Return the groups that have rows enough beside another, before and after."""
        rate = self.mean.T
        variance = np.einsum("gigi->ig", self.covariance)
        rows = np.broadcast_to(self.rows, rate.shape)
        effective = Variance(variance, rows).effective(rate, rows, rows)
        n = np.rint(rows).astype(np.int64)
        cells = CellValues(rate, n, effective, np.sqrt(variance), "rate")
        pairs = np.array(list(itertools.combinations(range(len(self.mean)), 2)))
        too_few = cells.too_few(*pairs.T).any(axis=0)
        return np.unique(pairs[~too_few])


def _of_changes(covariance: FloatArray) -> FloatArray:
    """Return the covariance of the changes of means, (groups, groups)."""
    changes: FloatArray = np.einsum(
        "w,gwhv,v->gh", _AFTER_LESS_BEFORE, covariance, _AFTER_LESS_BEFORE
    )
    return changes


def _covariance(
    deviations: Sequence[FloatArray],
    sums: Sums,
    cell: NDArray[np.int64],
    n_cells: int,
    unit: NDArray[np.int64] | None,
) -> FloatArray:
    """Return the covariance of the means of two numbers in each cell, linearised.

    ``deviations`` are of the numbers of entries from the means, over the mass of the
    cell. Cells move together only where they share units.
    """
    covariance = np.zeros((n_cells, 2, n_cells, 2))
    if unit is None:
        n_units = np.bincount(cell, sums.weighing, n_cells).astype(np.float64)
        group = np.arange(n_cells)
        for first, second in itertools.product(range(2), repeat=2):
            products = sums.squares * deviations[first] * deviations[second]
            covariance[group, first, group, second] = np.bincount(
                cell, products, n_cells
            )
    else:
        residuals = [sums.mass * deviation for deviation in deviations]
        unit_row = np.unique(unit, return_inverse=True)[1]
        column = 2 * cell[:, None] + np.arange(2)
        unit_sums = sparse.csr_matrix(
            (np.ravel(residuals, "F"), (np.repeat(unit_row, 2), column.ravel())),
            shape=(int(unit_row.max(initial=0)) + 1, 2 * n_cells),
        )
        covariance += (unit_sums.T @ unit_sums).toarray().reshape(covariance.shape)
        # Both columns of a cell have an entry for each of its units.
        n_units = unit_sums.getnnz(axis=0)[::2].astype(np.float64)
    degrees = np.where(n_units > 1, n_units - 1, np.nan)
    factor = np.sqrt(counting.divide(n_units, degrees))
    return covariance * factor[:, None, None, None] * factor[:, None]
