"""Fair log-loss: logistic regression under a fairness constraint, solved exactly."""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from fairdash._arrays import FloatArray
from fairdash._validation import check_positive
from fairdash.methods.base import (
    GroupedClassifier,
    ManyClassifier,
    Samples,
    StopRequest,
    Weighted,
    group_by_fixed,
)
from fairdash.methods.declare import Method, param, positional, vary
from fairdash.methods.log_loss import truncation
from fairdash.methods.log_loss.saddle import Position, Saddle, solve
from fairdash.methods.params import CLASSIC_CONSTRAINT, NO_RANDOM_STATE, RIDGE

ACCEPTED = 1e-6  # residual above which a fit warns


class LearnedLogLoss:
    """Attributes that `FairLogLoss` learns, with their types; described there."""

    coef_: FloatArray
    intercept_: FloatArray
    group_offsets_: FloatArray
    multiplier_: FloatArray
    kkt_residual_: float
    n_iter_: int


class FairLogLoss(LearnedLogLoss, Weighted, ManyClassifier, GroupedClassifier):
    r"""Fair log-loss: the robust predictor under a constraint on its probabilities.

    A predictor P that meets the constraint plays against a Q that must match the
    training data on average and otherwise makes the log loss worst. P is a logistic
    regression, truncated where the constraint asks for it; the parameters are the
    saddle point of a convex-concave function, found by Newton's method to
    ``kkt_residual_``. The constraint then holds for the mean **probabilities** of the
    training rows; a gap remains after rounding. Equalized odds and true positive rate
    parity hold given the outcome, which prediction does not know, so there they hold
    only approximately.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
    intercept_ : ndarray of shape (1,)
    group_offsets_ : ndarray of shape (n_groups,)
        Coefficients of the groups' indicators, 0 for the first and where excluded.
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
        This method learns no weights.

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

    constraints: str = positional(default=CLASSIC_CONSTRAINT, kw_only=False)
    alpha: float = vary(
        RIDGE,
        stackable=True,
        doc="Penalty on half the squared coefficients beside the mean loss, above 0; "
        "the intercept is penalised too, as in the paper. scikit-learn's C is "
        "1 / (n alpha).",
    )
    group_feature: str = param(
        "excluded",
        "Group as a feature",
        options={"excluded": "excluded", "included": "included, as in the paper"},
        advanced=True,
        help="Included: each group has an offset of its own. It must be known to "
        "predict either way.",
        doc="Whether indicators of the groups after the first are features.",
    )
    tol: float = param(1e-11, check=check_positive, doc="Residual at which to stop.")
    max_iter: int = param(500, doc="Most Newton steps.")
    random_state: Any = NO_RANDOM_STATE

    def _positive(self, rows: FloatArray, group: NDArray[np.int64]) -> FloatArray:
        network: truncation.TruncatedLogistic = self.network_
        return network.positive(rows, group)

    def _fit_models(self, models: Sequence[Self], samples: Samples) -> None:
        for places in group_by_fixed(models, ("alpha",)):
            self._fit_path([models[place] for place in places], samples)

    def _fit_path(self, models: Sequence[Self], samples: Samples) -> None:
        for model in models:
            model._check_params()
        training = self._training_rows(samples, dtype=np.float64)
        rows, target, codes, _ = training
        groups = self.groups_
        constraints = models[0].constraints
        share = training.row_weights / training.n_rows
        scales = truncation.scales(target, codes, share, groups, constraints)
        scale = scales[target, codes]
        labels = target.astype(np.float64)
        bound = truncation.bounds(labels, share, constraints, len(groups))
        n_offsets = len(groups) - 1 if models[0].group_feature == "included" else 0
        indicator = np.eye(len(groups))[codes, 1 : 1 + n_offsets]
        design = np.column_stack([rows, np.ones(len(rows)), indicator])
        theta = np.zeros(design.shape[1])
        multiplier = np.zeros(scale.shape[1])
        root = self._init_callback_context(max_subtasks=len(models))
        root.call_on_fit_task_begin(estimator=self, X=samples.X, y=samples.y)
        # From the largest penalty down, each from the solution before: the path is
        # smooth, and the strongly penalised problem the easiest.
        for model in sorted(models, key=lambda model: -model.alpha):
            game = Saddle(design, labels, share, scale, bound, model.alpha)
            stop = StopRequest(self, root.subcontext("alpha", max_subtasks=None))
            best, model.n_iter_ = solve(
                game,
                theta,
                multiplier,
                tol=model.tol,
                max_iter=model.max_iter,
                stopped=stop,
            )
            if stop.answer:
                break
            theta = best.theta
            multiplier = best.multiplier
            self._copy_learned([model])
            model._keep(best, scales)
            if best.residual > ACCEPTED:
                message = (
                    f"Fair log-loss stopped at a residual of {best.residual:.1e} "
                    f"after {model.n_iter_} steps; scale the features, or raise "
                    f"`alpha` ({model.alpha:g}) or `max_iter`."
                )
                warnings.warn(message, ConvergenceWarning, stacklevel=4)
        root.call_on_fit_task_end(estimator=self, X=samples.X, y=samples.y)

    def _keep(self, solution: Position, scales: FloatArray) -> None:
        """Set the learned attributes; theta is features, intercept, groups' offsets."""
        theta = solution.theta
        n_features = self.n_features_in_
        n_offsets = len(theta) - n_features - 1
        offsets = np.zeros(len(self.groups_))
        offsets[1 : 1 + n_offsets] = theta[n_features + 1 :]
        self.coef_ = theta[None, :n_features].copy()
        self.intercept_ = theta[n_features : n_features + 1]
        self.group_offsets_ = offsets
        self.multiplier_ = solution.multiplier.copy()
        self.kkt_residual_ = solution.residual
        self.network_ = truncation.TruncatedLogistic(
            theta[:n_features].copy(),
            float(theta[n_features]),
            scales @ solution.multiplier,
            offsets,
        )
        losses = {"loss": [solution.value], "kkt_residual": [solution.residual]}
        self.history_ = pd.DataFrame({"epoch": [1], **losses})
        self.ratio_ = None
        self.ratio_history_ = None


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
