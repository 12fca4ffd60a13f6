"""Changes between two models on the same rows, in closed form."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._columns import in_one_order
from fairdash._metric_names import PARITY, WORST
from fairdash._validation import check_lengths
from fairdash.metrics.group import counting, local_measures
from fairdash.metrics.group.change import Draws, GroupMeans
from fairdash.metrics.group.drawn import Drawn, chances
from fairdash.metrics.group.intervals import Interval, check_confidence
from fairdash.metrics.group.variance import unit_codes

_MOST_PAIRS = 2000  # of groups in subgroups, each both ways


@in_one_order
def compare(
    y_true: ArrayLike,
    y_pred: ArrayLike | Drawn,
    y_pred_reference: ArrayLike | Drawn,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike | None = None,
    min_size: int = 50,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> pd.DataFrame:
    """Return the difference of two models on the same rows, with its interval.

    Those of accuracy and of the gap over all rows are of `accuracy_change` and
    `gap_change`. That of the largest local gap, of ``subgroups``, is of the same form
    as that of a gap: the pairs of groups in all estimable subgroups have intervals that
    hold at once, before and after, and so has the largest of each. Of `Drawn` decisions
    every figure is the expected one, and intervals have the variance of the draws.

    Returns
    -------
    DataFrame, one row per metric (accuracy, demographic_parity_difference, worst_1_di):
    metric, value, reference, difference (value - reference), low, high. The ends of
    worst_1_di are NaN where there are more than 2,000 pairs.

    Notes
    -----
    The largest of many gaps is larger than the true one by luck, and a resample adds to
    that luck: a percentile interval of its change held the truth in .2 to .6 of tables
    where one gap was removed.
    """
    y = counting.binary_vector("y_true", y_true)
    new, old = _vector("y_pred", y_pred), _vector("y_pred_reference", y_pred_reference)
    check_lengths(y, new, old)
    check_confidence(confidence)
    names, codes = counting.group_codes(sensitive_features, y)
    n, unit = len(y), unit_codes(cluster, len(y))
    weight = counting.row_weights("sample_weight", sample_weight, n)
    both = _numbers(old, new)
    pair = y_pred_reference, y_pred
    draws = [Draws.of(decisions, np.ones(n), weight) for decisions in pair]
    apart = GroupMeans.of(both, weight, codes, len(names), unit, draws)
    right = [1 - np.abs(y - decided) for decided in both]
    up = 2 * y.astype(np.float64) - 1
    draws = [Draws.of(decisions, up, weight) for decisions in pair]
    everyone = GroupMeans.of(right, weight, np.zeros(n, np.int64), 1, unit, draws)
    gaps = counting.spread(apart.mean.T)
    figures = [
        _row("accuracy", everyone.mean[0], everyone.mean_change(confidence)),
        _row(PARITY, gaps, apart.gap_change(confidence)),
    ]
    worst, change = np.full(2, np.nan), Interval(*np.full(3, np.nan))
    if subgroups is not None:
        local = local_measures.local_cells(
            sensitive_features=codes,
            subgroups=subgroups,
            min_size=min_size,
            sample_weight=sample_weight,
        )
        check_lengths(y, local.codes)
        draws = [Draws.of(decisions, np.ones(n), weight) for decisions in pair]
        worst, change = _worst_change(local, both, weight, unit, draws, confidence)
    return pd.DataFrame([*figures, _row(WORST, worst, change)])


def _worst_change(
    local: local_measures.LocalCells,
    both: Sequence[counting.Counts],
    weight: counting.Counts,
    unit: NDArray[np.int64] | None,
    draws: Sequence[Draws | None],
    confidence: float,
) -> tuple[counting.Counts, Interval]:
    """Return the largest local gap of both models, and the interval of its change."""
    n_groups, nothing = len(local.groups), Interval(*np.full(3, np.nan))
    mass = weight * (local.place >= 0)
    sums = np.bincount(np.maximum(local.place, 0), mass, local.rows.size)
    valued = (sums.reshape(local.shape) > 0) & local.estimable[:, None]
    valued &= valued.sum(axis=1, keepdims=True) > 1
    cells = np.flatnonzero(valued)
    if not len(cells):
        return np.full(2, np.nan), nothing
    number = np.full(local.rows.size + 1, -1)  # the last is of rows in no cell
    number[cells] = np.arange(len(cells))
    cell = number[local.place]
    mass = weight * (cell >= 0)
    means = GroupMeans.of(both, mass, np.maximum(cell, 0), len(cells), unit, draws)
    subgroup = cells // n_groups
    first, second = np.nonzero(
        (subgroup[:, None] == subgroup) & ~np.eye(len(cells), dtype=bool)
    )
    gaps = means.mean[first] - means.mean[second]
    worst = gaps.max(axis=0)
    change = nothing
    if len(first) <= _MOST_PAIRS:
        pairs = np.column_stack([first, second])
        low, high = means.largest_change(pairs, confidence)
        value = np.array(worst[1] - worst[0])
        # ends of shares near 0 and 1 lie further inside than the shares themselves
        change = Interval(value, np.minimum(low, value), np.maximum(high, value))
    return worst, change


def _vector(name: str, decisions: ArrayLike | Drawn) -> NDArray[Any]:
    if isinstance(decisions, Drawn):
        return chances(name, decisions)
    return counting.binary_vector(name, decisions)


def _numbers(*columns: NDArray[Any]) -> tuple[counting.Counts, ...]:
    return tuple(column.astype(np.float64) for column in columns)


def _row(metric: str, means: Iterable[float], change: Interval) -> dict[str, Any]:
    reference, value = map(float, means)
    ends = {"low": float(change.low), "high": float(change.high)}
    both = {"value": value, "reference": reference}
    return {"metric": metric, **both, "difference": value - reference, **ends}
