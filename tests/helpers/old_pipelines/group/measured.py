"""Checked rows that a measure is computed from, and its estimates in cells."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_lengths, check_one_of
from fairdash.metrics.group.catalog import (
    AREA,
    COST,
    MEASURES,
    NUMBER_MEASURES,
    RANKING_MEASURES,
    RATES,
    SCORE_MEASURES,
    Array,
    error_costs,
    measure_of,
    rate_of,
)
from fairdash.metrics.group.drawn import Drawn, chances, shared_variance
from old_pipelines.group.areas import area_under_curve
from old_pipelines.group.cell_values import CellValues
from old_pipelines.group.counting import (
    divide,
    finite_numbers,
    labels,
    people,
    probability_models,
    sampling_weights,
)
from old_pipelines.group.variance import (
    Codes,
    Variance,
    correlations,
    design_units,
    linearised,
    skewness,
    unit_codes,
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
    """Residual and cell of each of the rows that an estimate is of."""

    rows: "Measured"
    residual: Array
    cell: Codes


class _Estimate(NamedTuple):
    """Values of cells; their residuals, unless the measure needed none."""

    values: CellValues
    residuals: Residuals | None


class Measured(NamedTuple):
    """Outcomes, decisions or scores, weights and units of the same rows, checked.

    Where decisions are drawn, every row stands twice, decided 1 and decided 0:
    ``chance`` is that of the decision, ``row`` says which two are of one, and
    ``content`` which rows share a draw, (n_rows,). ``people`` is how many each row
    stands for: a row counts as so many equal ones.
    """

    measure: str
    y: Array
    predicted: Array
    weight: Array | None = None
    chance: Array | None = None
    unit: Codes | None = None
    row: Codes | None = None
    content: Codes | None = None
    people: Array | None = None

    @classmethod
    def _drawn(
        cls,
        measure: str,
        y_true: ArrayLike | None,
        decisions: Drawn,
        sample_weight: ArrayLike | None,
        pos_label: Any,
        cluster: ArrayLike | None,
    ) -> Self:
        """Check rows whose decisions are drawn; give each row both decisions."""
        check_one_of("measure", measure.partition(" ")[0], (*RATES, COST))
        chance = chances("y_pred", decisions)
        n_rows = len(chance)
        unit = unit_codes(cluster, n_rows)
        outcome = None if y_true is None else labels("y_true", y_true, pos_label)
        check_lengths(chance, outcome, sample_weight)
        # First all rows as decided 1, then all again as decided 0.
        rows = cls.of(
            measure, _twice(outcome), np.repeat([1, 0], n_rows), _twice(sample_weight)
        )
        counts = people("sample_weight", sample_weight, n_rows)
        if counts is not None:
            rows = rows._replace(weight=None, people=_twice(counts))
        return rows._replace(
            chance=np.concatenate([chance, 1 - chance]),
            unit=_twice(unit),
            row=_twice(np.arange(n_rows)),
            content=decisions.shared(counted=counts is not None),
        )

    @property
    def outcomes(self) -> Array:
        """The outcome of every row, once."""
        if self.row is None:
            return self.y
        return self.y[: len(self.y) // 2]

    @classmethod
    def of(
        cls,
        measure: str,
        y_true: ArrayLike | None,
        y_pred: ArrayLike | Drawn,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        cluster: ArrayLike | None = None,
    ) -> Self:
        """Check what a measure is computed from; see `measure_by_group`."""
        if isinstance(y_pred, Drawn):
            return cls._drawn(
                measure, y_true, y_pred, sample_weight, pos_label, cluster
            )
        costs = error_costs(measure)
        if costs is None:
            names = (*MEASURES, COST, *NUMBER_MEASURES, *RANKING_MEASURES)
            check_one_of("measure", measure, names)
        entry = measure_of(measure)
        of_classes = entry.outcome == "classes"
        of_scores = measure in SCORE_MEASURES
        if not of_classes:
            predicted = finite_numbers("y_pred", y_pred)
        elif of_scores:
            predicted = probability_models("y_pred", y_pred)[0].astype(np.float64)
        else:
            predicted = labels("y_pred", y_pred, pos_label).astype(np.float64)
        if y_true is None:
            if of_scores or costs or entry.needs_outcome:
                raise ValueError(f"`y_true` is needed for {measure!r}.")
            y = np.zeros(len(predicted))
        elif not of_classes:
            y = finite_numbers("y_true", y_true)
        else:
            y = labels("y_true", y_true, pos_label).astype(np.float64)
        check_lengths(y, predicted)
        if not of_classes:
            # Here and not in `estimate`, so that ranks are among all rows.
            assert entry.values is not None, "a mean says what each row has"
            predicted = entry.values(y, predicted)
        weight = sampling_weights("sample_weight", sample_weight, len(predicted))
        counts = people("sample_weight", sample_weight, len(predicted))
        unit = unit_codes(cluster, len(predicted))
        if counts is not None and unit is not None:
            raise ValueError(
                "Rows that stand for several people have no unit of their own. Give "
                "counts or `cluster`, not both."
            )
        return cls(measure, y, predicted, weight, unit=unit, people=counts)

    def estimate(self, cell: Codes, shape: tuple[int, ...]) -> CellValues:
        """Return the measure in the cells of a table of ``shape``.

        ``cell`` is the place of each row in it; rows of a negative one are in none.
        """
        n_cells = int(np.prod(shape))
        if self.row is not None:
            cell = cell[self.row]
        rows = self
        inside = cell >= 0
        if not inside.all():
            rows = self._take(inside)
            cell = cell[inside]
        # The range of a number is that of all rows, so that cells have the same.
        limits = (0.0, 0.0)
        if measure_of(self.measure).outcome != "classes":
            limits = (float(self.predicted.min()), float(self.predicted.max()))
        values, residuals = rows._estimate(cell, n_cells, limits)
        values = values.reshape(*shape)
        if residuals is None or self.chance is not None:
            return values
        unit = residuals.rows.unit
        if unit is None:
            return values
        # Groups that share units have estimates that move together.
        width = shape[-1]
        correlation = correlations(
            residuals.residual, residuals.cell, (n_cells // width, width), unit
        )
        return replace(values, correlation=correlation.reshape(*shape, width))

    def _estimate(self, cell: Codes, n_cells: int, limits: ValueRange) -> _Estimate:
        """Estimate by the kind of the measure; ``limits`` are those of numbers."""
        measure = measure_of(self.measure)
        if measure.outcome != "classes":
            return self._numbers(cell, n_cells, limits, is_rate=measure.in_points)
        if self.measure == AREA:
            return self._areas(cell, n_cells)
        costs = error_costs(self.measure)
        # Errors that cost alike are a share of wrong decisions.
        if self.measure in RATES or (costs is not None and costs[0] == costs[1]):
            return self._rates(cell, n_cells)
        return self._means(cell, n_cells)

    def _take(self, index: NDArray[np.bool_] | Codes) -> Self:
        """Return the rows of a mask or of positions."""
        names = ("y", "predicted", "weight", "chance", "unit", "row", "people")
        parts: dict[str, Any] = {}
        for name in names:
            column = getattr(self, name)
            if column is not None:
                parts[name] = column[index]
        return self._replace(**parts)

    @property
    def plain(self) -> bool:
        """Whether rows are independent and weigh alike."""
        return self.weight is None and self.unit is None

    @property
    def times(self) -> Array | None:
        """How many rows of one person each row counts as; None where all are one."""
        if self.people is None:
            return self.chance
        if self.chance is None:
            return self.people
        return self.people * self.chance

    def mass(self) -> Array:
        """Return what each row counts: its weight, times its people and its chance."""
        mass = self._weights()
        return mass if self.times is None else mass * self.times

    def _weights(self) -> Array:
        """Return the sampling weight of each row, 1 without weights."""
        return np.ones(len(self.y)) if self.weight is None else self.weight

    def _numbers(
        self, cell: Codes, n_cells: int, limits: ValueRange, *, is_rate: bool
    ) -> _Estimate:
        """Estimate the means of predicted numbers, or of ranks."""
        if is_rate:
            return self._mean(self.predicted, cell, n_cells, (0.0, 1.0), "rate")
        estimate = self._mean(self.predicted, cell, n_cells, limits, "mean")
        if limits[0] == limits[1]:  # equal numbers are not skewed
            return estimate
        of_means = self._skewness(estimate.values.value, cell)
        values = replace(estimate.values, skewness=of_means)
        return estimate._replace(values=values)

    def _rates(self, cell: Codes, n_cells: int) -> _Estimate:
        """Estimate a share: of the rows that a rate is about, or of wrong decisions."""
        kinds_about: NDArray[np.bool_] = np.ones((2, 2), dtype=bool)
        kinds_counted = _OUTCOMES != _DECISIONS
        if self.measure in RATES:
            is_about, is_counted = rate_of(self.measure)
            kinds_about = is_about(_OUTCOMES, _DECISIONS)
            kinds_counted = kinds_about & is_counted(_OUTCOMES, _DECISIONS)
        about = kinds_about.ravel()
        counted = kinds_counted.ravel()
        kind = (2 * self.y + self.predicted).astype(np.int64)
        if self.plain:
            return self._counted_rates(kind, about, counted, cell, n_cells)
        support = about[kind]
        rows = self if support.all() else self._take(support)
        values = counted[kind[support]].astype(np.float64)
        return rows._mean(values, cell[support], n_cells, (0.0, 1.0), "rate")

    def _counted_rates(
        self,
        kind: Codes,
        about: NDArray[np.bool_],
        counted: NDArray[np.bool_],
        cell: Codes,
        n_cells: int,
    ) -> _Estimate:
        """Estimate a share from counts alone, which cost least.

        Independent rows of one weight need no residuals. ``about`` and ``counted`` say
        which of the four kinds of rows the rate is about, and which it counts.
        """
        sums = np.bincount(cell * 4 + kind, self.times, 4 * n_cells)
        by_kind = sums.astype(np.float64).reshape(n_cells, 4)
        rows = by_kind[:, about].sum(axis=1)
        value = divide(by_kind[:, counted].sum(axis=1), rows)
        spread = value * (1 - value)
        variance = divide(spread, rows)
        effective = rows
        if self.content is not None:
            share = np.nan_to_num(divide(about[kind], rows[cell]))
            centre = np.nan_to_num(value)[cell]
            residual = share * (counted[kind] - centre)
            shared = self._shared(residual, cell, n_cells)
            variance = variance + shared
            effective = _fewer(rows, spread, shared)
        error = np.sqrt(variance)
        values = CellValues(value, _whole(rows), effective, error, "rate")
        return _Estimate(values, None)

    def _means(self, cell: Codes, n_cells: int) -> _Estimate:
        """Estimate a mean of what rows have, and its parts by outcome.

        The parts are the rate of outcome 1 and the means at either outcome, of which
        `CellValues` makes the interval.
        """
        costs = error_costs(self.measure)
        if costs is not None:
            difference = self.predicted - self.y
            missed = np.where(difference < 0, costs[1], 0.0)
            values = np.where(difference > 0, costs[0], missed)
            limits = (0.0, max(costs))
            # At one outcome only one error is possible: its mean is a rate.
            kind = "rate"
            by_outcome: list[ValueRange] = [(0.0, cost) for cost in costs]
        else:
            entry = measure_of(self.measure)
            assert entry.values is not None, "a mean says what each row has"
            values = entry.values(self.y, self.predicted)
            limits = entry.limits
            kind = "mean"
            by_outcome = []
            for y in (0.0, 1.0):
                possible = entry.values(np.full(len(_SCORES), y), _SCORES)
                by_outcome.append((float(possible.min()), float(possible.max())))
        estimate = self._mean(values, cell, n_cells, limits, "mean")
        strata = [self._mean(self.y, cell, n_cells, (0.0, 1.0), "rate").values]
        for outcome, outcome_limits in enumerate(by_outcome):
            stratum = self.y == outcome
            rows = self._take(stratum)
            part = rows._mean(
                values[stratum], cell[stratum], n_cells, outcome_limits, kind
            )
            strata.append(part.values)
        units = None if self.plain else estimate.values.units
        whole = replace(estimate.values, units=units, strata=tuple(strata))
        return estimate._replace(values=whole)

    def _mean(
        self, values: Array, cell: Codes, n_cells: int, limits: ValueRange, kind: str
    ) -> _Estimate:
        """Estimate the mean of values in each cell, with its linearised variance."""
        mass = self.mass()
        total_mass = np.bincount(cell, mass, n_cells).astype(np.float64)
        value = divide(np.bincount(cell, mass * values, n_cells), total_mass)
        n_rows = np.bincount(cell, self.times, n_cells).astype(np.float64)
        # One division a cell, not one a row: there may be millions of rows.
        centre = np.nan_to_num(value)
        scale = np.nan_to_num(divide(np.ones(n_cells), total_mass))
        weight = self._weights()
        residual = weight * (values - centre[cell]) * scale[cell]
        shared = self._shared(residual, cell, n_cells)
        spread = linearised(
            residual,
            cell,
            n_cells,
            unit=self.unit,
            chance=self.times,
            row=self.row,
            counts=None if self.weight is None else self.weight > 0,
        )
        variance = spread.variance + shared
        effective = worth(mass, cell, n_cells, self.unit)
        if self.times is not None and self.unit is None:
            # A row of many people is as many units: mass counts once in the squares.
            squares = np.bincount(cell, weight * mass, n_cells)
            effective = np.nan_to_num(divide(total_mass**2, squares))
        units: Array | None = design_units(
            weight, cell, n_cells, self.unit, chance=self.times
        )
        width = limits[1] - limits[0] or 1.0
        rate = (value - limits[0]) / width
        if kind == "rate" and self.plain:
            units = None  # Wilson's interval has a normal quantile
            if self.content is not None:
                effective = _fewer(effective, rate * (1 - rate), shared / width**2)
        elif kind == "rate":
            of_rate = Variance(variance / width**2, spread.units)
            effective = of_rate.effective(rate, effective, n_rows)
        estimates = CellValues(
            value, _whole(n_rows), effective, np.sqrt(variance), kind, limits, units
        )
        return _Estimate(estimates, Residuals(self, residual, cell))

    def _skewness(self, mean: Array, cell: Codes) -> Array:
        """Return the skewness of means of numbers, NaN where rows are too few for it.

        Fewer than eight rows, or units, are expected to have another value than the
        commonest one, or the mean of so few skewed rows is itself skewed by over 1.
        """
        of_mean = skewness(
            self.predicted - mean[cell],
            self._weights(),
            cell,
            len(mean),
            unit=self.unit,
            times=self.times,
        )
        counted = self.mass()
        _, value = np.unique(self.predicted, return_inverse=True)
        commonest = np.bincount(value, counted).max() / counted.sum()
        units = worth(counted, cell, len(mean), self.unit)
        if self.people is not None:
            units = np.bincount(cell, self.people, len(mean)).astype(np.float64)
        few = (1 - commonest) * units < _FEWEST_VARIED
        return np.where(few | (np.abs(of_mean) > _MOST_SKEWED), np.nan, of_mean)

    def _shared(self, residual: Array, cell: Codes, n_cells: int) -> Any:
        """Return what rows that share a draw add to the variance of each cell."""
        if self.content is None or self.row is None or self.chance is None:
            return 0.0
        n = len(self.content)
        # The change of the estimate when a row is decided 1 instead of 0.
        positive = self.predicted == 1
        signed = np.where(positive, residual, -residual)
        change = np.bincount(self.row, signed, n).astype(np.float64)
        chance = np.zeros(n)
        chance[self.row[positive]] = self.chance[positive]
        row_cell = np.full(n, -1)
        row_cell[self.row] = cell
        counts = None
        if self.people is not None:
            counts = np.zeros(n)
            counts[self.row] = self.people
        return shared_variance(
            change, chance, row_cell, n_cells, self.content, people=counts
        )

    def _areas(self, cell: Codes, n_cells: int) -> _Estimate:
        """Estimate the area under the curve of each cell, one cell after another."""
        value, effective, error, units = np.full((4, n_cells), np.nan)
        residual = np.zeros(len(cell))
        n_rows = np.bincount(cell, minlength=n_cells)
        for number, positions in _sorted_cells(cell, n_rows):
            rows = self._take(positions)
            area = area_under_curve(
                rows.y, rows.predicted, rows.weight, rows.unit, rows.people
            )
            value[number] = area.value
            effective[number] = area.effective
            error[number] = area.error
            units[number] = area.units
            residual[positions] = area.residual
        # Of few rows of one outcome an area has no interval.
        share = self._mean(self.y, cell, n_cells, (0.0, 1.0), "rate").values
        n_people = _whole(np.bincount(cell, self.people, n_cells))
        estimates = CellValues(
            value, n_people, effective, error, "area", units=units, strata=(share,)
        )
        return _Estimate(estimates, Residuals(self, residual, cell))


def _twice(column: ArrayLike | None) -> Any:
    """Return a column after itself; None for none."""
    return None if column is None else np.tile(np.asarray(column), 2)


def _fewer(rows: Array, spread: Array, shared: Any) -> Array:
    """Return of how many independent rows a rate is when draws are shared.

    ``spread`` is the variance of one row, ``shared`` what is added to that of the rate.
    """
    inflation = np.nan_to_num(divide(np.maximum(shared, 0.0) * rows, spread))
    return rows / (1 + inflation)


def _whole(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return counts as integers; sums of chances are rounded."""
    return np.rint(rows).astype(np.int64)


def _sorted_cells(cell: Codes, n_rows: Codes) -> Iterator[tuple[int, Codes]]:
    """Give the positions of the rows of each cell that has any."""
    order = np.argsort(cell, kind="stable")
    ends = np.cumsum(n_rows)
    starts = ends - n_rows
    for number in np.flatnonzero(n_rows):
        yield int(number), order[starts[number] : ends[number]]
