"""Largest gaps of rates between groups, as one number."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairdash._columns import in_one_order
from fairdash.metrics.group.counting import Counts, divide, spread
from fairdash.metrics.group.group_measure import GroupMeasure
from fairdash.metrics.group.measured import Measured

_ODDS = ("true_positive_rate", "false_positive_rate")


@in_one_order
def demographic_parity_difference(
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Largest minus smallest rate of positive predictions over the groups ("DI").

    Parameters
    ----------
    y_pred : array-like of 0/1, (n_rows,)
    sensitive_features, sample_weight, pos_label
        As in :func:`measure_by_group`.
    """
    rows = sensitive_features, sample_weight, pos_label
    return float(spread(_rates("selection_rate", None, y_pred, *rows)))


@in_one_order
def equalized_odds_difference(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Return the larger of the gaps in true and in false positive rate.

    NaN if a group has no positive or no negative row; parameters as in
    :func:`measure_by_group`.
    """
    rows = sensitive_features, sample_weight, pos_label
    gaps = [spread(_rates(measure, y_true, y_pred, *rows)) for measure in _ODDS]
    return float(np.max(gaps))


def _rates(
    measure: str,
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    sample_weight: ArrayLike | None,
    pos_label: Any,
) -> Counts:
    rows = Measured.of(measure, y_true, y_pred, sample_weight, pos_label)
    return GroupMeasure.of(rows, sensitive_features).values.value


def ratio(rates: Counts) -> Counts:
    """Return the smallest over the largest rate of the last axis, NaN if all are 0."""
    return divide(rates.min(axis=-1), rates.max(axis=-1))
