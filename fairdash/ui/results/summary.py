"""What the Data page says about a data set: base rates, estimable subgroups."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from fairdash._wording import Kpi, count, interval, number, percent
from fairdash.datasets import Dataset, Subgroups
from fairdash.metrics import (
    demographic_parity_difference,
    gap_interval,
    group_rates,
    local_di,
    subgroup_rates,
    wilson_interval,
)


@dataclass(frozen=True)
class BaseRates:
    """How often the outcome is positive, by group and by subgroup.

    Attributes
    ----------
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

    rate: float
    low: float
    high: float
    gap: float
    gap_low: float
    gap_high: float
    groups: pd.DataFrame
    cells: pd.DataFrame
    local: pd.DataFrame


def base_rates(dataset: Dataset, subgroups: Subgroups) -> BaseRates:
    """Return the base rates of a data set under ``subgroups``."""
    y = dataset.y
    names = pd.Categorical.from_codes(dataset.group, pd.Index(dataset.group_names))
    low, high = wilson_interval(y.sum(), len(y))
    groups = group_rates(y, sensitive_features=names)
    gap_low, gap_high = gap_interval(
        groups["positives"].to_numpy(float), groups["n"].to_numpy(float)
    )
    inside: dict[str, Any] = {
        "sensitive_features": names,
        "subgroups": subgroups.label(dataset.frame),
        "min_size": subgroups.min_size,
    }
    return BaseRates(
        rate=float(y.mean()),
        low=float(low),
        high=float(high),
        gap=demographic_parity_difference(y, sensitive_features=names),
        gap_low=float(gap_low),
        gap_high=float(gap_high),
        groups=groups,
        cells=subgroup_rates(y, **inside),
        local=local_di(y, **inside),
    )


def base_rate_kpis(rates: BaseRates, used: int, read: int) -> list[Kpi]:
    """Return rows used of those read, base rate, its gap, subgroups estimable."""
    estimable = rates.local["estimable"]
    return [
        Kpi("Rows used", count(used), f"{percent(used / read)} of the file"),
        Kpi(
            "Base rate P(y = 1)",
            percent(rates.rate),
            f"95% {interval(rates.low, rates.high, percent)}",
        ),
        Kpi(
            "Gap in base rate",
            number(rates.gap),
            f"95% {interval(rates.gap_low, rates.gap_high)}",
            help="Largest minus smallest base rate of the groups.",
        ),
        Kpi(
            "Subgroups estimable",
            f"{estimable.sum()} of {len(estimable)}",
            not_estimable(rates.local),
        ),
    ]


def not_estimable(local: pd.DataFrame) -> str:
    """Return why some subgroups have no gap: "1 too small, 1 lack a group"."""
    reasons = local.loc[~local["estimable"], "reason"]
    small = int(reasons.str.fullmatch(r"[\d,]+ rows?").sum())
    facts = [f"{small} too small" if small else ""]
    facts += [f"{len(reasons) - small} lack a group" if len(reasons) > small else ""]
    return ", ".join(fact for fact in facts if fact) or "all of them"
