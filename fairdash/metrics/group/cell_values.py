"""Estimates of a measure in the cells of a table, with their intervals."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import FloatArray
from fairdash._lazy import special
from fairdash.metrics.group.counting import divide
from fairdash.metrics.group.intervals import (
    Bounds,
    Interval,
    difference_of,
    largest_gap,
    normal_quantile,
    smallest_ratio,
    untwisted,
    wilson_ends,
)

FEWEST = 5  # rows of either outcome that a cell must expect
FEWEST_OF_AREA = 10
FEWEST_OF_NUMBERS = 10  # rows
TOO_FEW = "too few rows to say"
_ALIKE = 1e-12  # standard error of rows that all have one value, rounding aside


@dataclass(frozen=True, eq=False)
class CellValues:
    r"""A measure in some cells, with what its intervals follow from.

    Attributes
    ----------
    effective : float64 array
        Their effective number: of a rate :math:`\hat p (1 - \hat p) / V` of the
        linearised variance, which is the number of rows without weights and units; of
        an area :math:`n_1 n_0 / (n_1 + n_0)`.
    kind : {"rate", "mean", "area"}
        Which interval: Wilson's between ``limits``; of a mean by strata; normal on the
        logit scale.
    limits : (float, float)
        Least and most that a row can have.
    units : float64 array or None
        Independent units, as many as have a like weight (`variance.design_units`);
        quantiles are Student's. None for rows that are all independent and weigh alike,
        whose quantiles are normal.
    strata : tuple of CellValues
        Of a mean: how often the outcome is 1, and the mean where it is 0 and where it
        is 1. Of an area how often the outcome is 1.
    correlation : float64 array of shape (..., groups, groups) or None
        Of cells that share units.
    skewness : float64 array or None
        Of means of numbers, `variance.skewness`; NaN where rows are too few for numbers
        as skewed as these, and then there is no interval.
    """

    value: FloatArray
    n: NDArray[np.int64]
    effective: FloatArray
    error: FloatArray
    kind: str
    limits: tuple[float, float] = (0.0, 1.0)
    units: FloatArray | None = None
    strata: tuple["CellValues", ...] = ()
    correlation: FloatArray | None = None
    skewness: FloatArray | None = None

    @property
    def most(self) -> float:
        """The largest difference there can be."""
        return self.limits[1] - self.limits[0]

    @property
    def signed(self) -> bool:
        """Whether values can be negative, so that they have no ratio."""
        return self.limits[0] < 0

    def _map(self, change: Callable[[Any], Any]) -> "CellValues":
        """Return the cells after a change of shape or order, without correlations."""
        return replace(
            self,
            value=change(self.value),
            n=change(self.n),
            effective=change(self.effective),
            error=change(self.error),
            units=None if self.units is None else change(self.units),
            skewness=None if self.skewness is None else change(self.skewness),
            strata=tuple(part._map(change) for part in self.strata),
        )

    def reshape(self, *shape: int) -> "CellValues":
        """Return the same cells in another shape."""
        cells = self._map(lambda part: part.reshape(shape))
        if self.correlation is None:
            return cells
        width = self.correlation.shape[-1]
        correlation = self.correlation.reshape(*cells.value.shape[:-1], width, width)
        return replace(cells, correlation=correlation)

    def at(self, places: Any) -> "CellValues":
        """Return some cells, which may repeat, in the order of ``places``."""
        cells = self._map(lambda part: part[places])
        if self.correlation is None:
            return cells
        return replace(cells, correlation=self.correlation[places])

    def where(self, some: NDArray[np.bool_]) -> "CellValues":
        """Return the estimates, NaN where not ``some``."""
        return replace(self, value=np.where(some, self.value, np.nan))

    def ends(self, z: FloatArray) -> Bounds:
        """Return the ends of the intervals at normal quantiles ``z``."""
        if self.kind == "mean" and self.strata:
            return self._strata_ends(z)
        t = z if self.units is None else _student(z, self.units)
        if self.kind == "rate":
            return self._wilson_ends(t)
        if self.kind == "area":
            return self._logit_ends(t)
        return self._mean_ends(z, t)

    def _logit_ends(self, t: FloatArray) -> Bounds:
        """Return ends that are symmetric on the logit scale, so never past 0 or 1."""
        half = t * self.error
        # The derivative of the logit is 1 / (v (1 - v)): an area of 0 or 1 has no end.
        with np.errstate(divide="ignore", invalid="ignore"):
            half = half / (self.value * (1 - self.value))
        centre = special.logit(np.where(np.isfinite(half), self.value, np.nan))
        return special.expit(centre - half), special.expit(centre + half)

    def _mean_ends(self, z: FloatArray, t: FloatArray) -> Bounds:
        """Return the ends of means: Student's, or Hall's where numbers are skewed."""
        if self.skewness is None:
            half = t * self.error
            low = self.value - half
            high = self.value + half
        else:
            low = self.value - untwisted(t, self.skewness) * self.error
            high = self.value - untwisted(-t, self.skewness) * self.error
        # Rows that all have one value, or a single row, say nothing of their spread.
        constant = ~(self.error > _ALIKE)
        if self.skewness is not None:
            constant &= ~np.isnan(self.skewness)
        wide_low, wide_high = self._wilson_ends(z)
        low = np.where(constant, wide_low, np.clip(low, *self.limits))
        high = np.where(constant, wide_high, np.clip(high, *self.limits))
        return low, high

    def _wilson_ends(self, z: FloatArray) -> Bounds:
        """Return Wilson's ends of the place of a value between the limits."""
        least = self.limits[0]
        width = self.most
        if not width:
            return self.value, self.value
        rate = np.clip((self.value - least) / width, 0, 1)
        low, high = wilson_ends(rate, self.effective, z)
        return least + width * low, least + width * high

    def _strata_ends(self, z: FloatArray) -> Bounds:
        """Return the ends of means that differ by outcome.

        A mean is theta = m0 + pi (m1 - m0) with the rate pi of outcome 1. Its ends are
        those of the method of variance estimates recovery (Zou and Donner 2008):
        Wilson's of pi, which a rare outcome needs, and Student's of the means. With
        weights and units they are scaled to the linearised standard error of theta.
        """
        share, negative, positive = self.strata
        rate = share.value
        rate_low, rate_high = share.ends(z)
        scale = self._strata_scale()
        ends = []
        for side, sign in enumerate((-1, 1)):
            # An outcome that no row has may have any mean.
            negative_mean = _filled(negative.value, negative.limits[side])
            positive_mean = _filled(positive.value, positive.limits[side])
            slope = positive_mean - negative_mean
            # Theta grows with pi where outcome 1 has the larger mean, else it falls.
            rate_reach = np.where(sign * slope > 0, rate_high - rate, rate - rate_low)
            squares = (slope * rate_reach) ** 2
            for mass, stratum in ((1 - rate, negative), (rate, positive)):
                reach = stratum.ends(z)[side] - stratum.value
                squares = squares + np.nan_to_num(mass * reach) ** 2
            end = self.value + sign * scale * np.sqrt(squares)
            ends.append(np.clip(end, *self.limits))
        return ends[0], ends[1]

    def _strata_scale(self) -> Any:
        """Return the standard error over that of the strata put together.

        It is 1 for independent rows. Bounds keep an error that few units estimate
        badly from making an interval vanish or explode.
        """
        if self.units is None:
            return 1.0
        share, negative, positive = self.strata
        rate = share.value
        errors = (
            (positive.value - negative.value) * share.error,
            (1 - rate) * negative.error,
            rate * positive.error,
        )
        together = np.sqrt(sum(np.nan_to_num(error) ** 2 for error in errors))
        scale = divide(self.error, np.where(together > 0, together, np.nan))
        return np.clip(np.nan_to_num(scale, nan=1.0), 0.5, 4)

    def interval(self, confidence: float) -> Interval:
        """Return the values with their intervals."""
        return Interval(self.value, *self.ends(normal_quantile(confidence)))

    def between(self, first: Any, second: Any, confidence: float) -> Interval:
        """Return the values of cells of the last axis less those of others."""
        cells = self.interval(confidence)
        first_cells = cells.take(first)
        right = cells.take(second)
        correlation: FloatArray | float = 0.0
        if self.correlation is not None:
            correlation = self.correlation[..., first, second]
        ends = difference_of(first_cells, right, correlation)
        return Interval(first_cells.value - right.value, *ends)

    def largest_gap(self, confidence: float, *, axes: int = 1, k: int = 1) -> Bounds:
        """Return the interval of the largest difference along the last axes.

        With ``k`` of the mean of the k largest, see `intervals.largest_gap`.
        """
        return largest_gap(
            self.value,
            self.ends,
            confidence=confidence,
            axes=axes,
            k=k,
            most=self.most,
            correlation=self.correlation,
        )

    def smallest_ratio(self, confidence: float) -> Interval:
        """Return the smallest ratio of the last axis; NaN of what has signs."""
        if self.signed:
            return Interval(*np.full((3, *self.value.shape[:-1]), np.nan))
        return smallest_ratio(
            self.value, self.ends, confidence=confidence, correlation=self.correlation
        )

    def too_few(self, first: Any, second: Any) -> NDArray[np.bool_]:
        """Return where cells of the last axis expect too few rows to be compared.

        Fewer than five of either value, at the rate of both cells together: of a mean
        these are rows of either outcome, of an area ten; of numbers ten rows, and more
        of skewed ones.
        """
        if self.kind == "mean" and not self.strata:
            smaller = np.minimum(self.n[..., first], self.n[..., second])
            few_rows = np.asarray(smaller < FEWEST_OF_NUMBERS)
            if self.skewness is None:
                return few_rows
            too_skewed = np.isnan(self.skewness)
            return few_rows | too_skewed[..., first] | too_skewed[..., second]
        rates = self if self.kind == "rate" else self.strata[0]
        rate = (rates.value - rates.limits[0]) / (rates.most or 1.0)
        n = np.nan_to_num(rates.effective)
        positive = np.nan_to_num(n * rate)
        joint_rate = divide(
            positive[..., first] + positive[..., second],
            n[..., first] + n[..., second],
        )
        rarer_rate = np.minimum(joint_rate, 1 - joint_rate)
        expected = rarer_rate * np.minimum(n[..., first], n[..., second])
        fewest = FEWEST_OF_AREA if self.kind == "area" else FEWEST
        few: NDArray[np.bool_] = ~(expected >= fewest)  # NaN is too few
        return few

    def comparable(self) -> NDArray[np.bool_]:
        """Return which cells of the last axis have enough rows beside some other one.

        Where none has, all that have a value: a tiny group takes away its own pairs.
        """
        width = self.value.shape[-1]
        first, second = np.array(list(itertools.permutations(range(width), 2))).T
        # Permutations are in order: each cell has its width - 1 peers in a row.
        enough = ~self.too_few(first, second).reshape(-1, width, width - 1)
        enough_beside_peer = enough.any(axis=-1).reshape(self.value.shape)
        defined = ~np.isnan(self.value)
        large = enough_beside_peer & defined
        return np.where(large.any(axis=-1, keepdims=True), large, defined)


def stacked(models: Sequence[CellValues]) -> CellValues:
    """Return the cells of several models with a leading axis of these."""
    first = models[0]
    names = ["value", "n", "effective", "error", "units", "correlation", "skewness"]
    parts: dict[str, Any] = {
        name: np.stack([getattr(model, name) for model in models])
        for name in names
        if getattr(first, name) is not None
    }
    strata = tuple(
        stacked(part) for part in zip(*(m.strata for m in models), strict=True)
    )
    return replace(first, **parts, strata=strata)


def _filled(value: FloatArray, default: float) -> FloatArray:
    """Return the values, ``default`` where there is none."""
    return np.where(np.isnan(value), default, value)


def _student(z: FloatArray, units: FloatArray) -> FloatArray:
    """Return Student's quantiles for normal ones, with a degree less than units."""
    degrees = np.maximum(units - 1, 1)
    t: FloatArray = special.stdtrit(degrees, special.ndtr(np.asarray(z, np.float64)))
    return t
