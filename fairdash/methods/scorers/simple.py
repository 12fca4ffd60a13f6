"""Linear models, lists of rules and constants as plain arrays."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fairdash._arrays import Codes, FloatArray
from fairdash.methods.scorers.base import Stored


@dataclass(frozen=True, eq=False)
class LinearMixture(Stored):
    """A random choice among linear decisions.

    Parameters
    ----------
    coefficients : ndarray of shape (n_models, n_features)
    intercepts : ndarray of shape (n_models,)
    shares : ndarray of shape (n_models,)
        Probability with which each model decides.
    """

    mixture: ClassVar[bool] = True

    coefficients: NDArray[np.floating]
    intercepts: NDArray[np.floating]
    shares: NDArray[np.floating]

    def positive(
        self, X: NDArray[np.floating], group: Codes | None = None
    ) -> FloatArray:
        """Return the probability of a positive decision."""
        decided = X @ self.coefficients.T + self.intercepts > 0
        positive: FloatArray = decided @ np.asarray(self.shares, np.float64)
        return positive.clip(0, 1)


@dataclass(frozen=True, eq=False)
class Linear(Stored):
    """A logistic regression.

    Parameters
    ----------
    coefficients : ndarray of shape (n_features,)
    intercept : ndarray of shape (1,)
    """

    coefficients: FloatArray
    intercept: FloatArray

    def positive(
        self, X: NDArray[np.floating], group: Codes | None = None
    ) -> FloatArray:
        """Return P(1) of every row."""
        margin = np.asarray(X, np.float64) @ self.coefficients + self.intercept
        return expit(margin)


@dataclass(frozen=True, eq=False)
class Constant(Stored):
    """The same probability for every row: ``constant``, of shape (1,)."""

    constant: FloatArray

    def positive(
        self, X: NDArray[np.floating], group: Codes | None = None
    ) -> FloatArray:
        """Return P(1) of every row."""
        return np.full(len(X), float(self.constant[0]))


@dataclass(frozen=True, eq=False)
class RuleList(Stored):
    """Rules in order, the first that applies decides.

    Parameters
    ----------
    features : ndarray of int32 of shape (n_rules,)
    rule_thresholds : ndarray of shape (n_rules,)
    above : ndarray of int8 of shape (n_rules,)
        1: the rule applies above its threshold; 0: at most at it.
    decisions : ndarray of int8 of shape (n_rules + 1,)
        Of each rule, and where none applies.
    """

    features: NDArray[np.int32]
    rule_thresholds: FloatArray
    above: NDArray[np.int8]
    decisions: NDArray[np.int8]

    def positive(
        self, X: NDArray[np.floating], group: Codes | None = None
    ) -> FloatArray:
        """Return the decision, 0 or 1."""
        return self.decisions[self.first(X)].astype(np.float64)

    def first(self, X: NDArray[np.floating]) -> Codes:
        """Return which rule decides each row; where none applies, their number."""
        values = np.asarray(X, np.float64)[:, self.features]
        is_above = values > self.rule_thresholds
        applies = is_above == (self.above == 1)
        # Past the last rule is one that always applies.
        always = np.ones((len(applies), 1), bool)
        return np.hstack([applies, always]).argmax(1)


@dataclass(frozen=True, eq=False)
class Unkept:
    """A fitted classifier that has no form as arrays: only its scores are kept."""

    model: Any

    def positive(self, X: Any, group: Codes | None = None) -> FloatArray:
        """Return P(1) of every row."""
        return np.asarray(self.model.predict_proba(X), np.float64)[:, 1]

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return nothing: a program is never written to a file, nor read from one."""
        return {}
