r"""The studentised gap between groups, and how large it can at most be.

With :math:`k_a` of :math:`n_a` rows of group a positive, the rates are shrunk as by
Agresti and Caffo, :math:`\tilde p_a = (k_a + 1) / (n_a + 2)`, and

.. math::

    z = \max_{a \ne b} \frac{|\tilde p_a - \tilde p_b|}{\sqrt{V_{ab}}} , \quad
    V_{ab} = \max\Big(
        \frac{\tilde p_a (1 - \tilde p_a)}{n_a + 2}
        + \frac{\tilde p_b (1 - \tilde p_b)}{n_b + 2} ,\;
        \bar p (1 - \bar p) \Big(\frac{1}{n_a + 2} + \frac{1}{n_b + 2}\Big)\Big)

with the joint rate :math:`\bar p = (k_a + k_b + 2) / (n_a + n_b + 4)`. The first
variance alone is too small where a rate of few rows is 0 or 1, the second where a group
of very few rows differs from many: with the larger one a subgroup of few rows is no
more often extreme by chance than a large one, so that they compare. Where no row of
the pair is positive, or all are, the difference counts as 0. Beyond the overall
gap, :math:`\tilde p_a` of the rows outside the subgroup is taken off each rate, and its
variance added; a gap that is smaller inside than outside counts as 0.

References
----------
A. Agresti and B. Caffo (2000), Simple and effective confidence intervals for
proportions and differences of proportions. American Statistician 54, 280-288.
"""

from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.floating]


class Pair(NamedTuple):
    """A difference of shrunk rates, b minus a, and its variance."""

    a: int
    b: int
    gap: Float
    variance: Float


def pairs(counts: Float, total: Float | None = None) -> Iterator[Pair]:
    """Yield every pair of groups with its gap and the variance of it.

    ``counts``, (groups, 2, ...), are negative and positive rows. With those of all
    rows, ``total``, the gap outside the subgroup is taken off. The variance is infinite
    where a group has no rows.
    """
    rate, variance, size = _shrunk(counts)
    more = None
    if total is not None:
        rest = total.reshape(*total.shape, *[1] * (counts.ndim - 2)) - counts
        other, more, _ = _shrunk(rest)
    for a, b in combinations(range(len(rate)), 2):
        gap = rate[b] - rate[a]
        # shrunk rates of groups without a positive row, or without another, are apart
        # by nothing but their sizes
        gap *= ((counts[a] + counts[b]) > 0).all(axis=0)
        both = size[a] + size[b]
        joint = rate[a] * size[a]
        joint += rate[b] * size[b]
        joint /= both
        # p (1 - p) (1 / n_a + 1 / n_b)
        joint *= 1 - joint
        joint *= both
        joint /= size[a] * size[b]
        spread = np.maximum(joint, variance[a] + variance[b])
        if more is not None:
            inside = np.sign(gap)
            gap -= other[b] - other[a]
            # a gap that is smaller inside, or turned only by the rest, is none beyond
            gap *= np.sign(gap) == inside
            spread += more[a] + more[b]
        yield Pair(a, b, gap, spread)


def studentised(counts: Float, total: Float | None = None) -> Float:
    """Return the largest studentised gap between two groups, squared."""
    best = np.zeros(counts.shape[2:], counts.dtype)
    for pair in pairs(counts, total):
        z = pair.gap * pair.gap
        z /= pair.variance
        np.maximum(best, z, out=best)
    return best


