r"""Any measure of a classifier by group, with intervals; calibration.

A rate is a share of positives among the rows it is about, its *support*: all rows, the
rows of one outcome, or the rows predicted positive. Its interval is Wilson's; with
weights or units at the number of rows that has the linearised variance, see
`fairdash.metrics.group.variance`.
"""

import itertools
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._columns import in_one_order
from fairdash._validation import (
    as_written,
    check_lengths,
    check_whole,
    value_label,
)
from fairdash.metrics.group.counting import binary_vector, divide, group_codes
from fairdash.metrics.group.drawn import Drawn
from fairdash.metrics.group.group_measure import GroupMeasure
from fairdash.metrics.group.intervals import check_confidence
from fairdash.metrics.group.measured import Measured
from fairdash.metrics.group.variance import unit_codes

_FEW = 12  # distinct scores that are each a bin
_FOLDS = 10  # of rows that get probabilities from the others


@in_one_order
def measure_by_group(
    measure: str,
    y_true: ArrayLike | None,
    y_pred: ArrayLike | Drawn,
    *,
    sensitive_features: ArrayLike,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    cluster: ArrayLike | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    r"""Return a measure in every group, with its interval.

    ============================ =========================== ==========================
    measure                      definition                  interval
    ============================ =========================== ==========================
    ``selection_rate``           :math:`P(\hat y = 1)`       Wilson
    ``true_positive_rate``       :math:`P(\hat y=1 | y=1)`   Wilson
    ``false_positive_rate``      :math:`P(\hat y=1 | y=0)`   Wilson
    ``false_negative_rate``      :math:`P(\hat y=0 | y=1)`   Wilson
    ``precision``                :math:`P(y=1 | \hat y=1)`   Wilson
    ``accuracy``                 :math:`P(\hat y = y)`       Wilson
    ``calibration``              :math:`E[p] - P(y = 1)`     of a mean, by outcome
    ``brier``                    :math:`E[(p - y)^2]`        of a mean, by outcome
    ``auc``                      :math:`P(p_1 > p_0)` and    DeLong on the logit scale
                                 half of ties
    ``error_cost a:b``           mean of 2a / (a + b) for    of a mean, by outcome
                                 a false positive and of
                                 2b / (a + b) for a false
                                 negative
    ============================ =========================== ==========================

    A mean :math:`\theta = m_0 + \pi (m_1 - m_0)` has Wilson's interval of the rate
    :math:`\pi` of outcome 1 and Student's of the means by outcome, put together as by
    Zou and Donner (2008): a rare outcome carries most of its spread. The error of an
    AUC of rows that all tie is the largest there can be (Birnbaum and Klose 1957).

    With weights or units the variance is linearised, quantiles are Student's, and
    Wilson's interval is at the number of independent rows with that variance (Korn and
    Graubard 1998).

    Parameters
    ----------
    y_true : array-like of 0/1, (n_rows,)
        None only for ``selection_rate``.
    y_pred : array-like, (n_rows,)
        0/1 decisions, or `Drawn` ones, of which a rate or a cost is the expected one;
        probabilities for ``calibration``, ``brier`` and ``auc``.
    pos_label : object, optional
        The positive value of outcomes and decisions, of which there are then two of any
        kind; without it these are 0 and 1, or -1 and 1.
    sample_weight : array-like, (n_rows,), optional
        Sampling weights. Of equal weights nothing depends.
    cluster : array-like, (n_rows,), optional
        Unit of each row, such as a person with several visits: rows of one unit are not
        independent.

    Returns
    -------
    DataFrame, one row per group: group, value, ci_low, ci_high, n. ``n`` counts the
    rows that the measure is about, such as the positive ones of a true positive rate.
    What no row supports is NaN, never 0.

    Raises
    ------
    ValueError
        For an unknown measure, labels that are not 0/1, probabilities outside [0, 1],
        missing groups or units, or weights that are negative or not finite.

    References
    ----------
    Z. W. Birnbaum and O. M. Klose (1957), Bounds for the variance of the Mann-Whitney
    statistic. Annals of Mathematical Statistics 28, 933-945. E. R. DeLong, D. M. DeLong
    and D. L. Clarke-Pearson (1988), Comparing the areas under two or more correlated
    receiver operating characteristic curves. Biometrics 44, 837-845.
    """
    rows = Measured.of(measure, y_true, y_pred, sample_weight, pos_label, cluster)
    of_groups = GroupMeasure.of(rows, sensitive_features)
    return of_groups.table(confidence=confidence)


@in_one_order
def expected_measure(
    measure: str,
    y_true: ArrayLike | None,
    h: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    r"""Return a measure of decisions drawn with probabilities h, on average over draws.

    A row counts as decided 1 with share h and as decided 0 with share 1 - h. Intervals
    are those of :func:`measure_by_group` with expected counts, such as Wilson's for
    :math:`\sum h` of n rows. They are as wide as of decisions once drawn, so they hold
    the average over draws more often than stated: :math:`E[(h - \bar h)^2] \le
    \bar h (1 - \bar h)`. For h of 0 and 1 they are those of decisions.

    Parameters
    ----------
    measure : a rate, or an error cost
    y_true, sensitive_features, sample_weight, cluster, confidence
        As in :func:`measure_by_group`.
    h : array-like of numbers in [0, 1], (n_rows,)

    Returns
    -------
    DataFrame as :func:`measure_by_group` returns it, with n expected rows

    Raises
    ------
    ValueError
        As :func:`measure_by_group`, for measures of scores too.
    """
    return measure_by_group(
        measure,
        y_true,
        Drawn(np.asarray(h)),
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        cluster=cluster,
        confidence=confidence,
    )


@in_one_order
def measure_gaps(
    measure: str,
    y_true: ArrayLike | None,
    y_pred: ArrayLike | Drawn,
    *,
    sensitive_features: ArrayLike,
    reference: str | None = None,
    favourable: bool = True,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    cluster: ArrayLike | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    r"""Return how far every group is from a reference group, with signs.

    Parameters
    ----------
    measure, y_true, y_pred, sensitive_features, sample_weight, pos_label, cluster, \
confidence
        As in :func:`measure_by_group`.
    reference : str, optional
        Name of a group; without it the group that is best off of those with enough
        rows to be compared, see :func:`better_when`.
    favourable : bool, default=True
        Whether a positive decision is good for the person; decides who is best off.

    Returns
    -------
    DataFrame, one row per other group: group, reference, value, reference_value,
    difference (value - reference_value), ci_low, ci_high, ratio (value /
    reference_value; four fifths is the rule of thumb for selection rates), ratio_low,
    ratio_high, n, too_few (whether a group expects fewer than five rows of either
    value, so that no sentence should name the difference). Intervals of two estimates
    combine as Newcombe's do; those of a best group chosen from the same rows are not
    corrected for the choice. A ratio with 0, and that of ``calibration``, which has
    signs, is NaN.
    """
    rows = Measured.of(measure, y_true, y_pred, sample_weight, pos_label, cluster)
    of_groups = GroupMeasure.of(rows, sensitive_features)
    return of_groups.gaps(
        reference=reference, favourable=favourable, confidence=confidence
    )


@in_one_order
def calibration_curve(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    bins: int = 10,
    confidence: float = 0.95,
) -> pd.DataFrame:
    r"""Return how often the outcome is 1 where a score says the same, by group.

    A score is calibrated by group when :math:`P(y = 1 \mid \text{score}, s)` does not
    depend on the group s; a calibrated probability also equals it.

    Parameters
    ----------
    y_true : array-like of 0/1, (n_rows,)
    scores : array-like of finite numbers, (n_rows,)
        Probabilities or any other scores, such as deciles.
    bins : int, default=10
        Of equal width, from the smallest to the largest score, or from 0 to 1 for
        scores inside; up to twelve distinct scores are a bin each.

    Returns
    -------
    DataFrame, one row per group and bin: group, bin (text), n, mean_score, rate,
    ci_low, ci_high (Wilson, as of a rate in :func:`measure_by_group`). Without rows the
    last four are NaN.
    """
    check_whole("bins", bins, at_least=2)
    check_confidence(confidence)
    y = binary_vector("y_true", y_true)
    values = np.asarray(scores, dtype=np.float64)
    check_lengths(y, values)
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        raise ValueError(
            f"`scores` must be finite numbers; {len(wrong)} rows are not, the first is "
            f"{as_written(values[wrong[0]])} in row {wrong[0]}. Exclude these rows."
        )
    groups = group_codes(sensitive_features, y)
    n_groups = len(groups.names)
    score_bin, names = _score_bins(values, bins)
    cell = groups.codes * len(names) + score_bin
    rows = Measured.of("selection_rate", None, y, sample_weight, cluster=cluster)
    estimates = rows.estimate(cell, (n_groups, len(names)))
    rate = estimates.interval(confidence)
    mass = rows.sample.mass()
    score_sums = np.bincount(cell, mass * values, n_groups * len(names))
    mean_score = divide(score_sums, np.bincount(cell, mass, n_groups * len(names)))
    return pd.DataFrame(
        {
            "group": np.repeat(groups.names, len(names)),
            "bin": np.tile(names, n_groups),
            "n": estimates.n.ravel(),
            "mean_score": mean_score,
            "rate": rate.value.ravel(),
            "ci_low": rate.low.ravel(),
            "ci_high": rate.high.ravel(),
        }
    )


def _score_bins(
    values: NDArray[np.float64], bins: int
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the bin of each score, and the names of the bins."""
    distinct = np.unique(values)
    if len(distinct) <= _FEW:
        return np.searchsorted(distinct, values), [_short(score) for score in distinct]
    low = distinct[0]
    high = distinct[-1]
    if low >= 0 and high <= 1:
        low = 0.0
        high = 1.0
    edges = np.linspace(low, high, bins + 1)
    # The largest score is at the last edge, and belongs to the last bin.
    score_bin = np.searchsorted(edges, values, side="right") - 1
    names = [f"{_short(a)}–{_short(b)}" for a, b in itertools.pairwise(edges)]
    return np.clip(score_bin, 0, bins - 1), names


@in_one_order
def as_probabilities(
    y_true: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    cluster: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return how often the outcome is 1 at a score: isotonic regression, in ten folds.

    For scores that are no probabilities, such as deciles; over all groups together, so
    that gaps in calibration say for whom a score means more than on the whole. The
    probabilities of a tenth of the rows come from the other nine: a fit measured on its
    own rows looks better than it is. So what is measured of them is of regressions on
    as many such rows in the mean (Bates, Hastie and Tibshirani 2023), and not of the
    one on all these rows, which varies by itself. The rows of a unit, of a ``cluster``,
    are in one fold. Folds are the same each time.
    """
    from sklearn.isotonic import IsotonicRegression

    y = np.asarray(y_true)
    values = np.asarray(scores, dtype=np.float64)
    check_lengths(y, values, sample_weight, cluster)
    weight = None if sample_weight is None else np.asarray(sample_weight)
    unit = unit_codes(cluster, len(y))
    unit = np.arange(len(y)) if unit is None else unit
    n_units = int(unit.max(initial=-1)) + 1
    n_folds = min(_FOLDS, n_units)
    order = np.random.default_rng(0).permutation(n_units)
    fold = (order % max(n_folds, 1))[unit]
    probabilities = np.empty(len(y))
    for k in range(n_folds):
        test = fold == k
        training = ~test
        if n_folds == 1:  # a single unit has no other rows to learn from
            training = test
        training_weight = None if weight is None else weight[training]
        isotonic = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        isotonic.fit(values[training], y[training], training_weight)
        probabilities[test] = isotonic.predict(values[test])
    return probabilities


def _short(value: float) -> str:
    """Return a score in three digits."""
    return value_label(float(f"{value:.3g}"))
