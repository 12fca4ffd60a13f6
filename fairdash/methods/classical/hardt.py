"""Logistic regression with a random threshold by group, by fairlearn."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from fairdash._validation import value_label
from fairdash.methods.base import Float, GroupedClassifier
from fairdash.methods.classical.base import (
    Codes,
    OneByOne,
    old_pandas_calls,
    ridge_logistic,
)
from fairdash.methods.declare import Method
from fairdash.methods.lazy import thresholds
from fairdash.methods.params import CLASSIC_CONSTRAINT, RIDGE
from fairdash.methods.scorers import GroupThresholds


class HardtLogistic(OneByOne, GroupedClassifier):
    """The most accurate thresholds of one logistic regression that meet a constraint.

    Each group has a mixture of two thresholds, found on the training rows;
    ``predict_proba`` is the probability of a positive decision.

    Attributes
    ----------
    solver_ : LogisticRegression
    thresholds_ : dict
        Mixture of thresholds by index of group, as fairlearn gives it.
    network_ : GroupThresholds
        Regression and thresholds as plain arrays.

    References
    ----------
    Hardt, Price and Srebro, Equality of opportunity in supervised learning (NeurIPS
    2016).
    """

    network_: Any

    constraints: str = CLASSIC_CONSTRAINT
    alpha: float = RIDGE

    def _learn(self, X: Float, target: Codes, codes: Codes) -> Float:
        for code, group in enumerate(self.groups_):
            if len(np.unique(target[codes == code])) < 2:
                message = f"Group {value_label(group)} has rows of one outcome only"
                raise ValueError(f"{message}; join it with another, or exclude it.")
        self.solver_: BaseEstimator = ridge_logistic(self.alpha, len(X))
        self.solver_.fit(X, target)
        optimizer = thresholds.ThresholdOptimizer(
            estimator=self.solver_,
            constraints=self.constraints,
            prefit=True,
            predict_method="predict_proba",
        )
        with old_pandas_calls():
            optimizer.fit(X, target, sensitive_features=codes)
        self.thresholds_ = optimizer.interpolated_thresholder_.interpolation_dict
        mixtures = [self.thresholds_[code] for code in range(len(self.groups_))]
        used = np.array([1 - m.get("p_ignore", 0.0) for m in mixtures])
        constant = np.array([m.get("prediction_constant", 0.0) for m in mixtures])
        rules = [(m.operation0, m.operation1) for m in mixtures]
        above = np.array([[rule.operator == ">" for rule in two] for two in rules])
        self.network_ = GroupThresholds(
            coefficients=self.solver_.coef_[0],
            intercept=self.solver_.intercept_,
            thresholds=np.array([[rule.threshold for rule in two] for two in rules]),
            signs=np.where(above, 1.0, -1.0),
            shares=used[:, None] * np.array([[m.p0, m.p1] for m in mixtures]),
            constants=(1 - used) * constant,
        )
        return self._positive(X, codes)

    def _positive(self, rows: Float, group: Codes) -> Float:
        known: GroupThresholds = self.network_
        return known.positive(rows, group)


METHOD = Method.of(
    HardtLogistic,
    key="hardt",
    label="Hardt",
    title="Random thresholds by group",
    summary="Logistic regression with a mixture of two thresholds in each group. "
    "It must know the group to predict.",
    source="Hardt, Price and Srebro (NeurIPS 2016), by fairlearn",
    needs_groups=True,
)
