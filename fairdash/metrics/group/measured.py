"""What a measure is computed from, and its values in the cells of a table."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_lengths, check_one_of
from fairdash.metrics.group.areas import area_under_curve
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
from fairdash.metrics.group.cell_values import CellValues
from fairdash.metrics.group.counting import (
    divide,
    finite_numbers,
    labels,
    people,
    probability_models,
    sampling_weights,
)
from fairdash.metrics.group.drawn import Drawn, chances, shared_variance
from fairdash.metrics.group.variance import (
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
_OUTCOMES, _DECISIONS = np.array([[0, 0], [1, 1]]), np.array([[0, 1], [0, 1]])
Limits = tuple[float, float]
# values, and the rows that these are of with their residuals
_Estimates = tuple[CellValues, "tuple[Measured, Array, Codes] | None"]


class Measured(NamedTuple):
    """Outcomes, decisions or scores, weights and units of the same rows, checked.

    Of decisions that are drawn every row stands twice, decided 1 and decided 0:
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
    ) -> "Measured":
        check_one_of("measure", measure.partition(" ")[0], (*RATES, COST))
        chance = chances("y_pred", decisions)
        unit = unit_codes(cluster, len(chance))
        outcome = None if y_true is None else labels("y_true", y_true, pos_label)
        check_lengths(chance, outcome, sample_weight)
        y, weight, unit = (
            None if part is None else np.tile(np.asarray(part), 2)
            for part in (outcome, sample_weight, unit)
        )
        rows = cls.of(measure, y, np.repeat([1, 0], len(chance)), weight)
        counts = people("sample_weight", sample_weight, len(chance))
        if counts is not None:
            rows = rows._replace(weight=None, people=np.tile(counts, 2))
        both = np.concatenate([chance, 1 - chance])
        own = np.tile(np.arange(len(chance)), 2)
        shared = decisions.shared(counted=counts is not None)
        return rows._replace(chance=both, unit=unit, row=own, content=shared)

    @property
    def outcomes(self) -> Array:
        """The outcome of every row, once."""
        return self.y if self.row is None else self.y[: len(self.y) // 2]

    @classmethod
    def of(
        cls,
        measure: str,
        y_true: ArrayLike | None,
        y_pred: ArrayLike | Drawn,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        cluster: ArrayLike | None = None,
    ) -> "Measured":
        """Check what a measure is computed from; see `measure_by_group`."""
        if isinstance(y_pred, Drawn):
            rest = sample_weight, pos_label, cluster
            return cls._drawn(measure, y_true, y_pred, *rest)
        costs = error_costs(measure)
        names = (*MEASURES, COST, *NUMBER_MEASURES, *RANKING_MEASURES)
        if costs is None:
            check_one_of("measure", measure, names)
        kind, scored = measure_of(measure), measure in SCORE_MEASURES
        if kind.outcome != "classes":
            predicted = finite_numbers("y_pred", y_pred)
        elif scored:
            predicted = probability_models("y_pred", y_pred)[0].astype(np.float64)
        else:
            predicted = labels("y_pred", y_pred, pos_label).astype(np.float64)
        if y_true is None and (scored or costs or kind.needs_outcome):
            raise ValueError(f"`y_true` is needed for {measure!r}.")
        if y_true is None:
            y = np.zeros(len(predicted))
        elif kind.outcome != "classes":
            y = finite_numbers("y_true", y_true)
        else:
            y = labels("y_true", y_true, pos_label).astype(np.float64)
        check_lengths(y, predicted)
        if kind.outcome != "classes":  # at once, so that ranks are of all rows
            assert kind.values is not None, "a mean says what each row has"
            predicted = kind.values(y, predicted)
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
        cell = cell if self.row is None else cell[self.row]
        inside = cell >= 0
        rows = self if inside.all() else self._at(inside)
        cell = cell if rows is self else cell[inside]
        costs = error_costs(self.measure)
        measure = measure_of(self.measure)
        if measure.outcome != "classes":
            limits = float(self.predicted.min()), float(self.predicted.max())
            how: Any = ((0.0, 1.0), "rate") if measure.in_points else (limits, "mean")
            estimates, own = rows._mean(rows.predicted, cell, n_cells, *how)
            if estimates.kind == "mean" and limits[0] < limits[1]:
                of_means = rows._skewness(estimates.value, cell)
                estimates = replace(estimates, skewness=of_means)
        elif self.measure == AREA:
            estimates, own = rows._areas(cell, n_cells)
        elif self.measure in RATES or (costs is not None and costs[0] == costs[1]):
            estimates, own = rows._rates(cell, n_cells)
        else:
            estimates, own = rows._means(cell, n_cells)
        estimates = estimates.reshape(*shape)
        if own is None or self.chance is not None:
            return estimates
        rows, residual, cell = own
        if rows.unit is None:
            return estimates
        width = shape[-1]
        shared = correlations(residual, cell, (n_cells // width, width), rows.unit)
        return replace(estimates, correlation=shared.reshape(*shape, width))

    def _at(self, where: NDArray[np.bool_] | Codes) -> "Measured":
        names = ("y", "predicted", "weight", "chance", "unit", "row", "people")
        parts: Any = {name: getattr(self, name) for name in names}
        own: Any = {k: part[where] for k, part in parts.items() if part is not None}
        return self._replace(**own)

    @property
    def plain(self) -> bool:
        """Whether rows are independent and weigh alike."""
        return self.weight is None and self.unit is None

    @property
    def times(self) -> Array | None:
        """How many rows of one person each row counts as; None where all are one."""
        if self.people is None or self.chance is None:
            return self.chance if self.people is None else self.people
        return self.people * self.chance

    def mass(self) -> Array:
        """Return what each row counts: its weight, times its people and its chance."""
        mass = np.ones(len(self.y)) if self.weight is None else self.weight
        return mass if self.times is None else mass * self.times

    def _rates(self, cell: Codes, n_cells: int) -> _Estimates:
        about, counted = np.ones((2, 2), dtype=bool), _OUTCOMES != _DECISIONS
        if self.measure in RATES:
            about, counted = (
                part(_OUTCOMES, _DECISIONS) for part in rate_of(self.measure)
            )
            counted = about & counted
        kind = (2 * self.y + self.predicted).astype(np.int64)
        if self.plain:  # counts say it all, and cost least
            sums = np.bincount(cell * 4 + kind, self.times, 4 * n_cells)
            by_kind = sums.astype(np.float64).reshape(n_cells, 4)
            rows = by_kind[:, about.ravel()].sum(axis=1)
            value = divide(by_kind[:, counted.ravel()].sum(axis=1), rows)
            spread = value * (1 - value)
            effective, variance = rows, divide(spread, rows)
            if self.content is not None:
                share = np.nan_to_num(divide(about.ravel()[kind], rows[cell]))
                centre = np.nan_to_num(value)[cell]
                residual = share * (counted.ravel()[kind] - centre)
                shared = self._shared(residual, cell, n_cells)
                variance = variance + shared
                effective = _fewer(rows, spread, shared)
            error = np.sqrt(variance)
            return CellValues(value, _whole(rows), effective, error, "rate"), None
        own = about.ravel()[kind]
        some = self if own.all() else self._at(own)
        values = counted.ravel()[kind[own]].astype(np.float64)
        return some._mean(values, cell[own], n_cells, (0.0, 1.0), "rate")

    def _means(self, cell: Codes, n_cells: int) -> _Estimates:
        costs, kind = error_costs(self.measure), "mean"
        if costs is not None:
            off, kind = self.predicted - self.y, "rate"
            values = np.where(off > 0, costs[0], np.where(off < 0, costs[1], 0.0))
            limits = (0.0, max(costs))
            possible: list[Limits] = [(0.0, cost) for cost in costs]
        else:
            measure = measure_of(self.measure)
            assert measure.values is not None, "a mean says what each row has"
            values, limits = measure.values(self.y, self.predicted), measure.limits
            shown = [measure.values(np.full(5, y), _SCORES) for y in (0.0, 1.0)]
            possible = [(float(part.min()), float(part.max())) for part in shown]
        estimates, own = self._mean(values, cell, n_cells, limits, "mean")
        strata = [self._mean(self.y, cell, n_cells, (0.0, 1.0), "rate")[0]]
        for outcome, ends in enumerate(possible):
            at = self.y == outcome
            part = self._at(at)._mean(values[at], cell[at], n_cells, ends, kind)
            strata.append(part[0])
        units = None if self.plain else estimates.units
        return replace(estimates, units=units, strata=tuple(strata)), own

    def _mean(
        self, values: Array, cell: Codes, n_cells: int, limits: Limits, kind: str
    ) -> _Estimates:
        mass = self.mass()
        whole = np.bincount(cell, mass, n_cells).astype(np.float64)
        value = divide(np.bincount(cell, mass * values, n_cells), whole)
        rows = np.bincount(cell, self.times, n_cells).astype(np.float64)
        # of every cell, not of every row: a million of these cost a division each
        centre, scale = np.nan_to_num(value), divide(np.ones(n_cells), whole)
        heavy = np.ones(len(cell)) if self.weight is None else self.weight
        residual = heavy * (values - centre[cell]) * np.nan_to_num(scale)[cell]
        counts = None if self.weight is None else self.weight > 0
        spread = linearised(
            residual,
            cell,
            n_cells,
            unit=self.unit,
            chance=self.times,
            row=self.row,
            counts=counts,
        )
        effective = worth(mass, cell, n_cells, self.unit)
        if self.times is not None and self.unit is None:
            squares = np.bincount(cell, heavy * mass, n_cells)
            effective = np.nan_to_num(divide(whole**2, squares))
        shared = self._shared(residual, cell, n_cells)
        spread = spread._replace(variance=spread.variance + shared)
        units: Array | None = design_units(
            heavy, cell, n_cells, self.unit, chance=self.times
        )
        width = limits[1] - limits[0] or 1.0
        rate = (value - limits[0]) / width
        if kind == "rate" and self.plain:
            units = None
            if self.content is not None:
                effective = _fewer(effective, rate * (1 - rate), shared / width**2)
        elif kind == "rate":
            effective = Variance(spread.variance / width**2, spread.units).effective(
                rate, effective, rows
            )
        estimates = CellValues(
            value,
            _whole(rows),
            effective,
            np.sqrt(spread.variance),
            kind,
            limits,
            units,
        )
        return estimates, (self, residual, cell)

    def _skewness(self, mean: Array, cell: Codes) -> Array:
        """Return the skewness of means of numbers, NaN where rows are too few for it.

        Fewer than eight rows, or units, are expected to have another value than the
        commonest one, or the mean of so few skewed rows is itself skewed by over 1.
        """
        mass = np.ones(len(cell)) if self.weight is None else self.weight
        of_mean = skewness(
            self.predicted - mean[cell],
            mass,
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
        one = self.predicted == 1
        signed = np.where(one, residual, -residual)
        change = np.bincount(self.row, signed, n).astype(np.float64)
        chance = np.zeros(n)
        chance[self.row[one]] = self.chance[one]
        place = np.full(n, -1)
        place[self.row] = cell
        if self.people is None:
            return shared_variance(change, chance, place, n_cells, self.content)
        counts = np.zeros(n)
        counts[self.row] = self.people
        return shared_variance(
            change, chance, place, n_cells, self.content, people=counts
        )

    def _areas(self, cell: Codes, n_cells: int) -> _Estimates:
        numbers = np.full((4, n_cells), np.nan)
        residual = np.zeros(len(cell))
        rows = np.bincount(cell, minlength=n_cells)
        n = _whole(np.bincount(cell, self.people, n_cells))
        for number, own in _sorted_cells(cell, rows):
            some = self._at(own)
            area = area_under_curve(
                some.y, some.predicted, some.weight, some.unit, some.people
            )
            numbers[:, number] = area[:4]
            residual[own] = area.residual
        value, effective, error, units = numbers
        share = self._mean(self.y, cell, n_cells, (0.0, 1.0), "rate")[0]
        estimates = CellValues(
            value, n, effective, error, "area", units=units, strata=(share,)
        )
        return estimates, (self, residual, cell)


def _fewer(rows: Array, spread: Array, shared: Any) -> Array:
    """Return of how many independent rows a rate is when draws are shared.

    ``spread`` is the variance of one row, ``shared`` what is added to that of the rate.
    """
    more = np.nan_to_num(divide(np.maximum(shared, 0.0) * rows, spread))
    return rows / (1 + more)


def _whole(rows: NDArray[Any]) -> NDArray[np.int64]:
    return np.rint(rows).astype(np.int64)


def _sorted_cells(cell: Codes, rows: Codes) -> Iterator[tuple[int, Codes]]:
    order = np.argsort(cell, kind="stable")
    starts = np.cumsum(rows) - rows
    for number in np.flatnonzero(rows):
        yield int(number), order[starts[number] : starts[number] + rows[number]]
