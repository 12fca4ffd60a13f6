"""The common positive rate to aim for: the most accurate, or without outcomes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from fairdash._arrays import FloatArray
from fairdash.postprocessing.kernels import SortedScores

# Bends of a kind that are looked at first. They bound where the maximum can be, and a
# small part of all bends is left to look at.
_COARSE = 1000
_ROUNDING = 1e-9  # of a gain, as a share of the weights


class ByOutcome(NamedTuple):
    """Scores of one group, those of either outcome sorted on their own."""

    negative: SortedScores
    positive: SortedScores

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return self.negative.total + self.positive.total

    def ends(self, gamma: float) -> tuple[float, float]:
        """Return the starts at which everybody and nobody is decided positive."""
        values = [side.scores[[0, -1]] for side in self if len(side.scores)]
        return float(np.min(values)) - gamma, float(np.max(values))


def most_accurate_rate(groups: Sequence[ByOutcome], gamma: float) -> float:
    r"""Return the rate with the highest expected accuracy on the rows, exactly.

    With demographic parity, the expected accuracy
    :math:`\sum_i w_i (2 y_i - 1) h_i` is piecewise linear in the rate, so its global
    maximum lies at a bend: a :math:`\rho` at which the ramp of some group starts or
    ends at one of its scores. No slope exceeds the sum of the weights, so a few bends
    bound where the maximum can be, and only there all are looked at. Of several the
    lowest is returned.
    """
    coarse = [_Curve.of(group, gamma, *group.ends(gamma), _COARSE) for group in groups]
    low, high = _promising(coarse, [group.total for group in groups])
    curves = [
        _Curve.of(group, gamma, *curve.starts_between(low, high))
        for group, curve in zip(groups, coarse, strict=True)
    ]
    rates = np.unique(np.concatenate([[low, high], *(curve.rate for curve in curves)]))
    rates = rates[(low <= rates) & (rates <= high)]
    return float(rates[np.argmax(_gain(curves, rates))])


class _Curve(NamedTuple):
    """Some starts of a group's ramp, falling, with rate and gain, w (2y - 1) h."""

    starts: FloatArray
    rate: FloatArray
    gain: FloatArray

    @classmethod
    def of(
        cls,
        group: ByOutcome,
        gamma: float,
        low: float,
        high: float,
        most: int | None = None,
    ) -> "_Curve":
        """Return it at bends between two starts, and at these; at about ``most``."""
        bends = [np.array([low, high])]
        for side in group:
            for shift in (0.0, gamma):
                first, last = np.searchsorted(side.scores, [low + shift, high + shift])
                step = 1
                if most is not None:
                    step = max(1, (last - first) // most)
                bends.append(side.scores[first:last:step] - shift)
        starts = -np.unique(-np.concatenate(bends))  # falling, so that rates rise
        positive = group.positive.sum_h(starts, gamma)
        negative = group.negative.sum_h(starts, gamma)
        # Rounding must not make a rate fall: the rates are searched in.
        rate = np.maximum.accumulate((positive + negative) / group.total)
        return cls(starts, rate, positive - negative)

    def starts_between(self, low: float, high: float) -> tuple[float, float]:
        """Return the two starts nearest to rates that lie within, the lower first."""
        first = max(int(np.searchsorted(self.rate, low, "right")) - 1, 0)
        last = int(np.searchsorted(self.rate[:-1], high))
        # Starts fall while rates rise: the last rate has the lower start.
        return float(self.starts[last]), float(self.starts[first])


def _gain(curves: Sequence[_Curve], rates: FloatArray) -> FloatArray:
    gain = np.zeros(len(rates))
    # One by one: the curves of many groups at once would fill the memory.
    for curve in curves:
        gain += np.interp(rates, curve.rate, curve.gain)
    return gain


def _promising(
    curves: Sequence[_Curve], totals: Sequence[float]
) -> tuple[float, float]:
    """Return the two rates between which the largest gain must lie."""
    # Between two of its points, w apart in rate, a group's gain differs from the line
    # through them by at most w / 2 times its weight.
    rates = np.unique(np.concatenate([curve.rate for curve in curves]))
    room = np.full(len(rates) - 1, _ROUNDING * sum(totals))
    for curve, total in zip(curves, totals, strict=True):
        after = np.searchsorted(curve.rate, (rates[1:] + rates[:-1]) / 2)
        # Rounded rates may lie outside the curve's own.
        after = after.clip(1, len(curve.rate) - 1)
        room += (curve.rate[after] - curve.rate[after - 1]) * total / 2
    gain = _gain(curves, rates)
    ends = np.maximum(gain[1:], gain[:-1])
    # Spans whose upper bound is below the best lower bound cannot hold the maximum.
    spans = np.flatnonzero(ends + room >= (ends - room).max())
    return float(rates[spans[0]]), float(rates[spans[-1] + 1])


def by_outcome(
    margins: FloatArray,
    codes: NDArray[np.int64],
    y: NDArray[np.int8],
    weight: FloatArray | None = None,
    *,
    n_groups: int,
) -> list[ByOutcome]:
    """Return the sorted scores of every group, 0 to K - 1."""
    # One sort by group and outcome, then each cell is a slice.
    cells = 2 * codes + y
    order = np.argsort(cells, kind="stable")
    ends = np.searchsorted(cells[order], np.arange(1, 2 * n_groups))
    sides = []
    for rows in np.split(order, ends):
        side_weight = None if weight is None else weight[rows]
        sides.append(SortedScores(margins[rows], side_weight))
    return [ByOutcome(*pair) for pair in zip(sides[::2], sides[1::2], strict=True)]


def balanced_rate(groups: Sequence[SortedScores], gamma: float) -> float:
    r"""Return the rate at which corrections of the groups cancel, without outcomes.

    The root of :math:`\sum_k W_k (t_k(\rho) + \gamma/2)` with group weights
    :math:`W_k`: the middles of the ramps are 0 on average.
    """

    def balance(rate: float) -> float:
        return sum(
            group.total * (group.threshold(gamma, rate) + gamma / 2) for group in groups
        )

    # Starts fall as the rate grows, and with them the balance.
    if balance(0.0) <= 0:
        return 0.0
    if balance(1.0) >= 0:
        return 1.0
    return float(brentq(balance, 0.0, 1.0, xtol=1e-13))
