"""Fairness as a sequence of weighted classification problems, by fairlearn."""

from typing import Any

import numpy as np
from fairlearn.reductions import (
    DemographicParity,
    EqualizedOdds,
    ExponentiatedGradient,
    GridSearch,
    TruePositiveRateParity,
)
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from fairdash._validation import (
    ALL_CONSTRAINTS,
    check_one_of,
    check_positive,
    check_whole,
)
from fairdash.methods._base import NetworkClassifier
from fairdash.methods._baseline import (
    Codes,
    Float,
    LinearBaseline,
    OneByOne,
    old_pandas_calls,
    ridge_logistic,
)
from fairdash.methods._scorers import LinearMixture

MOMENTS = {
    "demographic_parity": DemographicParity,
    "equalized_odds": EqualizedOdds,
    "true_positive_rate_parity": TruePositiveRateParity,
}


class Reductions(OneByOne, NetworkClassifier):
    r"""Exponentiated gradient: a random choice among logistic regressions.

    Parameters
    ----------
    constraints : {"demographic_parity", "equalized_odds", "true_positive_rate_parity"}
    tolerance : float, default=0.01
        Violation that the training rows may show, above 0.
    alpha : float, default=0.005
        Ridge penalty of each logistic regression, above 0.
    max_iter : int, default=50
        Most rounds, each a logistic regression or more.
    random_state : ignored
        Present because all methods of the catalog take one.

    Attributes
    ----------
    n_iter_ : int
        Rounds.
    coefs_ : ndarray of shape (n_models, n_features)
    intercepts_ : ndarray of shape (n_models,)
    weights_ : ndarray of shape (n_models,)
        Probability with which each model decides; ``predict_proba`` is the probability
        of a positive decision.
    network_ : LinearMixture
        The same as plain arrays.

    References
    ----------
    Agarwal et al., A reductions approach to fair classification (ICML 2018),
    Algorithm 1.
    """

    network_: Any

    def __init__(
        self,
        constraints: str = "demographic_parity",
        *,
        tolerance: float = 0.01,
        alpha: float = 0.005,
        max_iter: int = 50,
        random_state: Any = None,
    ) -> None:
        self.constraints = constraints
        self.tolerance = tolerance
        self.alpha = alpha
        self.max_iter = max_iter
        self.random_state = random_state

    def predict_proba(self, X: ArrayLike) -> Float:
        """Return the probability of deciding for each class."""
        check_is_fitted(self, "weights_")
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        positive = self.network_.positive(rows)
        return np.column_stack([1 - positive, positive])

    def decision_function(self, X: ArrayLike) -> Float:
        """Return how far the probability of ``classes_[1]`` is above one half."""
        scores: Float = self.predict_proba(X)[:, 1] - 0.5
        return scores

    def _check_params(self) -> None:
        super()._check_params()
        check_one_of("constraints", self.constraints, ALL_CONSTRAINTS)
        check_positive("tolerance", self.tolerance)
        check_whole("max_iter", self.max_iter, at_least=1)

    def _learn(self, X: Float, target: Codes, codes: Codes) -> Float:
        search = ExponentiatedGradient(
            ridge_logistic(self.alpha, len(X)),
            MOMENTS[self.constraints](difference_bound=self.tolerance),
            eps=self.tolerance,
            max_iter=self.max_iter,
        )
        with old_pandas_calls():
            search.fit(X, target, sensitive_features=codes)
        self.n_iter_ = search.last_iter_ + 1
        used = [i for i in search.weights_.index if search.weights_[i] > 0]
        self.weights_ = search.weights_[used].to_numpy()
        found = [_linear(search.predictors_[i], X.shape[1]) for i in used]
        self.coefs_ = np.stack([coefficients for coefficients, _ in found])
        self.intercepts_ = np.array([intercept for _, intercept in found])
        self.network_ = LinearMixture(self.coefs_, self.intercepts_, self.weights_)
        positive: Float = self.predict_proba(X)[:, 1]
        return positive


class GridReductions(LinearBaseline):
    """Grid search over multipliers: the best of some logistic regressions.

    Parameters
    ----------
    constraints : {"demographic_parity", "equalized_odds", "true_positive_rate_parity"}
    constraint_weight : float, default=0.5
        Share of the violation beside the error, in [0, 1], by which the best is chosen.
    grid_size : int, default=20
        How many are fitted.
    alpha : float, default=0.005
        Ridge penalty of each, above 0.
    random_state : ignored
        Present because all methods of the catalog take one.

    Attributes
    ----------
    As in :class:`fairdash.methods.Logistic`.

    References
    ----------
    Agarwal et al., A reductions approach to fair classification (ICML 2018), section
    3.2.
    """

    def __init__(
        self,
        constraints: str = "demographic_parity",
        *,
        constraint_weight: float = 0.5,
        grid_size: int = 20,
        alpha: float = 0.005,
        random_state: Any = None,
    ) -> None:
        self.constraints = constraints
        self.constraint_weight = constraint_weight
        self.grid_size = grid_size
        self.alpha = alpha
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_one_of("constraints", self.constraints, ALL_CONSTRAINTS)
        check_whole("grid_size", self.grid_size, at_least=2)
        if not 0 <= self.constraint_weight <= 1:
            message = "`constraint_weight` must be in [0, 1]"
            raise ValueError(f"{message}, got {self.constraint_weight!r}.")

    def _solve(self, X: Float, target: Codes, codes: Codes) -> tuple[Float, float]:
        search = GridSearch(
            ridge_logistic(self.alpha, len(X)),
            MOMENTS[self.constraints](),
            constraint_weight=self.constraint_weight,
            grid_size=self.grid_size,
        )
        with old_pandas_calls():
            search.fit(X, target, sensitive_features=codes)
        return _linear(search.predictors_[search.best_idx_], X.shape[1])


def _linear(predictor: Any, n_features: int) -> tuple[Float, float]:
    """Return the coefficients of a model, which may be a constant decision."""
    if hasattr(predictor, "coef_"):
        return predictor.coef_[0], float(predictor.intercept_[0])
    (decision,) = predictor.predict(np.zeros((1, n_features)))
    return np.zeros(n_features), 2.0 * float(decision) - 1.0
