"""Logistic regression with a random threshold by group, by fairlearn."""

from typing import Any

import numpy as np
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.base import BaseEstimator

from fairdash._validation import ALL_CONSTRAINTS, check_one_of, value_label
from fairdash.methods._baseline import (
    Codes,
    Float,
    OneByOne,
    old_pandas_calls,
    ridge_logistic,
)
from fairdash.methods._grouped import GroupedClassifier


class HardtLogistic(OneByOne, GroupedClassifier):
    """The most accurate thresholds of one logistic regression that meet a constraint.

    Each group has a mixture of two thresholds, found on the training rows;
    ``predict_proba`` is the probability of a positive decision.

    Parameters
    ----------
    constraints : {"demographic_parity", "equalized_odds", "true_positive_rate_parity"}
    alpha : float, default=0.005
        Ridge penalty of the logistic regression, above 0.
    random_state : ignored
        Present because all methods of the catalog take one.

    Attributes
    ----------
    solver_ : LogisticRegression
    thresholds_ : dict
        Mixture of thresholds by index of group, as fairlearn gives it.

    References
    ----------
    Hardt, Price and Srebro, Equality of opportunity in supervised learning (NeurIPS
    2016).
    """

    network_: Any = None  # thresholds are not a network

    def __init__(
        self,
        constraints: str = "demographic_parity",
        *,
        alpha: float = 0.005,
        random_state: Any = None,
    ) -> None:
        self.constraints = constraints
        self.alpha = alpha
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_one_of("constraints", self.constraints, ALL_CONSTRAINTS)

    def _learn(self, X: Float, target: Codes, codes: Codes) -> Float:
        for code, group in enumerate(self.groups_):
            if len(np.unique(target[codes == code])) < 2:
                message = f"Group {value_label(group)} has rows of one outcome only"
                raise ValueError(f"{message}; join it with another, or leave it out.")
        self.solver_: BaseEstimator = ridge_logistic(self.alpha, len(X))
        self.solver_.fit(X, target)
        optimizer = ThresholdOptimizer(
            estimator=self.solver_,
            constraints=self.constraints,
            prefit=True,
            predict_method="predict_proba",
        )
        with old_pandas_calls():
            optimizer.fit(X, target, sensitive_features=codes)
        self.thresholds_ = optimizer.interpolated_thresholder_.interpolation_dict
        return self._positive(X, codes)

    def _positive(self, rows: Float, group: Codes) -> Float:
        scores = self.solver_.predict_proba(rows)[:, 1]
        positive = np.empty(len(scores))
        for code, mixture in self.thresholds_.items():
            mine = group == code
            first = mixture.operation0(scores[mine])
            second = mixture.operation1(scores[mine])
            decided = mixture.p0 * first + mixture.p1 * second
            ignored = mixture.get("p_ignore", 0.0)
            constant = mixture.get("prediction_constant", 0.0)
            positive[mine] = ignored * constant + (1 - ignored) * decided
        return np.clip(positive, 0, 1)
