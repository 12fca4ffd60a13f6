"""Rates of groups, how far they are apart, and what a constraint leaves."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_lengths, check_one_of, encode_groups
from fairdash.metrics.group.counting import (
    Counts,
    divide,
    group_codes,
    labels,
    probability_models,
    spread,
)
from fairdash.metrics.group.measured import Measured

_METHODS = ("between_groups", "to_overall")
_ODDS = ("true_positive_rate", "false_positive_rate")
_OUTCOMES: dict[str, tuple[tuple[int, ...], ...]] = {
    "demographic_parity": ((0, 1),),
    "equalized_odds": ((1,), (0,)),
    "true_positive_rate_parity": ((1,),),
}


def measure_difference(
    measure: str,
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    method: str = "between_groups",
) -> float:
    """Return the largest difference of a measure between groups.

    Parameters
    ----------
    measure, y_true, y_pred, sensitive_features, sample_weight, pos_label
        As in :func:`measure_by_group`.
    method : {"between_groups", "to_overall"}
        "to_overall" is the largest distance of a group from the value of all rows.

    Returns
    -------
    float; NaN if the measure of a group is undefined
    """
    asked = sensitive_features, sample_weight, pos_label
    return float(spread(_compared(measure, y_true, y_pred, *asked, method)).max())


def measure_ratio(
    measure: str,
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    method: str = "between_groups",
) -> float:
    """Return the smallest over the largest value of a measure in the groups.

    NaN if the measure of a group is undefined, for 0 over 0, and for ``calibration``,
    which has signs; parameters as in :func:`measure_difference`. "to_overall" is the
    smallest ratio of a group's value and that of all rows, the smaller of the two over
    the larger.
    """
    asked = sensitive_features, sample_weight, pos_label
    values = _compared(measure, y_true, y_pred, *asked, method)
    return float("nan") if measure == "calibration" else float(ratio(values).min())


def _compared(
    measure: str,
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    sample_weight: ArrayLike | None,
    pos_label: Any,
    method: str,
) -> Counts:
    """Return a measure in all groups as one row, or beside all rows in a row each."""
    check_one_of("method", method, _METHODS)
    measured = Measured.of(measure, y_true, y_pred, sample_weight, pos_label)
    groups = group_codes(sensitive_features, measured.y)
    values = measured.estimate(groups.codes, (len(groups.names),)).value
    if method == "between_groups":
        return values[None]
    overall = measured.estimate(np.zeros_like(groups.codes), (1,)).value
    return np.stack(np.broadcast_arrays(values, overall), axis=-1)


def demographic_parity_difference(y_pred: ArrayLike, **asked: Any) -> float:
    """Largest minus smallest rate of positive predictions over the groups ("DI").

    Parameters
    ----------
    y_pred : array-like of 0/1, (n_rows,)
    **asked
        sensitive_features, sample_weight, pos_label and method, as in
        :func:`measure_difference`.
    """
    return measure_difference("selection_rate", None, y_pred, **asked)


def demographic_parity_ratio(y_pred: ArrayLike, **asked: Any) -> float:
    """Smallest over largest rate of positive predictions (four-fifths rule).

    NaN if no row is predicted positive; ``asked`` as in :func:`measure_ratio`.
    """
    return measure_ratio("selection_rate", None, y_pred, **asked)


def equalized_odds_difference(
    y_true: ArrayLike, y_pred: ArrayLike, *, agg: str = "worst_case", **asked: Any
) -> float:
    """Return the larger of the gaps in true and in false positive rate.

    Their mean with ``agg="mean"``. NaN if a group has no positive or no negative row.
    ``asked`` as in :func:`measure_difference`.
    """
    check_one_of("agg", agg, ("worst_case", "mean"))
    gaps = np.array([measure_difference(m, y_true, y_pred, **asked) for m in _ODDS])
    return float(gaps.max() if agg == "worst_case" else gaps.mean())


def equalized_odds_ratio(
    y_true: ArrayLike, y_pred: ArrayLike, *, agg: str = "worst_case", **asked: Any
) -> float:
    """Return the smaller of the ratios of true and of false positive rates.

    Their mean with ``agg="mean"``. NaN if a group has no positive or no negative row,
    or all rates of one outcome are 0. ``asked`` as in :func:`measure_ratio`.
    """
    check_one_of("agg", agg, ("worst_case", "mean"))
    ratios = np.array([measure_ratio(m, y_true, y_pred, **asked) for m in _ODDS])
    return float(ratios.min() if agg == "worst_case" else ratios.mean())


def equal_opportunity_difference(
    y_true: ArrayLike, y_pred: ArrayLike, **asked: Any
) -> float:
    """Return the gap in true positive rate; NaN if a group has no positive row.

    ``asked`` as in :func:`measure_difference`.
    """
    return measure_difference("true_positive_rate", y_true, y_pred, **asked)


def equal_opportunity_ratio(
    y_true: ArrayLike, y_pred: ArrayLike, **asked: Any
) -> float:
    """Return the smallest over the largest true positive rate of the groups.

    NaN if a group has no positive row or none is predicted positive. ``asked`` as in
    :func:`measure_ratio`.
    """
    return measure_ratio("true_positive_rate", y_true, y_pred, **asked)


def ratio(rates: Counts) -> Counts:
    """Return the smallest over the largest rate of the last axis."""
    return divide(rates.min(axis=-1), rates.max(axis=-1))


def expected_violations(
    y_true: ArrayLike, scores: ArrayLike, *, sensitive_features: ArrayLike
) -> pd.DataFrame:
    """Return how far groups are apart on average, before and after rounding.

    A method that constrains probabilities can close the first and leave the second; a
    decision drawn with the probability has the first in expectation.

    Returns
    -------
    DataFrame
        One row per ``constraint``: ``expected``, the largest minus the smallest mean
        probability of the groups, and ``rounded``, the same of the decisions at one
        half. Under equalized odds the two differences, one for each outcome, are added,
        as in Rezaei et al. (2020). NaN where a group has no rows to compare.
    """
    target = labels("y_true", y_true)
    probability = probability_models("scores", scores)[0].astype(np.float64)
    check_lengths(target, probability)
    groups, codes = encode_groups(sensitive_features, probability)
    kinds = {"expected": probability, "rounded": (probability > 0.5).astype(np.float64)}
    rows = []
    for constraint, outcomes in _OUTCOMES.items():
        cells = [np.isin(target, chosen) for chosen in outcomes]
        row = {
            name: sum(_spread(values[c], codes[c], len(groups)) for c in cells)
            for name, values in kinds.items()
        }
        rows.append({"constraint": constraint, **row})
    return pd.DataFrame(rows)


def _spread(
    values: NDArray[np.float64], codes: NDArray[np.int64], n_groups: int
) -> float:
    sizes = np.bincount(codes, minlength=n_groups)
    if not sizes.all():
        return np.nan
    return float(np.ptp(np.bincount(codes, values, n_groups) / sizes))
