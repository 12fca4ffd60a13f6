"""Intervals of a proportion, of a difference, and of the largest absolute gap."""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._arrays import FloatArray
from fairdash._lazy import special
from fairdash.metrics.group.counting import divide

Bounds = tuple[FloatArray, FloatArray]
Ends = Callable[[FloatArray], Bounds]
_SYMMETRIC = 1e-9  # skewness that is rounding


class Interval(NamedTuple):
    """Values with the ends of their intervals.

    A value without ends is of too few rows to say how sure it is.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray

    def take(self, index: Any) -> "Interval":
        """Return the intervals at an index of the last axis."""
        return Interval(
            self.value[..., index], self.low[..., index], self.high[..., index]
        )

    def take_along(self, index: NDArray[np.intp]) -> "Interval":
        """Return one interval of each row, at an index of the last axis each."""
        return Interval(*(_along(part, index) for part in self))


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
    value: FloatArray,
    ends: Ends,
    *,
    confidence: float,
    axes: int = 1,
    k: int = 1,
    most: float = 1.0,
    correlation: FloatArray | None = None,
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
    k : int, default=1
        With ``axes=2`` the interval is of the mean of the largest differences of the k
        subgroups where these are largest: the means of the k largest ends. NaN of fewer
        subgroups.
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
    pair_axes = tuple(range(-axes, 0))
    defined = ~np.isnan(value[..., first] - value[..., second])
    comparisons = np.maximum(defined.sum(axis=pair_axes, keepdims=True), 1)
    pair_correlation: FloatArray | float = 0.0
    if correlation is not None:
        pair_correlation = correlation[..., first, second]

    def differences(z: FloatArray) -> Bounds:
        cells = Interval(value, *ends(z))
        return difference_of(cells.take(first), cells.take(second), pair_correlation)

    lower, _ = folded(*differences(normal_quantile(1 - (1 - confidence) / comparisons)))
    _, upper = folded(*differences(normal_quantile(confidence)))
    upper = np.minimum(upper, most)
    if k > 1:
        return _mean_of_largest(lower, defined, k), _mean_of_largest(upper, defined, k)
    return (
        _largest(lower, defined, pair_axes),
        _largest(upper, defined, pair_axes),
    )


def difference_of(
    left: Interval, right: Interval, correlation: FloatArray | float = 0.0
) -> Bounds:
    """Return the ends of the difference of two estimates, by default independent."""

    def reach(a: FloatArray, b: FloatArray) -> FloatArray:
        if isinstance(correlation, float) and not correlation:
            return np.hypot(a, b)
        # Rounding may leave a square below 0 where both estimates move as one.
        squared: FloatArray = np.maximum(a**2 + b**2 - 2 * correlation * a * b, 0)
        return np.sqrt(squared)

    difference = left.value - right.value
    down = reach(left.value - left.low, right.high - right.value)
    up = reach(left.high - left.value, right.value - right.low)
    return difference - down, difference + up


def folded(low: ArrayLike, high: ArrayLike) -> Bounds:
    """Return the ends of the size of a difference: its own ends, folded at 0.

    The nearer end of an interval on one side of 0 is the lower end; one that reaches 0
    starts there.
    """
    nearer = np.maximum(low, np.negative(high))
    return np.maximum(nearer, 0.0), np.maximum(np.negative(low), high)


def for_all_pairs(
    confidence: float, n_groups: int, *, held: bool = False, times: int = 1
) -> float:
    """Return at which confidence each pair's interval holds, so that all do at once.

    Bonferroni over the pairs of groups, or with one ``held`` over the others, in
    ``times`` places: whichever pair is named for its values, its interval covers its
    own gap. Of two groups in one place it is ``confidence``.
    """
    n_pairs = n_groups * (n_groups - 1) // 2
    if held:
        n_pairs = n_groups - 1
    return 1 - (1 - confidence) / max(n_pairs * times, 1)


def ratio_of(
    left: Interval, right: Interval, correlation: FloatArray | float = 0.0
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

    def parabola(value: FloatArray, end: FloatArray) -> FloatArray:
        return end * (2 * value - end)

    def root(a: FloatArray, b: FloatArray, shift: FloatArray) -> FloatArray:
        centre = product - correlation * shift
        return centre + np.sqrt(np.maximum(centre**2 - a * b, 0))

    left_low = parabola(left.value, left.low)
    left_high = parabola(left.value, left.high)
    right_low = parabola(right.value, right.low)
    right_high = parabola(right.value, right.high)
    with np.errstate(divide="ignore", invalid="ignore"):
        # (p - s) / b is a / (p + s) where s^2 = p^2 - a b: nothing cancels.
        low = np.where(
            left.value == 0, 0.0, left_low / root(left_low, right_high, down)
        )
        high = np.where(
            right.low > 0, root(left_high, right_low, up) / right_low, np.inf
        )
    undefined = ~(right.value > 0) | np.isnan(left.value)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def smallest_ratio(
    value: FloatArray,
    ends: Ends,
    *,
    confidence: float,
    correlation: FloatArray | None = None,
) -> Interval:
    """Return the smallest over the largest value of the last axis, with its interval.

    Values must not be negative; NaN is no value. The quantile is Bonferroni's over the
    pairs, since the pair was chosen by its values.
    """
    pair_confidence = for_all_pairs(confidence, value.shape[-1])
    cells = Interval(value, *ends(normal_quantile(pair_confidence)))
    absent = np.isnan(value)
    # Sorted by value, then by lower end: where all are equal the pair is still of two
    # groups.
    ascending = np.lexsort((cells.low, np.where(absent, np.inf, value)), axis=-1)
    smallest = ascending[..., 0]
    ascending = np.lexsort((cells.low, np.where(absent, -np.inf, value)), axis=-1)
    largest = ascending[..., -1]
    smaller = cells.take_along(smallest)
    larger = cells.take_along(largest)
    pair_correlation: FloatArray | float = 0.0
    if correlation is not None:
        row = smallest[..., None, None]
        correlation_of_smallest = np.take_along_axis(correlation, row, -2)[..., 0, :]
        pair_correlation = _along(correlation_of_smallest, largest)
    low, high = ratio_of(smaller, larger, pair_correlation)
    high = np.minimum(high, 1)
    ratio = divide(smaller.value, larger.value)
    is_single = smallest == largest  # the only group with a value
    return Interval(
        np.where(is_single, np.nan, ratio),
        np.where(is_single, np.nan, low),
        np.where(is_single, np.nan, high),
    )


def normal_quantile(confidence: ArrayLike) -> FloatArray:
    """Return the two-sided quantile of the normal distribution, 1.96 at .95."""
    return np.asarray(special.ndtri((1 + np.asarray(confidence)) / 2))


def wilson_ends(rate: FloatArray, n: FloatArray, z: FloatArray) -> Bounds:
    """Return Wilson's interval of rates of ``n`` rows at normal quantiles ``z``."""
    shrunk = z**2 / np.where(n == 0, np.nan, n)
    centre = (rate + shrunk / 2) / (1 + shrunk)
    half = np.sqrt(shrunk * rate * (1 - rate) + shrunk**2 / 4) / (1 + shrunk)
    # At a rate of 0 or 1 the end is exactly 0 or 1, which rounding may miss.
    low = np.where(rate == 0, 0.0, centre - half)
    high = np.where(rate == 1, 1, centre + half)
    return low, high


