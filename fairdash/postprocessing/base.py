"""Base class of post-processing methods: rules by group, applied or drawn from."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from fairdash._arrays import FloatArray
from fairdash._change import Change
from fairdash._columns import in_one_order
from fairdash._sklearn import BaseEstimator
from fairdash._wording import moved_words, percent
from fairdash.metrics import (
    TOO_FEW,
    Drawn,
    Finding,
    Measured,
    catalog,
    expected_local_di,
    expected_measure,
    intervals,
)
from fairdash.postprocessing.inputs import ScoreType, as_weights, binary_labels
from fairdash.postprocessing.outcome import changed_decisions, expected_outcome
from fairdash.postprocessing.rows import ScoredRows
from fairdash.postprocessing.rules import Rule, Thresholds, draw

# What scikit-learn's metadata routing hands to a method of `PostProcessor`.
_GROUPS = {"sensitive_features": True}
_GROUPS_AND_WEIGHTS = {"sensitive_features": True, "sample_weight": True}


class Report(NamedTuple):
    """Effect of decisions on rows, on average.

    ``h``, (n,), is the probability of a positive decision; ``outcome`` is the table of
    `expected_outcome` against no correction. ``changed`` says by group how many
    decisions change on average: group, n, rate_before, rate, up (0 to 1), down (1 to
    0), changed (both), of rows with weights in their sums. ``subject`` is the
    method in sentences.
    """

    rows: ScoredRows
    h: FloatArray
    outcome: pd.DataFrame
    changed: pd.DataFrame
    subject: str = "The correction"

    @property
    def accepted(self) -> tuple[float, float]:
        """Share of positive decisions before, and on average after."""
        after = np.average(self.h, weights=self.rows.weight)
        return self.rows.rate_before, float(after)

    @property
    def base_rate(self) -> float:
        """Share of rows with the outcome; NaN where it is not known."""
        if self.rows.y is None:
            return float("nan")
        return float(np.average(self.rows.y, weights=self.rows.weight))

    def gaps(self) -> tuple[Finding, Finding]:
        """Return the widest gap before and after, each with its own interval.

        An interval holds for all pairs of groups at once.
        """
        return self._widest(self.rows.decisions), self._widest(Drawn(self.h))

    def _widest(self, decisions: "NDArray[Any] | Drawn") -> Finding:
        names = self.rows.names
        measure = "selection_rate"
        measured = Measured.of(measure, None, decisions, **self.rows.sampling)
        cells = measured.estimate(self.rows.codes, (len(names),))
        # A group without an estimate is neither the highest nor the lowest.
        value = np.nan_to_num(cells.value, nan=float(np.nanmean(cells.value)))
        high = int(value.argmax())
        low = int(value.argmin())
        # The pair is chosen by its values, so the interval must hold for all pairs.
        level = intervals.for_all_pairs(0.95, len(names))
        gap, least, most = map(float, cells.between(high, low, level))
        few = bool(cells.too_few(high, low))
        return Finding(
            measure,
            subgroup=None,
            group=names[high],
            reference=names[low],
            value=gap,
            low=least,
            high=most,
            n=int(cells.n.sum()),
            sure=least > 0 and not few,
            reason=TOO_FEW if few else "",
        )

    def by_measure(self, measure: str) -> pd.DataFrame:
        """Return a rate by group before and after, on average over draws.

        Intervals are those of `fairdash.metrics.expected_measure`: as wide as of
        decisions once drawn.

        Returns
        -------
        DataFrame of group, before, before_low, before_high, after, after_low,
        after_high

        Raises
        ------
        ValueError
            For a measure of scores, which no threshold changes, and for one that needs
            an outcome where there is none.
        """
        if measure in catalog.SCORE_MEASURES:
            name = catalog.MEASURE_NAMES[measure]
            raise ValueError(f"{name} is of scores, and thresholds change decisions.")
        rows = self.rows
        sampling = {"sensitive_features": rows.codes, **rows.sampling}
        before = expected_measure(measure, rows.y, rows.before, **sampling)
        after = expected_measure(measure, rows.y, self.h, **sampling)
        groups = [rows.names[int(code)] for code in before["group"]]
        return pd.DataFrame({"group": groups}).join(_beside(before, after, "value"))

    def inside(
        self, subgroups: "pd.Series[Any]", *, min_size: int = 50
    ) -> pd.DataFrame:
        """Return the gap between groups' rates inside subgroups, before and after.

        Parameters
        ----------
        subgroups : Series, (n,)
            Label of every row, missing for none.
        min_size : int, default=50
            Of an estimable subgroup; of others gaps are NaN.

        Returns
        -------
        DataFrame of subgroup, n, before, before_low, before_high, after, after_low,
        after_high
        """
        tables = []
        for h in (self.rows.before, self.h):
            gaps = expected_local_di(
                h,
                sensitive_features=self.rows.labels,
                subgroups=subgroups,
                min_size=min_size,
                **self.rows.sampling,
            )
            estimable = gaps["local_di"].where(gaps["estimable"])
            tables.append(gaps.assign(local_di=estimable))
        before, after = tables
        return before[["subgroup", "n"]].join(_beside(before, after, "local_di"))

    def changes(self) -> tuple[Change, Change]:
        """Return the paired changes of accuracy and of the gap."""
        names = ["change", "change_low", "change_high"]
        accuracy, gap = self.outcome[names].to_numpy(np.float64)
        return Change(*map(float, accuracy)), Change(*map(float, gap))

    def details(self) -> str:
        """Say what the decisions change, each with its paired interval."""
        accuracy, gap = self.changes()
        moved = [moved_words(gap, "narrows", "widens", "the gap between groups")]
        if self.rows.y is not None:
            moved.append(moved_words(accuracy, "loses", "gains", "accuracy"))
        share = percent(self.changed["changed"].sum() / self.changed["n"].sum())
        return (
            f"{self.subject} {'. It '.join(moved)}. It changes {share} of the "
            "decisions. All changes are against no correction."
        )


def _beside(before: pd.DataFrame, after: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return the values of two tables and their intervals, with prefixed names."""
    columns = {}
    for when, table in (("before", before), ("after", after)):
        estimable = table[value].notna()
        columns[when] = table[value]
        columns[f"{when}_low"] = table["ci_low"].where(estimable)
        columns[f"{when}_high"] = table["ci_high"].where(estimable)
    return pd.DataFrame(columns)


