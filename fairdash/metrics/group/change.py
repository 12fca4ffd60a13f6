"""Whether a gap between groups narrows: both gaps are random, and neither is folded."""

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_lengths, check_one_of
from fairdash.metrics.group.catalog import Array, measure_of, rate_of
from fairdash.metrics.group.cell_values import CellValues
from fairdash.metrics.group.counting import (
    binary_vector,
    divide,
    group_codes,
    probability_models,
    row_weights,
)
from fairdash.metrics.group.intervals import (
    Interval,
    check_confidence,
    for_all_pairs,
    normal_quantile,
)
from fairdash.metrics.group.variance import worth

_MOVED = np.array([-1.0, 1.0])  # after less before
_CHANGING = ("selection_rate", "true_positive_rate", "false_positive_rate")


class GroupMeans(NamedTuple):
    """Means of two columns by group, and how sure they are.

    Attributes
    ----------
    mean : float64 array of shape (groups, 2)
        Of what was decided before and after.
    covariance : float64 array of shape (groups, 2, 2)
        Of these two means, which are of the same rows.
    rows : float64 array of shape (groups,)
        How many independent rows weigh as much: Kish's number.
    shared : float64 array of shape (groups, 2, groups, 2), optional
        Of the means of all groups, where they have units in common.
    """

    mean: Array
    covariance: Array
    rows: Array
    shared: Array | None = None