def untwisted(z: FloatArray, skewness: FloatArray) -> FloatArray:
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
    divisor = np.where(symmetric, 1.0, skewness)
    # g is a cube of a line in t but for a constant: its inverse is a cube root.
    quantile = 3 / divisor * (np.cbrt(1 + divisor * (z - divisor / 6)) - 1)
    return np.where(symmetric, z, quantile)


def _along(values: FloatArray, index: NDArray[np.intp]) -> FloatArray:
    """Return one value of each row of the last axis."""
    return np.take_along_axis(values, index[..., None], -1)[..., 0]


def _largest(
    ends: FloatArray, defined: NDArray[np.bool_], axes: tuple[int, ...]
) -> FloatArray:
    """Return the largest end of defined pairs, NaN where there is none."""
    largest = np.where(defined, ends, -np.inf).max(axis=axes, initial=-np.inf)
    return np.where(np.isneginf(largest), np.nan, largest)


def _mean_of_largest(
    ends: FloatArray, defined: NDArray[np.bool_], k: int
) -> FloatArray:
    """Return the mean of the k largest ends of the last axis but one."""
    by_subgroup = _largest(ends, defined, (-1,))
    sorted_ends = np.sort(np.where(np.isnan(by_subgroup), -np.inf, by_subgroup))
    if sorted_ends.shape[-1] < k:
        return np.full(sorted_ends.shape[:-1], np.nan)
    mean = sorted_ends[..., -k:].mean(axis=-1)
    return np.where(np.isneginf(mean), np.nan, mean)
