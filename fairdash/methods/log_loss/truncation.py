"""Fair log-loss row by row: predictor P, approximator Q, and their multipliers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from fairdash._arrays import FloatArray
from fairdash._validation import check_whole, value_label

OUTCOMES = {
    "demographic_parity": ((0, 1),),
    "true_positive_rate_parity": ((1,),),
    "equalized_odds": ((1,), (0,)),
}


def bounds(
    labels: FloatArray, share: FloatArray, constraints: str, n_groups: int
) -> FloatArray:
    """Return the share of the rows that each multiplier's constraint compares."""
    shares = [np.isin(labels, outcomes) @ share for outcomes in OUTCOMES[constraints]]
    return np.repeat(np.array(shares), n_groups - 1)


def scales(
    target: NDArray[np.int64],
    codes: NDArray[np.int64],
    share: FloatArray,
    groups: NDArray[Any],
    constraints: str,
) -> FloatArray:
    """Return the factor of each multiplier by (outcome, group, multiplier).

    One over the cell's share, minus in the first group; ValueError if a cell is empty.
    """
    columns = []
    for outcomes in OUTCOMES[constraints]:
        chosen = np.isin(target, outcomes)
        sizes = np.bincount(codes[chosen], share[chosen], len(groups))
        if not sizes.all():
            empty = value_label(groups[sizes.argmin()])
            message = (
                f"Group {empty} has no rows with outcome class {outcomes[0]}, so "
                f"{constraints} compares nothing. Leave the group "
                "out, join it with another, or use demographic_parity. "
                "Rows whose sample_weight is 0 do not count."
            )
            raise ValueError(message)
        for group in range(1, len(groups)):
            column = np.zeros((2, len(groups)))
            column[list(outcomes), group] = 1 / sizes[group]
            column[list(outcomes), 0] = -1 / sizes[0]
            columns.append(column)
    return np.stack(columns, axis=-1)


def fair_log_loss_multiplier(e1: ArrayLike, e0: ArrayLike, n: int) -> float:
    r"""Return the multiplier that makes two cells of scores equal on average.

    The predictor of cell 1 is :math:`\min(\sigma, p_1/\lambda)`, that of cell 0
    :math:`\max(\sigma, 1 - p_0/\lambda)` for :math:`\lambda > 0`, and with the cells
    swapped below 0. With the mean of cell 1 the larger, join
    :math:`v = \sigma_1/n_1` with :math:`(1 - \sigma_0)/n_0` and find the level
    :math:`c` with :math:`\sum_i \min(v_i, c) = 1`; then
    :math:`\lambda = 1/(n c) \leq p_1 + p_0`.

    Parameters
    ----------
    e1, e0 : array-like
        Scores, probabilities in [0, 1], of cell 1 and of cell 0.
    n : int
        Number of all rows, those outside both cells included.

    Returns
    -------
    float
        0 when the means agree: where they agree at the optimum of a fit, the fit's
        own ``multiplier_`` is needed instead.

    Raises
    ------
    ValueError
        When a cell is empty, a score is outside [0, 1], or ``n`` is too small.

    References
    ----------
    Rezaei et al., Fairness for Robust Log Loss Classification (AAAI 2020), Theorem 2
    and Algorithm 1.
    """
    first = _scores("e1", e1)
    second = _scores("e0", e0)
    check_whole("n", n, at_least=len(first) + len(second))
    gap = first.mean() - second.mean()
    if gap == 0:
        return 0.0
    if gap < 0:
        first, second = second, first
    sign = np.sign(gap)
    # Water filling: c is the level up to which every volume is filled.
    volumes = np.concatenate([first / len(first), (1 - second) / len(second)])
    return float(sign / (n * _level(volumes)))


def _level(volumes: NDArray[np.float64]) -> float:
    """Return c with ``minimum(volumes, c).sum() == 1``, from below."""
    # The level only rises, and each pass leaves a volume below it behind: as many
    # passes as there are volumes at most, about three in practice.
    level = 1 / len(volumes)
    while True:
        below = volumes <= level
        if below.all():  # only where rounding hides that the sum exceeds 1
            return level
        higher = (1 - volumes[below].sum()) / np.count_nonzero(~below)
        if higher <= level:
            return level
        level = float(higher)


def _scores(name: str, values: ArrayLike) -> NDArray[np.float64]:
    scores = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if scores.size == 0:
        raise ValueError(f"`{name}` is empty: a group without rows has no average.")
    if scores.ndim > 1 or not np.all((scores >= 0) & (scores <= 1)):
        raise ValueError(f"`{name}` must be one row of probabilities in [0, 1].")
    return scores


