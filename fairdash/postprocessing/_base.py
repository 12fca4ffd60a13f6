"""What all post-processing methods share: rules by group, applied or drawn from."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fairdash.postprocessing._inputs import Array, FittedGroups, ScoreType
from fairdash.postprocessing._rules import Rule, Thresholds, score_range


class PostProcessor(BaseEstimator):
    """A method whose decisions depend on the score and the group alone.

    Subclasses learn ``rules_`` in ``fit``.

    Attributes
    ----------
    rules_ : dict of str to Rule
        Probability of a positive decision as a function of the margin, by group.
    expected_rates_ : dict of group to float
        Share of positive decisions by group on the fitting sample.
    score_range_ : (float, float)
        Smallest and largest score of the fitting sample.
    """

    score_type: ScoreType
    groups_: tuple[Any, ...]
    rules_: dict[str, Rule]
    expected_rates_: dict[Any, float]
    score_range_: tuple[float, float]

    def _learn(
        self,
        groups: FittedGroups,
        rules: Sequence[Rule],
        margins: Array,
        weight: Array | None = None,
    ) -> None:
        """Keep one rule a group and what they do on the fitting sample."""
        self.groups_ = groups.values
        self.rules_ = dict(zip(groups.names, rules, strict=True))
        rates = []
        for k, rule in enumerate(rules):
            rows = groups.codes == k
            own = None if weight is None else weight[rows]
            rates.append(float(np.average(rule(margins[rows]), weights=own)))
        self.expected_rates_ = dict(zip(groups.values, rates, strict=True))
        self.score_range_ = score_range(margins, self.score_type)

    def predict_proba(
        self, scores: ArrayLike, *, sensitive_features: ArrayLike
    ) -> Array:
        """Return h, the probability of a positive decision of every row.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Of the same type as in ``fit``.
        sensitive_features : array-like of shape (n,)

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        ValueError
            For scores out of range and for groups that ``fit`` has not seen.
        """
        rules = self.thresholds()
        return rules.predict_proba(scores, sensitive_features=sensitive_features)

    def predict(
        self,
        scores: ArrayLike,
        *,
        sensitive_features: ArrayLike,
        random_state: int | np.random.Generator = 0,
    ) -> NDArray[np.int64]:
        """Draw a decision for every row, 1 with probability h.

        Parameters
        ----------
        scores, sensitive_features
            As in :meth:`predict_proba`.
        random_state : int or Generator, default=0
            The same number gives the same decisions. One generator for consecutive
            parts of a table gives the decisions of the whole table.

        Returns
        -------
        ndarray of 0 and 1, shape (n,)
        """
        rules = self.thresholds()
        return rules.predict(
            scores, sensitive_features=sensitive_features, random_state=random_state
        )

    def thresholds(self) -> Thresholds:
        """Return what was learned as data, see :class:`Thresholds`."""
        check_is_fitted(self)
        parameters = self.get_params()
        shown = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
        return Thresholds(
            self.rules_,
            f"{type(self).__name__}({shown})",
            self.score_type,
            dict(zip(self.rules_, self.expected_rates_.values(), strict=True)),
            self.score_range_,
        )

    def __sklearn_tags__(self) -> Any:
        """Say that fitting needs no outcome and takes one vector of scores."""
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags
