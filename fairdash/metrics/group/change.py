"""Changes of gap and accuracy between two models on the same rows, not folded."""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from fairdash._columns import in_one_order
from fairdash._counts import people_of
from fairdash._validation import check_lengths, check_one_of
from fairdash.metrics.group import counting, intervals
from fairdash.metrics.group.catalog import Array, measure_of, rate_of
from fairdash.metrics.group.cell_values import FEWEST, CellValues
from fairdash.metrics.group.drawn import (
    Drawn,
    chances,
    draw_variance,
    shared_variance,
)
from fairdash.metrics.group.largest_change import PairGaps
from fairdash.metrics.group.variance import Variance, unit_codes, worth

_AFTER_LESS_BEFORE = np.array([-1.0, 1.0])
_CHANGING = ("selection_rate", "true_positive_rate", "false_positive_rate")


@in_one_order
def gap_change(
    before: ArrayLike | Drawn,
    after: ArrayLike | Drawn,
    *,
    sensitive_features: ArrayLike,
    y_true: ArrayLike | None = None,
    measure: str = "selection_rate",
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    confidence: float = 0.95,
) -> intervals.Interval:
    r"""Return by how much the gap between groups changes, on the same rows.

    .. math:: |D_1| - |D_0|

    for the gaps :math:`D_0, D_1` before and after: negative where the gap narrows. Of
    several groups these are the largest. The change lies between that of the pair of
    groups that differs most before and that of the pair that differs most after; the
    interval is of all pairs that may be these, see
    `fairdash.metrics.group.largest_change`. The variance is that of two changed
    decisions more in each group. Where these are few, that of a gap is at least that of
    a rate with one more of each kind. Groups of too few rows beside every other one are
    left out of both gaps.

    Parameters
    ----------
    before, after : array-like of numbers in [0, 1], (n_rows,), or `Drawn`
        Decisions, or the chance of a positive one: the change is then of the mean over
        draws. Of `Drawn` ones the interval has the variance of the draws in it too;
        those before and after are taken to be independent, which makes it wide.
    y_true : array-like of 0/1, (n_rows,), optional
        Needed for a rate among rows with one outcome.
    measure : {"selection_rate", "true_positive_rate", "false_positive_rate"}
    sample_weight : array-like of shape (n_rows,), optional
        Sampling weights; variances are linearised (Taylor).
    cluster : array-like of shape (n_rows,), optional
        Unit of each row, such as a person: rows of one unit are not independent.

    Returns
    -------
    Interval of value, low and high. All are NaN where a group has no rows, and the ends
    where in every pair of groups both together would expect fewer than five decisions
    of either kind in the smaller: too few rows to say. The value is then that of all
    groups.

    Raises
    ------
    ValueError
        If lengths differ, decisions are no numbers in [0, 1], or outcomes are missing.

    References
    ----------
    D. G. Bonett and R. M. Price (2012), Adjusted Wald confidence interval for a
    difference of binomial proportions based on paired data. Journal of Educational and
    Behavioral Statistics 37, 479-488.
    """
    intervals.check_confidence(confidence)
    check_one_of("measure", measure, _CHANGING)
    old, new = _decided(before, after)
    change = np.ones(len(old))
    draws = [
        Draws.of(decisions, change, sample_weight) for decisions in (before, after)
    ]
    groups = counting.group_codes(sensitive_features, old)
    weight = counting.row_weights("sample_weight", sample_weight, len(old))
    if measure_of(measure).needs_outcome:
        if y_true is None:
            raise ValueError(f"`y_true` is needed for {measure!r}.")
        y = _outcomes(y_true, old)
        # Rows that the rate is not about weigh nothing; that depends on y only.
        is_about, _ = rate_of(measure)
        weight = weight * is_about(y, y)
    unit = unit_codes(cluster, len(old))
    means = GroupMeans.of(
        (old, new), weight, groups.codes, len(groups.names), unit, draws
    )
    return means.gap_change(confidence)


@in_one_order
def accuracy_change(
    y_true: ArrayLike,
    before: ArrayLike | Drawn,
    after: ArrayLike | Drawn,
    *,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    confidence: float = 0.95,
) -> intervals.Interval:
    """Return by how much accuracy changes, on the same rows.

    Arguments, errors and the variance (of two changed decisions more, one each way: few
    changed rows understate it) are those of `gap_change`.
    """
    intervals.check_confidence(confidence)
    old, new = _decided(before, after)
    y = _outcomes(y_true, old)
    weight = counting.row_weights("sample_weight", sample_weight, len(old))
    right = (1 - np.abs(y - old), 1 - np.abs(y - new))
    unit = unit_codes(cluster, len(old))
    everyone = np.zeros(len(old), np.int64)
    draws = [
        Draws.of(decisions, 2 * y - 1, sample_weight) for decisions in (before, after)
    ]
    means = GroupMeans.of(right, weight, everyone, 1, unit, draws)
    return means.mean_change(confidence)


