"""Which common positive rate to aim for."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from fairdash.postprocessing._sorted import Array, SortedScores


def balanced_rate(groups: Sequence[SortedScores], gamma: float) -> float:
    r"""Rate at which corrections of the groups cancel; needs no outcome.

    The root of :math:`\sum_k W_k (t_k(\rho) + \gamma/2)` with group weights
    :math:`W_k`: the middles of the ramps are 0 on average.

    Parameters
    ----------
    groups : sequence of SortedScores
    gamma : float

    Returns
    -------
    float in [0, 1]
    """

    def balance(rate: float) -> float:
        return sum(
            group.total * (group.threshold(gamma, rate) + gamma / 2) for group in groups
        )

    # thresholds fall as the rate grows, so the balance does
    if balance(0.0) <= 0:
        return 0.0
    if balance(1.0) >= 0:
        return 1.0
    return float(brentq(balance, 0.0, 1.0, xtol=1e-13))


def most_accurate_rate(
    margins: Array,
    codes: NDArray[np.int64],
    y: NDArray[np.int8],
    weight: Array | None,
    gamma: float,
) -> float:
    r"""Rate with the highest expected accuracy on the fitting sample, exactly.

    With parity, the expected accuracy :math:`\sum_i w_i (2 y_i - 1) h_i` is piecewise
    linear in the rate, so its global maximum lies at a bend: a :math:`\rho` at which
    the ramp of some group starts or ends at one of its scores.

    Parameters
    ----------
    margins : ndarray of shape (n,)
    codes : ndarray of int, (n,)
        Group of every row, 0 to K - 1.
    y : ndarray of 0/1, (n,)
    weight : ndarray of shape (n,) or None
    gamma : float

    Returns
    -------
    float in [0, 1]
        Of several the lowest.
    """
    heavy = np.ones(len(margins)) if weight is None else weight
    curves = [
        _gain_curve(margins[rows], y[rows], heavy[rows], gamma)
        for rows in (np.flatnonzero(codes == k) for k in range(int(codes.max()) + 1))
    ]
    rates = np.concatenate([rate for rate, _ in curves])
    rates.sort()
    total = np.zeros(len(rates))
    for rate, gain in curves:
        total += np.interp(rates, rate, gain)
    return float(rates[np.argmax(total)])


def _gain_curve(
    margins: Array, y: NDArray[np.int8], weight: Array, gamma: float
) -> tuple[Array, Array]:
    """Return rate and sum of w (2y - 1) h of one group at all its bends, rising."""
    order = np.argsort(margins)
    f, w = margins[order], weight[order]
    signed = w * (2.0 * y[order] - 1)
    first_last = np.arange(len(f))
    down = np.searchsorted(f, f - gamma)  # the ramp ends at f
    up = np.searchsorted(f, f + gamma)  # the ramp starts at f
    starts = np.concatenate([f, f - gamma])
    low, high = np.concatenate([first_last, down]), np.concatenate([up, first_last])
    rate = _sums(f, w, starts, low, high, gamma) / w.sum()
    gain = _sums(f, signed, starts, low, high, gamma)
    rising = np.argsort(-starts)
    return np.maximum.accumulate(rate[rising]), gain[rising]


def _sums(
    f: Array,
    w: Array,
    start: Array,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    gamma: float,
) -> Array:
    """Return the sums of w h for ramps from ``start`` that hold rows low to high."""
    mass = np.concatenate([[0.0], np.cumsum(w)])
    moment = np.concatenate([[0.0], np.cumsum(w * f)])
    inside = moment[high] - moment[low] - start * (mass[high] - mass[low])
    sums: Array = mass[-1] - mass[high] + inside / gamma
    return sums
