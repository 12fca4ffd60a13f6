"""Intervals of a proportion, of a difference, and of the largest absolute gap."""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._lazy import special
from fairdash.metrics.group.counting import divide

Array = NDArray[np.float64]
Bounds = tuple[Array, Array]
Ends = Callable[[Array], Bounds]
_SYMMETRIC = 1e-9  # skewness that is rounding


class Interval(NamedTuple):
    """Values with the ends of their intervals.

    A value without ends is of too few rows to say how sure it is.
    """

    value: Array
    low: Array
    high: Array


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless ``confidence`` lies strictly between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"`confidence` must lie between 0 and 1, got {confidence!r}.")


def wilson_interval(
    positives: ArrayLike, n: ArrayLike, *, confidence: float = 0.95
) -> Bounds:
    r"""Wilson's score interval of a proportion.

    .. math::

        \frac{\hat p + z^2/2n \pm z \sqrt{\hat p (1 - \hat p)/n + z^2/4n^2}}{1 + z^2/n}

    Returns
    -------
    low, high : float64 arrays; NaN where ``n`` is 0

    References
    ----------
    E. B. Wilson (1927), Probable inference, the law of succession, and statistical
    inference. JASA 22, 209-212.
    """
    check_confidence(confidence)
    rows = np.asarray(n, np.float64)
    rate = divide(np.asarray(positives, np.float64), rows)
    return wilson_ends(rate, rows, normal_quantile(confidence))


def largest_gap(
    value: Array,
    ends: Ends,
    *,
    confidence: float,
    axes: int = 1,
    most: float = 1.0,
    correlation: Array | None = None,
) -> Bounds:
    r"""Interval of the largest absolute difference between values of groups.

    A difference has the interval

    .. math::

        v_1 - v_2 - \sqrt{(v_1 - l_1)^2 + (u_2 - v_2)^2}
        \quad\text{to}\quad
        v_1 - v_2 + \sqrt{(u_1 - v_1)^2 + (v_2 - l_2)^2}

    of the two intervals :math:`(l_i, u_i)`, which is Newcombe's of rates and the usual
    one of means, folded at 0. Of m differences, pairs of groups or with ``axes=2``
    those of all subgroups, the upper end is the largest at ``confidence``, for the true
    maximum is one pair whose own interval reaches it; the lower one is the largest at
    ``1 - (1 - confidence) / m`` (Bonferroni): whichever pair looks worst must not pass
    the true maximum by luck.

    Parameters
    ----------
    value : float64 array of shape (..., groups) or (..., subgroups, groups)
        NaN is excluded from the maximum.
    ends : function from normal quantiles to the two ends of each value
    axes : {1, 2}, default=1
    most : float, default=1.0
        The largest difference there can be.
    correlation : float64 array of shape (..., groups, groups), optional
        Of estimates that share units.

    Returns
    -------
    low, high : float64 arrays of the leading shape; NaN where no pair is defined

    References
    ----------
    G. Y. Zou and A. Donner (2008), Construction of confidence limits about effect
    measures: a general approach. Stat. Med. 27, 1693-1702.
    """
    pairs = itertools.combinations(range(value.shape[-1]), 2)
    first, second = np.array(list(pairs)).T
    over = tuple(range(-axes, 0))
    defined = ~np.isnan(value[..., first] - value[..., second])
    comparisons = np.maximum(defined.sum(axis=over, keepdims=True), 1)

    def differences(z: Array) -> Bounds:
        low, high = ends(z)
        left, right = (
            Interval(value[..., side], low[..., side], high[..., side])
            for side in (first, second)
        )
        return difference_of(left, right, shared)

    shared = 0.0 if correlation is None else correlation[..., first, second]
    low, high = differences(normal_quantile(1 - (1 - confidence) / comparisons))
    lows = np.maximum(np.maximum(low, -high), 0)
    low, high = differences(normal_quantile(confidence))
    highs = np.minimum(np.maximum(-low, high), most)
    return _largest(lows, defined, over), _largest(highs, defined, over)


def difference_of(
    left: Interval, right: Interval, correlation: Array | float = 0.0
) -> Bounds:
    """Return the ends of the difference of two estimates, by default independent."""

    def joint(a: Array, b: Array) -> Array:
        if isinstance(correlation, float) and not correlation:
            return np.hypot(a, b)
        squared: Array = np.maximum(a**2 + b**2 - 2 * correlation * a * b, 0)
        return np.sqrt(squared)

    difference = left.value - right.value
    down = joint(left.value - left.low, right.high - right.value)
    up = joint(left.high - left.value, right.value - right.low)
    return difference - down, difference + up


def for_all_pairs(
    confidence: float, n_groups: int, *, held: bool = False, times: int = 1
) -> float:
    """Return at which confidence each pair's interval holds, so that all do at once.

    Bonferroni over the pairs of groups, or with one ``held`` over the others, in
    ``times`` places: whichever pair is named for its values, its interval covers its
    own gap. Of two groups in one place it is ``confidence``.
    """
    pairs = n_groups - 1 if held else n_groups * (n_groups - 1) // 2
    return 1 - (1 - confidence) / max(pairs * times, 1)


