"""Models and estimates of the noise, and bounds of what it can change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import beta, binom

from fairdash._arrays import FloatArray
from fairdash._validation import encode_groups, value_label
from fairdash.methods.noisy_groups.inputs import check_distribution, check_shares

ROUNDING = 1e-9  # of a share, by which it may come out below 0


def symmetric_noise(
    noisy_prior: ArrayLike, level: float, *, name: str = "level"
) -> FloatArray:
    r"""Return P(G = j | noisy group k) when a wrong group is any of the others.

    With :math:`P(\hat G = k | G = j)` equal to ``1 - level`` for k = j and the rest
    shared out evenly, the true shares follow from the noisy ones, and Bayes' rule turns
    the noise around.

    Parameters
    ----------
    noisy_prior : array-like of shape (n_groups,)
        P(noisy group k).
    level : float
        P(noisy group is not j | G = j), for all groups; in [0, 1] and below
        1 - 1/n_groups, where the noisy group says nothing.

    Returns
    -------
    ndarray of shape (n_groups, n_groups)
        Rows are noisy groups and sum to one.

    Raises
    ------
    ValueError
        When the level is out of range, the shares are no distribution, or there is more
        noise than the shares allow: if 10 % of the others appeared as a group, no
        group could have fewer rows. The error has the largest level possible.
    """
    prior = check_distribution("noisy_prior", noisy_prior)
    m = len(prior)
    wrong = float(check_shares(name, level))
    if m < 2 or wrong >= 1 - 1 / m:
        raise ValueError(
            f"`{name}` must be below 1 - 1/{m}, got {wrong:g}: beyond it the noisy "
            "group says nothing of the true one."
        )
    channel, true_prior = _channel(prior, wrong)
    if true_prior.min() < -ROUNDING:
        # Rounded down, so that the level that the error names can be used.
        most = np.floor(1000 * largest_noise(prior)) / 1000
        raise ValueError(
            f"`{name}` can be at most {most:g} here, got {wrong:g}. More noise would "
            f"give the smallest noisy group ({prior.min():.1%} of the rows) more rows "
            "than it has."
        )
    # Bayes' rule: P(G = j, noisy k) over its sum P(noisy k).
    joint = np.maximum(true_prior, 0)[:, None] * channel
    noisy = joint.sum(axis=0)[:, None]
    share: FloatArray = joint.T / np.where(noisy > 0, noisy, 1)
    return np.where(noisy > 0, share, np.eye(m))


def largest_noise(noisy_prior: ArrayLike) -> float:
    """Return the largest level that `symmetric_noise` can take, at most 1 - 1/m."""
    prior = check_distribution("noisy_prior", noisy_prior)
    m = len(prior)
    return float(min((m - 1) * prior.min(), 1 - 1 / m))


def symmetric_limits(
    noisy_counts: ArrayLike, level: float, confidence: float
) -> tuple[FloatArray, FloatArray]:
    r"""Return limits of `symmetric_noise` when the noisy shares are a sample's.

    Clopper and Pearson's limits of each share, put in the way that makes
    :math:`P(G = j | \hat G = k)` least or most: it grows with the share of j and, for
    another k, falls with that of k.

    Every noisy group has a row at least; limits are of shape (n_groups, n_groups).
    """
    n = np.asarray(noisy_counts, dtype=np.float64)
    symmetric_noise(n / n.sum(), level)  # refuses what cannot be
    error = error_of_ends(len(n), confidence)
    lower = np.asarray(beta.ppf(error, n, n.sum() - n + 1), np.float64)
    upper = np.asarray(beta.isf(error, n + 1, n.sum() - n), np.float64)
    limits = []
    # P(G = j | noisy k) grows with the share of j and falls with that of k: each limit
    # takes opposite ends of the two.
    for group_share, other_share in ((lower, upper), (upper, lower)):
        channel, true_prior = _channel(group_share, level)
        share = true_prior[:, None] * channel / other_share  # by true and noisy group
        np.fill_diagonal(share, np.diag(channel) * true_prior / group_share)
        limits.append(np.clip(share.T, 0, 1))
    return limits[0], limits[1]


@dataclass(frozen=True)
class NoiseEstimate:
    """Noise between two groupings, estimated from a sample that has both.

    Attributes
    ----------
    counts : DataFrame
        Rows of the sample, true groups in rows, noisy groups in columns.
    group_given_noisy : DataFrame
        P(G = j | noisy group k); rows sum to one.
    bounds : DataFrame
        By group: ``general`` of `tv_bounds`, and ``general_high``.
    low, high : DataFrame
        Limits of ``group_given_noisy`` that hold together.
    """

    counts: pd.DataFrame
    group_given_noisy: pd.DataFrame
    bounds: pd.DataFrame
    low: pd.DataFrame
    high: pd.DataFrame


def estimate_noise(
    true_groups: ArrayLike,
    noisy_groups: ArrayLike,
    *,
    expected: Sequence[object] = (),
    confidence: float = 0.95,
) -> NoiseEstimate:
    r"""Estimate the noise from a sample in which both groupings are known.

    Parameters
    ----------
    true_groups, noisy_groups : array-like of shape (n_rows,)
    expected : sequence, optional
        Noisy groups of the data that the estimate is for; the sample must have them.
    confidence : float, default=0.95
        With which the intervals of both error rates of all groups hold together, and
        those of all shares: Clopper and Pearson's, exact, the error shared out over all
        ends (Bonferroni). ``general_high`` is the larger of a group's two upper ends,
        so every radius is at most that with this confidence.

    Raises
    ------
    ValueError
        When a value is missing, an expected group is not in the sample, or true and
        noisy groups differ in their names.
    """
    true, code = encode_groups(true_groups, noisy_groups, at_least=1)
    noisy, noisy_code = encode_groups(noisy_groups, true_groups, at_least=1)
    cells = len(noisy) * code + noisy_code
    flat = np.bincount(cells, minlength=len(true) * len(noisy))
    counts = pd.DataFrame(
        flat.reshape(len(true), len(noisy)),
        index=[value_label(name) for name in true],
        columns=[value_label(name) for name in noisy],
    )
    absent = [name for name in map(value_label, expected) if name not in counts.columns]
    if absent:
        raise ValueError(
            f"The auxiliary sample has no row of the noisy group {absent[0]!r}, so "
            "nothing is known of who belongs to it. It has "
            f"{', '.join(map(str, counts.columns))}. Add rows or join groups."
        )
    if set(counts.index) != set(counts.columns):
        raise ValueError(
            "True and noisy groups of the auxiliary sample must have the same names. "
            f"Got true {', '.join(map(str, counts.index))} and noisy "
            f"{', '.join(map(str, counts.columns))}; rename or join groups."
        )
    counts = counts[list(counts.index)]  # noisy groups in the order of the true ones
    by_noisy = counts.T
    hits = by_noisy.to_numpy()
    n_noisy = hits.sum(axis=1, keepdims=True)
    low, high = _exact_limits(hits, n_noisy - hits, confidence)
    return NoiseEstimate(
        counts=counts.rename_axis(index="true group", columns="noisy group"),
        group_given_noisy=by_noisy / n_noisy,
        bounds=_with_limits(counts, confidence),
        low=pd.DataFrame(low, by_noisy.index, by_noisy.columns),
        high=pd.DataFrame(high, by_noisy.index, by_noisy.columns),
    )


def shares_on_rows(
    low: ArrayLike, high: ArrayLike, n: ArrayLike, confidence: float
) -> tuple[FloatArray, FloatArray]:
    r"""Return limits of the shares of true groups in given rows, from P(G | noisy).

    Of :math:`n_k` rows of noisy group k, a binomial number is of group j. A
    certificate is about these rows, so their shares count, not those they were drawn
    from.

    ``low`` and ``high``, (n_noisy, n_groups), are limits of P(G = j | noisy group k),
    the same where it is assumed; ``n`` are the rows of each noisy group, at least one.
    All limits hold together with ``confidence``.
    """
    rows = np.asarray(n)[:, None]
    least = np.asarray(low, np.float64)
    most = np.asarray(high, np.float64)
    error = error_of_ends(least.size, confidence)
    fewest = binom.ppf(error, rows, least)
    largest = binom.isf(error, rows, most)
    return np.maximum(fewest, 0) / rows, np.minimum(largest, rows) / rows


def reach(least: ArrayLike, most: ArrayLike, n: ArrayLike) -> FloatArray:
    r"""Return how far each true group can be from its noisy one, on given rows.

    The distance between the two is the larger of :math:`P(G \ne j | \hat G = j)` and
    :math:`P(\hat G \ne j | G = j)` (see `tv_bounds`): largest where fewest rows of
    noisy group j are of group j, and most rows of the others.

    ``least`` and ``most``, (n_noisy, n_groups), are those of `shares_on_rows`, and
    ``n`` the rows of each noisy group. So is the result: between every noisy and every
    true group, with the same groups on both sides the diagonal is asked for.
    """
    rows = np.asarray(n, dtype=np.float64)[:, None]
    right = rows * np.asarray(least, dtype=np.float64)
    most_rows = rows * np.asarray(most, dtype=np.float64)
    # Rows of true group j that other noisy groups hold, at most.
    elsewhere = most_rows.sum(axis=0) - most_rows
    wrongly_recorded = 1 - right / rows
    missed = _ratio(elsewhere, right + elsewhere)
    return np.fmax(wrongly_recorded, missed)


def tv_bounds(joint: ArrayLike) -> pd.DataFrame:
    r"""Bound the total variation distance of each group from its noisy version.

    The paper's Lemma 1 bounds :math:`TV(p_j, \hat p_j)` by
    :math:`P(\hat G \ne j | G = j)`, **provided that** :math:`P(G = j) = P(\hat G = j)`.
    Without that,

    .. math::

        TV(p_j, \hat p_j) \le
        \max\left(P(\hat G \ne j | G = j),\; P(G \ne j | \hat G = j)\right)

    and nothing smaller holds in general: two uniform distributions over the rows of a
    group and of its noisy version are exactly that far apart.

    Parameters
    ----------
    joint : array-like of shape (n_groups, n_groups)
        P(G = j, noisy group k): true groups in rows, noisy ones in columns, in the
        same order.

    Returns
    -------
    DataFrame
        One row per group: ``prior``, ``noisy_prior``, ``paper`` and ``general``. NaN
        for a group that never occurs.

    Raises
    ------
    ValueError
        When the table is not square or does not sum to one.
    """
    table = np.asarray(joint, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        message = (
            "`joint` must have the same groups in rows (true) and columns (noisy), got "
            f"shape {table.shape}. Groupings of different sizes have no such bound."
        )
        raise ValueError(message)
    check_distribution("joint", table.ravel())
    prior = table.sum(axis=1)
    noisy = table.sum(axis=0)
    hit = np.diag(table)
    paper = 1 - _ratio(hit, prior)
    general = np.maximum(paper, 1 - _ratio(hit, noisy))
    columns = {"prior": prior, "noisy_prior": noisy, "paper": paper, "general": general}
    return pd.DataFrame(columns)


def error_of_ends(n_limits: int, confidence: float) -> float:
    """Return the error allowed at each end of every one of some intervals."""
    return (1 - float(check_shares("confidence", confidence))) / (2 * n_limits)


def _with_limits(counts: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return `tv_bounds` by group, with the upper end of its larger error rate."""
    table = counts.to_numpy(dtype=np.float64)
    # Both error rates of every group: of the true group, and of the noisy one.
    right = np.stack([np.diag(table)] * 2)
    wrong = np.stack([table.sum(axis=1), table.sum(axis=0)]) - right
    _, high = _exact_limits(wrong, right, confidence)
    bounds = tv_bounds(table / table.sum()).set_index(counts.index)[["general"]]
    return bounds.assign(general_high=high.max(axis=0))


def _exact_limits(
    hits: Any, misses: Any, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Return Clopper and Pearson's limits, which hold together for all shares."""
    error = error_of_ends(hits.size, confidence)
    low = np.where(hits > 0, beta.ppf(error, hits, misses + 1), 0.0)
    high = np.where(misses > 0, beta.isf(error, hits + 1, misses), 1.0)
    return low, high


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)


def _channel(prior: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return P(noisy k | G = j) of symmetric noise, and the true shares it implies."""
    m = len(prior)
    wrong_share = level / (m - 1)
    channel = np.full((m, m), wrong_share)
    np.fill_diagonal(channel, 1 - level)
    return channel, (prior - wrong_share) / (1 - m * wrong_share)
