"""The common positive rate to aim for: the most accurate, or without outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from fairdash.postprocessing.inputs import Array
from fairdash.postprocessing.kernels import SortedScores

_POINTS = 2048  # rows that give the bends looked at first
_FINER = 32  # times as close are those of the next round
_SLACK = 1e-9  # more than the rounding of a bound, as a share of the weights


class ByOutcome(NamedTuple):
    """Scores of one group, those of either outcome sorted on their own."""

    negative: SortedScores
    positive: SortedScores

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return self.negative.total + self.positive.total

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.negative.scores) + len(self.positive.scores)


@dataclass(frozen=True, eq=False)
class _Curve:
    """Rate and gain of one group at some starts of the ramp, in order of rate.

    The gain is the sum of w (2y - 1) h. Between neighbours it moves by no more than
    the sum of w h does, on which the search rests.
    """

    group: ByOutcome
    gamma: float
    starts: Array
    rate: Array
    gain: Array

    @classmethod
    def at(cls, group: ByOutcome, gamma: float, starts: Array) -> "_Curve":
        falling = -np.unique(-starts)
        chosen, others = (
            side.sum_h(falling, gamma) for side in (group.positive, group.negative)
        )
        rate = np.maximum.accumulate((chosen + others) / group.total)
        return cls(group, gamma, falling, rate, chosen - others)

    def bound(self, rates: Array, side: int) -> Array:
        """Return what the gain is at least (-1) or at most (1) at other rates.

        Between two known points it leaves the first and reaches the second as steeply
        as the weight of the group allows.
        """
        after = np.clip(np.searchsorted(self.rate, rates), 1, len(self.rate) - 1)
        steep = side * self.group.total
        ends = (
            self.gain[after - 1] + steep * (rates - self.rate[after - 1]),
            self.gain[after] + steep * (self.rate[after] - rates),
        )
        bound: Array = np.minimum(*ends) if side > 0 else np.maximum(*ends)
        return bound

    def between(self, low: Array, high: Array) -> list[tuple[Array, float]]:
        """Return slices of scores, with a shift, at which it bends within spans."""
        place = np.searchsorted(self.rate, (low + high) / 2)
        spans = np.unique(np.clip(place, 1, len(self.rate) - 1))
        first = np.flatnonzero(np.diff(spans, prepend=-1) > 1)
        last = np.append(first[1:], len(spans)) - 1
        slices = []
        for a, b in zip(spans[first], spans[last], strict=True):
            for shift in (0.0, self.gamma):
                ends = self.starts[[b, a - 1]] + shift
                for side in self.group:
                    begin, end = np.searchsorted(side.scores, ends)
                    slices.append((side.scores[begin:end], shift))
        return slices


def most_accurate_rate(groups: Sequence[ByOutcome], gamma: float) -> float:
    r"""Rate with the highest expected accuracy on the fitting sample, exactly.

    With demographic parity, the expected accuracy
    :math:`\sum_i w_i (2 y_i - 1) h_i` is piecewise linear in the rate, so its global
    maximum lies at a bend: a :math:`\rho` at which the ramp of some group starts or
    ends at one of its scores. No slope exceeds the sum of the weights, so bends between
    two known points that cannot reach the best known one are never looked at.

    Of several the lowest is returned.
    """
    curves = [_Curve.at(group, gamma, _ends(group, gamma)) for group in groups]
    low, high = np.zeros(1), np.ones(1)
    step = max(1, round(sum(group.n_rows for group in groups) / _POINTS))
    while True:
        for k, curve in enumerate(curves):
            bends = [v[::step] - shift for v, shift in curve.between(low, high)]
            starts = np.concatenate([curve.starts, *bends])
            curves[k] = _Curve.at(curve.group, gamma, starts)
        low, high = _promising(curves)
        if step == 1:
            break
        step = max(1, step // _FINER)
    rates = np.concatenate([low, high, *(curve.rate for curve in curves)])
    rates.sort()
    place = np.searchsorted(low, rates, side="right") - 1
    rates = rates[(place >= 0) & (rates <= high[place])]
    gain = np.zeros(len(rates))
    for curve in curves:  # one by one: of many groups all at once fill the memory
        gain += np.interp(rates, curve.rate, curve.gain)
    return float(rates[np.argmax(gain)])


def _ends(group: ByOutcome, gamma: float) -> Array:
    """Return the starts at which nobody and everybody is decided positive."""
    values = [side.scores[[0, -1]] for side in group if len(side.scores)]
    return np.array([np.max(values), np.min(values) - gamma])


def _promising(curves: Sequence[_Curve]) -> tuple[Array, Array]:
    """Return the spans of rate that may hold the maximum, between known points."""
    total = sum(curve.group.total for curve in curves)
    rates = np.unique(np.concatenate([curve.rate for curve in curves]))
    least, most = (
        sum((curve.bound(rates, side) for curve in curves), np.zeros(len(rates)))
        for side in (-1, 1)
    )
    roof = (most[1:] + most[:-1] + total * np.diff(rates)) / 2
    promising = roof >= least.max() - _SLACK * total
    return rates[:-1][promising], rates[1:][promising]


def by_outcome(
    margins: Array,
    codes: NDArray[np.int64],
    y: NDArray[np.int8],
    weight: Array | None = None,
    *,
    n_groups: int,
) -> list[ByOutcome]:
    """Return the sorted scores of every group, 0 to K - 1."""
    cells = 2 * codes + y
    order = np.argsort(cells, kind="stable")
    ends = np.searchsorted(cells[order], np.arange(1, 2 * n_groups))
    sides = []
    for rows in np.split(order, ends):
        own = None if weight is None else weight[rows]
        sides.append(SortedScores(margins[rows], own))
    return [ByOutcome(*pair) for pair in zip(sides[::2], sides[1::2], strict=True)]


def balanced_rate(groups: Sequence[SortedScores], gamma: float) -> float:
    r"""Rate at which corrections of the groups cancel; needs no outcome.

    The root of :math:`\sum_k W_k (t_k(\rho) + \gamma/2)` with group weights
    :math:`W_k`: the middles of the ramps are 0 on average.
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
