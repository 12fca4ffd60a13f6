r"""Gaps between groups in their standard errors, from counts of rows.

With :math:`k_a` of :math:`n_a` rows of group a positive, rates are shrunk as by Agresti
and Caffo (2000), :math:`\tilde p_a = (k_a + 1) / (n_a + 2)`, and

.. math::

    z = \max_{a \ne b} \frac{|\tilde p_a - \tilde p_b|}{\sqrt{V_{ab}}} , \quad
    V_{ab} = \max\Big(
        \frac{\tilde p_a (1 - \tilde p_a)}{n_a + 2}
        + \frac{\tilde p_b (1 - \tilde p_b)}{n_b + 2} ,\;
        \bar p (1 - \bar p) \Big(\frac{1}{n_a + 2} + \frac{1}{n_b + 2}\Big)\Big)

with the joint rate :math:`\bar p = (k_a + k_b + 2) / (n_a + n_b + 4)`. The first
variance is too small where a rate of few rows is 0 or 1, the second where a small group
differs from a large one; with the larger one small and large subgroups compare. Where
no row of the pair is positive, or all are, the difference counts as 0.

With sampling weights a rate is a weighted one, and n and k are those of as many
independent rows as have its linearised variance V: :math:`n = p (1 - p) / V`, at most
Kish's number, which heavy rows that happen to agree would exceed.

Numbers are between 0 and 1, p is their mean and n as with weights. A group spread less
than all rows counts as these: n is at most its rows times their :math:`p (1 - p) / V`.

The variance of few heavy rows is itself estimated badly, so that z of many subgroups is
largest where it means least. With Kish's number of rows less one as degrees of freedom
of a group, Welch's :math:`\nu` of a pair make z a quantile of Student's distribution.
What is compared is the normal quantile of as small a chance (Wallace 1959)

.. math:: \frac{8 \nu + 1}{8 \nu + 3} \sqrt{\nu \log(1 + z^2 / \nu)} .

A group whose weights are worth fewer than FEWEST equal ones is not compared.

References
----------
A. Agresti and B. Caffo (2000), Simple and effective confidence intervals for
proportions and differences of proportions. American Statistician 54, 280-288.
D. L. Wallace (1959), Bounds on normal approximations to Student's and the chi-square
distributions. Annals of Mathematical Statistics 30, 1121-1130.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash.metrics import counting

# Of single or double precision.
Floats = NDArray[np.floating]
FEWEST = 6  # rows that weigh alike, of a group that is compared by its spread


class Counts(NamedTuple):
    """Rows and positive rows of each group, (groups, ...).

    Attributes
    ----------
    degrees : array of shape (groups, ...) or None
        Degrees of freedom of the variance of a rate. None for rows that weigh alike,
        whose number says it.
    """

    n: Floats
    k: Floats
    degrees: Floats | None = None

    def take(self, places: NDArray[np.int64]) -> "Counts":
        """Return the counts of some subgroups."""
        degrees = None if self.degrees is None else self.degrees[:, places]
        return Counts(self.n[:, places], self.k[:, places], degrees)

    def of_groups(self, groups: list[int]) -> "Counts":
        """Return the counts of some groups."""
        degrees = None if self.degrees is None else self.degrees[groups]
        return Counts(self.n[groups], self.k[groups], degrees)


class Pair(NamedTuple):
    """A difference of shrunk rates, b minus a, and its variance.

    Attributes
    ----------
    degrees : array or None
        Of the variance; None where the gap is compared with normal quantiles.
    """

    a: int
    b: int
    gap: Floats
    variance: Floats
    degrees: Floats | None = None

    @property
    def squares(self) -> Floats:
        """Squares of the studentised gaps, as those of normal quantiles."""
        squares = self.gap * self.gap / self.variance
        if self.degrees is None:
            return squares
        return _wallace(self.degrees) * np.log1p(squares / self.degrees)

    def reach(self, critical: float) -> Floats:
        """Return the half width of the interval of the gap; infinite without rows."""
        error = np.sqrt(self.variance)
        if self.degrees is None or not np.isfinite(critical):
            return critical * error
        with np.errstate(over="ignore"):
            growth = np.expm1(critical**2 / _wallace(self.degrees))
            return np.sqrt(self.degrees * growth) * error


def _wallace(degrees: Floats) -> Floats:
    """Return the factor of Wallace's approximation, by degrees of freedom."""
    return degrees * ((8 * degrees + 1) / (8 * degrees + 3)) ** 2


