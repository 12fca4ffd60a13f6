"""The common positive rate to aim for: the most accurate, or without outcomes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from fairdash.postprocessing.inputs import Array
from fairdash.postprocessing.kernels import SortedScores


class ByOutcome(NamedTuple):
    """Scores of one group, those of either outcome sorted on their own."""

    negative: SortedScores
    positive: SortedScores

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return self.negative.total + self.positive.total


def most_accurate_rate(groups: Sequence[ByOutcome], gamma: float) -> float:
    r"""Rate with the highest expected accuracy on the fitting sample, exactly.

    With demographic parity, the expected accuracy
    :math:`\sum_i w_i (2 y_i - 1) h_i` is piecewise linear in the rate, so its global
    maximum lies at a bend: a :math:`\rho` at which the ramp of some group starts or
    ends at one of its scores. Of several the lowest is returned.
    """
    curves = [_rate_and_gain(group, gamma) for group in groups]
    rates = np.unique(np.concatenate([rate for rate, _ in curves]))
    gain = np.zeros(len(rates))
    for curve in curves:  # one by one: of many groups all at once fill the memory
        gain += np.interp(rates, *curve)
    return float(rates[np.argmax(gain)])


def _rate_and_gain(group: ByOutcome, gamma: float) -> tuple[Array, Array]:
    """Return rate and sum of w (2y - 1) h at all bends of a group, by rising rate."""
    scores = np.concatenate([side.scores for side in group])
    starts = -np.unique(-np.concatenate([scores, scores - gamma]))
    positive, negative = (
        side.sum_h(starts, gamma) for side in (group.positive, group.negative)
    )
    rate = np.maximum.accumulate((positive + negative) / group.total)
    return rate, positive - negative


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
