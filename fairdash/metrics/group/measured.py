"""Rates, means and areas in the cells of a table, with what intervals follow from."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._lazy import special
from fairdash._validation import check_lengths, check_one_of
from fairdash.metrics.group.catalog import (
    COST,
    MEASURES,
    RATES,
    SCORE_MEASURES,
    Array,
    error_costs,
    measure_of,
)
from fairdash.metrics.group.counting import (
    divide,
    labels,
    probability_models,
    row_weights,
)
from fairdash.metrics.group.intervals import (
    Bounds,
    Interval,
    normal_quantile,
    wilson_ends,
)

_ALIKE = 1e-12  # standard error of rows that all have one value, rounding aside
_OUTCOMES, _DECISIONS = np.array([[0, 0], [1, 1]]), np.array([[0, 1], [0, 1]])


@dataclass(frozen=True, eq=False)
class CellValues:
    """A measure in some cells, with what its intervals follow from.

    Attributes
    ----------
    effective : float64 array
        Their effective number, Kish's where rows have weights; of an area
        :math:`n_1 n_0 / (n_1 + n_0)`.
    kind : {"rate", "mean", "bounded", "area"}
        Which interval: Wilson, normal, normal within ``limits``, normal on the logit
        scale.
    limits : (float, float)
        Least and most that a row can have. Rows that all have one value say nothing of
        their spread: the interval of such a mean is Wilson's of its place between.
    """

    value: Array
    n: NDArray[np.int64]
    effective: Array
    error: Array
    kind: str
    limits: tuple[float, float] = (0.0, 1.0)

    @property
    def most(self) -> float:
        """The largest difference there can be."""
        return self.limits[1] - self.limits[0]

    def reshape(self, *shape: int) -> "CellValues":
        """Return the same cells in another shape."""
        return replace(
            self,
            value=self.value.reshape(shape),
            n=self.n.reshape(shape),
            effective=self.effective.reshape(shape),
            error=self.error.reshape(shape),
        )

    def at(self, places: NDArray[np.int64]) -> "CellValues":
        """Return some cells, which may repeat, in the order of ``places``."""
        return replace(
            self,
            value=self.value[places],
            n=self.n[places],
            effective=self.effective[places],
            error=self.error[places],
        )

    def where(self, kept: NDArray[np.bool_]) -> "CellValues":
        """Return the estimates, NaN where not ``kept``."""
        return replace(self, value=np.where(kept, self.value, np.nan))

    def ends(self, z: Array) -> Bounds:
        """Return the ends of the intervals at normal quantiles ``z``."""
        if self.kind == "rate":
            return wilson_ends(self.value, self.effective, z)
        half = z * self.error
        if self.kind == "area":
            with np.errstate(divide="ignore", invalid="ignore"):
                half = half / (self.value * (1 - self.value))
            middle = special.logit(np.where(np.isfinite(half), self.value, np.nan))
            return special.expit(middle - half), special.expit(middle + half)
        low, high = self.value - half, self.value + half
        if self.kind == "bounded":
            low, high = (np.clip(end, *self.limits) for end in (low, high))
        alike = self.error <= _ALIKE
        if alike.any():
            least, width = self.limits[0], self.limits[1] - self.limits[0]
            place = np.clip((self.value - least) / width, 0, 1)
            ends = wilson_ends(place, self.effective, z)
            low, high = (
                np.where(alike, least + width * end, usual)
                for end, usual in zip(ends, (low, high), strict=True)
            )
        return low, high

    def interval(self, confidence: float) -> Interval:
        """Return the values with their intervals."""
        return Interval(self.value, *self.ends(normal_quantile(confidence)))


class Measured(NamedTuple):
    """Outcomes, decisions or scores and weights of the same rows, checked.

    Scores of different ``fold`` are of different models: an area compares none of them.
    Of decisions that are drawn, ``chance`` is that of the decision in each row.
    """

    measure: str
    y: Array
    predicted: Array
    weight: Array | None
    fold: NDArray[np.int64] | None = None
    chance: Array | None = None

    @classmethod
    def drawn(
        cls,
        measure: str,
        y_true: ArrayLike | None,
        h: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> "Measured":
        """Check the same of decisions that are 1 with probabilities ``h``, (n_rows,).

        Every row stands twice, decided 1 with chance h and 0 with chance 1 - h.
        """
        check_one_of("measure", measure.partition(" ")[0], (*RATES, COST))
        chance = probability_models("h", h)[0].astype(np.float64)
        y, weight = (
            None if part is None else np.tile(np.asarray(part), 2)
            for part in (y_true, sample_weight)
        )
        rows = cls.of(measure, y, np.repeat([1, 0], len(chance)), weight)
        return rows._replace(chance=np.concatenate([chance, 1 - chance]))

    @classmethod
    def of(
        cls,
        measure: str,
        y_true: ArrayLike | None,
        y_pred: ArrayLike,
        sample_weight: ArrayLike | None,
        pos_label: Any = None,
        folds: ArrayLike | None = None,
    ) -> "Measured":
        """Check what a measure is computed from; see `measure_by_group`."""
        costs = error_costs(measure)
        if costs is None:
            check_one_of("measure", measure, (*MEASURES, COST))
        scored = measure in SCORE_MEASURES
        if scored:
            predicted = probability_models("y_pred", y_pred)[0].astype(np.float64)
        else:
            predicted = labels("y_pred", y_pred, pos_label).astype(np.float64)
        if y_true is None:
            if scored or costs or RATES[measure].needs_outcome:
                raise ValueError(f"`y_true` is needed for {measure!r}.")
            y = np.zeros(len(predicted))
        else:
            y = labels("y_true", y_true, pos_label).astype(np.float64)
        check_lengths(y, predicted)
        weight = sample_weight
        if weight is not None:
            weight = row_weights("sample_weight", weight, len(predicted))
        fold = None
        if folds is not None:
            fold = np.unique(np.asarray(folds), return_inverse=True)[1]
            check_lengths(fold, predicted)
        return cls(measure, y, predicted, weight, fold)

    def estimate(self, cell: NDArray[np.int64], n_cells: int) -> CellValues:
        """Return the measure in every cell; rows of a negative cell are in none."""
        inside = cell >= 0
        rows = self if inside.all() else self._at(inside)
        cell = cell[inside] if rows is not self else cell
        if self.measure in RATES:
            return rows._rates(cell, n_cells)
        if self.measure == "auc":
            return rows._areas(cell, n_cells)
        costs = error_costs(self.measure)
        if costs is not None:
            off = rows.predicted - rows.y
            cost = np.where(off > 0, costs[0], np.where(off < 0, costs[1], 0.0))
            return rows._means(cost, cell, n_cells, "bounded", (0.0, max(costs)))
        measure = measure_of(self.measure)
        assert measure.values is not None, "a mean says what each row has"
        kind = "bounded" if measure.limits[0] >= 0 else "mean"
        each = measure.values(rows.y, rows.predicted)
        return rows._means(each, cell, n_cells, kind, measure.limits)

    def _at(self, where: NDArray[np.bool_] | NDArray[np.int64]) -> "Measured":
        weight = None if self.weight is None else self.weight[where]
        fold = None if self.fold is None else self.fold[where]
        chance = None if self.chance is None else self.chance[where]
        own = self._replace(y=self.y[where], predicted=self.predicted[where])
        return own._replace(weight=weight, fold=fold, chance=chance)

    def _masses(self) -> tuple[Array | None, Array | None]:
        """Return what rows count, on average over draws, and the same of its square."""
        weight, chance = self.weight, self.chance
        if weight is None or chance is None:
            return (chance, chance) if weight is None else (weight, weight**2)
        return weight * chance, weight**2 * chance

    def _rates(self, cell: NDArray[np.int64], n_cells: int) -> CellValues:
        rate = RATES[self.measure]
        place = cell * 4 + (2 * self.y + self.predicted).astype(np.int64)
        about = rate.about(_OUTCOMES, _DECISIONS)
        counted = about & rate.counted(_OUTCOMES, _DECISIONS)

        def total(weight: Array | None, of: NDArray[np.bool_]) -> Array:
            sums = np.bincount(place, weight, 4 * n_cells).astype(np.float64)
            return sums.reshape(n_cells, 4)[:, of.ravel()].sum(axis=1)

        mass, squares = self._masses()
        rows = effective = whole = total(self.chance, about)
        if self.weight is not None:
            whole = total(mass, about)
            effective = divide(whole**2, total(squares, about))
        value = divide(total(mass, counted), whole)
        error = np.sqrt(divide(value * (1 - value), effective))
        return CellValues(value, _whole(rows), effective, error, "rate")

    def _means(
        self,
        values: Array,
        cell: NDArray[np.int64],
        n_cells: int,
        kind: str,
        limits: tuple[float, float],
    ) -> CellValues:
        """Return weighted means with their standard errors."""
        mass, squares = self._masses()
        rows = np.bincount(cell, self.chance, n_cells)
        heavy = np.ones(len(values)) if mass is None else mass
        whole = np.bincount(cell, heavy, n_cells)
        effective = divide(whole**2, np.bincount(cell, squares, n_cells))
        value = divide(np.bincount(cell, heavy * values, n_cells), whole)
        off = heavy * (values - value[cell]) ** 2
        variance = divide(np.bincount(cell, off, n_cells), whole)
        several = np.where(effective > 1, effective - 1, np.nan)
        error = np.sqrt(variance / several)
        return CellValues(value, _whole(rows), effective, error, kind, limits)

    def _areas(self, cell: NDArray[np.int64], n_cells: int) -> CellValues:
        found = np.full((3, n_cells), np.nan)
        rows = np.bincount(cell, minlength=n_cells)
        for number, own in _sorted_cells(cell, rows):
            found[:, number] = _area(self._at(own))
        value, effective, error = found
        return CellValues(value, rows, effective, error, "area")


def _whole(rows: NDArray[Any]) -> NDArray[np.int64]:
    return np.rint(rows).astype(np.int64)


def _sorted_cells(
    cell: NDArray[np.int64], rows: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield every cell with rows and the places of these."""
    order = np.argsort(cell, kind="stable")
    starts = np.cumsum(rows) - rows
    for number in np.flatnonzero(rows):
        yield int(number), order[starts[number] : starts[number] + rows[number]]


