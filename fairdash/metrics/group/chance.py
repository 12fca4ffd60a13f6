"""Changes between two models on the same rows: in closed form, or by resampling."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._columns import in_one_order
from fairdash._validation import check_lengths, check_whole
from fairdash.metrics.group import counting, local_measures
from fairdash.metrics.group.change import Draws, GroupMeans
from fairdash.metrics.group.drawn import Drawn, chances
from fairdash.metrics.group.intervals import Interval, check_confidence
from fairdash.metrics.group.variance import unit_codes


@in_one_order
def compare(
    y_true: ArrayLike,
    y_pred: ArrayLike | Drawn,
    y_pred_reference: ArrayLike | Drawn,
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
    """Return the difference of two models on the same rows, with its interval.

    Those of accuracy and of the gap over all rows are of `accuracy_change` and
    `gap_change`. Only the largest local gap, of ``subgroups``, needs a
    paired bootstrap: it depends on the counts of rows by (subgroup, group, prediction,
    reference prediction) alone, and a resample of rows is one multinomial draw of
    these. Subgroups that are estimable in the table are so in every resample; one that
    has no row of a group at all says nothing of gaps and does not count. With sampling
    weights every row is drawn, with its weight, and of a ``cluster`` all of its rows.
    Of `Drawn` decisions every figure is the expected one, and a resample of rows has
    draws of its own.

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
    y = counting.binary_vector("y_true", y_true)
    new, old = _vector("y_pred", y_pred), _vector("y_pred_reference", y_pred_reference)
    check_lengths(y, new, old)
    check_confidence(confidence)
    names, codes = counting.group_codes(sensitive_features, y)
    n, unit = len(y), unit_codes(cluster, len(y))
    weight = counting.row_weights("sample_weight", sample_weight, n)
    both = _numbers(old, new)
    pair = y_pred_reference, y_pred
    draws = [Draws.of(decisions, np.ones(n)) for decisions in pair]
    apart = GroupMeans.of(both, weight, codes, len(names), unit, draws)
    right = [1 - np.abs(y - decided) for decided in both]
    up = 2 * y.astype(np.float64) - 1
    draws = [Draws.of(decisions, up) for decisions in pair]
    everyone = GroupMeans.of(right, weight, np.zeros(n, np.int64), 1, unit, draws)
    gaps = counting.spread(apart.mean.T)
    figures = [
        _row("accuracy", everyone.mean[0], everyone.mean_change(confidence)),
        _row("demographic_parity_difference", gaps, apart.gap_change(confidence)),
    ]
    worst, change = np.full(2, np.nan), Interval(*np.full(3, np.nan))
    if subgroups is not None:
        inside: dict[str, Any] = {"subgroups": subgroups, "min_size": min_size}
        local = local_measures.local_cells(sensitive_features=codes, **inside)
        check_lengths(y, local.codes)
        rng = np.random.default_rng(random_state)
        drawn_as = None if sample_weight is None and unit is None else weight
        if any(isinstance(decisions, Drawn) for decisions in pair):
            rows = local, weight, unit
            before, after = _drawn_again(pair, both, *rows, n_resamples, rng)
        else:
            cell, counts = _resampled(local, new, old, drawn_as, unit, n_resamples, rng)
            after, before = (_worst(cell, counts, local, which) for which in (2, 3))
        worst = np.array([before[0], after[0]])
        change = _percentiles(after - before, confidence)
    return pd.DataFrame([*figures, _row("worst_1_di", worst, change)])


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


def _resampled(
    local: local_measures.LocalCells,
    new: counting.Labels,
    old: counting.Labels,
    weight: counting.Counts | None,
    unit: NDArray[np.int64] | None,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], counting.Counts]:
    """Return cells of rows (subgroup or -1, group, new, old), and rows in each.

    The first line of the counts, (1 + n_resamples, cells), is of the rows as they are.
    """
    # numbers of cells, in the order of their codes, sort sooner than rows of codes do
    codes = local.codes + 1, local.group, new.astype(np.int64), old.astype(np.int64)
    shape = tuple(int(code.max()) + 1 for code in codes)
    number = np.ravel_multi_index(codes, shape)
    numbers, place, rows = np.unique(number, return_inverse=True, return_counts=True)
    cell = np.column_stack(np.unravel_index(numbers, shape))
    cell[:, 0] -= 1
    n = len(number)
    if weight is None:
        resampled = rng.multinomial(n, rows / n, size=n_resamples)
        return cell, np.vstack([rows, resampled]).astype(np.float64)
    unit = np.arange(n) if unit is None else unit
    size = int(unit.max()) + 1
    every = [np.ones(size), *rng.multinomial(size, [1 / size] * size, n_resamples)]
    counts = [np.bincount(place, weight * times[unit], len(rows)) for times in every]
    return cell, np.stack(counts)


def _worst(
    cell: NDArray[np.int64],
    counts: counting.Counts,
    local: local_measures.LocalCells,
    which: int,
) -> counting.Counts:
    size = (len(local.subgroups), len(local.groups))
    inside = cell[:, 0] >= 0
    place = np.ravel_multi_index((cell[inside, 0], cell[inside, 1]), size)
    by_cell = np.eye(size[0] * size[1])[place]
    decided = cell[inside, which]
    rows = counts[:, inside] @ by_cell
    positives = counts[:, inside] @ (by_cell * decided[:, None])
    gaps = counting.spread(counting.divide(positives, rows).reshape(-1, *size))
    return local_measures.mean_of_largest(np.where(local.estimable, gaps, np.nan), 1)


def _drawn_again(
    pair: Sequence[ArrayLike | Drawn],
    numbers: Sequence[counting.Counts],
    local: local_measures.LocalCells,
    weight: counting.Counts,
    unit: NDArray[np.int64] | None,
    n_resamples: int,
    rng: np.random.Generator,
) -> list[counting.Counts]:
    """Return the largest local gap of both, (1 + n_resamples,), with draws of its own.

    The first is of the rows as they are, on average over draws. Rows that share a draw
    do so in each resample.
    """
    n, inside = len(weight), local.place >= 0
    place, size = local.place[inside], local.shape[0] * local.shape[1]
    unit = np.arange(n) if unit is None else unit
    n_units = int(unit.max()) + 1
    contents = [each.shared() if isinstance(each, Drawn) else None for each in pair]
    rates = np.empty((2, 1 + n_resamples, size))
    for resample in range(1 + n_resamples):
        mass = weight
        if resample:
            times = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)
            mass = weight * times[unit]
        whole = np.bincount(place, mass[inside], size)
        for side, (decisions, number) in enumerate(zip(pair, numbers, strict=True)):
            decided = number
            if resample and isinstance(decisions, Drawn):
                content = contents[side]
                level = rng.random(n)  # as many as contents at most
                level = level if content is None else level[content]
                decided = (level < number).astype(np.float64)
            positive = np.bincount(place, (mass * decided)[inside], size)
            rates[side, resample] = counting.divide(positive, whole)
    gaps = counting.spread(rates.reshape(2, -1, *local.shape))
    gaps = np.where(local.estimable, gaps, np.nan)
    return [local_measures.mean_of_largest(each, 1) for each in gaps]


def _percentiles(differences: counting.Counts, confidence: float) -> Interval:
    drawn = differences[1:][np.isfinite(differences[1:])]
    if 2 * len(drawn) < len(differences) - 1:
        return Interval(differences[0], *np.full(2, np.nan))
    tail = (1 - confidence) / 2
    return Interval(differences[0], *np.quantile(drawn, [tail, 1 - tail]))
