"""Fair log-loss: logistic regression under a fairness constraint, solved exactly."""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import validate_data

from fairdash._validation import check_positive, encode_binary_target, encode_groups
from fairdash.methods.base import Asked, GroupedClassifier, ManyClassifier
from fairdash.methods.declare import Method, param, vary
from fairdash.methods.log_loss.saddle import Saddle, solve
from fairdash.methods.log_loss.truncation import (
    Float,
    TruncatedLogistic,
    bounds,
    scales,
)
from fairdash.methods.params import (
    CLASSIC_CONSTRAINT,
    NO_RANDOM_STATE,
    RANDOM_STATE,
    RIDGE,
    at_least_two,
)

ACCEPTED = 1e-6  # residual above which a fit warns
CLIP = 1e-7  # probabilities that the log loss tells from 0 and 1


class FairLogLoss(ManyClassifier, GroupedClassifier):
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

    -----
    ConvergenceWarning
        When ``kkt_residual_`` exceeds 1e-6.

    References
    ----------
    Rezaei, Fathony, Memarrast and Ziebart, Fairness for Robust Log Loss Classification
    (AAAI 2020). The paper's subgradient (Eq. 67-71) misses a term; see
    ``docs/fair_log_loss.md``.
    """

    constraints: str = CLASSIC_CONSTRAINT
    alpha: float = vary(
        RIDGE,
        stackable=True,
        doc="Penalty on half the squared coefficients beside the mean loss, above 0; "
        "the intercept is penalised too, as in the paper. scikit-learn's C is "
        "1 / (n alpha).",
    )
    tol: float = param(1e-11, check=check_positive, doc="Residual at which to stop.")
    max_iter: int = param(500, doc="Most Newton steps.")
    random_state: Any = NO_RANDOM_STATE

    def _positive(self, rows: Float, group: NDArray[np.int64]) -> Float:
        network: TruncatedLogistic = self.network_
        return network.positive(rows, group)

    def _fit_models(
        self,
        models: Sequence[Self],
        X: ArrayLike,
        y: ArrayLike,
        sensitive_features: ArrayLike,
    ) -> None:
        paths: dict[str, list[Self]] = {}
        for model in models:
            paths.setdefault(model.constraints, []).append(model)
        for path in paths.values():
            self._fit_path(path, X, y, sensitive_features)

    def _fit_path(
        self,
        models: Sequence[Self],
        X: ArrayLike,
        y: ArrayLike,
        sensitive_features: ArrayLike,
    ) -> None:
        """Fit along ``alpha``, each where the last ended."""
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
            self._share([model], classes, groups)
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
                warnings.warn(message, ConvergenceWarning, stacklevel=4)
        root.call_on_fit_task_end(estimator=self, X=X, y=y)


class FairLogLossCV(GroupedClassifier):
    """Fair log-loss whose ``alpha`` has the smallest log loss on rows held out.

    Folds are stratified by outcome and group; along ``alphas`` each fit starts where
    the last ended.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen.
    losses_ : DataFrame
        Log loss on held-out rows: one row per fold, one column per alpha.
    estimator_ : FairLogLoss
        Fitted on all rows with ``alpha_``.

    References
    ----------
    Rezaei et al. (AAAI 2020), section 5.
    """

    constraints: str = CLASSIC_CONSTRAINT
    alphas: Sequence[float] = param(
        (0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5),
        doc="Penalties to try; by default those of the paper.",
        accepts="sequence of float",
    )
    cv: int = param(5, check=at_least_two, doc="Number of folds.")
    random_state: Any = vary(RANDOM_STATE, doc="Shuffles rows into folds.")

    def fit(self, X: ArrayLike, y: ArrayLike, *, sensitive_features: ArrayLike) -> Self:
        """Choose ``alpha`` and fit; raises as ``FairLogLoss.fit`` does."""
        self._check_params()
        rows: Float
        rows, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, target = encode_binary_target(y)
        self.groups_, codes = encode_groups(sensitive_features, rows)
        model = FairLogLoss(constraints=self.constraints)
        folds = StratifiedKFold(
            self.cv, shuffle=True, random_state=self.random_state
        ).split(rows, 2 * codes + target)
        losses = []
        for kept, held in folds:
            path = model.fit_many(
                [{"alpha": alpha} for alpha in self.alphas],
                rows[kept],
                target[kept],
                sensitive_features=codes[kept],
            )
            losses.append(
                [_loss(one, rows[held], target[held], codes[held]) for one in path]
            )
        self.losses_ = pd.DataFrame(losses, columns=list(self.alphas))
        self.alpha_ = float(self.alphas[int(np.argmin(np.mean(losses, axis=0)))])
        self.estimator_ = model.set_params(alpha=self.alpha_).fit(
            rows, target, sensitive_features=codes
        )
        return self

    def _positive(self, rows: Float, group: NDArray[np.int64]) -> Float:
        positive: Float = self.estimator_._positive(rows, group)
        return positive


def _loss(
    model: FairLogLoss, X: Float, target: NDArray[np.int64], codes: NDArray[np.int64]
) -> float:
    positive = model.predict_proba(X, sensitive_features=codes)[:, 1]
    return float(log_loss(target, np.clip(positive, CLIP, 1 - CLIP), labels=[0, 1]))


METHOD = Method.of(
    FairLogLoss,
    key="fair_log_loss",
    label="Fair log-loss",
    title="Logistic regression with fair probabilities, solved exactly",
    summary="Truncates probabilities by group until their means agree, at the "
    "exact optimum. It must know the group to predict.",
    source="Rezaei et al., Fairness for Robust Log Loss Classification (AAAI "
    "2020), gradient corrected",
    needs_groups=True,
)
