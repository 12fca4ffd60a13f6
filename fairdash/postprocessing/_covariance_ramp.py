"""No covariance between decisions and a group inside any known subgroup."""

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from fairdash._validation import (
    check_non_negative,
    check_one_of,
    check_positive,
    value_label,
    value_labels,
)
from fairdash.postprocessing._covariance import covariance_threshold
from fairdash.postprocessing._inputs import (
    Array,
    ScoreType,
    as_margins,
    as_weights,
    check_distinct,
    check_informative,
    fit_groups,
    known_codes,
)
from fairdash.postprocessing._rules import Rule, Thresholds, draw, score_range

NO_SUBGROUP = "(no subgroup)"


class CovarianceRamp(BaseEstimator):
    r"""Ramps that bound :math:`|\mathrm{Cov}(h, 1_S \mid X_k)|` in every subgroup.

    At tolerance 0 both groups have the same expected rate inside each subgroup
    :math:`X_k`: a local DI of 0, at the rate that costs least. See
    :func:`covariance_threshold`.

    Parameters
    ----------
    gamma : float, default=0.1
        Width of the ramp on the scale of margins.
    tolerance : float, default=0.0
        Largest absolute covariance (epsilon); a gap of rates of epsilon / (p (1 - p))
        in a subgroup where a share p of rows belongs to S.
    group : group, optional
        Which group is S, all others being "not S"; needed with three groups or more.
    score_type : {"margin", "probability"}, default="margin"

    Attributes
    ----------
    thresholds_ : dict of str to float
        Multiplier t by subgroup; 0 where a subgroup holds only one kind of rows, since
        a covariance with a constant is 0.
    shares_ : dict of str to float
        Share of S by subgroup.
    group_ : group
    groups_ : tuple of groups
    rules_, expected_rates_ : dict of str to Rule, float
        By "subgroup × group"; rates are those of the fitting sample.
    names_ : tuple of str
        Names of the groups.
    score_range_ : (float, float)
        Smallest and largest score of the fitting sample.

    References
    ----------
    I. Alabdulmohsin, M. Lucic (2021), A near-optimal algorithm for debiasing trained
    machine learning models, appendix E. NeurIPS.
    """

    def __init__(
        self,
        gamma: float = 0.1,
        tolerance: float = 0.0,
        group: Any = None,
        score_type: ScoreType = "margin",
    ) -> None:
        self.gamma = gamma
        self.tolerance = tolerance
        self.group = group
        self.score_type = score_type

    def fit(
        self,
        scores: ArrayLike,
        y: ArrayLike | None = None,
        *,
        sensitive_features: ArrayLike,
        subgroups: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn one multiplier per subgroup; ``y`` is not used.

        Parameters
        ----------
        scores : array-like of shape (n,)
        y : ignored
        sensitive_features : array-like of shape (n,)
        subgroups : array-like of shape (n,)
            Rows whose label is missing are left as they are.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        check_positive("gamma", self.gamma)
        check_non_negative("tolerance", self.tolerance)
        margins = as_margins(scores, self.score_type)
        check_informative(margins)
        weight = as_weights(sample_weight, margins)
        values, names, codes = fit_groups(sensitive_features, margins, weight)
        chosen = self._chosen(names)
        inside = codes == chosen
        labels = subgroup_names(subgroups, margins)
        heavy = np.ones(len(margins)) if weight is None else weight
        self.groups_, self.group_ = values, values[chosen]
        self.thresholds_: dict[str, float] = {NO_SUBGROUP: 0.0}
        self.shares_: dict[str, float] = {}
        for name, rows in pd.Series(labels).groupby(labels).groups.items():
            self._fit_subgroup(str(name), np.asarray(rows), margins, inside, heavy)
        self.rules_ = {
            f"{subgroup} × {group}": Rule.ramp(
                t * ((group == names[chosen]) - self.shares_.get(subgroup, 0.0)),
                self.gamma,
            )
            for subgroup, t in self.thresholds_.items()
            for group in names
        }
        keys = [f"{s} × {group}" for s in self.thresholds_ for group in names]
        check_distinct("subgroups", keys)
        self.names_ = names
        cells = self._cells(sensitive_features, subgroups, margins)
        self.expected_rates_ = {
            name: float(np.average(rule(margins[rows]), weights=heavy[rows]))
            for cell, (name, rule) in enumerate(self.rules_.items())
            if heavy[rows := cells == cell].any()
        }
        self.score_range_ = score_range(margins, self.score_type)
        return self

    def predict_proba(
        self, scores: ArrayLike, *, sensitive_features: ArrayLike, subgroups: ArrayLike
    ) -> Array:
        """Return h, the probability of a positive decision of every row."""
        check_is_fitted(self)
        margins = as_margins(scores, self.score_type)
        cells = self._cells(sensitive_features, subgroups, margins)
        h = np.empty(len(margins))
        for cell, rule in enumerate(self.rules_.values()):
            rows = cells == cell
            h[rows] = rule(margins[rows])
        return h

    def predict(
        self,
        scores: ArrayLike,
        *,
        sensitive_features: ArrayLike,
        subgroups: ArrayLike,
        random_state: int | np.random.Generator = 0,
    ) -> NDArray[np.int64]:
        """Draw a decision for every row, 1 with probability h, reproducibly."""
        h = self.predict_proba(
            scores, sensitive_features=sensitive_features, subgroups=subgroups
        )
        return draw(h, random_state)

    def thresholds(self) -> Thresholds:
        """Return what was learned as data; groups are crossed with subgroups."""
        check_is_fitted(self)
        method = f"CovarianceRamp(gamma={self.gamma}, tolerance={self.tolerance})"
        return Thresholds(
            self.rules_,
            method,
            self.score_type,
            self.expected_rates_,
            self.score_range_,
        )

    def _chosen(self, names: tuple[str, ...]) -> int:
        if self.group is not None:
            name = value_label(self.group)
            check_one_of("group", name, names)
            return names.index(name)
        if len(names) > 2:
            raise ValueError(
                f"`group` must name one of {list(names)}: a covariance is with one "
                "group against the others."
            )
        return 0

    def _fit_subgroup(
        self,
        name: str,
        rows: NDArray[np.int64],
        margins: Array,
        inside: NDArray[np.bool_],
        weight: Array,
    ) -> None:
        total = float(weight[rows].sum())
        share = float(weight[rows] @ inside[rows]) / total if total else 0.0
        self.shares_[name] = share
        if name == NO_SUBGROUP or not 0 < share < 1:
            self.thresholds_[name] = 0.0
            return
        self.thresholds_[name] = covariance_threshold(
            margins[rows], inside[rows], self.gamma, self.tolerance, weight[rows]
        )

    def _cells(
        self, sensitive_features: ArrayLike, subgroups: ArrayLike, like: Any
    ) -> NDArray[np.int64]:
        """Return the place of every row's rule, looked up by both names apart."""
        labels = subgroup_names(subgroups, like)
        codes = known_codes(labels, list(self.thresholds_), like, "subgroups")
        group = known_codes(sensitive_features, self.names_, like)
        cells: NDArray[np.int64] = codes * len(self.names_) + group
        return cells


def subgroup_names(subgroups: ArrayLike, like: Any) -> NDArray[Any]:
    """Return the names of the subgroups of all rows, missing ones by a name too."""
    column = pd.Series(np.asarray(subgroups, dtype=object))
    check_consistent_length(like, column)
    return value_labels(column).fillna(NO_SUBGROUP).to_numpy(dtype=object)
