r"""Is a limit broken, asked again every week: an alarm that is seldom false in a year.

A limit is a claim that a weighted sum of group rates is at most 0. Each week's units
are dealt into blocks that hold each group in like parts, whatever their values. With
weights and units as they came, K blocks k and the share c of each row in the sum,

.. math:: z_k = K \sum_{r \in k} c_r y_r + \text{constant}

have a mean that is exactly what the limit is about. Blocks are independent, since each
unit is in one. Betting a share λ against the claim multiplies a wealth by
:math:`\prod_k (1 + \lambda z_k)`,
which grows on average only if the claim is false. The evidence of week t is

.. math::

    E_t = \frac{1}{|\Lambda| W} \sum_{\lambda \in \Lambda} \sum_{j=1}^{W}
    \prod_{w=j}^{t} \prod_{i \in w} (1 + \lambda z_i)

with a start in each week j of a year of W weeks (1 where j > t), averaged over the
claims of all limits. While every claim is true, :math:`P(\exists t: E_t \ge 1/\alpha)
\le \alpha` (Ville), however weeks depend on each other's past, and whatever the
share of each group.

I. Waudby-Smith and A. Ramdas (2024), Estimating means of bounded random variables by
betting. JRSS B 86, 1-27. J. Shin, A. Ramdas and A. Rinaldo (2024), E-detectors: a
nonparametric framework for sequential change detection. NEJSDS 2, 229-260.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LOOKS = 52
ALPHA = 0.05
BETS = np.geomspace(0.01, 0.9, 10)
BLOCK = 4  # units of the smallest group in a block
LEAST = 0.01  # bound of terms that cannot be negative

Terms = NDArray[np.float64]


def deal(
    side: NDArray[np.int64], unit: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], int]:
    """Return the block of each row, and how many blocks there are.

    Each has about four units of the side with fewest, and as many parts of the others.

    Parameters
    ----------
    side, unit : array of int, (n_rows,)
        Group of each row, and whose it is. A unit has the side of its first row.
    """
    units, first, of_row = np.unique(unit, return_index=True, return_inverse=True)
    sides = side[first]
    fewest = np.unique(sides, return_counts=True)[1].min(initial=len(units))
    n_blocks = max(int(fewest) // BLOCK, 1)
    block = np.empty(len(units), np.int64)
    order = np.lexsort((rng.random(len(units)), sides))
    block[order] = np.arange(len(units)) % n_blocks
    return block[of_row], n_blocks


def block_terms(
    values: Terms,
    share: Terms,
    constant: float,
    block: NDArray[np.int64],
    n_blocks: int,
) -> tuple[Terms, float]:
    """Return the terms of blocks, and minus the least that a term can be.

    Parameters
    ----------
    values, share : array, (n_rows,)
        In [0, 1], and what each adds to the sum that with ``constant`` is at most 0.
    """
    sums: Terms = np.bincount(block, share * values, n_blocks).astype(np.float64)
    least = float(np.bincount(block, np.minimum(share, 0), n_blocks).min())
    return n_blocks * sums + constant, max(-n_blocks * least - constant, LEAST)


def growth(terms: Terms, bound: float = 1.0) -> Terms:
    """Return the logarithm of what a week multiplies the wealth of each bet by.

    Parameters
    ----------
    terms : array, (n_terms,)
        With a mean of at most 0 while the claim is true, and none below ``-bound``.

    Returns
    -------
    array, (n_bets,)
    """
    bets = BETS / bound
    return np.log1p(bets[:, None] * terms[None]).sum(axis=1)


def evidence(weeks: Sequence[Terms], looks: int = LOOKS) -> Terms:
    """Return the evidence against claims after each week; see the module.

    Parameters
    ----------
    weeks : sequence of array, (n_claims, n_bets) each
        `growth` of every claim in a week.
    looks : int, default=52
        Weeks for which false alarms are bounded. Later weeks begin a new year.
    """
    shown: list[float] = []
    for first in range(0, len(weeks), looks):
        year = np.stack(weeks[first : first + looks])
        wealth = np.zeros(year.shape[1:])  # of all starts so far together
        for at, grown in enumerate(year):
            # a bet that starts this week joins those before it with a wealth of 1
            wealth = (wealth + 1) * np.exp(np.minimum(grown, 500))
            waiting = looks - at - 1
            shown.append(float((wealth + waiting).mean() / looks))
    return np.array(shown)


def alarms(
    strength: Terms, looks: int = LOOKS, alpha: float = ALPHA
) -> NDArray[np.bool_]:
    """Return in which weeks an alarm stands: from its first week to the year's end."""
    reached = strength >= 1 / alpha
    stands = np.zeros(len(strength), dtype=bool)
    for first in range(0, len(strength), looks):
        year = slice(first, first + looks)
        stands[year] = np.maximum.accumulate(reached[year])
    return stands
