"""What the Data page says about a data set: base rates, rows left out, columns."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from fairdash._validation import value_label
from fairdash.datasets import Dataset, Roles, Subgroups
from fairdash.metrics import (
    demographic_parity_difference,
    gap_interval,
    group_rates,
    local_di,
    subgroup_rates,
    wilson_interval,
)
from fairdash.ui._blocks import Kpi
from fairdash.ui._format import count, interval, number, percent

_EXAMPLES = 3


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
    y, names = dataset.y, dataset.sensitive_features
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


def column_table(frame: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Return one row per column: role, type, missing and different values, examples."""
    return pd.DataFrame(
        {
            "Column": [str(name) for name in frame.columns],
            "Role": [_role(str(name), roles) for name in frame.columns],
            "Type": [_kind(frame[name]) for name in frame.columns],
            "Missing": frame.isna().mean().to_numpy() * 100,
            "Different values": frame.nunique().to_numpy(),
            "Commonest": [_examples(frame[name]) for name in frame.columns],
        }
    )


def _role(name: str, roles: Roles) -> str:
    parts = {
        "outcome": name == roles.target,
        "sensitive": name == roles.sensitive_feature,
        "feature": name in roles.features,
        "subgroup": name in roles.subgroup_columns,
        "row filter": name in roles.keep,
    }
    return ", ".join(part for part, is_so in parts.items() if is_so) or "not used"


def _kind(column: "pd.Series[Any]") -> str:
    if pd.api.types.is_bool_dtype(column):
        return "yes/no"
    if pd.api.types.is_numeric_dtype(column):
        return "number"
    return "time" if pd.api.types.is_datetime64_any_dtype(column) else "category"


def _examples(column: "pd.Series[Any]") -> str:
    values = column.value_counts().head(_EXAMPLES).index
    return ", ".join(value_label(value) for value in values)


def not_estimable(local: pd.DataFrame) -> str:
    """Return why some subgroups have no gap: "1 too small, 1 lack a group"."""
    reasons = local.loc[~local["estimable"], "reason"]
    small = int(reasons.str.fullmatch(r"[\d,]+ rows?").sum())
    facts = [f"{small} too small" if small else ""]
    facts += [f"{len(reasons) - small} lack a group" if len(reasons) > small else ""]
    return ", ".join(fact for fact in facts if fact) or "all of them"