def _area(rows: Measured) -> tuple[float, float, float]:
    """Return the area under the ROC curve, effective rows, DeLong's standard error.

    Of several folds rows are placed among those of their own (LeDell et al. 2015).
    Where all are placed alike, as when all scores tie, the error is the largest there
    can be (Birnbaum and Klose 1957).
    """
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    fold = np.zeros(len(rows.y), np.int64) if rows.fold is None else rows.fold
    ones = rows.y == 1
    above, below = _placements(rows.predicted, ones, weight, fold)
    placed1, placed0 = np.isfinite(above), np.isfinite(below)
    w1, w0 = weight[ones][placed1], weight[~ones][placed0]
    n1, n0 = effective_rows(w1), effective_rows(w0)
    if not n1 or not n0:
        return np.nan, 0.0, np.nan
    above, below = above[placed1], below[placed0]
    value = float(w1 @ above / w1.sum())
    if n1 <= 1 or n0 <= 1 or not 0 < value < 1:
        return value, n1 * n0 / (n1 + n0), np.nan
    variance = sum(
        float(w @ (place - value) ** 2 / w.sum()) / (n - 1)
        for w, place, n in ((w1, above, n1), (w0, below, n0))
    )
    if variance <= _ALIKE**2:
        variance = value * (1 - value) / min(n1, n0)
    return value, n1 * n0 / (n1 + n0), float(np.sqrt(variance))


