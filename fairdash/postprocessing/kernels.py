"""The exact kernels of the ramp: where it starts, for a rate or for no covariance.

Scores are sorted once and summed up, so that every question about a ramp is cheap.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fairdash._arrays import FloatArray
from fairdash._validation import check_non_negative, check_positive
from fairdash.postprocessing import inputs

# Rounding of a weighted mean of numbers in [0, 1]: a rate that is nearer than this to
# its target is on it.
_NOISE = 1e-13
_HALVINGS = 200  # far more than a double has bits


def ramp_probability(margins: FloatArray, start: Any, gamma: float) -> FloatArray:
    r"""Return :math:`h(f) = \mathrm{clip}((f - t)/\gamma, 0, 1)`, the ramp itself.

    ``start`` is t of every row, (n,), or of all.
    """
    return np.clip((margins - start) / gamma, 0, 1)


class SortedScores:
    r"""Scores of one group, sorted once.

    The ramp is :math:`h(f) = \mathrm{clip}((f - t)/\gamma, 0, 1)`; its weighted mean
    :math:`M(t)` falls from 1 to 0 and is linear between the breaks :math:`f_i` and
    :math:`f_i - \gamma`.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Margins in [-1, 1]; others are accepted as long as they are finite.
    weight : array-like of shape (n,), optional
        Rows of weight 0 are excluded.

    Attributes
    ----------
    mass, moment : ndarray of shape (n + 1,)
        Prefix sums of the weights and of weight times score, in rising order of score.
    """

    def __init__(self, scores: ArrayLike, weight: ArrayLike | None = None) -> None:
        values = np.asarray(scores, dtype=np.float64)
        self.scores: FloatArray
        self.weights: FloatArray
        self.mass: FloatArray
        if weight is None:
            self.scores = np.sort(values)
            self.weights = np.ones(len(values))
            self.mass = np.arange(len(values) + 1, dtype=np.float64)
            weighted = self.scores
        else:
            weights = np.asarray(weight, dtype=np.float64)
            heavy = np.flatnonzero(weights > 0)
            order = heavy[np.argsort(values[heavy], kind="stable")]
            self.scores = values[order]
            self.weights = weights[order]
            self.mass = np.concatenate([[0.0], np.cumsum(self.weights)])
            weighted = self.scores * self.weights
        self.moment: FloatArray = np.concatenate([[0.0], np.cumsum(weighted)])

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.mass[-1])

    def below(self, start: Any, side: Literal["left", "right"] = "left") -> Any:
        """Return the weight of scores below ``start`` ("right": or at it)."""
        return self.mass[np.searchsorted(self.scores, start, side)]

    def mean_h(self, t: Any, gamma: float) -> Any:
        """Return the mean of h with the ramp starting at ``t`` (number or array)."""
        return self.sum_h(t, gamma) / self.total

    def sum_h(self, t: Any, gamma: float) -> Any:
        """Return the sum of w h with the ramp starting at ``t`` (number or array)."""
        low, high = np.searchsorted(self.scores, [t, np.add(t, gamma)])
        above = self.total - self.mass[high]
        # On the ramp the sum of w (f - t) / gamma is a difference of prefix sums.
        moment = self.moment[high] - self.moment[low]
        inside = (moment - t * (self.mass[high] - self.mass[low])) / gamma
        return above + inside

    def threshold(
        self, gamma: float, rate: float, tolerance: float = 0.0, shift: float = 0.0
    ) -> float:
        """Return the start of the ramp, see :func:`ramp_threshold`.

        With ``shift`` the start nearest ``-shift``, as if it were added to all scores.
        """
        at_rest = float(self.mean_h(-shift, gamma))
        low = max(rate - tolerance / 2, 0.0)
        high = min(rate + tolerance / 2, 1.0)
        if low - _NOISE <= at_rest <= high + _NOISE:
            return -shift
        # Outside the band the nearer end of it is the optimum.
        target = high if at_rest > high else low
        farthest = float(np.abs(self.scores[[0, -1]]).max()) + gamma + shift
        move = reach(
            lambda x: float(self.mean_h(x - shift, gamma)),
            target,
            bound=farthest,
            breaks=lambda a, b: self.has_breaks(a - shift, b - shift, gamma),
        )
        return self._polish(move - shift, gamma, target)

    def has_breaks(self, low: float, high: float, gamma: float) -> bool:
        """Return whether the mean of h bends strictly between two starts."""
        # It bends where either end of the ramp passes a score.
        starts = self._has_score(low, high)
        return starts or self._has_score(low + gamma, high + gamma)

    def _has_score(self, low: float, high: float) -> bool:
        """Return whether a score lies strictly between two numbers."""
        first = np.searchsorted(self.scores, low, side="right")
        last = np.searchsorted(self.scores, high, side="left")
        return bool(last > first)

    def _polish(self, t: float, gamma: float, target: float) -> float:
        """Take Newton's last step on sums that do not cancel.

        Differences of prefix sums lose digits where a ramp holds few of many rows.
        """
        decided, inside = self._decided(t, gamma)
        if inside <= 0:  # the rate does not move with the start
            return t
        return float(t + (decided - target * self.total) * gamma / inside)

    def rate(self, t: float, gamma: float) -> float:
        """Return the mean of h at one start, from sums that do not cancel."""
        decided, _ = self._decided(t, gamma)
        return decided / self.total

    def _decided(self, t: float, gamma: float) -> tuple[float, float]:
        """Return the sum of w h, added up anew, and the weight on the ramp."""
        low, high = np.searchsorted(self.scores, [t, t + gamma])
        ramp = (self.scores[low:high] - t) @ self.weights[low:high] / gamma
        decided = self.total - self.mass[high] + ramp
        return float(decided), float(self.mass[high] - self.mass[low])


def reach(
    function: Callable[[float], float],
    target: float,
    *,
    bound: float,
    breaks: Callable[[float, float], bool],
) -> float:
    """Return the point nearest 0 where a non-increasing function equals ``target``.

    Halves an interval from 0 to ``bound`` (or its negative) until the function is
    linear on it, then solves the line.

    The function is piecewise linear and takes ``target`` between ``-bound`` and
    ``bound``; ``breaks(low, high)`` tells whether it may bend strictly between.
    """
    # Nearest 0: so the interval begins there, and its near end stays on the side of 0.
    side = 1.0 if function(0.0) > target else -1.0
    near = 0.0
    far = side * bound
    for _ in range(_HALVINGS):
        if not breaks(min(near, far), max(near, far)):
            break
        middle = (near + far) / 2
        if middle in (near, far):  # neighbouring doubles
            break
        if side * (function(middle) - target) > _NOISE:
            near = middle
        else:
            far = middle
    at_near = function(near)
    at_far = function(far)
    drop = at_near - at_far
    if abs(drop) <= _NOISE:
        return far
    share = (at_near - target) / drop
    return near + min(max(share, 0.0), 1.0) * (far - near)


def ramp_threshold(
    scores: ArrayLike,
    gamma: float,
    rate: float,
    tolerance: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the start of the ramp of one group, exactly.

    The probability of a positive decision is
    :math:`h(f) = \mathrm{clip}((f - t)/\gamma, 0, 1)`, which minimises

    .. math::

        \sum_i w_i \left(\tfrac{\gamma}{2} h_i^2 - f_i h_i\right)
        \quad\text{subject to}\quad
        |\bar h - \rho| \le \varepsilon / 2, \quad 0 \le h \le 1 .

    Parameters
    ----------
    scores : array-like of shape (n,)
        Margins f in [-1, 1], 2p - 1 of a probability.
    gamma : float
        Width of the ramp, above 0.
    rate : float
        Positive rate rho asked for, in [0, 1].
    tolerance : float, default=0.0
        epsilon: rates of groups that share ``rate`` differ by at most this much.

    Returns
    -------
    float
        t; of several that give the same h the one nearest 0.

    Raises
    ------
    ValueError
        For scores outside [-1, 1] or not finite, and for parameters out of range.

    References
    ----------
    I. Alabdulmohsin, M. Lucic (2021), A near-optimal algorithm for debiasing trained
    machine learning models. NeurIPS.
    """
    margins = inputs.as_margins(scores)
    check_positive("gamma", gamma)
    check_non_negative("tolerance", tolerance)
    inputs.check_rate("rate", rate)
    weight = inputs.as_weights(sample_weight, margins)
    return SortedScores(margins, weight).threshold(gamma, rate, tolerance)


