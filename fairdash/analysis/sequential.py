r"""Is a limit broken, asked again every week: an alarm that is seldom false in a year.

A limit is a claim that a weighted sum of group rates, and a constant, is at most 0.
Each week's units are dealt into blocks that hold each group in like parts, whatever
their values. A unit u of group g has a mass :math:`w_u` (the weights of its rows) and
a positive part :math:`a_u` of it; the rate of the group is
:math:`E[a] / E[w]`. With K blocks k of :math:`n_g` units of group g, factors
:math:`f_g` and constant c

.. math::

    z_k = c + \sum_g f_g \Bigl( m_g + \frac{K}{n_g s_g}
    \sum_{u \in k} (a_u - m_g w_u) \Bigr)

has the mean of the claim's sum where :math:`s_g = E[w]`, whatever :math:`m_g` is. Of
plain rows every mass is 1, and so is s. Else :math:`m_g, s_g` are rate and mean mass of
earlier weeks: a ratio of sums of one week is biased where weights go with decisions.
The error of z is then the product of the errors of m and s. A mass counts as the
largest of earlier weeks at most.

Blocks are independent, since each unit is in one. Betting a share λ against the claim
multiplies a wealth by :math:`\prod_k (1 + \lambda z_k)`, which grows on average only if
the claim is false. The evidence of week t is

.. math::

    E_t = \frac{1}{|\Lambda| W} \sum_{\lambda \in \Lambda} \sum_{j=1}^{W}
    \prod_{w=j}^{t} \prod_{i \in w} (1 + \lambda z_i)

with a start in each week j of a year of W weeks (1 where j > t), averaged over the
claims of all limits. While every claim is true, :math:`P(\exists t: E_t \ge 1/\alpha)
\le \alpha` (Ville), however weeks depend on each other's past, and whatever the
share of each group. That the units of a week are new ones is assumed.

I. Waudby-Smith and A. Ramdas (2024), Estimating means of bounded random variables by
betting. JRSS B 86, 1-27. J. Shin, A. Ramdas and A. Rinaldo (2024), E-detectors: a
nonparametric framework for sequential change detection. NEJSDS 2, 229-260.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LOOKS = 52
ALPHA = 0.05
BETS = np.geomspace(0.01, 0.9, 10)
BLOCK = 4  # units of the smallest group in a block
LEAST = 0.01  # bound of terms that cannot be negative

Terms = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Side:
    """The units of a group in a week, and what earlier weeks say of it.

    Attributes
    ----------
    factor : float
        By which the rate of the group counts in the claim.
    unit : int array, (n_units,)
        Which units of the week these are.
    mass, positive : array, (n_units,)
        Weight of the rows of a unit, and of the positive ones among them.
    rate, scale : float
        Rate and mean mass in earlier weeks; 0 and 1 of plain rows.
    worth : float
        Of how many units of one mass a unit is worth, at most 1.
    """

    factor: float
    unit: NDArray[np.int64]
    mass: Terms
    positive: Terms
    rate: float = 0.0
    scale: float = 1.0
    worth: float = 1.0


def blocks_of(sides: Sequence[Side]) -> int:
    """Return into how many blocks units are dealt; 0 where they are worth too little.

    A block has units of the smallest group that are worth `BLOCK` of one mass.
    """
    n_blocks = min(int(len(side.unit) * side.worth) // BLOCK for side in sides)
    if all(side.worth == 1 for side in sides):
        return max(n_blocks, 1)
    return n_blocks


def deal(
    sides: Sequence[Side], n_units: int, n_blocks: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the block of each unit; each block has as many parts of every side.

    A unit with rows of several groups is dealt with the first of them.
    """
    first_side = np.full(n_units, len(sides))
    for index, side in reversed(list(enumerate(sides))):
        first_side[side.unit] = index
    # Side by side, in random order within each, one unit a block in turn.
    order = np.lexsort((rng.random(n_units), first_side))
    block = np.empty(n_units, np.int64)
    block[order] = np.arange(n_units) % n_blocks
    return block


def block_terms(
    sides: Sequence[Side], constant: float, block: NDArray[np.int64], n_blocks: int
) -> tuple[Terms, float]:
    """Return the terms of blocks, and minus the least that a term can be."""
    terms = np.full(n_blocks, constant)
    least = np.full(n_blocks, constant)
    for side in sides:
        unit_block = block[side.unit]
        scale = n_blocks / (len(side.unit) * side.scale)
        # What a unit adds if none of its mass is positive, or all of it.
        negative = -side.rate * side.mass
        positive = negative + side.mass
        lowest = np.minimum(side.factor * negative, side.factor * positive)
        sums = np.bincount(unit_block, side.positive + negative, n_blocks)
        lowest_sums = np.bincount(unit_block, lowest, n_blocks)
        terms += side.factor * (side.rate + scale * sums)
        least += side.factor * side.rate + scale * lowest_sums
    return terms, max(-float(least.min()), LEAST)


def growth(terms: Terms, bound: float = 1.0) -> Terms:
    """Return the logarithm of what a week multiplies the wealth of each bet by.

    Parameters
    ----------
    terms : array, (n_terms,)
        With a mean of at most 0 while the claim is true. Those below ``-bound`` count
        as that.

    Returns
    -------
    array, (n_bets,)
    """
    share = np.maximum(terms / bound, -1.0)
    return np.log1p(BETS[:, None] * share[None]).sum(axis=1)


def evidence(weeks: Sequence[Terms], looks: int = LOOKS) -> Terms:
    """Return the evidence against claims after each week; see the module.

    Parameters
    ----------
    weeks : sequence of array, (n_claims, n_bets) each
        `growth` of every claim in a week.
    looks : int, default=52
        Weeks for which false alarms are bounded. Later weeks begin a new year.
    """
    by_week: list[float] = []
    for first in range(0, len(weeks), looks):
        year = np.stack(weeks[first : first + looks])
        wealth = np.zeros(year.shape[1:])  # of all starts so far together
        for week, log_growth in enumerate(year):
            # A bet that starts this week joins those before it with a wealth of 1. At
            # 500 the exponential is far beyond any alarm and does not overflow.
            wealth = (wealth + 1) * np.exp(np.minimum(log_growth, 500))
            n_waiting = looks - week - 1  # starts to come, which have 1 each
            by_week.append(float((wealth + n_waiting).mean() / looks))
    return np.array(by_week)


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