def effective_rows(weight: Array) -> float:
    """Return Kish's effective number of rows, 0 where nothing weighs."""
    squares = float(weight @ weight)
    return float(weight.sum()) ** 2 / squares if squares else 0.0


def _placements(
    values: Array, ones: NDArray[np.bool_], weight: Array, fold: NDArray[np.int64]
) -> tuple[Array, Array]:
    """Return the share of zeros below each one and of ones above each zero.

    Half of ties counts. Both are of the same fold, and NaN where it has none.
    """
    order = np.lexsort((values, fold))
    first = np.searchsorted(fold[order], fold[order])
    last = np.searchsorted(fold[order], fold[order], side="right")
    ranked = values[order]
    new = np.concatenate([[True], (ranked[1:] != ranked[:-1]) | np.diff(first) > 0])
    places = np.flatnonzero(new)
    ends = np.append(places, len(values))
    tie = np.empty(len(values), dtype=np.int64)
    tie[order] = np.cumsum(new) - 1

    def middles(side: NDArray[np.bool_]) -> Array:
        mass = np.concatenate([[0.0], np.cumsum(np.where(side, weight, 0)[order])])
        middle = (mass[ends[:-1]] + mass[ends[1:]]) / 2
        before, after = mass[first[places]], mass[last[places]]
        return divide(middle - before, after - before)

    return middles(~ones)[tie[ones]], 1 - middles(ones)[tie[~ones]]