def ratio_of(
    left: Interval, right: Interval, correlation: Array | float = 0.0
) -> Bounds:
    r"""Return the ends of the ratio of two estimates that are not negative.

    With intervals :math:`(l_i, u_i)` of values :math:`v_i` the lower end is

    .. math::

        \frac{v_1 v_2 - \sqrt{v_1^2 v_2^2 - l_1 u_2 (2 v_1 - l_1) (2 v_2 - u_2)}}
        {u_2 (2 v_2 - u_2)} ,

    computed without cancelling, and the upper one likewise with :math:`u_1, l_2` and a
    plus; of correlated estimates :math:`v_1 v_2` is less by r times the distances to
    the two ends. NaN where the second value is 0, infinite at the top where its
    interval reaches 0.

    References
    ----------
    A. Donner and G. Y. Zou (2012), Closed-form confidence intervals for functions of
    the normal mean and standard deviation. Stat. Methods Med. Res. 21, 347-359.
    """
    product = left.value * right.value
    down = (left.value - left.low) * (right.high - right.value)
    up = (left.high - left.value) * (right.value - right.low)

    def parabola(value: Array, end: Array) -> Array:
        return end * (2 * value - end)

    def root(a: Array, b: Array, moved: Array) -> Array:
        middle = product - correlation * moved
        return middle + np.sqrt(np.maximum(middle**2 - a * b, 0))

    low1, high1 = parabola(left.value, left.low), parabola(left.value, left.high)
    low2, high2 = parabola(right.value, right.low), parabola(right.value, right.high)
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(left.value == 0, 0.0, low1 / root(low1, high2, down))
        high = np.where(right.low > 0, root(high1, low2, up) / low2, np.inf)
    undefined = ~(right.value > 0) | np.isnan(left.value)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def smallest_ratio(
    value: Array, ends: Ends, *, confidence: float, correlation: Array | None = None
) -> Interval:
    """Return the smallest over the largest value of the last axis, with its interval.

    Of values that are not negative; NaN is no value. The quantile is Bonferroni's over
    the pairs, since the pair was chosen by its values.
    """
    each = for_all_pairs(confidence, value.shape[-1])
    every = Interval(value, *ends(normal_quantile(each)))
    absent = np.isnan(value)
    # where all are equal both are the first; a pair is of two groups
    least = np.lexsort((every.low, np.where(absent, np.inf, value)), axis=-1)[..., 0]
    most = np.lexsort((every.low, np.where(absent, -np.inf, value)), axis=-1)[..., -1]
    smaller, larger = (
        Interval(*(np.take_along_axis(p, at[..., None], -1)[..., 0] for p in every))
        for at in (least, most)
    )
    shared: Array | float = 0.0
    if correlation is not None:
        rows = np.take_along_axis(correlation, least[..., None, None], -2)[..., 0, :]
        shared = np.take_along_axis(rows, most[..., None], -1)[..., 0]
    low, high = ratio_of(smaller, larger, shared)
    high = np.minimum(high, 1)
    ratio = divide(smaller.value, larger.value)
    alone = least == most  # the only group with a value
    return Interval(*(np.where(alone, np.nan, part) for part in (ratio, low, high)))


def normal_quantile(confidence: ArrayLike) -> Array:
    """Return the two-sided quantile of the normal distribution, 1.96 at .95."""
    return np.asarray(special.ndtri((1 + np.asarray(confidence)) / 2))


def wilson_ends(rate: Array, n: Array, z: Array) -> Bounds:
    """Return Wilson's interval of rates of ``n`` rows at normal quantiles ``z``."""
    shrunk = z**2 / np.where(n == 0, np.nan, n)
    centre = (rate + shrunk / 2) / (1 + shrunk)
    half = np.sqrt(shrunk * rate * (1 - rate) + shrunk**2 / 4) / (1 + shrunk)
    # at a rate of 0 or 1 the end is exactly 0 or 1, which rounding may miss
    return np.where(rate == 0, 0.0, centre - half), np.where(
        rate == 1, 1, centre + half
    )


def untwisted(z: Array, skewness: Array) -> Array:
    r"""Return what a studentised mean of skewed numbers has as its quantile.

    This is the inverse at ``z`` of Hall's transformation

    .. math:: g(t) = t + \lambda t^2 / 3 + \lambda^2 t^3 / 27 + \lambda / 6

    of a studentised mean t of skewness :math:`\lambda`, which is normal to the second
    order.

    References
    ----------
    P. Hall (1992), On the removal of skewness by transformation. Journal of the Royal
    Statistical Society B 54, 221-228.
    """
    symmetric = np.abs(skewness) <= _SYMMETRIC
    by = np.where(symmetric, 1.0, skewness)
    bent = 3 / by * (np.cbrt(1 + by * (z - by / 6)) - 1)
    return np.where(symmetric, z, bent)


def _largest(ends: Array, defined: NDArray[np.bool_], over: tuple[int, ...]) -> Array:
    largest = np.where(defined, ends, -np.inf).max(axis=over, initial=-np.inf)
    return np.where(np.isneginf(largest), np.nan, largest)
