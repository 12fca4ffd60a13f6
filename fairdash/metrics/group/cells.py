r"""Cells: how many rows in each place have which outcome and decision.

A measure of decisions depends on rows by their sums alone: in each place of a table,
such as a group in a subgroup, and for each outcome and decision, how many rows there
are and what their weights, the squares and the fourth powers of these add up to; with
units, the sum of the weights of each unit. So rows are counted once for any number of
measures, groups and models that are looked at in the same places. Measures of scores
and numbers need every row, as do decisions drawn with others.

`Cells.estimate` makes every estimate there is, each with what its interval follows
from.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairdash.metrics.group.areas import area_under_curve
from fairdash.metrics.group.catalog import (
    AREA,
    RATES,
    Array,
    error_costs,
    measure_of,
    rate_of,
)
from fairdash.metrics.group.cell_values import CellValues
from fairdash.metrics.group.counting import divide
from fairdash.metrics.group.drawn import shared_variance
from fairdash.metrics.group.sample import Sample
from fairdash.metrics.group.variance import (
    Codes,
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
_N_KINDS = 4
ValueRange = tuple[float, float]


class Sums(NamedTuple):
    """Sums over the people of some rows.

    Attributes
    ----------
    rows, weighing : array
        How many they are, and how many of these have a weight.
    mass, squares, fourths : array
        Of their weights, and of the second and fourth powers of these.
    """

    rows: Array
    weighing: Array
    mass: Array
    squares: Array
    fourths: Array

    @classmethod
    def of_people(cls, people: Array) -> Self:
        """Return the sums of people who all weigh alike."""
        return cls(people, people, people, people, people)

    @classmethod
    def of(cls, sample: Sample) -> Self:
        """Return those of each row."""
        times = np.ones(len(sample.y)) if sample.times is None else sample.times
        if sample.weight is None:
            return cls.of_people(times)
        squares = sample.weight**2
        return cls(
            times,
            times * (sample.weight > 0),
            times * sample.weight,
            times * squares,
            times * squares**2,
        )

    def total(self, code: Codes, n_codes: int) -> Self:
        """Return the sums over the rows of each code."""
        totals = [np.bincount(code, part, n_codes).astype(np.float64) for part in self]
        return type(self)(*totals)

    def take(self, index: NDArray[np.bool_] | Codes) -> Self:
        """Return the sums of a mask or of positions."""
        return type(self)(*(part[index] for part in self))


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
        cls, sample: Sample, place: Codes, n_places: int, *, takes: str | None
    ) -> Self:
        """Return the cells of rows at some places, one each.

        Parameters
        ----------
        place : int array of shape (n_rows,)
            Negative for none.
        takes : str
            What measures take of a model: of decisions rows are counted.
        """
        if sample.weight is not None:
            # Fourth powers of large weights would overflow. No estimate depends on the
            # scale of weights, and a power of two rounds none of them.
            _, exponent = np.frexp(sample.weight.max(initial=0.0))
            sample = sample._replace(weight=np.ldexp(sample.weight, -exponent))
        if sample.row is not None:
            place = place[sample.row]
        if takes == "decision" and _is_countable(sample):
            return cls._counted(sample, place, n_places)
        return cls(sample, place, Sums.of(sample))

    @classmethod
    def _counted(cls, sample: Sample, place: Codes, n_places: int) -> Self:
        """Count rows by place, outcome and decision, with units by unit too."""
        inside = place >= 0
        if not inside.all():
            place = place[inside]
            sample = sample.take(inside)
        code = place * _N_KINDS + (2 * sample.y + sample.predicted).astype(np.int64)
        if sample.unit is None:
            sums = _sums_by(sample, code, n_places * _N_KINDS)
            present = np.flatnonzero(sums.rows)
            sums = sums.take(present)
            unit = None
        else:
            n_units = sample.n_units
            entries, entry = np.unique(
                code * n_units + sample.unit, return_inverse=True
            )
            sums = _sums_by(sample, entry, len(entries))
            present = entries // n_units
            unit = entries % n_units
        kind = present % _N_KINDS
        counted = Sample(
            _OUTCOMES.ravel()[kind].astype(np.float64),
            _DECISIONS.ravel()[kind].astype(np.float64),
            weight=None if sample.plain else sums.mass,
            unit=unit,
        )
        return cls(counted, present // _N_KINDS, sums)

    def estimate(
        self, measure: str, cell_of_place: Codes, shape: tuple[int, ...]
    ) -> CellValues:
        """Return a measure in the cells of a table of ``shape``.

        ``cell_of_place`` is the cell of each place, negative for none: a cell may be of
        several places, such as a group of all its subgroups.
        """
        # The last one is of entries without a place, of index -1.
        cell = np.append(cell_of_place, -1)[self.place]
        return self._estimate(measure, cell, shape)

    def estimate_by_outcome(
        self, measure: str, cell_of_place: Codes, shape: tuple[int, ...]
    ) -> CellValues:
        """Return a measure at outcome 0 and at outcome 1, in cells of (2, *shape)."""
        cell = np.append(cell_of_place, -1)[self.place]
        outcome = self.sample.y.astype(np.int64)
        n_cells = int(np.prod(shape))
        cell = np.where(cell < 0, -1, outcome * n_cells + cell)
        return self._estimate(measure, cell, (2, *shape))

    def _estimate(
        self, measure: str, cell: Codes, shape: tuple[int, ...]
    ) -> CellValues:
        """Return a measure in cells; ``cell`` is that of each entry."""
        n_cells = int(np.prod(shape))
        # The range of a number is that of all rows, so that cells have the same.
        limits = (0.0, 0.0)
        if measure_of(measure).outcome != "classes":
            predicted = self.sample.predicted
            limits = (float(predicted.min()), float(predicted.max()))
        part = _Part(self.sample, self.sums, cell, n_cells)
        inside = cell >= 0
        if not inside.all():
            part = part.take(inside)
        estimate = part.estimate(measure, limits)
        values = estimate.values.reshape(*shape)
        residuals = estimate.residuals
        if residuals is None or residuals.unit is None or residuals.is_drawn:
            return values
        # Groups that share units have estimates that move together.
        width = shape[-1]
        correlation = correlations(
            residuals.residual,
            residuals.cell,
            (n_cells // width, width),
            residuals.unit,
        )
        return replace(values, correlation=correlation.reshape(*shape, width))

    def decided_by_outcome(self, cell_of_place: Codes, n_cells: int) -> Array:
        """Return the share decided 1 at outcome 0 and at outcome 1, (2, cells).

        Without intervals, which cost more.
        """
        cell = cell_of_place[self.place]
        code = self.sample.y.astype(np.int64) * n_cells + cell
        decided = np.bincount(code, self.sums.mass * self.sample.predicted, 2 * n_cells)
        share = divide(decided, np.bincount(code, self.sums.mass, 2 * n_cells))
        return share.reshape(2, n_cells)


class _Residuals(NamedTuple):
    """Residual, cell and unit of each of the entries that an estimate is of."""

    residual: Array
    cell: Codes
    unit: Codes | None
    is_drawn: bool


class _Estimate(NamedTuple):
    """Values of cells; their residuals, unless the measure needed none."""

    values: CellValues
    residuals: _Residuals | None


class _Spread(NamedTuple):
    """Of means: their variance, and how many rows and like units this is worth."""

    variance: Array
    effective: Array
    units: Array


class _Part(NamedTuple):
    """Entries with the cell of each, of which estimates are made."""

    sample: Sample
    sums: Sums
    cell: Codes
    n_cells: int

    def take(self, index: NDArray[np.bool_]) -> Self:
        """Return some of the entries."""
        return self._replace(
            sample=self.sample.take(index),
            sums=self.sums.take(index),
            cell=self.cell[index],
        )

    def estimate(self, measure: str, limits: ValueRange) -> _Estimate:
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

    def _numbers(self, limits: ValueRange, *, is_rate: bool) -> _Estimate:
        """Estimate the means of predicted numbers, or of ranks."""
        predicted = self.sample.predicted
        if is_rate:
            return self._mean(predicted, (0.0, 1.0), "rate")
        estimate = self._mean(predicted, limits, "mean")
        # Equal numbers are not skewed, and no cell may have a row.
        if limits[0] == limits[1] or not len(self.cell):
            return estimate
        of_means = self._skewness(estimate.values.value)
        return estimate._replace(values=replace(estimate.values, skewness=of_means))

    def _rates(self, measure: str) -> _Estimate:
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

    def _counted_rates(self, about: NDArray[np.bool_], counted: Array) -> _Estimate:
        """Estimate a share from counts alone, which cost least.

        Independent rows of one weight need no residuals. ``about`` and ``counted`` say
        of each entry whether the rate is about it, and whether it counts it.
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
        return _Estimate(values, None)

    def _means(self, measure: str) -> _Estimate:
        """Estimate a mean of what rows have, and its parts by outcome.

        The parts are the rate of outcome 1 and the means at either outcome, of which
        `CellValues` makes the interval.
        """
        costs = error_costs(measure)
        y = self.sample.y
        if costs is not None:
            difference = self.sample.predicted - y
            missed = np.where(difference < 0, costs[1], 0.0)
            values = np.where(difference > 0, costs[0], missed)
            limits = (0.0, max(costs))
            # At one outcome only one error is possible: its mean is a rate.
            kind = "rate"
            by_outcome: list[ValueRange] = [(0.0, cost) for cost in costs]
        else:
            entry = measure_of(measure)
            assert entry.values is not None, "a mean says what each row has"
            values = entry.values(y, self.sample.predicted)
            limits = entry.limits
            kind = "mean"
            by_outcome = []
            for outcome in (0.0, 1.0):
                possible = entry.values(np.full(len(_SCORES), outcome), _SCORES)
                by_outcome.append((float(possible.min()), float(possible.max())))
        estimate = self._mean(values, limits, "mean")
        strata = [self._mean(y, (0.0, 1.0), "rate").values]
        for outcome, outcome_limits in enumerate(by_outcome):
            stratum = y == outcome
            part = self.take(stratum)._mean(values[stratum], outcome_limits, kind)
            strata.append(part.values)
        units = None if self.sample.plain else estimate.values.units
        whole = replace(estimate.values, units=units, strata=tuple(strata))
        return estimate._replace(values=whole)

    def _mean(self, values: Array, limits: ValueRange, kind: str) -> _Estimate:
        """Estimate the mean of values in each cell, with its linearised variance."""
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
        units: Array | None = spread.units
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
        residuals = _Residuals(residual, self.cell, sample.unit, is_drawn)
        return _Estimate(estimates, residuals)

    def _spread_of_rows(self, deviation: Array, mass: Array) -> "_Spread":
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

    def _spread_of_units(self, residual: Array) -> "_Spread":
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

    def _spread_of_drawn(self, residual: Array) -> "_Spread":
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

    def _skewness(self, mean: Array) -> Array:
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

    def _shared(self, residual: Array) -> Array | float:
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

    def _areas(self) -> _Estimate:
        """Estimate the area under the curve of each cell, one cell after another."""
        value, effective, error, units = np.full((4, self.n_cells), np.nan)
        residual = np.zeros(len(self.cell))
        n_rows = np.bincount(self.cell, minlength=self.n_cells)
        for number, positions in _sorted_cells(self.cell, n_rows):
            rows = self.sample.take(positions)
            area = area_under_curve(
                rows.y, rows.predicted, rows.weight, rows.unit, rows.people
            )
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
        residuals = _Residuals(residual, self.cell, self.sample.unit, is_drawn=False)
        return _Estimate(estimates, residuals)

    def _total(self, values: Array) -> Array:
        """Return the sums of values over the entries of each cell."""
        return np.bincount(self.cell, values, self.n_cells).astype(np.float64)


