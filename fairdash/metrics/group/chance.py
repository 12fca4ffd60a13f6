"""Changes between two models on the same rows, by a paired bootstrap."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_lengths, check_whole
from fairdash.metrics.group import counting, local_measures
from fairdash.metrics.group.intervals import check_confidence
from fairdash.metrics.group.variance import unit_codes


class _Joint(NamedTuple):
    """Rows counted by (subgroup, group, y, prediction, reference), as long lists.

    Rows outside all subgroups have subgroup -1. Only cells with rows are listed.
    """

    cell: NDArray[np.int64]  # (cells, 5)
    rows: NDArray[np.int64]  # (cells,)
    number: NDArray[np.int64]  # (n_rows,), ascending with the cell of a row


def compare(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    y_pred_reference: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike | None = None,
    min_size: int = 50,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: int | None = 0,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> pd.DataFrame:
    """Paired bootstrap of the difference of two models on the same rows.

    Metrics depend on the counts of rows by (subgroup, group, outcome, prediction,
    reference prediction) alone, and a resample of rows is one multinomial draw of
    these. Subgroups that are estimable in the table are so in every resample; one that
    has no row of a group at all says nothing of gaps and does not count. With sampling
    weights every row is drawn, with its weight, and of a ``cluster`` all of its rows.

    Returns
    -------
    DataFrame, one row per metric (accuracy, demographic_parity_difference, worst_1_di):
    metric, value, reference, difference (value - reference), low, high

    Notes
    -----
    The percentile interval of worst_1_di lies towards 0, for resampling raises the
    smaller maximum more: it hardly ever claims a change that is not there.
    """
    check_whole("n_resamples", n_resamples, at_least=1)
    check_confidence(confidence)
    columns = [
        counting.binary_vector("y_true", y_true),
        counting.binary_vector("y_pred", y_pred),
        counting.binary_vector("y_pred_reference", y_pred_reference),
    ]
    check_lengths(*columns)
    groups = counting.group_codes(sensitive_features, columns[0])
    local = None
    subgroup = np.full(len(groups.codes), -1)
    if subgroups is not None:
        local = local_measures.local_cells(
            sensitive_features=sensitive_features,
            subgroups=subgroups,
            min_size=min_size,
        )
        check_lengths(subgroup, local.codes)
        subgroup = local.codes
    joint = _count(subgroup, groups.codes, columns)
    rng = np.random.default_rng(random_state)
    n = joint.rows.sum()
    unit = unit_codes(cluster, int(n))
    if sample_weight is None and unit is None:
        resampled = rng.multinomial(n, joint.rows / n, size=n_resamples)
        counts = np.vstack([joint.rows, resampled]).astype(np.float64)
    else:
        weight = np.ones(n)
        if sample_weight is not None:
            weight = counting.row_weights("sample_weight", sample_weight, n)
        unit = np.arange(n) if unit is None else unit
        place = np.unique(joint.number, return_inverse=True)[1]
        size = int(unit.max()) + 1
        every = [np.ones(size), *rng.multinomial(size, [1 / size] * size, n_resamples)]
        counts = np.stack(
            [
                np.bincount(place, weight * times[unit], len(joint.rows))
                for times in every
            ]
        )
    value = _metrics(joint.cell, counts, len(groups.names), local, which=3)
    reference = _metrics(joint.cell, counts, len(groups.names), local, which=4)
    return pd.DataFrame(
        [
            {
                "metric": metric,
                "value": value[metric][0],
                "reference": reference[metric][0],
                "difference": value[metric][0] - reference[metric][0],
                **_percentiles(value[metric][1:] - reference[metric][1:], confidence),
            }
            for metric in value
        ]
    )


def _count(
    subgroup: NDArray[np.int64],
    group: NDArray[np.int64],
    columns: list[counting.Labels],
) -> _Joint:
    # numbers of cells, in the order of their codes, sort sooner than rows of codes do
    codes = subgroup + 1, group, *(column.astype(np.int64) for column in columns)
    shape = tuple(int(code.max()) + 1 for code in codes)
    number = np.ravel_multi_index(codes, shape)
    numbers, rows = np.unique(number, return_counts=True)
    cell = np.column_stack(np.unravel_index(numbers, shape))
    cell[:, 0] -= 1
    return _Joint(cell, rows, number)


def _metrics(
    cell: NDArray[np.int64],
    counts: counting.Counts,
    n_groups: int,
    local: local_measures.LocalCells | None,
    *,
    which: int,
) -> dict[str, counting.Counts]:
    predicted = cell[:, which]
    correct = counts[:, predicted == cell[:, 2]].sum(axis=1)
    by_group = np.eye(n_groups)[cell[:, 1]]
    rates = counting.divide((counts * predicted) @ by_group, counts @ by_group)
    worst = np.full(len(counts), np.nan)
    if local is not None:
        size = (len(local.subgroups), n_groups)
        inside = cell[:, 0] >= 0
        place = np.ravel_multi_index((cell[inside, 0], cell[inside, 1]), size)
        by_cell = np.eye(size[0] * n_groups)[place]
        rows = counts[:, inside] @ by_cell
        positives = (counts * predicted)[:, inside] @ by_cell
        gaps = counting.spread(counting.divide(positives, rows).reshape(-1, *size))
        worst = local_measures.mean_of_largest(
            np.where(local.estimable, gaps, np.nan), 1
        )
    return {
        "accuracy": counting.divide(correct, counts.sum(axis=1)),
        "demographic_parity_difference": counting.spread(rates),
        "worst_1_di": worst,
    }


def _percentiles(differences: counting.Counts, confidence: float) -> dict[str, float]:
    defined = differences[np.isfinite(differences)]
    if 2 * len(defined) < len(differences):
        return {"low": float("nan"), "high": float("nan")}
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return {"low": float(low), "high": float(high)}