def pairs(counts: Counts) -> Iterator[Pair]:
    """Yield every pair of groups with its gap and the variance of it.

    The variance is infinite where a group has no rows.
    """
    n, k, degrees_of_groups = counts
    size = n + 2
    rate = (k + 1) / size
    variance = np.where(n == 0, np.inf, rate * (1 - rate) / size)
    for a, b in combinations(range(len(n)), 2):
        total = n[a] + n[b]
        positive = k[a] + k[b]
        # Shrunk rates of groups decided alike differ by their sizes only.
        is_mixed = (positive > 0) & (positive < total)
        gap = (rate[b] - rate[a]) * is_mixed
        joint_rate = (positive + 2) / (total + 4)
        pooled = joint_rate * (1 - joint_rate) * (1 / size[a] + 1 / size[b])
        separate = variance[a] + variance[b]
        degrees = None
        if degrees_of_groups is not None:
            degrees = _welch(variance[[a, b]], degrees_of_groups[[a, b]])
        yield Pair(a, b, gap, np.maximum(pooled, separate), degrees)


def _welch(variance: Floats, degrees: Floats) -> Floats:
    """Return Welch's degrees of freedom of a difference; 1 where a group has no rows.

    B. L. Welch (1947), The generalization of Student's problem when several different
    population variances are involved. Biometrika 34, 28-35.
    """
    has_rows = np.isfinite(variance).all(axis=0)
    finite = np.where(has_rows, variance, 1.0)
    of_pair = finite.sum(axis=0) ** 2 / (finite**2 / degrees).sum(axis=0)
    welch: Floats = np.where(has_rows, of_pair, 1.0)
    return welch


def studentised(counts: Counts) -> Floats:
    """Return the largest studentised gap between two groups, z."""
    squared = np.zeros(counts.n.shape[1:], counts.n.dtype)
    for pair in pairs(counts):
        np.maximum(squared, pair.squares, out=squared)
    return np.sqrt(squared)


def pooled_bound(n: Floats, k: Floats, totals: Floats) -> Floats:
    r"""Return a bound on the square of z of two groups, from the counts of one.

    With the totals N and K of both groups, all shrunk (N by 4, K by 2, n by 2, k by 1),
    it is the square of z of the joint rate only:

    .. math:: \frac{(k N - K n)^2}{n (N - n) K (N - K) / N}

    Few operations tell which of many subgroups need the exact one.
    """
    size = n + 2
    total = totals[0] + 4
    positive = totals[1] + 2
    # In place: arrays of (subgroups, permutations) are large, and memory is slow.
    squared = (k + 1) * total
    squared -= positive * size
    squared *= squared
    size *= total - size
    size *= positive * (total - positive) / total
    squared /= size
    return squared


def counted(sums: Sequence[Floats], worth: float | None) -> Counts:
    """Return rows and positive rows, with weights those of independent rows.

    ``sums``, each (2, ...), are over all rows and over those that are positive: of
    `SearchRows.marks`. ``worth`` is that of `SearchRows`.
    """
    n_rows, n_positive = sums[0]
    if len(sums) == 1:
        return Counts(n_rows, n_positive)
    # Sums of w, of w v, of w^2 and of w^2 v; of w^2 v^2 too where values are numbers.
    mass, positive_mass = sums[1]
    squares, positive_squares = sums[2]
    value_squares = positive_squares if worth is None else sums[3][1]
    rate = np.clip(counting.divide(positive_mass, mass), 0, 1)
    # The sum of w^2 (v - p)^2, multiplied out.
    residual = value_squares - 2 * rate * positive_squares + rate**2 * squares
    kish = np.nan_to_num(counting.divide(mass**2, squares))
    row_worth = worth or 1.0
    most = np.minimum(kish * row_worth, n_rows * row_worth)
    # Without a spread, which would make n infinite, Kish's number counts.
    has_spread = residual > 1e-6 * squares
    by_spread = counting.divide(
        rate * (1 - rate) * mass**2, np.where(has_spread, residual, 1)
    )
    n = np.where(has_spread, np.minimum(by_spread, most), most)
    # The spread of fewer rows is not known.
    n = np.where(kish >= FEWEST, np.nan_to_num(n), 0.0)
    k = np.nan_to_num(rate) * n
    return Counts(n, k, degrees=np.maximum(kish - 1, 1.0))


def certain_gap(counts: Counts, critical: float) -> Floats:
    """Return the largest gap between two groups less the reach of its interval."""
    best = np.full(counts.n.shape[1:], -np.inf)
    for pair in pairs(counts):
        np.maximum(best, np.abs(pair.gap) - pair.reach(critical), out=best)
    return best


def widest_pair(counts: Counts) -> tuple[int, int]:
    """Return the lower and the higher group of the largest studentised gap."""
    widest = max(pairs(counts), key=lambda pair: float(pair.squares))
    if widest.gap >= 0:
        return widest.a, widest.b
    return widest.b, widest.a


def gap_between(counts: Counts, low: int, high: int) -> Pair:
    """Return the gap of shrunk rates, ``high`` minus ``low``."""
    (pair,) = pairs(counts.of_groups([low, high]))
    return pair
