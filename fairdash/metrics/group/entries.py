r"""Entries: rows, or counts of equal ones, of which estimates are made in cells.

Every estimate but a share of plain counts is linearised: to first order it is a sum of
one residual an entry, of which its variance follows, see
`fairdash.metrics.group.variance`. A method of `Entries` makes one kind of estimate:

- a share of the rows that a rate is about, or of wrong decisions;
- a mean of what rows have, such as a cost or a squared error, with its parts by
  outcome;
- a mean of predicted numbers, or of ranks, with its skewness;
- an area under the ROC curve, a cell at a time, since it needs the order of scores.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import Codes, FloatArray
from fairdash.metrics.group.areas import area_under_curve
from fairdash.metrics.group.catalog import AREA, RATES, error_costs, measure_of, rate_of
from fairdash.metrics.group.cell_values import CellValues
from fairdash.metrics.group.counting import divide
from fairdash.metrics.group.drawn import shared_variance
from fairdash.metrics.group.sample import Sample
from fairdash.metrics.group.sums import Sums
from fairdash.metrics.group.variance import (
    UnitCells,
    Variance,
    correlations,
    design_units,
    linearised,
    skewness,
    worth,
)

_SCORES = np.linspace(0, 1, 5)  # at which a measure shows how far it can go
_FEWEST_VARIED = 8  # rows whose number is not the commonest, such as 0
_MOST_SKEWED = 1.0  # of a mean; Hall's transformation holds below
# The four kinds of a row, by outcome (down) and decision (across).
_OUTCOMES = np.array([[0, 0], [1, 1]])
_DECISIONS = np.array([[0, 1], [0, 1]])
ValueRange = tuple[float, float]


class Residuals(NamedTuple):
    """What each entry adds to the error of the estimate of its cell.

    Attributes
    ----------
    residual : array
        Of the estimate by its weight, to first order: they add up to 0 in each cell.
    cell, unit : int array
    is_drawn : bool
        Whether decisions are drawn: then rows that share units say less of how two
        estimates move together, and no correlation is made of them.
    """

    residual: FloatArray
    cell: Codes
    unit: Codes | None
    is_drawn: bool


class Estimate(NamedTuple):
    """Values of cells; their residuals, unless the measure needed none."""

    values: CellValues
    residuals: Residuals | None

    def in_table(self, shape: tuple[int, ...]) -> CellValues:
        """Return the values of a table; groups are along its last axis.

        Groups that share units have estimates that move together: their values come
        with correlations.
        """
        values = self.values.reshape(*shape)
        residuals = self.residuals
        if residuals is None or residuals.unit is None or residuals.is_drawn:
            return values
        width = shape[-1]
        correlation = correlations(
            residuals.residual,
            residuals.cell,
            (values.value.size // width, width),
            residuals.unit,
        )
        return replace(values, correlation=correlation.reshape(*shape, width))


class _Spread(NamedTuple):
    """Spread of the means of cells.

    Attributes
    ----------
    variance : array
    effective : array
        How many rows of equal weight have as large a variance (Kish).
    units : array
        How many like units the variance is estimated from.
    """

    variance: FloatArray
    effective: FloatArray
    units: FloatArray


class _RowValues(NamedTuple):
    """What each entry has of which a measure is the mean.

    Attributes
    ----------
    values : array
    limits : (float, float)
        Least and most that a row can have.
    by_outcome : list of (float, float)
        The same of rows with outcome 0, and of rows with outcome 1.
    kind : {"rate", "mean"}
        Of the interval of the mean at one outcome.
    """

    values: FloatArray
    limits: ValueRange
    by_outcome: list[ValueRange]
    kind: str

    @classmethod
    def of_costs(cls, costs: ValueRange, y: FloatArray, decided: FloatArray) -> Self:
        """Return the cost of each decision: of a false positive, a false negative."""
        difference = decided - y
        missed = np.where(difference < 0, costs[1], 0.0)
        values = np.where(difference > 0, costs[0], missed)
        by_outcome = [(0.0, cost) for cost in costs]
        # At one outcome only one error is possible: its mean is a rate.
        return cls(values, (0.0, max(costs)), by_outcome, "rate")

    @classmethod
    def of_scores(cls, measure: str, y: FloatArray, scores: FloatArray) -> Self:
        """Return what a measure of the catalog says of each outcome with its score."""
        entry = measure_of(measure)
        assert entry.values is not None, "a mean says what each row has"
        by_outcome = []
        for outcome in (0.0, 1.0):
            possible = entry.values(np.full(len(_SCORES), outcome), _SCORES)
            by_outcome.append((float(possible.min()), float(possible.max())))
        return cls(entry.values(y, scores), entry.limits, by_outcome, "mean")


class Entries(NamedTuple):
    """Entries in the cells of a table, of which estimates are made.

    Attributes
    ----------
    sample : Sample
        What an entry says to a measure: outcome, decision or score, unit, draw.
    sums : Sums
        Over the rows of each entry.
    cell : int array
        Of each entry, from 0 to ``n_cells`` - 1.
    """

    sample: Sample
    sums: Sums
    cell: Codes
    n_cells: int

    def take(self, index: NDArray[np.bool_] | Codes) -> Self:
        """Return some of the entries."""
        return self._replace(
            sample=self.sample.take(index),
            sums=self.sums.take(index),
            cell=self.cell[index],
        )

    def estimate(self, measure: str, limits: ValueRange) -> Estimate:
        """Estimate by the kind of the measure; ``limits`` are those of numbers."""
        kind = measure_of(measure)
        if kind.outcome != "classes":
            return self._numbers(limits, is_rate=kind.in_points)
        if measure == AREA:
            return self._areas()
        costs = error_costs(measure)
        # Errors that cost alike are a share of wrong decisions.
        if measure in RATES or (costs is not None and costs[0] == costs[1]):
            return self._rates(measure)
        return self._means(measure)

    def _numbers(self, limits: ValueRange, *, is_rate: bool) -> Estimate:
        """Estimate the means of predicted numbers, or of ranks."""
        predicted = self.sample.predicted
        if is_rate:
            return self._mean(predicted, (0.0, 1.0), "rate")
        estimate = self.means(limits)
        # Equal numbers are not skewed, and no cell may have a row.
        if limits[0] == limits[1] or not len(self.cell):
            return estimate
        of_means = self._skewness(estimate.values.value)
        return estimate._replace(values=replace(estimate.values, skewness=of_means))

    def means(self, limits: ValueRange) -> Estimate:
        """Estimate the means of predicted numbers without their skewness."""
        return self._mean(self.sample.predicted, limits, "mean")

    def _rates(self, measure: str) -> Estimate:
        """Estimate a share: of the rows that a rate is about, or of wrong decisions."""
        kinds_about: NDArray[np.bool_] = np.ones((2, 2), dtype=bool)
        kinds_counted = _OUTCOMES != _DECISIONS
        if measure in RATES:
            is_about, is_counted = rate_of(measure)
            kinds_about = is_about(_OUTCOMES, _DECISIONS)
            kinds_counted = kinds_about & is_counted(_OUTCOMES, _DECISIONS)
        kind = (2 * self.sample.y + self.sample.predicted).astype(np.int64)
        about = kinds_about.ravel()[kind]
        counted = kinds_counted.ravel()[kind].astype(np.float64)
        if self.sample.plain:
            return self._counted_rates(about, counted)
        part = self if about.all() else self.take(about)
        return part._mean(counted[about], (0.0, 1.0), "rate")

    def _counted_rates(self, about: NDArray[np.bool_], counted: FloatArray) -> Estimate:
        """Estimate a share from counts alone, which cost least.

        Independent rows of one weight need no residuals. ``about`` and ``counted`` say
        whether the rate is about each entry, and whether it counts it.
        """
        rows = self._total(self.sums.rows * about)
        value = divide(self._total(self.sums.rows * counted), rows)
        spread = value * (1 - value)
        variance = divide(spread, rows)
        effective = rows
        if self.sample.content is not None:
            share = np.nan_to_num(divide(about, rows[self.cell]))
            residual = share * (counted - np.nan_to_num(value)[self.cell])
            shared = self._shared(residual)
            variance = variance + shared
            effective = _fewer(rows, spread, shared)
        error = np.sqrt(variance)
        values = CellValues(value, _whole(rows), effective, error, "rate")
        return Estimate(values, None)

    def _means(self, measure: str) -> Estimate:
        """Estimate a mean of what rows have, and its parts by outcome.

        The parts are the rate of outcome 1 and the means at either outcome, of which
        `CellValues` makes the interval.
        """
        y = self.sample.y
        costs = error_costs(measure)
        if costs is None:
            rows = _RowValues.of_scores(measure, y, self.sample.predicted)
        else:
            rows = _RowValues.of_costs(costs, y, self.sample.predicted)
        estimate = self._mean(rows.values, rows.limits, "mean")
        strata = [self._mean(y, (0.0, 1.0), "rate").values]
        for outcome, limits in enumerate(rows.by_outcome):
            stratum = y == outcome
            of_outcome = self.take(stratum)
            part = of_outcome._mean(rows.values[stratum], limits, rows.kind)
            strata.append(part.values)
        units = None if self.sample.plain else estimate.values.units
        whole = replace(estimate.values, units=units, strata=tuple(strata))
        return estimate._replace(values=whole)

    def _mean(self, values: FloatArray, limits: ValueRange, kind: str) -> Estimate:
        r"""Estimate the mean of values in each cell, with its linearised variance.

        An entry of weight w and value v has the residual
        :math:`w (v - \hat\theta) / \sum w` in a cell of mean :math:`\hat\theta`.
        ``kind`` is that of the interval, see `CellValues`.
        """
        sample = self.sample
        sums = self.sums
        mass = self._total(sums.mass)
        n_rows = self._total(sums.rows)
        value = divide(self._total(sums.mass * values), mass)
        # One division a cell, not one an entry: there may be millions of rows.
        scale = np.nan_to_num(divide(np.ones(self.n_cells), mass))
        deviation = (values - np.nan_to_num(value)[self.cell]) * scale[self.cell]
        residual = sample.weights * deviation
        shared = self._shared(residual)
        if sample.unit is None:
            spread = self._spread_of_rows(deviation, mass)
        elif sample.row is None:
            spread = self._spread_of_units(residual)
        else:
            spread = self._spread_of_drawn(residual)
        variance = spread.variance + shared
        effective = spread.effective
        units: FloatArray | None = spread.units
        width = limits[1] - limits[0] or 1.0
        rate = (value - limits[0]) / width
        if kind == "rate" and sample.plain:
            units = None  # Wilson's interval has a normal quantile
            if sample.content is not None:
                effective = _fewer(effective, rate * (1 - rate), shared / width**2)
        elif kind == "rate":
            of_rate = Variance(variance / width**2, spread.units)
            effective = of_rate.effective(rate, effective, n_rows)
        estimates = CellValues(
            value, _whole(n_rows), effective, np.sqrt(variance), kind, limits, units
        )
        is_drawn = sample.chance is not None
        residuals = Residuals(residual, self.cell, sample.unit, is_drawn)
        return Estimate(estimates, residuals)

    def _spread_of_rows(self, deviation: FloatArray, mass: FloatArray) -> _Spread:
        """Return the spread of means of rows that are independent.

        ``deviation`` is of the value from the mean, over the ``mass`` of the cell.
        """
        n_rows = self._total(self.sums.weighing)
        degrees = np.where(n_rows > 1, n_rows - 1, np.nan)
        of_squares = self._total(self.sums.squares * deviation**2)
        squares = self._total(self.sums.squares)
        fourths = self._total(self.sums.fourths)
        return _Spread(
            n_rows / degrees * of_squares,
            np.nan_to_num(divide(mass**2, squares)),
            np.nan_to_num(divide(squares**2, fourths)),
        )

    def _spread_of_units(self, residual: FloatArray) -> _Spread:
        """Return the spread of means of rows of which those of a unit are alike."""
        assert self.sample.unit is not None, "rows have units"
        units = UnitCells.of(self.cell, self.sample.unit)
        mass = units.total(self.sums.mass)
        spread = linearised(
            units.total(residual),
            units.cell,
            self.n_cells,
            counts=units.total(self.sums.weighing) > 0,
        )
        return _Spread(
            spread.variance,
            worth(mass, units.cell, self.n_cells, None),
            design_units(mass, units.cell, self.n_cells, None),
        )

    def _spread_of_drawn(self, residual: FloatArray) -> _Spread:
        """Return the spread of means of rows with units whose decisions are drawn."""
        sample = self.sample
        rows = self.cell, self.n_cells
        spread = linearised(
            residual,
            *rows,
            unit=sample.unit,
            chance=sample.times,
            row=sample.row,
            counts=None if sample.weight is None else sample.weight > 0,
        )
        return _Spread(
            spread.variance,
            worth(sample.mass(), *rows, sample.unit),
            design_units(sample.weights, *rows, sample.unit, chance=sample.times),
        )

    def _skewness(self, mean: FloatArray) -> FloatArray:
        """Return the skewness of means of numbers, NaN where rows are too few for it.

        Fewer than eight rows, or units, are expected to have another value than the
        commonest one, or the mean of so few skewed rows is itself skewed by over 1.
        """
        sample = self.sample
        of_mean = skewness(
            sample.predicted - mean[self.cell],
            sample.weights,
            self.cell,
            len(mean),
            unit=sample.unit,
            times=sample.times,
        )
        counted = sample.mass()
        _, value = np.unique(sample.predicted, return_inverse=True)
        commonest = np.bincount(value, counted).max() / counted.sum()
        units = worth(counted, self.cell, len(mean), sample.unit)
        if sample.people is not None:
            units = self._total(sample.people)
        few = (1 - commonest) * units < _FEWEST_VARIED
        return np.where(few | (np.abs(of_mean) > _MOST_SKEWED), np.nan, of_mean)

    def _shared(self, residual: FloatArray) -> FloatArray | float:
        """Return what rows that share a draw add to the variance of each cell."""
        sample = self.sample
        if sample.content is None or sample.row is None or sample.chance is None:
            return 0.0
        n = len(sample.content)
        # The change of the estimate when a row is decided 1 instead of 0.
        positive = sample.predicted == 1
        signed = np.where(positive, residual, -residual)
        change = np.bincount(sample.row, signed, n).astype(np.float64)
        chance = np.zeros(n)
        chance[sample.row[positive]] = sample.chance[positive]
        row_cell = np.full(n, -1)
        row_cell[sample.row] = self.cell
        counts = None
        if sample.people is not None:
            counts = np.zeros(n)
            counts[sample.row] = sample.people
        return shared_variance(
            change, chance, row_cell, self.n_cells, sample.content, people=counts
        )

    def _areas(self) -> Estimate:
        """Estimate the area under the curve of each cell, one cell after another."""
        value, effective, error, units = np.full((4, self.n_cells), np.nan)
        residual = np.zeros(len(self.cell))
        n_rows = np.bincount(self.cell, minlength=self.n_cells)
        for number, positions in _sorted_cells(self.cell, n_rows):
            entries = self.take(positions)
            rows = entries.sample
            area = area_under_curve(rows.y, rows.predicted, entries.sums, rows.unit)
            value[number] = area.value
            effective[number] = area.effective
            error[number] = area.error
            units[number] = area.units
            residual[positions] = area.residual
        # Of few rows of one outcome an area has no interval.
        share = self._mean(self.sample.y, (0.0, 1.0), "rate").values
        estimates = CellValues(
            value,
            _whole(self._total(self.sums.rows)),
            effective,
            error,
            "area",
            units=units,
            strata=(share,),
        )
        residuals = Residuals(residual, self.cell, self.sample.unit, is_drawn=False)
        return Estimate(estimates, residuals)

    def _total(self, values: FloatArray) -> FloatArray:
        """Return the sums of values over the entries of each cell."""
        return np.bincount(self.cell, values, self.n_cells).astype(np.float64)


def _fewer(
    rows: FloatArray, spread: FloatArray, shared: FloatArray | float
) -> FloatArray:
    """Return of how many independent rows a rate is when draws are shared.

    ``spread`` is the variance of one row, ``shared`` what is added to that of the rate.
    """
    inflation = np.nan_to_num(divide(np.maximum(shared, 0.0) * rows, spread))
    return rows / (1 + inflation)


def _whole(rows: FloatArray) -> NDArray[np.int64]:
    """Return counts as integers; sums of chances are rounded."""
    return np.rint(rows).astype(np.int64)


def _sorted_cells(cell: Codes, n_rows: Codes) -> Iterator[tuple[int, Codes]]:
    """Yield each cell that has rows, with the positions of these."""
    order = np.argsort(cell, kind="stable")
    ends = np.cumsum(n_rows)
    starts = ends - n_rows
    for number in np.flatnonzero(n_rows):
        yield int(number), order[starts[number] : ends[number]]
