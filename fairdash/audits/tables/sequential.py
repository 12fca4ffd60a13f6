r"""Is a limit broken, asked again every week: an alarm that is seldom false in a year.

A limit is a claim that means of bounded terms z are at most 0. Each week's rows give
terms whose mean is exactly what the limit is about, given how many rows each group has:
of a gap, a row of the smaller group less the mean of a block of the larger one. Betting
a share λ against the claim multiplies a wealth by :math:`\prod_i (1 + \lambda z_i)`,
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

Terms = NDArray[np.float64]


def difference_terms(first: Terms, other: Terms, weight: float = 1.0) -> Terms:
    """Return terms with the mean of ``first`` less ``weight`` times that of ``other``.

    Parameters
    ----------
    first, other : array of values in [0, 1], (n_one,), (n_other,)
        Rows of two groups, in an order that does not depend on the values.
    weight : float in (0, 1], default=1

    Returns
    -------
    array in [-weight, 1], one entry per row of the smaller group; empty if a group is.
    """
    n = min(len(first), len(other))
    if n == 0:
        return np.empty(0)
    return _blocks(first, n) - weight * _blocks(other, n)


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


def _blocks(values: Terms, n: int) -> Terms:
    """Return means of n blocks whose sizes differ by at most one row.

    Their mean is that of the values in expectation, though blocks are not of one size.
    """
    edges = np.linspace(0, len(values), n + 1).round().astype(int)
    return np.add.reduceat(values, edges[:-1]) / np.diff(edges)
