"""Changes between two models on the same rows, in closed form."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._columns import in_one_order
from fairdash._metric_names import PARITY, WORST
from fairdash._validation import check_lengths
from fairdash.metrics.group import counting
from fairdash.metrics.group.change import Draws, GroupMeans
from fairdash.metrics.group.drawn import Drawn, chances
from fairdash.metrics.group.intervals import Interval, check_confidence
from fairdash.metrics.group.local_cells import LocalCells, local_cells
from fairdash.metrics.group.variance import unit_codes

_MOST_PAIRS = 2000  # of groups in subgroups, each both ways
_UNDEFINED = Interval(*np.full(3, np.nan))


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

    The intervals of accuracy and of the gap over all rows are those of
    `accuracy_change` and `gap_change`. That of the largest local gap in ``subgroups``
    has the form of that of a gap: the pairs of groups in all estimable subgroups have
    intervals that hold at once, before and after, and so has the largest of each. Where
    decisions are `Drawn`, every figure is the expected one, and intervals have the
    variance of the draws.

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
    new = _vector("y_pred", y_pred)
    old = _vector("y_pred_reference", y_pred_reference)
    check_lengths(y, new, old)
    check_confidence(confidence)
    names, codes = counting.group_codes(sensitive_features, y)
    n = len(y)
    unit = unit_codes(cluster, n)
    weight = counting.row_weights("sample_weight", sample_weight, n)
    decided = (old.astype(np.float64), new.astype(np.float64))

    def draws(change: counting.Counts) -> list[Draws | None]:
        return [
            Draws.of(decisions, change, weight)
            for decisions in (y_pred_reference, y_pred)
        ]

    right = [1 - np.abs(y - column) for column in decided]
    one_group = np.zeros(n, np.int64)
    # A row decided 1 instead of 0 becomes right if its outcome is 1, else wrong.
    draws_of_accuracy = draws(2 * y.astype(np.float64) - 1)
    everyone = GroupMeans.of(right, weight, one_group, 1, unit, draws_of_accuracy)
    draws_of_rates = draws(np.ones(n))
    groups = GroupMeans.of(decided, weight, codes, len(names), unit, draws_of_rates)
    gaps = groups.largest_gaps()
    worst = _LocalChange(np.full(2, np.nan), _UNDEFINED)
    if subgroups is not None:
        local = local_cells(
            sensitive_features=codes,
            subgroups=subgroups,
            min_size=min_size,
            sample_weight=sample_weight,
        )
        check_lengths(y, local.codes)
        worst = _worst_change(local, decided, weight, unit, draws_of_rates, confidence)
    return pd.DataFrame(
        [
            _row("accuracy", everyone.mean[0], everyone.mean_change(confidence)),
            _row(PARITY, gaps, groups.gap_change(confidence)),
            _row(WORST, worst.gaps, worst.change),
        ]
    )


class _LocalChange(NamedTuple):
    """The largest local gap before and after, (2,), and its change."""

    gaps: counting.Counts
    change: Interval


def _worst_change(
    local: LocalCells,
    decided: Sequence[counting.Counts],
    weight: counting.Counts,
    unit: NDArray[np.int64] | None,
    draws: Sequence[Draws | None],
    confidence: float,
) -> _LocalChange:
    """Return the largest local gap of both models, and the interval of its change."""
    mass = weight * (local.place >= 0)
    sums = np.bincount(np.maximum(local.place, 0), mass, local.rows.size)
    # A pair needs two groups with rows that weigh, in a subgroup that is estimable.
    usable = (sums.reshape(local.shape) > 0) & local.estimable[:, None]
    usable &= usable.sum(axis=1, keepdims=True) > 1
    cells = np.flatnonzero(usable)
    if not len(cells):
        return _LocalChange(np.full(2, np.nan), _UNDEFINED)
    number = np.full(local.rows.size + 1, -1)  # the last is of rows in no cell
    number[cells] = np.arange(len(cells))
    cell = number[local.place]
    mass = weight * (cell >= 0)
    means = GroupMeans.of(decided, mass, np.maximum(cell, 0), len(cells), unit, draws)
    subgroup = cells // len(local.groups)
    same_subgroup = subgroup[:, None] == subgroup
    first, second = np.nonzero(same_subgroup & ~np.eye(len(cells), dtype=bool))
    gaps = (means.mean[first] - means.mean[second]).max(axis=0)
    if len(first) > _MOST_PAIRS:
        return _LocalChange(gaps, _UNDEFINED)
    pairs = np.column_stack([first, second])
    low, high = means.largest_change(pairs, confidence)
    value = np.array(gaps[1] - gaps[0])
    # Ends of shares near 0 and 1 lie further inside than the shares themselves.
    change = Interval(value, np.minimum(low, value), np.maximum(high, value))
    return _LocalChange(gaps, change)


def _vector(name: str, decisions: ArrayLike | Drawn) -> NDArray[Any]:
    """Return decisions 0 or 1, or the chances of drawn ones."""
    if isinstance(decisions, Drawn):
        return chances(name, decisions)
    return counting.binary_vector(name, decisions)


def _row(metric: str, means: Iterable[float], change: Interval) -> dict[str, Any]:
    """Return a row of the table; ``means`` are of the reference and of the model."""
    reference, value = map(float, means)
    return {
        "metric": metric,
        "value": value,
        "reference": reference,
        "difference": value - reference,
        "low": float(change.low),
        "high": float(change.high),
    }
