"""What is known of the noise, and how far a noisy group can be from its true one."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta, binom
from sklearn.utils import check_random_state, column_or_1d

from fairdash._validation import encode_groups
from fairdash.methods.noisy_groups.inputs import (
    check_distribution,
    check_shares,
    error_of_ends,
)

Float = NDArray[np.float64]
EQUAL = 0.01  # difference of priors up to which the paper's version is not warned of
ROUNDING = 1e-9  # of a share, by which it may come out below 0
HALVINGS = 60


def simulate_noise(
    groups: ArrayLike, level: float, *, random_state: object = None
) -> NDArray[np.generic]:
    """Return groups of which a share is wrong, as in the paper.

    Of all rows, ``level`` are drawn without replacement and get a group uniformly among
    the others. The priors change, so the noisy groups do not have the true shares.

    Raises
    ------
    ValueError
        When ``level`` is outside [0, 1] or there is one group only.
    """
    share = float(check_shares("level", level))
    names, codes = encode_groups(groups, column_or_1d(groups))
    random = check_random_state(random_state)
    rows = random.permutation(len(codes))[: round(share * len(codes))]
    steps = random.randint(1, len(names), size=len(rows))
    codes[rows] = (codes[rows] + steps) % len(names)
    return names[codes]


def symmetric_noise(
    noisy_prior: ArrayLike, level: ArrayLike, *, name: str = "level"
) -> Float:
    r"""Return P(G = j | noisy group k) when a wrong group is any of the others.

    With :math:`P(\hat G = k | G = j)` equal to ``1 - level`` for k = j and the rest
    shared out evenly, the true shares follow from the noisy ones, and Bayes' rule turns
    the noise around.

    Parameters
    ----------
    noisy_prior : array-like of shape (n_groups,)
        P(noisy group k).
    level : float or array-like of shape (n_groups,)
        P(noisy group is not j | G = j), for all groups or each; in [0, 1] and below
        1 - 1/n_groups, where the noisy group says nothing.

    Returns
    -------
    ndarray of shape (n_groups, n_groups)
        Rows are noisy groups and sum to one.

    Raises
    ------
    ValueError
        When a level is out of range, the shares are no distribution, or there is more
        noise than the shares allow: if 10 % of the others appeared as a group, no
        group could have fewer rows. The error has the largest level possible.
    """
    prior = check_distribution("noisy_prior", noisy_prior)
    m = len(prior)
    levels = np.broadcast_to(check_shares(name, level), (m,))
    if m < 2 or levels.max() >= 1 - 1 / m:
        message = (
            f"`{name}` must be below 1 - 1/{m}, got {levels.max():g}: beyond it the "
            "noisy group says nothing of the true one."
        )
        raise ValueError(message)
    channel, true_prior = _channel(prior, levels)
    if true_prior.min() < -ROUNDING:
        most = largest_noise(prior, levels)
        # downwards, so that what is read can be used
        shown = [f"{np.floor(1000 * one) / 1000:g}" for one in most]
        message = (
            f"`{name}` can be at most {', '.join(dict.fromkeys(shown))} here, got "
            f"{', '.join(dict.fromkeys(f'{one:g}' for one in levels))}: more noise "
            f"would give the smallest noisy group ({prior.min():.1%} of the rows) more "
            "rows than it has."
        )
        raise ValueError(message)
    joint = np.maximum(true_prior, 0)[:, None] * channel
    reached = joint.sum(axis=0)[:, None]
    given: Float = joint.T / np.where(reached > 0, reached, 1)
    return np.where(reached > 0, given, np.eye(m))


def largest_noise(noisy_prior: ArrayLike, level: ArrayLike = 1.0) -> Float:
    """Return the largest levels that `symmetric_noise` can take, in proportion.

    Parameters
    ----------
    level : float or array-like of shape (n_groups,), default=1
        Levels wanted; those returned are the same multiple of each, at most 1 - 1/m.
    """
    prior = check_distribution("noisy_prior", noisy_prior)
    wanted = np.broadcast_to(np.asarray(level, dtype=np.float64), prior.shape)
    low, high = 0.0, (1 - 1 / len(prior)) / wanted.max()
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _channel(prior, middle * wanted)[1].min() < 0:
            high = middle
        else:
            low = middle
    return low * wanted


def symmetric_limits(
    noisy_counts: ArrayLike, level: ArrayLike, confidence: float
) -> tuple[Float, Float]:
    r"""Return limits of `symmetric_noise` when the noisy shares are a sample's.

    Clopper and Pearson's limits of each share, put in the way that makes
    :math:`P(G = j | \hat G = k)`, linear in the shares over one of them, least or most.

    Every noisy group has a row at least; limits are of shape (n_groups, n_groups).
    """
    n = np.asarray(noisy_counts, dtype=np.float64)
    m, total = len(n), n.sum()
    symmetric_noise(n / total, level)  # refuses what cannot be
    channel, _ = _channel(n / total, np.broadcast_to(level, (m,)).astype(np.float64))
    error = error_of_ends(n, confidence)
    small: Float = np.asarray(beta.ppf(error, n, total - n + 1))
    large: Float = np.asarray(beta.isf(error, n + 1, total - n))
    slopes = np.linalg.inv(channel.T)  # true shares by noisy shares
    limits = []
    for best, under, over in ((np.min, small, large), (np.max, large, small)):
        parts = np.where(slopes > 0, slopes * under, slopes * over)
        others = parts.sum(axis=1) - parts.T  # by noisy group k and group j
        joint = [
            (others + slopes.T * end[:, None]) / end[:, None] for end in (small, large)
        ]
        limits.append(np.clip(best(joint, axis=0) * channel.T, 0, 1))
    return limits[0], limits[1]


def shares_on_rows(
    low: ArrayLike, high: ArrayLike, n: ArrayLike, confidence: float
) -> tuple[Float, Float]:
    r"""Return limits of the shares of true groups in given rows, from P(G | noisy).

    Of :math:`n_k` rows of noisy group k, a binomial number is of group j. A
    certificate is about these rows, so their shares count, not those they were drawn
    from.

    ``low`` and ``high``, (n_noisy, n_groups), are limits of P(G = j | noisy group k),
    the same where it is assumed; ``n`` are the rows of each noisy group, at least one.
    All limits hold together with ``confidence``.
    """
    rows = np.asarray(n)[:, None]
    least, most = np.asarray(low, np.float64), np.asarray(high, np.float64)
    error = error_of_ends(least, confidence)
    fewest, largest = binom.ppf(error, rows, least), binom.isf(error, rows, most)
    return np.maximum(fewest, 0) / rows, np.minimum(largest, rows) / rows


def reach(least: ArrayLike, most: ArrayLike, n: ArrayLike) -> Float:
    r"""Return how far each true group can be from its noisy one, on given rows.

    The distance between the two is the larger of :math:`P(G \ne j | \hat G = j)` and
    :math:`P(\hat G \ne j | G = j)` (see `tv_bounds`): largest where fewest rows of
    noisy group j are of group j, and most rows of the others.

    ``least`` and ``most``, (n_noisy, n_groups), are those of `shares_on_rows`, and
    ``n`` the rows of each noisy group. So is the result: between every noisy and every
    true group, with the same groups on both sides the diagonal is asked for.
    """
    rows = np.asarray(n, dtype=np.float64)[:, None]
    kept = rows * np.asarray(least, dtype=np.float64)
    most_rows = rows * np.asarray(most, dtype=np.float64)
    gained = most_rows.sum(axis=0) - most_rows
    return np.fmax(1 - kept / rows, _ratio(gained, kept + gained))


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
        One row per group: ``prior``, ``noisy_prior``, ``paper``, ``general`` and
        ``equal_priors``, whether the two priors agree to 0.01. NaN for a group that
        never occurs.

    Raises
    ------
    ValueError
        When the table is not square or does not sum to one.
    """
    table = np.asarray(joint, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        message = (
            "`joint` must have the same groups in rows (true) and columns (noisy), got "
            f"shape {table.shape}; groupings of different sizes have no such bound."
        )
        raise ValueError(message)
    check_distribution("joint", table.ravel())
    prior, noisy = table.sum(axis=1), table.sum(axis=0)
    hit = np.diag(table)
    paper = 1 - _ratio(hit, prior)
    return pd.DataFrame(
        {
            "prior": prior,
            "noisy_prior": noisy,
            "paper": paper,
            "general": np.maximum(paper, 1 - _ratio(hit, noisy)),
            "equal_priors": np.abs(prior - noisy) <= EQUAL,
        }
    )


def _ratio(part: Float, whole: Float) -> Float:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)


def _channel(prior: Float, levels: Float) -> tuple[Float, Float]:
    """Return P(noisy group | G) and the true shares that it implies, if negative."""
    m = len(prior)
    channel = np.repeat(levels[:, None] / (m - 1), m, axis=1)
    np.fill_diagonal(channel, 1 - levels)
    true_prior: Float = np.asarray(np.linalg.solve(channel.T, prior), np.float64)
    return channel, true_prior
