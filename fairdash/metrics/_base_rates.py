"""How often the outcome is positive in a table, before any model."""

from dataclasses import dataclass

import pandas as pd
from numpy.typing import ArrayLike

from fairdash.metrics._group import demographic_parity_difference, group_rates
from fairdash.metrics._intervals import gap_interval, wilson_interval
from fairdash.metrics._local import local_di, subgroup_rates


@dataclass(frozen=True, eq=False)
class BaseRates:
    """How often the outcome is positive, by group and by subgroup.

    Attributes
    ----------
    n : int
        Rows.
    rate, low, high : float
        Over all rows, with Wilson interval.
    gap, gap_low, gap_high : float
        Largest minus smallest rate of the groups, with folded Newcombe interval.
    groups : DataFrame
        See `fairdash.metrics.group_rates`.
    cells : DataFrame
        See `fairdash.metrics.subgroup_rates`.
    local : DataFrame
        See `fairdash.metrics.local_di`.
    """

    n: int
    rate: float
    low: float
    high: float
    gap: float
    gap_low: float
    gap_high: float
    groups: pd.DataFrame
    cells: pd.DataFrame
    local: pd.DataFrame

    def sizes(self) -> pd.DataFrame:
        """Return the rows of every subgroup and of each group in it.

        Returns
        -------
        DataFrame
            One row per subgroup: ``Subgroup``, ``Rows``, a column per group,
            ``Estimable`` and ``Why not``.
        """
        local = self.local.set_index("subgroup")
        counts = self.cells.pivot_table("n", "subgroup", "group", "sum", observed=True)
        table = counts.reindex(local.index).fillna(0).astype(int)
        table.insert(0, "Rows", local["n"])
        table["Estimable"] = local["estimable"]
        table["Why not"] = local["reason"]
        return table.rename_axis("Subgroup").reset_index().rename_axis(columns=None)


def base_rates(
    y: ArrayLike, *, sensitive_features: ArrayLike, subgroups: ArrayLike, min_size: int
) -> BaseRates:
    """Return the rates of the positive outcome, with 95 % intervals.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Outcomes, 0 or 1.
    sensitive_features : array-like of shape (n_rows,)
        Group of each row; a categorical fixes the order of the groups.
    subgroups : array-like of shape (n_rows,)
        Subgroup of each row, missing where in none.
    min_size : int
        Fewest rows of a subgroup whose gap is estimated.

    Returns
    -------
    BaseRates
    """
    whole = group_rates(y, sensitive_features=sensitive_features)
    positives = whole["positives"].to_numpy(float)
    n_rows = whole["n"].to_numpy(float)
    n, n_positive = int(n_rows.sum()), int(positives.sum())
    low, high = wilson_interval(n_positive, n)
    gap_low, gap_high = gap_interval(positives, n_rows)
    return BaseRates(
        n=n,
        rate=n_positive / n,
        low=float(low),
        high=float(high),
        gap=demographic_parity_difference(y, sensitive_features=sensitive_features),
        gap_low=float(gap_low),
        gap_high=float(gap_high),
        groups=whole,
        cells=subgroup_rates(
            y,
            sensitive_features=sensitive_features,
            subgroups=subgroups,
            min_size=min_size,
        ),
        local=local_di(
            y,
            sensitive_features=sensitive_features,
            subgroups=subgroups,
            min_size=min_size,
        ),
    )
