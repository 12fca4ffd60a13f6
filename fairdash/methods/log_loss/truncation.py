"""The fair log-loss predictor P and approximator Q, row by row, on margins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Float = NDArray[np.float64]


def limits(pull: Float) -> tuple[Float, Float]:
    r"""Return the lowest and the highest margin that a pull leaves as it is.

    :math:`\sigma(m) \leq 1/a` is :math:`m \leq -\log(a - 1)` for :math:`a > 1`, and
    :math:`\sigma(m) \geq 1 + 1/a` is :math:`m \geq \log(-a - 1)` for :math:`a < -1`.
    A smaller pull truncates nothing.
    """
    low, high = np.full_like(pull, -np.inf), np.full_like(pull, np.inf)
    up, down = pull > 1, pull < -1
    high[up] = -np.log(pull[up] - 1)
    low[down] = np.log(-pull[down] - 1)
    return low, high


class Played(NamedTuple):
    """What the two players answer: P(1), Q(1), and where P is truncated."""

    p: Float
    q: Float
    truncated: NDArray[np.bool_]


def play(margin: Float, pull: Float) -> Played:
    r"""Return the equilibrium of every row.

    .. math::

        P = \sigma(m) \text{ truncated}, \qquad Q = P\,(1 + a\,(1 - P))

    Parameters
    ----------
    margin : ndarray
        :math:`m = \theta \cdot x`.
    pull : ndarray, of the same shape
        :math:`a`: multiplier over share of the row's cell, positive where the
        predictor is pulled down.
    """
    low, high = limits(pull)
    truncated = (margin > high) | (margin < low)
    p = expit(np.clip(margin, low, high))
    q = np.where(truncated, (pull > 0).astype(np.float64), p * (1 + pull * (1 - p)))
    return Played(p, np.clip(q, 0, 1), truncated)


class Mixture(NamedTuple):
    """P(1 | x, a) and Q(1 | x, a) of rows whose outcome is not known."""

    p: Float
    q: Float


@dataclass(frozen=True)
class TruncatedLogistic:
    r"""A linear model whose probabilities are truncated group by group.

    Parameters
    ----------
    coefficients : ndarray of shape (n_features,)
    intercept : float
    pulls : ndarray of shape (2, n_groups)
        :math:`a` by outcome and group; both rows are the same under demographic
        parity.
    """

    coefficients: Float
    intercept: float
    pulls: Float

    def margins(self, X: NDArray[np.floating]) -> Float:
        """Return the margin of every row, before truncation."""
        out: Float = np.asarray(X, np.float64) @ self.coefficients + self.intercept
        return out

    def mixture(self, margin: Float, group: NDArray[np.int64]) -> Mixture:
        r"""Return predictor and approximator of rows of known group.

        .. math::

            Q(1|x,a) &= \frac{Q(1|x,a,0)}{Q(0|x,a,1) + Q(1|x,a,0)} \\
            P(1|x,a) &= P(1|x,a,1)\,Q(1|x,a) + P(1|x,a,0)\,(1 - Q(1|x,a))

        (Eq. 14-16). Where both terms of the fraction are 0, every mixture is an
        equilibrium, and :math:`\sigma(m)` stands for Q.

        Parameters
        ----------
        margin : ndarray of shape (n_samples,)
        group : ndarray of shape (n_samples,)
            Index of each row's group.
        """
        if np.array_equal(self.pulls[0], self.pulls[1]):
            alike = play(margin, self.pulls[0][group])
            return Mixture(alike.p, alike.q)
        no, yes = (play(margin, pulls[group]) for pulls in self.pulls)
        total = (1 - yes.q) + no.q
        known = total > 0
        q = np.divide(no.q, total, out=expit(margin), where=known)
        return Mixture(yes.p * q + no.p * (1 - q), q)

    def positive(self, X: NDArray[np.floating], group: NDArray[np.int64]) -> Float:
        """Return the predictor's P(1) of rows of known group."""
        return self.mixture(self.margins(X), group).p

    def given(self, margin: Float, outcome: int, group: int) -> Mixture:
        """Return predictor and approximator of one group, its outcome known."""
        known = play(margin, np.full_like(margin, self.pulls[outcome, group]))
        return Mixture(known.p, known.q)

    def truncation_points(self) -> Float:
        r"""Return :math:`\sigma` at which truncation begins, by outcome and group.

        NaN where nothing is truncated; shape (2, n_groups).
        """
        low, high = limits(self.pulls)
        ends = np.where(
            np.isfinite(low), low, np.where(np.isfinite(high), high, np.nan)
        )
        points: Float = expit(ends)
        return points

    def arrays(self) -> dict[str, NDArray[np.floating]]:
        """Return the parameters by name, ready for a safetensors file."""
        return {
            "coefficients": self.coefficients,
            "intercept": np.array([self.intercept]),
            "pulls": self.pulls,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.floating]]) -> Self:
        """Return the model whose ``arrays()`` these are."""
        return cls(
            np.asarray(arrays["coefficients"], np.float64),
            float(arrays["intercept"][0]),
            np.asarray(arrays["pulls"], np.float64),
        )
