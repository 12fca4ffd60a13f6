"""No covariance between decisions and a group inside any known subgroup."""

from dataclasses import dataclass
from functools import cached_property
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
    check_distinct,
    known_codes,
)
from fairdash.postprocessing.kernels import (
    CovarianceScores,
    SortedScores,
    ramp_probability,
)
from fairdash.postprocessing.rows import ScoredRows
from fairdash.postprocessing.rules import Rule, Thresholds, draw

NO_SUBGROUP = "(no subgroup)"


@dataclass(frozen=True, eq=False)
class CellScores:
    """Rows by subgroup and group, sorted when asked for.

    ``subgroup`` is the place of every row's subgroup, (n,), among ``subgroups``; the
    first is `NO_SUBGROUP`, whose rows are not corrected.
    """

    rows: ScoredRows
    subgroup: NDArray[np.int64]
    subgroups: tuple[str, ...]

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """Cell of every row: subgroup by subgroup, in each group by group."""
        return self.subgroup * len(self.rows.names) + self.rows.codes

    @cached_property
    def by_cell(self) -> list[SortedScores]:
        """Scores of every cell."""
        return self._sorted(self.cells, len(self.subgroups) * len(self.rows.names))

    @cached_property
    def _others(self) -> dict[int, list[SortedScores]]:
        return {}

    def pair(self, subgroup: int, group: int) -> CovarianceScores:
        """Return the scores of one group in a subgroup and those of all others."""
        n = len(self.rows.names)
        first = subgroup * n
        if n == 2:
            return CovarianceScores(
                self.by_cell[first + group], self.by_cell[first + 1 - group]
            )
        if group not in self._others:
            outside = np.where(self.rows.codes == group, 0, self.subgroup)
            self._others[group] = self._sorted(outside, len(self.subgroups))
        return CovarianceScores(
            self.by_cell[first + group], self._others[group][subgroup]
        )

    def _sorted(self, codes: NDArray[np.int64], n: int) -> list[SortedScores]:
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=n))[:-1]
        margins = np.split(self.rows.margins[order], ends)
        if self.rows.weight is None:
            return [SortedScores(own) for own in margins]
        weights = np.split(self.rows.weight[order], ends)
        return [SortedScores(*pair) for pair in zip(margins, weights, strict=True)]


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
    rules_, expected_rates_ : dict of str to Rule, float
        By "subgroup × group"; rates are those of the fitting sample.

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
        codes, found = pd.factorize(labels, sort=True)
        return self.fit_cells(CellScores(rows, codes + 1, (NO_SUBGROUP, *found)))

    def fit_cells(self, cells: CellScores) -> Self:
        """Solve every subgroup from scores that were sorted before."""
        cells.rows.check_score_type(self.score_type)
        check_positive("gamma", self.gamma)
        check_non_negative("tolerance", self.tolerance)
        rows, chosen = cells.rows, self._chosen(cells.rows.names)
        keys = [f"{name} × {group}" for name in cells.subgroups for group in rows.names]
        check_distinct("subgroups", keys)
        self.groups_, self.group_ = rows.group_values, rows.group_values[chosen]
        self.names_, self.score_range_ = rows.names, rows.score_range
        self.thresholds_ = {NO_SUBGROUP: 0.0}
        self.shares_ = {}
        for code, name in enumerate(cells.subgroups[1:], start=1):
            t, share = 0.0, 0.0
            pair = cells.pair(code, chosen)
            if pair.members.total:
                share = pair.share
            if pair.members.total and pair.others.total:
                t = pair.threshold(self.gamma, self.tolerance)
            self.thresholds_[name], self.shares_[name] = t, share
        multipliers = np.array([*self.thresholds_.values()])[:, None]
        shares = np.array([0.0, *self.shares_.values()])[:, None]
        self.starts_ = multipliers * ((np.arange(len(rows.names)) == chosen) - shares)
        starts = self.starts_.ravel().tolist()
        self.rules_ = {
            key: Rule.ramp(start, self.gamma)
            for key, start in zip(keys, starts, strict=True)
        }
        self.expected_rates_ = {
            key: float(np.clip(scores.mean_h(start, self.gamma), 0, 1))
            for key, scores, start in zip(keys, cells.by_cell, starts, strict=True)
            if scores.total
        }
        return self

    def chance(self, cells: CellScores) -> Array:
        """Return h, the probability of a positive decision, of rows of known cells."""
        starts = self.starts_.ravel()[cells.cells]
        return ramp_probability(cells.rows.margins, starts, self.gamma)

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


def _labels(subgroups: ArrayLike, like: Any) -> "pd.Series[Any]":
    """Return the names of the subgroups of all rows, missing ones missing."""
    column = pd.Series(np.asarray(subgroups, dtype=object))
    check_lengths(like, column)
    return value_labels(column)
