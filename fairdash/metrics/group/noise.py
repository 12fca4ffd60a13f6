"""The largest gaps of a model that is fair inside every subgroup, by chance alone."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import FloatArray
from fairdash._validation import check_whole
from fairdash.metrics.group.cell_values import CellValues
from fairdash.metrics.group.counting import Counts, divide

_MOST_SHUFFLED = 10**9  # rows of a subgroup, of NumPy's hypergeometric draws


class NoiseFloor(NamedTuple):
    """The k largest gaps of a model that is fair inside every subgroup.

    Attributes
    ----------
    mean : float
        What to expect of it: the upward bias of the maximum.
    quantile : float
        What it stays below in, by default, 95 % of samples of this size.
    samples : ndarray of shape (n_permutations,)
    """

    mean: float
    quantile: float
    samples: NDArray[np.float64]


class FairModel(NamedTuple):
    """A model with the rows and errors of another one, and no gap in any subgroup.

    For a rate of independent rows without weights, groups are shuffled among the rows
    it is about. Else cells get independent errors of their own: groups that are alike
    in a mean may still differ in spread (Janssen 1997), and rows in their weights or
    units. The errors are Student's of as many degrees as there are units; where a cell
    has no error of its own, as a rate of 0, it is that of the subgroup scaled to its
    effective rows.

    Attributes
    ----------
    values : CellValues of shape (subgroups, groups)
        Of the estimable subgroups.
    whole : CellValues of shape (subgroups, 1)
        Of all groups of these together.
    independent : bool
        Whether rows are independent and weigh alike.
    """

    values: CellValues
    whole: CellValues
    independent: bool

    def gaps(self, times: int, rng: np.random.Generator) -> FloatArray:
        """Return the largest gap in each subgroup, (times, subgroups)."""
        if not len(self.values.value):
            return np.full((times, 0), np.nan)
        if self._can_shuffle():
            return self._shuffled_gaps(times, rng)
        errors = self._errors()
        normal = rng.standard_normal((times, *errors.shape))
        # Errors of a rate may add up to more than the largest gap there is.
        most = 1.0 if self.values.kind == "rate" else np.inf
        return np.minimum(widest_gap_of(normal * errors), most)

    def _can_shuffle(self) -> bool:
        """Return whether groups can be shuffled among the rows of each subgroup."""
        few = int(self.values.n.sum(axis=1).max(initial=0)) < _MOST_SHUFFLED
        return bool(self.values.kind == "rate" and self.independent and few)

    def _shuffled_gaps(self, times: int, rng: np.random.Generator) -> FloatArray:
        """Return the gaps of each subgroup after shuffles of its groups.

        A shuffle hands out the positive rows of a subgroup among its groups, as a
        multivariate hypergeometric draw does.
        """
        rows = self.values.n
        counts = np.rint(self.values.value * rows)
        positives = np.nan_to_num(counts).sum(axis=1)
        shuffled = [
            rng.multivariate_hypergeometric(n, int(k), size=times)
            for n, k in zip(rows, positives, strict=True)
        ]
        return widest_gap_of(divide(np.stack(shuffled, axis=1), rows))

    def _errors(self) -> FloatArray:
        """Return the standard error of each cell."""
        values = self.values
        size_ratio = divide(self.whole.effective, values.effective)
        pooled = self.whole.error * np.sqrt(size_ratio)
        use_cell = np.isfinite(values.error) & (values.error > 0)
        if values.kind == "rate":
            # A rate of few rows understates its spread: that of all rows is the least.
            use_cell &= values.error > pooled
        error = np.where(use_cell, values.error, pooled)
        if values.units is not None:
            degrees = np.maximum(values.units - 1, 3)
            # The standard deviation of Student's t, beside the normal's of 1.
            error = error * np.sqrt(degrees / (degrees - 2))
        return np.where(np.isnan(values.value), np.nan, error)


def mean_of_largest(gaps: Counts, k: int) -> Counts:
    """Return the mean of the ``k`` largest of the last axis; NaN if fewer exist."""
    check_whole("k", k, at_least=1)
    if gaps.shape[-1] < k:
        return np.full(gaps.shape[:-1], np.nan)
    # NaN counts as smaller than any gap; if it is among the k, the mean is NaN.
    filled = np.where(np.isnan(gaps), -np.inf, gaps)
    largest = np.partition(filled, -k, axis=-1)[..., -k:].mean(axis=-1)
    return np.where(np.isneginf(largest), np.nan, largest)


def widest_gap_of(value: FloatArray) -> FloatArray:
    """Return the largest less the smallest of the last axis; NaN is no value."""
    gap = _largest(value) + _largest(-value)
    n_defined = (~np.isnan(value)).sum(axis=-1)
    return np.where(n_defined > 1, gap, np.nan)


def _largest(value: FloatArray) -> FloatArray:
    """Return the largest of the last axis, NaN where none is defined."""
    largest = np.where(np.isnan(value), -np.inf, value).max(axis=-1)
    return np.where(np.isneginf(largest), np.nan, largest)
