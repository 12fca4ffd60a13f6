r"""Any measure of a classifier by group, each with an interval.

A rate is a share of positives among the rows it is about, its *support*: all rows, the
rows of one outcome, or the rows predicted positive. Its interval is Wilson's. With
weights :math:`w` the share is weighted and the interval is Wilson's at the effective
number of rows :math:`(\sum w)^2 / \sum w^2` (Kish 1965, section 8.2).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtri
from scipy.stats import rankdata
from sklearn.utils import check_consistent_length

from fairdash._validation import check_one_of
from fairdash.metrics.group.counting import (
    binary_vector,
    group_codes,
    probability_models,
)
from fairdash.metrics.group.intervals import check_confidence, wilson_interval

Array = NDArray[np.float64]


class Estimate(NamedTuple):
    """A value with the ends of its interval; NaN where undefined."""

    value: float
    low: float
    high: float


_UNDEFINED = Estimate(np.nan, np.nan, np.nan)


class Rate(NamedTuple):
    """The share of rows with some property among the rows a rate is about."""

    about: Callable[[Array, Array], NDArray[np.bool_]]
    counted: Callable[[Array, Array], NDArray[np.bool_]]
    needs_outcome: bool = True


_RATES = {
    "selection_rate": Rate(lambda y, d: d >= 0, lambda y, d: d == 1, False),
    "true_positive_rate": Rate(lambda y, d: y == 1, lambda y, d: d == 1),
    "false_positive_rate": Rate(lambda y, d: y == 0, lambda y, d: d == 1),
    "false_negative_rate": Rate(lambda y, d: y == 1, lambda y, d: d == 0),
    "precision": Rate(lambda y, d: d == 1, lambda y, d: y == 1),
    "accuracy": Rate(lambda y, d: d >= 0, lambda y, d: d == y),
}
MEASURES = (*_RATES, "calibration", "brier", "auc")
SCORE_MEASURES = ("calibration", "brier", "auc")


def measure_by_group(
    measure: str,
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    sample_weight: ArrayLike | None = None,
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
    ``calibration``              :math:`E[p] - P(y = 1)`     normal, of a mean
    ``brier``                    :math:`E[(p - y)^2]`        normal, of a mean
    ``auc``                      :math:`P(p_1 > p_0)` and    DeLong on the logit scale
                                 half of ties
    ============================ =========================== ==========================

    Parameters
    ----------
    measure : str
    y_true : array-like of 0/1, (n_rows,)
        None only for ``selection_rate``.
    y_pred : array-like, (n_rows,)
        0/1 decisions; probabilities for ``calibration``, ``brier`` and ``auc``.
    sensitive_features : array-like, (n_rows,)
    sample_weight : array-like of non-negative numbers, (n_rows,), optional
    confidence : float, default=0.95

    Returns
    -------
    DataFrame, one row per group: group, value, ci_low, ci_high, n. ``n`` counts the
    rows that the measure is about, such as the positive ones of a true positive rate.
    What no row supports is NaN, never 0.

    Raises
    ------
    ValueError
        For an unknown measure, labels that are not 0/1, probabilities outside [0, 1],
        missing groups, or weights that are negative or not finite.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Comparing the areas
    under two or more correlated receiver operating characteristic curves. Biometrics
    44, 837-845.
    """
    check_one_of("measure", measure, MEASURES)
    check_confidence(confidence)
    scored = measure in SCORE_MEASURES
    predicted = (
        probability_models("y_pred", y_pred)[0]
        if scored
        else binary_vector("y_pred", y_pred)
    ).astype(np.float64)
    groups = group_codes(sensitive_features, predicted)
    if y_true is None:
        if scored or _RATES[measure].needs_outcome:
            raise ValueError(f"`y_true` is needed for {measure!r}.")
        outcome = np.zeros(len(predicted))
    else:
        outcome = binary_vector("y_true", y_true).astype(np.float64)
    check_consistent_length(outcome, predicted)
    weight = _weights(sample_weight, predicted)
    rows = []
    for code, name in enumerate(groups.names):
        own = groups.codes == code
        y, p, w = outcome[own], predicted[own], weight[own]
        if scored:
            n = len(y)
            estimate = _SCORES[measure](y, p, w, confidence)
        else:
            about = _RATES[measure].about(y, p)
            n = int(about.sum())
            counted = _RATES[measure].counted(y, p)[about]
            estimate = _share(counted, w[about], confidence)
        rows.append((name, *estimate, n))
    return pd.DataFrame(rows, columns=["group", "value", "ci_low", "ci_high", "n"])


