"""Logistic regression under a fairness constraint, solved exactly."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from fairdash._validation import (
    ALL_CONSTRAINTS,
    check_one_of,
    check_positive,
    check_whole,
    encode_binary_target,
    encode_groups,
)
from fairdash.methods._asked import Asked
from fairdash.methods._constraints import bounds, scales
from fairdash.methods._grouped import GroupedClassifier
from fairdash.methods._newton import solve
from fairdash.methods._saddle import Saddle
from fairdash.methods._truncation import Float, TruncatedLogistic

ACCEPTED = 1e-6  # residual above which a fit warns


class FairLogLoss(GroupedClassifier):
    r"""Fair log-loss: the robust predictor under a constraint on its probabilities.

    A predictor P that meets the constraint plays against a Q that must match the
    training data on average and otherwise makes the log loss worst. P is a logistic
    regression, truncated where the constraint asks for it; the parameters are the
    saddle point of a convex-concave function, found by Newton's method to
    ``kkt_residual_``. The constraint then holds for the mean **probabilities** of the
    training rows; a gap remains after rounding, and ``predict_randomised`` draws
    decisions without it on average. Equalized odds and true positive rate parity hold
    given the outcome, which prediction does not know, so there they hold only
    approximately.

    Parameters
    ----------
    constraints : {"demographic_parity", "equalized_odds", "true_positive_rate_parity"}
        Which mean probabilities of the groups are equal: of all rows, of those with
        each outcome, or of those with the positive outcome.
    alpha : float, default=0.005
        Penalty :math:`\frac{\alpha}{2} \lVert \theta \rVert^2` beside the mean loss,
        above 0; the intercept is penalised too, as in the paper. scikit-learn's C is
        :math:`1 / (n \alpha)`.
    tol : float, default=1e-11
        Residual at which to stop.
    max_iter : int, default=500
        Most Newton steps.
    random_state : ignored
        Present because all methods of the catalog take one.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
    intercept_ : ndarray of shape (1,)
    multiplier_ : ndarray of shape (n_multipliers,)
        One for each group after the first, held to the first; under equalized odds
        those of the positive outcome stand before those of the negative one.
        Positive where the group's probabilities are pulled down.
    kkt_residual_ : float
        Largest absolute entry of the gradient in coefficients and of the gaps.
    n_iter_ : int
        Newton steps.
    network_ : TruncatedLogistic
        The fitted model as arrays.
    classes_, groups_ : ndarray of shape (2,), ndarray of shape (n_groups,)
    history_ : DataFrame
        One row: ``epoch``, ``loss`` and ``kkt_residual``.
    ratio_, ratio_history_ : None
        This method does not weight rows.

    Warns
    -----
    ConvergenceWarning
        When ``kkt_residual_`` exceeds 1e-6.

    References
    ----------
    Rezaei, Fathony, Memarrast and Ziebart, Fairness for Robust Log Loss Classification
    (AAAI 2020). The paper's subgradient (Eq. 67-71) misses a term; see
    ``docs/fair_log_loss.md``.
    """

    _stackable: ClassVar[tuple[str, ...]] = ("alpha",)

    def __init__(
        self,
        constraints: str = "demographic_parity",
        *,
        alpha: float = 0.005,
        tol: float = 1e-11,
        max_iter: int = 500,
        random_state: Any = None,
    ) -> None:
        self.constraints = constraints
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, *, sensitive_features: ArrayLike) -> Self:
        """Fit the model; ``sensitive_features`` holds the group of each sample.

        Raises
        ------
        ValueError
            When a parameter is out of range, or a group has no rows with an outcome
            that the constraint compares.
        """
        self._fit_path([self], X, y, sensitive_features)
        return self

    @with_callbacks
    def fit_many(
        self,
        points: Iterable[Mapping[str, Any]],
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: ArrayLike,
    ) -> list[Self]:
        """Fit one clone per point; along ``alpha`` each starts where the last ended.

        Returns
        -------
        list of FairLogLoss
            In the order of ``points``; each equals the model fitted alone, since the
            optimum is unique.
        """
        models = [clone(self).set_params(**point) for point in points]
        alike: dict[str, list[Self]] = {}
        for model in models:
            alike.setdefault(model.constraints, []).append(model)
        for path in alike.values():
            self._fit_path(path, X, y, sensitive_features)
        return models

    def approximator_proba(
        self, X: ArrayLike, *, sensitive_features: ArrayLike
    ) -> Float:
        """Return the probabilities of Q, the worst case that P was trained for."""
        rows, group = self._check_rows(X, sensitive_features)
        q = self.network_.mixture(self.network_.margins(rows), group).q
        return np.column_stack([1 - q, q])

    def _positive(self, rows: Float, group: NDArray[np.int64]) -> Float:
        network: TruncatedLogistic = self.network_
        return network.positive(rows, group)

    def _check_params(self) -> None:
        check_one_of("constraints", self.constraints, ALL_CONSTRAINTS)
        check_positive("alpha", self.alpha)
        check_positive("tol", self.tol)
        check_whole("max_iter", self.max_iter, at_least=1)

    def _fit_path(
        self,
        models: Sequence[Self],
        X: ArrayLike,
        y: ArrayLike,
        sensitive_features: ArrayLike,
    ) -> None:
        for model in models:
            model._check_params()
        rows: Float
        rows, y = validate_data(self, X, y, dtype=np.float64)
        classes, target = encode_binary_target(y)
        groups, codes = encode_groups(sensitive_features, rows)
        table = scales(target, codes, groups, models[0].constraints)
        scale, labels = table[target, codes], target.astype(np.float64)
        bound = bounds(labels, models[0].constraints, len(groups))
        design = np.column_stack([rows, np.ones(len(rows))])
        theta, multiplier = np.zeros(design.shape[1]), np.zeros(scale.shape[1])
        root = self._init_callback_context(max_subtasks=len(models))
        root.call_on_fit_task_begin(estimator=self, X=X, y=y)
        for model in sorted(models, key=lambda model: -model.alpha):
            game = Saddle(design, labels, scale, bound, model.alpha)
            ask = Asked(self, root.subcontext("alpha", max_subtasks=None))
            found, model.n_iter_ = solve(
                game,
                theta,
                multiplier,
                tol=model.tol,
                max_iter=model.max_iter,
                stopped=ask,
            )
            if ask.answer:
                break
            theta, multiplier = found.theta, found.multiplier
            model.n_features_in_ = self.n_features_in_
            if hasattr(self, "feature_names_in_"):
                model.feature_names_in_ = self.feature_names_in_
            model.classes_, model.groups_ = classes, groups
            model.coef_, model.intercept_ = theta[None, :-1].copy(), theta[-1:].copy()
            model.multiplier_ = multiplier.copy()
            model.kkt_residual_ = found.residual
            model.network_ = TruncatedLogistic(
                theta[:-1].copy(), float(theta[-1]), table @ multiplier
            )
            model.history_ = pd.DataFrame(
                {"epoch": [1], "loss": [found.value], "kkt_residual": [found.residual]}
            )
            model.ratio_, model.ratio_history_ = None, None
            if found.residual > ACCEPTED:
                message = (
                    f"Fair log-loss stopped at a residual of {found.residual:.1e} "
                    f"after {model.n_iter_} steps; scale the features, or raise "
                    f"`alpha` ({model.alpha:g}) or `max_iter`."
                )
                warnings.warn(message, ConvergenceWarning, stacklevel=3)
        root.call_on_fit_task_end(estimator=self, X=X, y=y)
