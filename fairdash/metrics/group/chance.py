"""Changes between two models on the same rows, in closed form."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._columns import in_one_order
from fairdash._metric_names import PARITY, WORST
from fairdash._validation import check_lengths
from fairdash.metrics.group import counting
from fairdash.metrics.group.drawn import Drawn
from fairdash.metrics.group.intervals import Interval, check_confidence
from fairdash.metrics.group.local_cells import LocalCells, local_cells
from fairdash.metrics.group.two_models import TwoModels

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
    metric, value, reference, difference (value - reference), low, high, and n_left_out:
    how many groups have too few rows for the gap over all rows. `evaluate` describes
    the rows, so it counts them; a change is a statement about groups with rows enough.
    The ends of worst_1_di are NaN where there are more than 2,000 pairs.

    Notes
    -----
    The largest of many gaps is larger than the true one by luck, and a resample adds to
    that luck: a percentile interval of its change held the truth in .2 to .6 of tables
    where one gap was removed.
    """
    y = counting.binary_vector("y_true", y_true)
    new = _checked("y_pred", y_pred)
    old = _checked("y_pred_reference", y_pred_reference)
    check_lengths(y, new, old)
    check_confidence(confidence)
    groups = counting.group_codes(sensitive_features, y)
    local = local_cells(
        sensitive_features=groups.codes,
        subgroups=subgroups,
        min_size=min_size,
        sample_weight=sample_weight,
    )
    check_lengths(y, local.codes)
    rows = TwoModels.of(
        y.astype(np.float64),
        old,
        new,
        local.place_of_row,
        local.n_places,
        sample_weight=sample_weight,
        cluster=cluster,
    )
    everyone = rows.accuracies()
    of_groups = rows.rates(local.group_of_place, len(groups.names))
    worst = _worst_change(local, rows, confidence)
    return pd.DataFrame(
        [
            _row("accuracy", everyone.mean[0], everyone.mean_change(confidence)),
            _row(
                PARITY,
                of_groups.largest_gaps(),
                of_groups.gap_change(confidence),
                n_left_out=of_groups.n_left_out,
            ),
            _row(WORST, worst.gaps, worst.change),
        ]
    )


class _LocalChange(NamedTuple):
    """The largest local gap before and after, (2,), and its change."""

    gaps: counting.Counts
    change: Interval


def _worst_change(
    local: LocalCells, rows: TwoModels, confidence: float
) -> _LocalChange:
    """Return the largest local gap of both models, and the interval of its change."""
    mass = rows.mass(local.cell_of_place, local.rows.size)
    # A pair needs two groups with rows that weigh, in a subgroup that is estimable.
    usable = (mass.reshape(local.shape) > 0) & local.estimable[:, None]
    usable &= usable.sum(axis=1, keepdims=True) > 1
    cells = np.flatnonzero(usable)
    if not len(cells):
        return _LocalChange(np.full(2, np.nan), _UNDEFINED)
    number = np.full(local.n_places, -1)
    number[cells] = np.arange(len(cells))
    means = rows.rates(number, len(cells))
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


def _checked(name: str, decisions: ArrayLike | Drawn) -> NDArray[Any] | Drawn:
    """Return decisions of 0 or 1, checked, or drawn ones."""
    if isinstance(decisions, Drawn):
        return decisions
    return counting.binary_vector(name, decisions)


def _row(
    metric: str, means: Iterable[float], change: Interval, *, n_left_out: int = 0
) -> dict[str, Any]:
    """Return a row of the table; ``means`` are of the reference and of the model."""
    reference, value = map(float, means)
    return {
        "metric": metric,
        "value": value,
        "reference": reference,
        "difference": value - reference,
        "low": float(change.low),
        "high": float(change.high),
        "n_left_out": n_left_out,
    }