def gap_change(
    before: ArrayLike,
    after: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    y_true: ArrayLike | None = None,
    measure: str = "selection_rate",
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Interval:
    r"""Return by how much the gap between groups changes, on the same rows.

    .. math:: |D_1| - |D_0|, \qquad |D_0| - |D_1| = \max_s \min_t (s D_0 - t D_1),
       \quad s, t \in \{-1, 1\}

    for the gaps :math:`D_0, D_1` before and after: negative where the gap narrows. Each
    :math:`s D_0 - t D_1` is a difference of group means of one number a row and has its
    interval; the maximum and minimum of their ends are those of the change. Of several
    groups the maximum runs over pairs, with Bonferroni's quantile.

    Parameters
    ----------
    before, after : array-like of numbers in [0, 1], (n_rows,)
        Decisions, or the chance of a positive one.
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
    where two groups together would expect fewer than five decisions of either kind in
    the smaller: too few rows to say.

    Raises
    ------
    ValueError
        If lengths differ, decisions are no numbers in [0, 1], or outcomes are missing.
    """
    check_confidence(confidence)
    check_one_of("measure", measure, _CHANGING)
    rows = np.stack(
        [
            probability_models(name, values)[0].astype(np.float64)
            for name, values in (("before", before), ("after", after))
        ],
        axis=1,
    )
    groups = group_codes(sensitive_features, rows)
    weight = np.ones(len(rows))
    if sample_weight is not None:
        weight = row_weights("sample_weight", sample_weight, len(rows))
    if measure_of(measure).needs_outcome:
        if y_true is None:
            raise ValueError(f"`y_true` is needed for {measure!r}.")
        y = binary_vector("y_true", y_true).astype(np.float64)
        check_lengths(y, rows)
        weight = np.where(rate_of(measure)[0](y, y), weight, 0.0)
    unit = np.arange(len(rows))
    if cluster is not None:
        unit = np.unique(np.asarray(cluster), return_inverse=True)[1]
        check_lengths(unit, rows)
    means = _means(rows, weight, groups.codes, len(groups.names), unit)
    return change_of_gap(means, confidence=confidence)


def change_of_gap(means: GroupMeans, *, confidence: float = 0.95) -> Interval:
    """Return `gap_change` of group means that are independent between groups."""
    mean = means.mean
    nothing = Interval(*(np.array(np.nan) for _ in range(3)))
    if np.isnan(mean).any() or len(mean) < 2:
        return nothing
    moved = np.einsum("gij,i,j->g", means.covariance, _MOVED, _MOVED)
    if np.allclose(mean[:, 0], mean[:, 1], atol=1e-12) and moved.max() < 1e-16:
        return Interval(*np.zeros(3))  # no decision changed
    pairs = list(itertools.permutations(range(len(mean)), 2))
    contrast = np.zeros((len(pairs), len(mean)))
    for row, (plus, minus) in zip(contrast, pairs, strict=True):
        row[plus], row[minus] = 1.0, -1.0
    # narrowing by one pair before and one after: (pairs before, pairs after)
    old, new = (contrast @ mean[:, when] for when in (0, 1))
    between = means.shared
    if between is None:
        between = np.zeros((len(mean), 2, len(mean), 2))
        each = np.arange(len(mean))
        between[each, :, each, :] = means.covariance
    before, after = (
        np.einsum("pg,gh,ph->p", contrast, between[:, when, :, when], contrast)
        for when in (0, 1)
    )
    crossed = contrast @ between[:, 0, :, 1] @ contrast.T
    variance = before[:, None] + after[None, :] - 2 * crossed
    value = np.array(np.ptp(mean[:, 1]) - np.ptp(mean[:, 0]))
    if _too_few(means).any():
        return Interval(value, *(np.array(np.nan) for _ in range(2)))
    sure = for_all_pairs(confidence, len(mean))
    half = normal_quantile(sure) * np.sqrt(np.maximum(variance, 0.0))
    narrowed = old[:, None] - new[None, :]
    low, high = (
        float((narrowed + sign * half).min(axis=1).max()) for sign in (-1.0, 1.0)
    )
    return Interval(value, np.array(-high), np.array(-low))


def _too_few(means: GroupMeans) -> NDArray[np.bool_]:
    """Return which pairs of groups expect too few of a decision, before or after."""
    rate = means.mean.T
    variance = np.diagonal(means.covariance, axis1=1, axis2=2).T
    varies = variance > 1e-15
    independent = divide(rate * (1 - rate), np.where(varies, variance, 1.0))
    rows = np.broadcast_to(means.rows, rate.shape)
    effective = np.where(varies, np.minimum(independent, rows), rows)
    n = np.rint(rows).astype(np.int64)
    cells = CellValues(rate, n, effective, np.sqrt(variance), "rate")
    pairs = np.array(list(itertools.combinations(range(len(means.mean)), 2)))
    return cells.too_few(*pairs.T)


def _means(
    rows: Array,
    weight: Array,
    codes: NDArray[np.int64],
    n_groups: int,
    unit: NDArray[np.int64],
) -> GroupMeans:
    """Return weighted means by group with their linearised covariance over units."""
    whole = np.bincount(codes, weight, n_groups)
    mean = np.stack(
        [
            divide(np.bincount(codes, weight * column, n_groups), whole)
            for column in rows.T
        ],
        axis=1,
    )
    counted = weight > 0
    share = weight[:, None] * (rows - mean[codes]) / whole[codes, None]
    residual = np.zeros((len(rows), n_groups, 2))
    residual[np.arange(len(rows)), codes] = share
    _, place = np.unique(unit[counted], return_inverse=True)
    flat = residual[counted].reshape(-1, 2 * n_groups)
    sums: Any = np.stack([np.bincount(place, part) for part in flat.T], axis=1)
    member = np.zeros((len(sums), n_groups), bool)
    member[place, codes[counted]] = True
    k = member.sum(axis=0).astype(np.float64)
    more = np.repeat(np.sqrt(divide(k, np.where(k > 1, k - 1, np.nan))), 2)
    shared = (sums * more).T @ (sums * more)
    shared = shared.reshape(n_groups, 2, n_groups, 2)
    own = np.arange(n_groups)
    effective = worth(weight[counted], codes[counted], n_groups, place)
    return GroupMeans(mean, shared[own, :, own, :], effective, shared)
