"""How far a noisy group can be from the true one, from error rates alone."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash.methods.noisy_groups._inputs import check_distribution

Float = NDArray[np.float64]
EQUAL = 0.01  # difference of priors up to which the paper's version is not warned of


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


def violation_bound(
    violation: ArrayLike, radius: ArrayLike, spread: ArrayLike = 1.0
) -> Float:
    r"""Bound a violation on true groups by the one on noisy groups.

    .. math::

        g_j(\theta) \le \hat g_j(\theta)
        + \gamma_j \left(\max_i h_i - \min_i h_i\right)

    Theorem 1, which has 1 for the range of h. For rates given the outcome, divide the
    radius by P(Y = y | noisy group j), or use `robust_rates`, which is exact.

    Parameters
    ----------
    violation : array-like
        g of the noisy group.
    radius : array-like
        :math:`\gamma`, in [0, 1].
    spread : array-like, default=1
        Range of h over the rows.
    """
    bound: Float = np.asarray(violation) + np.asarray(radius) * np.asarray(spread)
    return bound


def _ratio(part: Float, whole: Float) -> Float:
    ratio: Float = np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)
    return ratio