def _weights(sample_weight: ArrayLike | None, like: Array) -> Array:
    if sample_weight is None:
        return np.ones(len(like))
    weight = np.asarray(sample_weight, np.float64)
    if weight.shape != like.shape:
        message = f"`sample_weight` must have one entry per row, {len(like):,}, got"
        raise ValueError(f"{message} shape {weight.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        first = wrong[0]
        raise ValueError(
            f"`sample_weight` must be finite and not negative; {len(wrong)} entries "
            f"are not, the first is {weight[first]} in row {first}."
        )
    return weight


def _effective(weight: Array) -> float:
    """Return Kish's effective number of rows, 0 where nothing weighs."""
    squares = float(weight @ weight)
    return float(weight.sum()) ** 2 / squares if squares else 0.0


def _share(counted: NDArray[np.bool_], weight: Array, confidence: float) -> Estimate:
    n = _effective(weight)
    if not n:
        return _UNDEFINED
    value = float(weight @ counted / weight.sum())
    low, high = wilson_interval(value * n, n, confidence=confidence)
    return Estimate(value, float(low), float(high))


def _mean(values: Array, weight: Array, confidence: float) -> Estimate:
    """Return a weighted mean with its normal interval."""
    n = _effective(weight)
    if not n:
        return _UNDEFINED
    share = weight / weight.sum()
    value = float(share @ values)
    if n <= 1:
        return Estimate(value, np.nan, np.nan)
    variance = float(share @ (values - value) ** 2) / (n - 1)
    half = _normal(confidence) * np.sqrt(variance)
    return Estimate(value, value - half, value + half)


def _calibration(y: Array, p: Array, weight: Array, confidence: float) -> Estimate:
    return _mean(p - y, weight, confidence)


def _brier(y: Array, p: Array, weight: Array, confidence: float) -> Estimate:
    value, low, high = _mean((p - y) ** 2, weight, confidence)
    return Estimate(value, max(low, 0.0), high)


def _auc(y: Array, p: Array, weight: Array, confidence: float) -> Estimate:
    """Return the area under the ROC curve; its variance is DeLong's."""
    ones, zeros = (y == side for side in (1, 0))
    w1, w0 = weight[ones], weight[zeros]
    n1, n0 = _effective(w1), _effective(w0)
    if not n1 or not n0:
        return _UNDEFINED
    # share of the other outcome's weight below each row, half of ties
    above = _placement(p[ones], p[zeros], w0)
    below = 1 - _placement(p[zeros], p[ones], w1)
    value = float(w1 @ above / w1.sum())
    if n1 <= 1 or n0 <= 1 or not 0 < value < 1:
        return Estimate(value, np.nan, np.nan)
    variance = sum(
        float(w @ (place - value) ** 2 / w.sum()) / (n - 1)
        for w, place, n in ((w1, above, n1), (w0, below, n0))
    )
    half = _normal(confidence) * np.sqrt(variance) / (value * (1 - value))
    low, high = expit([logit(value) - half, logit(value) + half])
    return Estimate(value, float(low), float(high))


def _placement(values: Array, others: Array, weight: Array) -> Array:
    """Return the share of ``others`` below each value, counting half of ties."""
    if (weight == weight[0]).all():
        joint = rankdata(np.concatenate([values, others]))[: len(values)]
        return np.asarray((joint - rankdata(values)) / len(others))
    order = np.argsort(others)
    mass = np.concatenate([[0.0], np.cumsum(weight[order])])
    ends = (np.searchsorted(others[order], values, side) for side in ("left", "right"))
    left, right = ends
    return np.asarray((mass[left] + mass[right]) / 2 / mass[-1])


def _normal(confidence: float) -> float:
    return float(ndtri((1 + confidence) / 2))


_SCORES: dict[str, Callable[[Array, Array, Array, float], Any]] = {
    "calibration": _calibration,
    "brier": _brier,
    "auc": _auc,
}
