"""Changes of gap and accuracy between two models on the same rows, not folded."""

import numpy as np
from numpy.typing import ArrayLike

from fairdash._arrays import FloatArray
from fairdash._columns import in_one_order
from fairdash._validation import check_lengths, check_one_of
from fairdash.metrics.group import counting, intervals
from fairdash.metrics.group.catalog import measure_of, rate_of
from fairdash.metrics.group.drawn import Drawn, chances
from fairdash.metrics.group.two_models import TwoModels

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
    left out of both gaps; `evaluate`, which describes the rows, counts them.

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
    n_rows = len(chances("before", before))
    groups = counting.group_codes(sensitive_features, np.empty(n_rows))
    y = np.zeros(n_rows)
    place = groups.codes
    if measure_of(measure).needs_outcome:
        if y_true is None:
            raise ValueError(f"`y_true` is needed for {measure!r}.")
        y = _outcomes(y_true)
        check_lengths(y, place)
        # Which rows the rate is about depends on y only.
        is_about, _ = rate_of(measure)
        place = np.where(is_about(y, y), place, -1)
    n_groups = len(groups.names)
    rows = TwoModels.of(
        y,
        before,
        after,
        place,
        n_groups,
        sample_weight=sample_weight,
        cluster=cluster,
    )
    return rows.rates(np.arange(n_groups), n_groups).gap_change(confidence)


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
    y = _outcomes(y_true)
    everyone = np.zeros(len(y), np.int64)
    rows = TwoModels.of(
        y,
        before,
        after,
        everyone,
        1,
        sample_weight=sample_weight,
        cluster=cluster,
    )
    return rows.accuracies().mean_change(confidence)


def _outcomes(y_true: ArrayLike) -> FloatArray:
    """Return 0/1 outcomes as numbers."""
    return counting.binary_vector("y_true", y_true).astype(np.float64)
