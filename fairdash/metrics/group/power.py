r"""How small a gap some rows can show, and how many rows a gap takes.

The test is that of two shares, two-sided. With the gap d between a group of rate p and
one of :math:`p \pm d`, whichever is nearer to 1/2, its power is

.. math::

    \Phi\Big(\frac{d - z_{1 - \alpha / 2} \sigma_0}{\sigma_1}\Big) , \quad
    \sigma_0^2 = \bar p (1 - \bar p) \Big(\frac{1}{n_1} + \frac{1}{n_2}\Big) , \quad
    \sigma_1^2 = \frac{p_1 (1 - p_1)}{n_1} + \frac{p_2 (1 - p_2)}{n_2} ,

with the rate :math:`\bar p` of both groups together (Fleiss, Levin and Paik, 2003,
Statistical methods for rates and proportions, section 4.2).
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from fairdash.metrics.group.local import BaseRates

Array = NDArray[np.float64]
_STEPS = 60  # halvings of an interval
_MOST = 1e6  # times the rows


def gap_power(gap: ArrayLike, rate: ArrayLike, n: ArrayLike) -> Array:
    """Return the probability that a gap is seen at 5%.

    Parameters
    ----------
    gap : array-like of shape (...,)
    rate : array-like of shape (...,)
        Of the first group.
    n : array-like of shape (2, ...)
        Rows of both groups.

    Returns
    -------
    float array of shape (...,), NaN where a group has no rows or the gap no room.
    """
    d, p = np.asarray(gap, np.float64), np.asarray(rate, np.float64)
    first, second = np.asarray(n, np.float64)
    other = np.where(p < 0.5, p + d, p - d)
    joint = (p * first + other * second) / np.maximum(first + second, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        null = np.sqrt(joint * (1 - joint) * (1 / first + 1 / second))
        spread = np.sqrt(p * (1 - p) / first + other * (1 - other) / second)
        power = ndtr((d - ndtri(0.975) * null) / spread)
    room = (first > 0) & (second > 0) & (other >= 0) & (other <= 1)
    return np.where(room, power, np.nan)


def plan_rows(
    rates: BaseRates, gap: float, *, share: float = 1.0, power: float = 0.8
) -> pd.DataFrame:
    """Return what gap every subgroup can show, and the rows that ``gap`` takes.

    Parameters
    ----------
    rates : BaseRates
        Sizes; the rate of a subgroup is that of its positive outcomes.
    gap : float
        That is to be seen, above 0.
    share : float, default=1.0
        Of the rows of the table, those that a model is tested on.
    power : float, default=0.8
        Probability of seeing it.

    Returns
    -------
    DataFrame, one row per subgroup: ``subgroup``, ``rows``; ``n`` of these tested;
    ``smallest``, those of the smallest group; ``visible``, the smallest gap between the
    two smallest groups that is seen with ``power``, NaN where none is; ``needed``, the
    rows that ``gap`` takes, of which ``share`` is tested, groups as they are.
    """
    if not 0 < gap < 1:
        raise ValueError(f"`gap` must lie between 0 and 1, got {gap!r}.")
    sizes = rates.cells.pivot_table(
        ["n", "positives"], "subgroup", "group", "sum", observed=True, sort=False
    ).fillna(0)
    rows, positives = sizes["n"].to_numpy(float), sizes["positives"].to_numpy(float)
    total = rows.sum(1)
    rate = positives.sum(1) / np.maximum(total, 1)
    pair = np.sort(rows, axis=1)[:, :2].T

    # power grows with the gap, and with the rows
    low, high = np.zeros(len(rate)), np.where(rate < 0.5, 1 - rate, rate)
    reached = gap_power(high, rate, share * pair) >= power
    least, most = np.zeros(len(rate)), np.full(len(rate), _MOST)
    for _ in range(_STEPS):
        middle, times = (low + high) / 2, (least + most) / 2
        seen = gap_power(middle, rate, share * pair) >= power
        low, high = np.where(seen, low, middle), np.where(seen, middle, high)
        seen = gap_power(gap, rate, share * pair * times) >= power
        least, most = np.where(seen, least, times), np.where(seen, times, most)
    needed = np.where(most < _MOST, np.ceil(most * total), np.nan)
    return pd.DataFrame(
        {
            "subgroup": sizes.index.astype(str),
            "rows": total.astype(np.int64),
            "n": np.round(share * total).astype(np.int64),
            "smallest": np.round(share * pair[0]).astype(np.int64),
            "visible": np.where(reached, high, np.nan),
            "needed": needed,
        }
    )