class Draws(NamedTuple):
    """How the numbers of rows depend on decisions that are drawn.

    Attributes
    ----------
    chance : array of shape (n_rows,)
    change : array of shape (n_rows,)
        Of a row's number when it is decided 1 instead of 0.
    content : int array of shape (n_rows,), optional
        Rows that share a draw.
    """

    chance: Array
    change: Array
    content: NDArray[np.int64] | None

    @classmethod
    def of(
        cls, decisions: ArrayLike | Drawn, change: Array, weight: Any = None
    ) -> "Draws | None":
        """Return the draws of `Drawn` decisions, None for other decisions."""
        if not isinstance(decisions, Drawn):
            return None
        shared = decisions.shared(counted=people_of(weight) is not None)
        return cls(chances("decisions", decisions), change, shared)

    def at(self, rows: NDArray[np.bool_]) -> "Draws":
        """Return the draws of some rows."""
        content = None if self.content is None else self.content[rows]
        return Draws(self.chance[rows], self.change[rows], content)

    def variance(
        self,
        share: Array,
        codes: NDArray[np.int64],
        n_groups: int,
        people: Array | None = None,
    ) -> Array:
        """Return the variance of the groups' means, by the ``share`` of each person."""
        mean_change = self.change * share
        # The draws of the people of one row are independent: variances add up.
        scale = 1.0 if people is None else np.sqrt(people)
        variance = draw_variance(scale * mean_change, self.chance, codes, n_groups)
        if self.content is None:
            return variance
        return variance + shared_variance(
            mean_change, self.chance, codes, n_groups, self.content, people
        )


def _decided(
    before: ArrayLike | Drawn, after: ArrayLike | Drawn
) -> tuple[Array, Array]:
    """Return decisions, or their chances, as numbers of as many rows."""
    old = chances("before", before)
    new = chances("after", after)
    check_lengths(old, new)
    return old, new


def _outcomes(y_true: ArrayLike, decided: Array) -> Array:
    """Return 0/1 outcomes as numbers, as many as decisions."""
    y = counting.binary_vector("y_true", y_true).astype(np.float64)
    check_lengths(y, decided)
    return y