def widest_pair(
    counts: Float, total: Float | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lower and the higher group of the largest studentised gap."""
    low = np.zeros(counts.shape[2:], np.int64)
    high, best = low.copy(), np.full(low.shape, -1.0)
    for a, b, gap, variance in pairs(counts, total):
        z = gap**2 / variance
        larger, up = z > best, gap >= 0
        low = np.where(larger, np.where(up, a, b), low)
        high = np.where(larger, np.where(up, b, a), high)
        best = np.maximum(best, z)
    return low, high


def gap_between(
    counts: Float,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    total: Float | None = None,
) -> tuple[Float, Float]:
    """Return the gap of shrunk rates, ``high`` minus ``low``, and its variance."""
    found = np.full((2, *counts.shape[2:]), np.nan)
    for a, b, gap, variance in pairs(counts, total):
        for lower, higher, sign in ((a, b, 1.0), (b, a, -1.0)):
            here = (low == lower) & (high == higher)
            found[:, here] = np.stack([sign * gap, variance])[:, here]
    return found[0], found[1]


def certain_gap(counts: Float, critical: float, total: Float | None = None) -> Float:
    """Return the largest lower end of an interval of a gap between two groups.

    The gap less ``critical`` standard errors: above 0 where `studentised` exceeds the
    square of that.
    """
    best = np.full(counts.shape[2:], -np.inf)
    for pair in pairs(counts, total):
        low = np.abs(pair.gap) - critical * np.sqrt(pair.variance)
        np.maximum(best, low, out=best)
    return best


def largest_possible(
    least: Float,
    most: Float,
    critical: float | None = None,
    total: Float | None = None,
) -> Float:
    r"""Return a bound of a score over all counts between two tables.

    The score is `studentised`, or with ``critical`` `certain_gap` where that is above
    0. A shrunk rate rises with positive rows and falls with negative ones, so its ends
    lie at corners. Its variance is :math:`xy / (x + y)^3` with :math:`x = k + 1` and
    :math:`y = n - k + 1`, which rises up to :math:`x = y / 2` and falls from there, in
    either variable, so it is least at a corner too. With the joint rate in the variance
    :math:`z^2` is Pearson's statistic of the table of counts plus one,

    .. math::

        \frac{N (x_b y_a - x_a y_b)^2}{(x_a + y_a)(x_b + y_b)(x_a + x_b)(y_a + y_b)} ,

    whose root rises with :math:`x_b` and :math:`y_a` and falls with the others where
    :math:`x_b y_a > x_a y_b`. As the larger variance counts, each of the two bounds
    holds. Beyond the overall gap the first one alone is used.
    """
    high, low, variance = _corners(least, most)
    if total is not None:
        whole = total.reshape(*total.shape, *[1] * (least.ndim - 2))
        other_high, other_low, spread = _corners(whole - most, whole - least)
        high, low, variance = high - other_low, low - other_high, variance + spread
    few, many = least + 1, most + 1
    best = np.zeros(high.shape[1:])
    for a, b in permutations(range(len(high)), 2):
        gap = np.maximum(high[b] - low[a], 0)
        z2 = gap**2 / (variance[a] + variance[b])
        if total is None:
            corner = many[b, 1], few[b, 0], few[a, 1], many[a, 0]
            z2 = np.minimum(z2, _pearson(*corner))
        if critical is not None:
            # gap - critical * error, with error = gap / z
            gap *= 1 - critical / np.sqrt(np.maximum(z2, critical**2))
        np.maximum(best, z2 if critical is None else gap, out=best)
    return best


def union_may_exceed(
    apart: Float,
    both: Float,
    share: float,
    largest: Float,
    min_size: int | None = None,
) -> NDArray[np.bool_]:
    r"""Return where `studentised` of some union of bins may exceed ``largest``.

    Let X and Y be the positive and the negative rows of a pair of groups in a union of
    bins, u and v what the second group has of them above a share :math:`\pi`,
    N = X + Y and r its share of the union. Pearson's statistic of the union is L where

    .. math::

        L r (1 - r) + N (r - \pi)^2 = \frac{u^2}{X} + \frac{v^2}{Y} \le S , \quad
        S = \sum_\text{bins} \Big(\frac{u_j^2}{X_j} + \frac{v_j^2}{Y_j}\Big) ,

    by Cauchy and Schwarz. So S is at least the minimum of the left side over r, which
    rises with N. The rows that `studentised` adds are a bin of one of each kind.

    Parameters
    ----------
    apart : array of shape (n, 2, bins, times)
        u and v.
    both : array of shape (n, 2, bins, times or 1)
        X and Y.
    largest : array of shape (times,)
    min_size : int, optional
        Fewest rows of a union that counts; without, those of the smallest bin.
    """
    squares = apart * apart
    weights = 1 / np.maximum(both, 0.5)
    if both.shape[-1] == 1:
        flat = squares.reshape(len(squares), -1, squares.shape[-1])
        s = np.matmul(weights.reshape(len(flat), 1, -1), flat)[:, 0]
    else:
        squares *= weights
        s = squares.sum((1, 2))
    n = 4.0 + (both.sum(1).min(1) if min_size is None else min_size)
    r = (2 * n * share - largest) / (2 * np.maximum(n - largest, 1e-9))
    needed = np.minimum.reduce(
        [
            largest * r * (1 - r) + n * (r - share) ** 2
            for r in (0.0, 1.0, np.clip(r, 0, 1))
        ]
    )
    # a thousandth more than rounding takes
    may: NDArray[np.bool_] = s + (1 - 2 * share) ** 2 > needed * 0.999
    return may


def union_exceeds(apart: Float, both: Float, share: float, largest: Float) -> Any:
    r"""Return where `studentised` may exceed ``largest``, of unions themselves.

    By Pearson's statistic, which is no less: in the terms of `union_may_exceed`

    .. math:: L = \frac{(u Y - v X)^2 N}{X Y n_a n_b} , \quad n_b = \pi N + u + v .

    Parameters
    ----------
    apart, both : arrays of shape (n, 2, unions)
    largest : array of shape (n,)
    """
    more = 1 - 2 * share
    u, v = apart[:, 0] + more, apart[:, 1] + more
    x, y = both[:, 0] + 2, both[:, 1] + 2
    n = x + y
    second = u + v + share * n
    apart_squared = u * y - v * x
    apart_squared *= apart_squared
    apart_squared *= n
    least = second * (n - second) * x * y
    least *= largest[:, None] * np.float32(0.999)
    return apart_squared > least


def _pearson(xb: Float, yb: Float, xa: Float, ya: Float) -> Float:
    """Return Pearson's statistic of two rows (x, y), 0 where b has the lower share."""
    apart = np.maximum(xb * ya - xa * yb, 0)
    apart *= apart
    apart *= xa + ya + xb + yb
    apart /= (xa + ya) * (xb + yb)
    apart /= (xa + xb) * (ya + yb)
    return apart


def _shrunk(counts: Float) -> tuple[Float, Float, Float]:
    """Return shrunk rates, their variances, and sizes with the two rows added."""
    n = counts[:, 0] + counts[:, 1]
    size = n + 2
    rate = (counts[:, 1] + 1) / size
    variance = rate * (1 - rate)
    variance /= size
    variance[n == 0] = np.inf
    return rate, variance, size


def _corners(least: Float, most: Float) -> tuple[Float, Float, Float]:
    """Return the ends of shrunk rates, and their least variance."""
    few, many = least + 1, most + 1
    high = many[:, 1] / (many[:, 1] + few[:, 0])
    low = few[:, 1] / (few[:, 1] + many[:, 0])
    variance = np.minimum.reduce(
        [
            x[:, 1] * y[:, 0] / (x[:, 1] + y[:, 0]) ** 3
            for x in (few, many)
            for y in (few, many)
        ]
    )
    return high, low, variance


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values; NaN stays and is not counted."""
    adjusted = np.full(len(p), np.nan)
    order = np.argsort(p)[: int((~np.isnan(p)).sum())]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted
