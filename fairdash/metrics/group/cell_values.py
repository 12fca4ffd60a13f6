"""Values of a measure in the cells of a table, with their intervals."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

Array = NDArray[np.float64]
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

    value: Array
    n: NDArray[np.int64]
    effective: Array
    error: Array
    kind: str
    limits: tuple[float, float] = (0.0, 1.0)
    units: Array | None = None
    strata: tuple["CellValues", ...] = ()
    correlation: Array | None = None
    skewness: Array | None = None

    @property
    def most(self) -> float:
        """The largest difference there can be."""
        return self.limits[1] - self.limits[0]

    @property
    def signed(self) -> bool:
        """Whether values can be negative, so that they have no ratio."""
        return self.limits[0] < 0

    def _each(self, change: Callable[[Any], Any]) -> "CellValues":
        return replace(
            self,
            value=change(self.value),
            n=change(self.n),
            effective=change(self.effective),
            error=change(self.error),
            units=None if self.units is None else change(self.units),
            skewness=None if self.skewness is None else change(self.skewness),
            strata=tuple(part._each(change) for part in self.strata),
        )

    def reshape(self, *shape: int) -> "CellValues":
        """Return the same cells in another shape."""
        own = self._each(lambda part: part.reshape(shape))
        if self.correlation is None:
            return own
        width = self.correlation.shape[-1]
        shared = self.correlation.reshape(*own.value.shape[:-1], width, width)
        return replace(own, correlation=shared)

    def at(self, places: Any) -> "CellValues":
        """Return some cells, which may repeat, in the order of ``places``."""
        own = self._each(lambda part: part[places])
        if self.correlation is None:
            return own
        return replace(own, correlation=self.correlation[places])

    def where(self, some: NDArray[np.bool_]) -> "CellValues":
        """Return the estimates, NaN where not ``some``."""
        return replace(self, value=np.where(some, self.value, np.nan))

    def ends(self, z: Array) -> Bounds:
        """Return the ends of the intervals at normal quantiles ``z``."""
        if self.kind == "mean" and self.strata:
            return self._of_strata(z)
        t = z if self.units is None else _student(z, self.units)
        if self.kind == "rate":
            return self._between(t)
        half = t * self.error
        if self.kind == "area":
            with np.errstate(divide="ignore", invalid="ignore"):
                half = half / (self.value * (1 - self.value))
            middle = special.logit(np.where(np.isfinite(half), self.value, np.nan))
            return special.expit(middle - half), special.expit(middle + half)
        ends = self.value - half, self.value + half
        if self.skewness is not None:
            reach = untwisted(t, self.skewness), untwisted(-t, self.skewness)
            ends = (
                self.value - reach[0] * self.error,
                self.value - reach[1] * self.error,
            )
        # rows that all have one value, or a single one, say nothing of their spread
        plain = ~(self.error > _ALIKE)
        if self.skewness is not None:
            plain &= ~np.isnan(self.skewness)
        low, high = (
            np.where(plain, wide, np.clip(end, *self.limits))
            for wide, end in zip(self._between(z), ends, strict=True)
        )
        return low, high

    def _between(self, z: Array) -> Bounds:
        least, width = self.limits[0], self.most
        if not width:
            return self.value, self.value
        place = np.clip((self.value - least) / width, 0, 1)
        low, high = wilson_ends(place, self.effective, z)
        return least + width * low, least + width * high

    def _of_strata(self, z: Array) -> Bounds:
        # Of theta = m0 + pi (m1 - m0) by the method of variance estimates
        # recovery (Zou and Donner 2008): Wilson's of how often the outcome is 1, which
        # a rare outcome needs, and Student's of the means. An outcome that no row has
        # may have any mean. With weights and units the ends are scaled to the
        # linearised standard error of the whole.
        share, without, within = self.strata
        rate_low, rate_high = share.ends(z)
        rate = share.value
        by_outcome = [(1 - rate, without), (rate, within)]
        scale: Any = 1.0
        if self.units is not None:
            parts = self._of_parts(share, without, within)
            scale = divide(self.error, np.where(parts > 0, parts, np.nan))
            scale = np.clip(np.nan_to_num(scale, nan=1.0), 0.5, 4)
        ends = []
        for sign in (-1, 1):
            extreme = [part.limits[sign > 0] for _, part in by_outcome]
            without_it, with_it = (
                np.where(np.isnan(part.value), end, part.value)
                for (_, part), end in zip(by_outcome, extreme, strict=True)
            )
            apart = with_it - without_it
            up = np.where(sign * apart > 0, rate_high - rate, rate - rate_low)
            squares = (apart * up) ** 2
            for mass, part in by_outcome:
                end = part.ends(z)[sign > 0]
                squares = squares + np.nan_to_num(mass * (end - part.value)) ** 2
            ends.append(self.value + sign * scale * np.sqrt(squares))
        low, high = (np.clip(end, *self.limits) for end in ends)
        return low, high

    def _of_parts(
        self, share: "CellValues", without: "CellValues", within: "CellValues"
    ) -> Array:
        rate, apart = share.value, within.value - without.value
        parts = apart * share.error, (1 - rate) * without.error, rate * within.error
        return np.sqrt(sum(np.nan_to_num(part) ** 2 for part in parts))

    def interval(self, confidence: float) -> Interval:
        """Return the values with their intervals."""
        return Interval(self.value, *self.ends(normal_quantile(confidence)))

    def between(self, first: Any, second: Any, confidence: float) -> Interval:
        """Return the values of cells of the last axis less those of others."""
        parts, sides = self.interval(confidence), (first, second)
        left, right = (Interval(*(part[..., side] for part in parts)) for side in sides)
        shared: Array | float = 0.0
        if self.correlation is not None:
            shared = self.correlation[..., first, second]
        ends = difference_of(left, right, shared)
        return Interval(left.value - right.value, *ends)

    def largest_gap(self, confidence: float, *, axes: int = 1) -> Bounds:
        """Return the interval of the largest difference along the last axes."""
        return largest_gap(
            self.value,
            self.ends,
            confidence=confidence,
            axes=axes,
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
            fewer = np.minimum(self.n[..., first], self.n[..., second])
            few_numbers = np.asarray(fewer < FEWEST_OF_NUMBERS)
            if self.skewness is None:
                return few_numbers
            unknown = np.isnan(self.skewness)
            return few_numbers | unknown[..., first] | unknown[..., second]
        rates = self if self.kind == "rate" else self.strata[0]
        place = (rates.value - rates.limits[0]) / (rates.most or 1.0)
        n = np.nan_to_num(rates.effective)
        rows = n[..., first] + n[..., second]
        both = np.nan_to_num(n * place)
        joint = divide(both[..., first] + both[..., second], rows)
        expected = np.minimum(joint, 1 - joint) * np.minimum(
            n[..., first], n[..., second]
        )
        fewest = FEWEST_OF_AREA if self.kind == "area" else FEWEST
        few: NDArray[np.bool_] = ~(expected >= fewest)
        return few

    def comparable(self) -> NDArray[np.bool_]:
        """Return which cells of the last axis have enough rows beside some other one.

        Where none has, all that have a value: a tiny group takes away its own pairs.
        """
        width = self.value.shape[-1]
        first, second = np.array(list(itertools.permutations(range(width), 2))).T
        enough = ~self.too_few(first, second).reshape(-1, width, width - 1)
        some = enough.any(axis=-1).reshape(self.value.shape)
        valued = ~np.isnan(self.value)
        large = some & valued
        return np.where(large.any(axis=-1, keepdims=True), large, valued)


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


def _student(z: Array, units: Array) -> Array:
    degrees = np.maximum(units - 1, 1)
    t: Array = special.stdtrit(degrees, special.ndtr(np.asarray(z, np.float64)))
    return t