def limits(pull: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return the lowest and the highest margin that a pull leaves as it is.

    :math:`\sigma(m) \leq 1/a` is :math:`m \leq -\log(a - 1)` for :math:`a > 1`, and
    :math:`\sigma(m) \geq 1 + 1/a` is :math:`m \geq \log(-a - 1)` for :math:`a < -1`.
    A smaller pull truncates nothing.
    """
    low = np.full_like(pull, -np.inf)
    high = np.full_like(pull, np.inf)
    up = pull > 1
    down = pull < -1
    high[up] = -np.log(pull[up] - 1)
    low[down] = np.log(-pull[down] - 1)
    return low, high


class Played(NamedTuple):
    """Answers of the two players: P(1), Q(1), and where P is truncated."""

    p: FloatArray
    q: FloatArray
    truncated: NDArray[np.bool_]


def play(margin: FloatArray, pull: FloatArray) -> Played:
    r"""Return the equilibrium of every row.

    .. math::

        P = \sigma(m) \text{ truncated}, \qquad Q = P\,(1 + a\,(1 - P))

    with the margin :math:`m = \theta \cdot x` and :math:`a` the multiplier over the
    share of the row's cell, positive where the predictor is pulled down.
    """
    low, high = limits(pull)
    truncated = (margin > high) | (margin < low)
    p = expit(np.clip(margin, low, high))
    # At a truncated P the formula for Q is 1 or 0 exactly; computed, it would round.
    extreme = (pull > 0).astype(np.float64)
    q = np.where(truncated, extreme, p * (1 + pull * (1 - p)))
    return Played(p, np.clip(q, 0, 1), truncated)


@dataclass(frozen=True)
class TruncatedLogistic:
    r"""A linear model whose probabilities are truncated group by group.

    Parameters
    ----------
    coefficients : ndarray of shape (n_features,)
    pulls : ndarray of shape (2, n_groups)
        :math:`a` by outcome and group; both rows are the same under demographic
        parity.
    offsets : ndarray of shape (n_groups,)
        What each group's margin has more than that of its features: 0 unless the group
        is a feature.
    """

    coefficients: FloatArray
    intercept: float
    pulls: FloatArray
    offsets: FloatArray

    def margins(self, X: NDArray[np.floating], group: NDArray[np.int64]) -> FloatArray:
        """Return the margin of every row of known group, before truncation."""
        out: FloatArray = np.asarray(X, np.float64) @ self.coefficients + self.intercept
        return out + self.offsets[group]

    def plain(self, X: NDArray[np.floating], group: NDArray[np.int64]) -> FloatArray:
        """Return the probability of every row of known group, before truncation."""
        return expit(self.margins(X, group))

    def levels(self) -> tuple[FloatArray, FloatArray]:
        """Return floors and caps of probabilities by outcome and group.

        Both are of shape (2, n_groups); 0 and 1 where nothing is truncated.
        """
        low, high = limits(self.pulls)
        return expit(low), expit(high)

    def positive(self, X: NDArray[np.floating], group: NDArray[np.int64]) -> FloatArray:
        r"""Return the predictor's P(1) of rows of known group and unknown outcome.

        .. math::

            Q(1|x,a) &= \frac{Q(1|x,a,0)}{Q(0|x,a,1) + Q(1|x,a,0)} \\
            P(1|x,a) &= P(1|x,a,1)\,Q(1|x,a) + P(1|x,a,0)\,(1 - Q(1|x,a))

        (Eq. 14-16). Where both terms of the fraction are 0, every mixture is an
        equilibrium, and :math:`\sigma(m)` stands for Q.
        """
        margin = self.margins(X, group)
        no = play(margin, self.pulls[0][group])
        yes = play(margin, self.pulls[1][group])
        if np.array_equal(self.pulls[0], self.pulls[1]):  # demographic parity
            return yes.p
        total = (1 - yes.q) + no.q
        q = np.divide(no.q, total, out=expit(margin), where=total > 0)
        return yes.p * q + no.p * (1 - q)

    def arrays(self) -> dict[str, NDArray[np.floating]]:
        """Return the parameters by name, ready for a safetensors file."""
        return {
            "coefficients": self.coefficients,
            "intercept": np.array([self.intercept]),
            "pulls": self.pulls,
            "offsets": self.offsets,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.floating]]) -> Self:
        """Return the model whose ``arrays()`` these are; older ones have no offsets."""
        pulls = np.asarray(arrays["pulls"], np.float64)
        offsets = arrays.get("offsets", np.zeros(pulls.shape[1]))
        return cls(
            np.asarray(arrays["coefficients"], np.float64),
            float(arrays["intercept"][0]),
            pulls,
            np.asarray(offsets, np.float64),
        )