def covariance_threshold(
    scores: ArrayLike,
    in_group: ArrayLike,
    gamma: float,
    tolerance: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the multiplier that bounds a covariance with a group, exactly.

    With :math:`z_i = 1_S(i) - P(S)` and
    :math:`h_i = \mathrm{clip}((f_i - t z_i)/\gamma, 0, 1)`, finds the t nearest 0 with

    .. math:: |\mathrm{Cov}(h, 1_S)| = P(S) (1 - P(S)) \, |\bar h_S - \bar h_{not S}|
              \le \varepsilon .

    Parameters
    ----------
    scores : array-like of shape (n,)
        Margins in [-1, 1] of the rows of one subgroup.
    in_group : array-like of bool, (n,)
        Whether a row belongs to S; both kinds are needed.
    gamma : float
        Width of the ramp, above 0.
    tolerance : float, default=0.0
        epsilon, the largest absolute covariance; 0.25 allows everything.

    Raises
    ------
    ValueError
        If all rows or none belong to S, scores are outside [-1, 1], or parameters out
        of range.

    References
    ----------
    I. Alabdulmohsin, M. Lucic (2021), A near-optimal algorithm for debiasing trained
    machine learning models, appendix E. NeurIPS.
    """
    margins = inputs.as_margins(scores)
    check_positive("gamma", gamma)
    check_non_negative("tolerance", tolerance)
    inside = inputs.binary_labels(in_group, margins) == 1
    weight = inputs.as_weights(sample_weight, margins)
    if weight is None:
        weight = np.ones(len(margins))
    members = SortedScores(margins[inside], weight[inside])
    non_members = SortedScores(margins[~inside], weight[~inside])
    share = members.total / (members.total + non_members.total)
    if not 0 < share < 1:
        raise ValueError(
            "`in_group` must be true for some rows and false for others. A covariance "
            "with a constant is 0 whatever the decisions."
        )
    spread = share * (1 - share)

    # z is 1 - share for members and -share for all others, so t z are the starts of two
    # ramps that move apart as t grows: the covariance never rises.
    def covariance(t: float) -> float:
        member_rate = members.mean_h(t * (1 - share), gamma)
        other_rate = non_members.mean_h(-t * share, gamma)
        return spread * float(member_rate - other_rate)

    def breaks(low: float, high: float) -> bool:
        if members.has_breaks(low * (1 - share), high * (1 - share), gamma):
            return True
        return non_members.has_breaks(-high * share, -low * share, gamma)

    at_zero = covariance(0.0)
    if abs(at_zero) <= tolerance + _NOISE:
        return 0.0
    bound = (2 + gamma) / min(share, 1 - share)
    target = float(np.sign(at_zero)) * tolerance
    return reach(covariance, target, bound=bound, breaks=breaks)