class PostProcessor(BaseEstimator, ABC):
    """A method whose decisions depend on the score and the group alone.

    Subclasses return one rule a group from ``_rules``. With metadata routing enabled,
    every method asks for the groups by itself, so that a search can set parameters.

    Attributes
    ----------
    rules_ : dict of str to Rule
        Probability of a positive decision as a function of the margin, by group.
    expected_rates_ : dict of group to float
        Share of positive decisions by group on the fitting sample.
    score_range_ : (float, float)
        Smallest and largest score of the fitting sample.
    """

    __metadata_request__fit = _GROUPS_AND_WEIGHTS
    __metadata_request__predict = _GROUPS
    __metadata_request__predict_proba = _GROUPS
    __metadata_request__score = _GROUPS_AND_WEIGHTS

    #: The subject of sentences about it.
    subject: ClassVar[str] = "The correction"

    score_type: ScoreType
    groups_: tuple[Any, ...]
    rules_: dict[str, Rule]
    expected_rates_: dict[Any, float]
    score_range_: tuple[float, float]

    @in_one_order
    def fit(
        self,
        scores: ArrayLike,
        y: ArrayLike | None = None,
        *,
        sensitive_features: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the rules on rows that the model was not trained on.

        Parameters
        ----------
        y : array-like of 0/1, (n,), optional
            Needed by methods that look at outcomes.
        sensitive_features : array-like of shape (n,)
            Any number of groups; :func:`cross` makes them from several columns.
        sample_weight : array-like of shape (n,), optional
            How many people each row stands for: thresholds are those of that many rows.

        Raises
        ------
        ValueError
            For parameters or scores out of range, scores that are constant or labels,
            and groups of fewer than two rows.
        """
        rows = ScoredRows.read(
            scores,
            sensitive_features=sensitive_features,
            y=y,
            sample_weight=sample_weight,
            score_type=self.score_type,
        )
        return self.fit_rows(rows)

    def fit_rows(self, rows: ScoredRows) -> Self:
        """Learn the rules on rows that were checked and sorted before."""
        rules = self._rules(rows)
        self.groups_ = rows.group_values
        self.score_range_ = rows.score_range
        self.rules_ = dict(zip(rows.names, rules, strict=True))
        # Sums over rows may round beyond 0 and 1.
        rates = np.clip(self._rates(rows), 0, 1).tolist()
        self.expected_rates_ = dict(zip(rows.group_values, rates, strict=True))
        return self

    @abstractmethod
    def _rules(self, rows: ScoredRows) -> Sequence[Rule]:
        """Check parameters and return the rule of every group of ``rows``."""

    def _rates(self, rows: ScoredRows) -> list[float]:
        """Return the expected rate of every group on the fitting sample."""
        rates = []
        for k, rule in enumerate(self.rules_.values()):
            in_group = rows.codes == k
            weight = None if rows.weight is None else rows.weight[in_group]
            rates.append(
                float(np.average(rule(rows.margins[in_group]), weights=weight))
            )
        return rates

    def chance(self, rows: ScoredRows) -> FloatArray:
        """Return h, the probability of a positive decision, of rows of known groups."""
        return self.thresholds().at(rows.margins, rows.codes)

    def report(self, rows: ScoredRows) -> Report:
        """Return all that is said of rows, from one computation of h."""
        h = self.chance(rows)
        outcome = expected_outcome(rows, h)
        changed = changed_decisions(rows, h)
        return Report(rows, h, outcome, changed, self.subject)

    def decisions(
        self, rows: ScoredRows, random_state: int | np.random.Generator = 0
    ) -> pd.DataFrame:
        """Return group, score, decision before, h and a drawn decision of every row."""
        h = self.chance(rows)
        return pd.DataFrame(
            {
                "group": rows.labels,
                "score": rows.scores,
                "before": rows.before,
                "h": h,
                "decision": draw(h, random_state).astype(np.int8),
            }
        )

    @in_one_order
    def predict_proba(
        self, scores: ArrayLike, *, sensitive_features: ArrayLike
    ) -> FloatArray:
        """Return h, the probability of a positive decision of every row.

        Raises
        ------
        ValueError
            For scores out of range and for groups that ``fit`` has not seen.
        """
        rules = self.thresholds()
        return rules.predict_proba(scores, sensitive_features=sensitive_features)

    @in_one_order
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
        random_state : int or Generator, default=0
            The same number gives the same decisions. One generator for consecutive
            parts of a table gives the decisions of the whole table.
        """
        rules = self.thresholds()
        return rules.predict(
            scores, sensitive_features=sensitive_features, random_state=random_state
        )

    def score(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the expected accuracy of drawn decisions.

        The mean of h where y is 1 and of 1 - h where it is 0: no draw adds noise to a
        search over parameters.

        Raises
        ------
        ValueError
            As `predict_proba`, and for outcomes other than 0 and 1.
        """
        h = self.predict_proba(scores, sensitive_features=sensitive_features)
        positive = binary_labels(y, h) == 1
        right = np.where(positive, h, 1 - h)
        return float(np.average(right, weights=as_weights(sample_weight, h)))

    def thresholds(self) -> Thresholds:
        """Return the learned rules as data, see :class:`Thresholds`."""
        check_is_fitted(self)
        parameters = self.get_params()
        arguments = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
        return Thresholds(
            self.rules_,
            f"{type(self).__name__}({arguments})",
            self.score_type,
            dict(zip(self.rules_, self.expected_rates_.values(), strict=True)),
            self.score_range_,
        )
