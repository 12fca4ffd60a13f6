"""Subgroups of counts: gaps in rates, tested all together, from numbers alone.

Where rows stay at their source no label can be permuted. So each gap of two groups in a
subgroup has a p-value of its own, and Holm's adjustment holds for all of them.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from fairdash.analysis.adjustment import holm

_ADDED = 1.0  # Agresti and Caffo: a row of either value more in each group


def gaps_of_counts(
    counts: pd.DataFrame, *, min_size: int, alpha: float, most: int
) -> pd.DataFrame:
    r"""Return the gaps inside subgroups, the surest first.

    With :math:`\tilde p = (k + 1) / (n + 2)` of each group, z is the difference of two
    of these over :math:`\sqrt{\sum \tilde p (1 - \tilde p) / (n + 2)}`.

    Parameters
    ----------
    counts : DataFrame
        place (number of the subgroup), subgroup (its name), group, n and k: rows, and
        those of them that count; one row for each group in each subgroup.
    min_size : int
        Fewest rows of a subgroup, and a tenth of it of a group.
    alpha : float
        Intervals hold for all gaps together with probability 1 - alpha (Bonferroni).
    most : int
        Gaps returned, one for each subgroup at most.

    Returns
    -------
    DataFrame
        subgroup, n, lower and higher (groups), rate_lower, rate_higher, n_lower,
        n_higher, gap, ci_low, ci_high, z and p_adjusted; ``attrs["n_tests"]``.

    Raises
    ------
    ValueError
        If no subgroup has enough rows.
    """
    pairs = []
    for place, groups in counts.groupby("place", sort=False):
        subgroup = str(groups["subgroup"].iloc[0])
        n_rows = int(groups["n"].sum())
        if n_rows < min_size:
            continue
        sides = [
            _Side.of(str(group), int(n), int(k))
            for group, n, k in zip(
                groups["group"], groups["n"], groups["k"], strict=True
            )
            if n >= max(min_size / 10, 2)
        ]
        for first, second in combinations(sides, 2):
            pairs.append({"place": place, **_gap(subgroup, n_rows, first, second)})
    if not pairs:
        raise ValueError(
            f"No subgroup has {min_size:,} rows of two groups; choose a smaller "
            "`min_size`, or columns of fewer values."
        )
    table = pd.DataFrame(pairs)
    z = table["z"].to_numpy(float)
    critical = float(-ndtri(alpha / len(table) / 2))
    half = critical * table["error"]
    shrunk = z * table["error"]
    result = table.assign(
        ci_low=np.clip(shrunk - half, -1, 1),
        ci_high=np.clip(shrunk + half, -1, 1),
        p_adjusted=holm(2 * ndtr(-np.abs(z))),
    ).drop(columns="error")
    surest = result.sort_values("z", ascending=False, kind="stable")
    best = surest.drop_duplicates("place").drop(columns="place")
    listed = best.head(most).reset_index(drop=True)
    listed.attrs["n_tests"] = len(table)
    return listed


@dataclass(frozen=True)
class _Side:
    """A group in a subgroup: its rate, and that with one row of either value more."""

    group: str
    rate: float
    n: int
    shrunk: float

    @classmethod
    def of(cls, group: str, n: int, k: int) -> "_Side":
        """Return the side of ``n`` rows, of which ``k`` count."""
        return cls(group, k / n, n, (k + _ADDED) / (n + 2 * _ADDED))

    @property
    def variance(self) -> float:
        """Of the shrunk rate."""
        return self.shrunk * (1 - self.shrunk) / (self.n + 2 * _ADDED)


def _gap(subgroup: str, n_rows: int, first: _Side, second: _Side) -> dict[str, Any]:
    """Return the numbers of one pair of groups, the lower rate first."""
    lower, higher = sorted((first, second), key=lambda side: side.shrunk)
    error = float(np.sqrt(lower.variance + higher.variance))
    return {
        "subgroup": subgroup,
        "n": n_rows,
        "lower": lower.group,
        "higher": higher.group,
        "rate_lower": lower.rate,
        "rate_higher": higher.rate,
        "n_lower": lower.n,
        "n_higher": higher.n,
        "gap": higher.rate - lower.rate,
        "z": (higher.shrunk - lower.shrunk) / error,
        "error": error,
    }