class GroupMeans(NamedTuple):
    """Means of two numbers a row, before and after, in each group.

    Attributes
    ----------
    mean : array of shape (groups, 2)
    covariance : array of shape (groups, 2, groups, 2)
    rows : array of shape (groups,)
        Kish's number of independent rows that weigh as much.
    """

    mean: Array
    covariance: Array
    rows: Array

    @classmethod
    def of(
        cls,
        decided: Sequence[Array],
        weight: Array,
        codes: NDArray[np.int64],
        n_groups: int,
        unit: NDArray[np.int64] | None,
        draws: "Sequence[Draws | None]" = (None, None),
    ) -> "GroupMeans":
        """Return the means of two numbers a row, in each group.

        ``draws`` say how the numbers depend on draws, where decisions are drawn.
        """
        counted = weight > 0
        if not counted.all():
            decided = (decided[0][counted], decided[1][counted])
            weight = weight[counted]
            codes = codes[counted]
            unit = None if unit is None else unit[counted]
            draws = [None if draw is None else draw.at(counted) for draw in draws]
        people = people_of(weight)
        weight = np.asarray(weight)
        total_mass = np.bincount(codes, weight, n_groups).astype(np.float64)
        sums = [np.bincount(codes, weight * column, n_groups) for column in decided]
        mean = counting.divide(np.stack(sums, axis=1), total_mass[:, None])
        # A row of several people has the residual of one, and counts so many times.
        row_weight = weight if people is None else 1.0
        residuals = [
            row_weight * (column - mean[codes, when]) / total_mass[codes]
            for when, column in enumerate(decided)
        ]
        covariance = _covariance(residuals, codes, n_groups, unit, people)
        group = np.arange(n_groups)
        for when, draw in enumerate(draws):
            if draw is not None:
                share = row_weight / total_mass[codes]
                variance = draw.variance(share, codes, n_groups, people)
                covariance[group, when, group, when] += variance
        rows = total_mass
        if people is None:
            rows = worth(weight, codes, n_groups, unit)
        return cls(mean, covariance, rows)

    def gap_change(self, confidence: float) -> intervals.Interval:
        """Return the change of the largest difference between groups."""
        value = np.array(np.diff(self.largest_gaps())[0])
        compared = self._compared()
        if np.isnan(value) or len(compared) < 2:
            return intervals.Interval(value, *np.full(2, np.nan))
        pairs = np.array(list(itertools.permutations(compared, 2)))
        return intervals.Interval(value, *self.largest_change(pairs, confidence))

    def largest_gaps(self) -> Array:
        """Return the largest difference before and after, NaN without all means.

        Groups with too few rows beside every other one are left out, unless all are.
        """
        mean = self.mean
        compared = self._compared()
        if len(compared) and not np.isnan(mean).any():
            mean = mean[compared]
        gaps: Array = np.ptp(mean, axis=0)
        return gaps

    def largest_change(
        self, pairs: NDArray[np.int64], confidence: float
    ) -> intervals.Bounds:
        """Return the ends of the change of the largest difference of some pairs.

        ``pairs``, (pairs, 2), has each of them both ways.
        """
        contrast = np.zeros((len(pairs), len(self.mean)))
        row = np.arange(len(pairs))
        contrast[row, pairs[:, 0]] = 1.0
        contrast[row, pairs[:, 1]] = -1.0
        covariance = self._with_two_more()
        of_change = _of_changes(covariance)
        self._widen_few(covariance)
        # A group of one row or unit has that shrunk rate's spread alone.
        covariance = np.nan_to_num(covariance)
        of_change = np.where(np.isnan(of_change), _of_changes(covariance), of_change)
        gaps = PairGaps(contrast, self.mean, covariance, of_change)
        return gaps.interval_of_largest(confidence)

    def mean_change(self, confidence: float) -> intervals.Interval:
        """Return the change of the mean of the first group."""
        covariance = self._with_two_more()[0, :, 0]
        value = self.mean[0] @ _AFTER_LESS_BEFORE
        variance = _AFTER_LESS_BEFORE @ covariance @ _AFTER_LESS_BEFORE
        half = intervals.normal_quantile(confidence) * np.sqrt(variance)
        return intervals.Interval(value, value - half, value + half)

    def _with_two_more(self) -> Array:
        """Return the covariance with two changed decisions more, one each way.

        Few changed decisions understate their variance (Bonett and Price 2012).
        """
        group = np.arange(len(self.mean))
        rows = np.maximum(self.rows, 1.0)
        covariance = self.covariance.copy()
        of_changes = np.outer(_AFTER_LESS_BEFORE, _AFTER_LESS_BEFORE)
        covariance[group, :, group, :] += of_changes / (2 * rows[:, None, None] ** 2)
        return covariance

    def _widen_few(self, covariance: Array) -> None:
        """Give groups of few decisions of either kind the spread of a shrunk rate.

        A rate of 0 or 1 of few rows has no spread of its own (Agresti and Caffo 2000).
        """
        rows = np.maximum(self.rows, 1.0)[:, None]
        expected = np.minimum(self.mean, 1 - self.mean) * rows
        shrunk = (self.mean * rows + 1) / (rows + 2)
        least = np.where(expected < FEWEST, shrunk * (1 - shrunk) / (rows + 2), 0.0)
        group = np.arange(len(rows))
        for when in (0, 1):
            variance = covariance[group, when, group, when]
            covariance[group, when, group, when] = np.fmax(variance, least[:, when])

    def _compared(self) -> NDArray[np.int64]:
        """Return the groups that have rows enough beside another, before and after."""
        rate = self.mean.T
        variance = np.einsum("gigi->ig", self.covariance)
        rows = np.broadcast_to(self.rows, rate.shape)
        effective = Variance(variance, rows).effective(rate, rows, rows)
        n = np.rint(rows).astype(np.int64)
        cells = CellValues(rate, n, effective, np.sqrt(variance), "rate")
        pairs = np.array(list(itertools.combinations(range(len(self.mean)), 2)))
        too_few = cells.too_few(*pairs.T).any(axis=0)
        return np.unique(pairs[~too_few])


def _of_changes(covariance: Array) -> Array:
    """Return the covariance of the changes of means, (groups, groups)."""
    changes: Array = np.einsum(
        "w,gwhv,v->gh", _AFTER_LESS_BEFORE, covariance, _AFTER_LESS_BEFORE
    )
    return changes


def _covariance(
    residuals: list[Array],
    codes: NDArray[np.int64],
    n_groups: int,
    unit: NDArray[np.int64] | None,
    people: Array | None = None,
) -> Array:
    """Return the covariance of the means of two columns in each group, linearised.

    Groups move together only where they share units.
    """
    covariance = np.zeros((n_groups, 2, n_groups, 2))
    if unit is None:
        # Groups share no rows, and sums by group cost least.
        n_units = np.bincount(codes, people, minlength=n_groups).astype(np.float64)
        group = np.arange(n_groups)
        for first, second in itertools.product(range(2), repeat=2):
            products = residuals[first] * residuals[second]
            if people is not None:
                products = products * people
            sums = np.bincount(codes, products, n_groups)
            covariance[group, first, group, second] = sums
    else:
        unit_row = np.unique(unit, return_inverse=True)[1]
        column = 2 * codes[:, None] + np.arange(2)
        unit_sums = sparse.csr_matrix(
            (np.ravel(residuals, "F"), (np.repeat(unit_row, 2), column.ravel())),
            shape=(int(unit_row.max(initial=0)) + 1, 2 * n_groups),
        )
        covariance += (unit_sums.T @ unit_sums).toarray().reshape(covariance.shape)
        # Both columns of a group have an entry for each of its units.
        n_units = unit_sums.getnnz(axis=0)[::2].astype(np.float64)
    degrees = np.where(n_units > 1, n_units - 1, np.nan)
    factor = np.sqrt(counting.divide(n_units, degrees))
    return covariance * factor[:, None, None, None] * factor[:, None]