def _is_countable(sample: Sample) -> bool:
    """Return whether sums say all of rows of decisions.

    Of rows that share a draw, and of drawn ones of a unit, pairs count as well.
    """
    return sample.content is None and (sample.unit is None or sample.row is None)


def _sums_by(sample: Sample, code: Codes, n_codes: int) -> Sums:
    """Return the sums over the rows of each code; counts alone where they say all."""
    if sample.weight is None:
        people = np.bincount(code, sample.times, n_codes).astype(np.float64)
        return Sums.of_people(people)
    return Sums.of(sample).total(code, n_codes)


def _fewer(rows: Array, spread: Array, shared: Array | float) -> Array:
    """Return of how many independent rows a rate is when draws are shared.

    ``spread`` is the variance of one row, ``shared`` what is added to that of the rate.
    """
    inflation = np.nan_to_num(divide(np.maximum(shared, 0.0) * rows, spread))
    return rows / (1 + inflation)


def _whole(rows: Array) -> NDArray[np.int64]:
    """Return counts as integers; sums of chances are rounded."""
    return np.rint(rows).astype(np.int64)


def _sorted_cells(cell: Codes, n_rows: Codes) -> Iterator[tuple[int, Codes]]:
    """Give the positions of the rows of each cell that has any."""
    order = np.argsort(cell, kind="stable")
    ends = np.cumsum(n_rows)
    starts = ends - n_rows
    for number in np.flatnonzero(n_rows):
        yield int(number), order[starts[number] : ends[number]]
