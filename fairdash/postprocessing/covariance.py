"""No covariance between decisions and a group inside any known subgroup."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fairdash._validation import (
    check_lengths,
    check_non_negative,
    check_one_of,
    check_positive,
    value_label,
    value_labels,
)
from fairdash.postprocessing.inputs import (
    Array,
    ScoreType,
    as_margins,
    known_codes,
)
from fairdash.postprocessing.kernels import (
    CovarianceScores,
    SortedScores,
    ramp_probability,
)
from fairdash.postprocessing.rows import ScoredRows
from fairdash.postprocessing.rules import draw

NO_SUBGROUP = "(no subgroup)"


@dataclass(eq=False, repr=False)
class CovarianceRamp(BaseEstimator):
    r"""Ramps that bound :math:`|\mathrm{Cov}(h, 1_S \mid X_k)|` in every subgroup.

    At tolerance 0 both groups have the same expected rate inside each subgroup
    :math:`X_k`: a local DI of 0, at the rate that costs least. See
    :func:`covariance_threshold`.

    Parameters
    ----------
    tolerance : float, default=0.0
        Largest absolute covariance (epsilon); a gap of rates of epsilon / (p (1 - p))
        in a subgroup where a share p of rows belongs to S.
    group : group, optional
        Which group is S, all others being "not S"; needed with three groups or more.

    Attributes
    ----------
    starts_ : ndarray of shape (subgroups, groups)
        Where the ramp of each cell starts, as a margin.
    thresholds_ : dict of str to float
        Multiplier t by subgroup; 0 where a subgroup holds only one kind of rows, since
        a covariance with a constant is 0.
    shares_ : dict of str to float
        Share of S by subgroup.

    References
    ----------
    I. Alabdulmohsin, M. Lucic (2021), A near-optimal algorithm for debiasing trained
    machine learning models, appendix E. NeurIPS.
    """

    gamma: float = 0.1
    tolerance: float = 0.0
    group: Any = None
    score_type: ScoreType = "margin"

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

        Rows whose subgroup is missing are left as they are.
        """
        rows = ScoredRows.read(
            scores,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            score_type=self.score_type,
        )
        labels = _labels(subgroups, rows.margins)
        codes, names = pd.factorize(labels, sort=True)
        check_positive("gamma", self.gamma)
        check_non_negative("tolerance", self.tolerance)
        chosen = self._chosen(rows.names)
        self.groups_, self.group_ = rows.group_values, rows.group_values[chosen]
        self.names_ = rows.names
        self.thresholds_, self.shares_ = {NO_SUBGROUP: 0.0}, {}
        in_group = rows.codes == chosen
        for code, name in enumerate(names):
            inside = codes == code
            pair = CovarianceScores(
                _sorted(rows, inside & in_group), _sorted(rows, inside & ~in_group)
            )
            share = pair.share
            self.thresholds_[name] = (
                pair.threshold(self.gamma, self.tolerance) if 0 < share < 1 else 0.0
            )
            self.shares_[name] = share
        multipliers = np.array([*self.thresholds_.values()])[:, None]
        shares = np.array([0.0, *self.shares_.values()])[:, None]
        self.starts_ = multipliers * ((np.arange(len(rows.names)) == chosen) - shares)
        return self

    def predict_proba(
        self, scores: ArrayLike, *, sensitive_features: ArrayLike, subgroups: ArrayLike
    ) -> Array:
        """Return h, the probability of a positive decision of every row."""
        check_is_fitted(self)
        margins = as_margins(scores, self.score_type)
        labels = _labels(subgroups, margins).fillna(NO_SUBGROUP)
        codes = known_codes(labels, list(self.thresholds_), margins, "subgroups")
        group = known_codes(sensitive_features, self.names_, margins)
        return ramp_probability(margins, self.starts_[codes, group], self.gamma)

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


def _sorted(rows: ScoredRows, own: NDArray[np.bool_]) -> SortedScores:
    weight = None if rows.weight is None else rows.weight[own]
    return SortedScores(rows.margins[own], weight)


def _labels(subgroups: ArrayLike, like: Any) -> "pd.Series[Any]":
    """Return the names of the subgroups of all rows, missing ones missing."""
    column = pd.Series(np.asarray(subgroups, dtype=object))
    check_lengths(like, column)
    return value_labels(column)
