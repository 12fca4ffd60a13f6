"""Hardt, Price and Srebro: randomised group thresholds for parity or equal odds."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from fairdash._validation import CONSTRAINTS, check_one_of
from fairdash.postprocessing._base import PostProcessor
from fairdash.postprocessing._inputs import (
    Array,
    ScoreType,
    as_margins,
    binary_labels,
    check_informative,
    fit_groups,
)
from fairdash.postprocessing._rules import Rule


class HardtThreshold(PostProcessor):
    """Group thresholds, randomised between two, that meet a constraint.

    Maximises accuracy on the fitting sample subject to equal positive rates
    (demographic parity) or equal true and false positive rates (equalized odds). The
    optimum is found by fairlearn's ``ThresholdOptimizer``, whose rules are kept as
    data.

    Parameters
    ----------
    constraints : {"demographic_parity", "equalized_odds"}
    score_type : {"margin", "probability"}, default="margin"

    Attributes
    ----------
    rules_ : dict of str to Rule
        Staircases of at most two steps.
    groups_ : tuple of str

    References
    ----------
    M. Hardt, E. Price, N. Srebro (2016), Equality of opportunity in supervised
    learning. NeurIPS.
    """

    def __init__(
        self,
        constraints: str = "demographic_parity",
        score_type: ScoreType = "margin",
    ) -> None:
        self.constraints = constraints
        self.score_type = score_type

    def fit(
        self, scores: ArrayLike, y: ArrayLike, *, sensitive_features: ArrayLike
    ) -> Self:
        """Learn the thresholds on rows that the model was not trained on.

        Parameters
        ----------
        scores : array-like of shape (n,)
        y : array-like of 0/1, (n,)
            Both outcomes must occur in every group.
        sensitive_features : array-like of shape (n,)

        Returns
        -------
        self
        """
        from fairlearn.postprocessing import ThresholdOptimizer  # takes a second

        check_one_of("constraints", self.constraints, CONSTRAINTS)
        margins = as_margins(scores, self.score_type)
        check_informative(margins)
        names, codes = fit_groups(sensitive_features, margins, None)
        labels = binary_labels(y, margins)
        for k, name in enumerate(names):
            seen = np.unique(labels[codes == k])
            if len(seen) < 2:
                raise ValueError(
                    f"`y` is {seen[0]} in every row of group {name!r}; its thresholds "
                    "need both outcomes. Merge the group with another or leave it out."
                )
        optimizer = ThresholdOptimizer(
            estimator=_GivenScores(),
            constraints=self.constraints,
            objective="accuracy_score",
            prefit=True,
            predict_method="decision_function",
        )
        optimizer.fit(margins[:, None], labels, sensitive_features=codes)
        learned = optimizer.interpolated_thresholder_.interpolation_dict
        self.groups_ = names
        self.rules_ = {name: _rule(learned[k]) for k, name in enumerate(names)}
        return self


def _rule(piece: Any) -> Rule:
    """Return fairlearn's mixture of a constant and two thresholds as one staircase."""
    ignored = float(getattr(piece, "p_ignore", 0.0))
    floor = ignored * float(getattr(piece, "prediction_constant", 0.0))
    jumps = []
    for share, operation in (
        (piece.p0, piece.operation0),
        (piece.p1, piece.operation1),
    ):
        gain = (1 - ignored) * float(share)
        at = float(operation._threshold)
        if at == -np.inf:
            floor += gain
        elif at < np.inf and gain > 0:
            # fairlearn decides 1 strictly above, a rule from the score on
            jumps.append((float(np.nextafter(at, np.inf)), gain))
    if not jumps:
        return Rule(score=(0.0,), probability=(min(floor, 1.0),))
    return Rule.steps(jumps, min(floor, 1.0))


class _GivenScores(ClassifierMixin, BaseEstimator):
    """Hands the scores through that fairlearn wants from an estimator."""

    def fit(self, X: Array, y: Any = None) -> Self:
        return self

    def decision_function(self, X: Array) -> Array:
        return X[:, 0]

    def __sklearn_is_fitted__(self) -> bool:
        return True
