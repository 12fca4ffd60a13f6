"""What the Data page says about a data set: base rates, estimable subgroups."""

import pandas as pd

from fairdash import metrics
from fairdash._wording import Kpi, count, interval, number, percent
from fairdash.datasets import Dataset, Subgroups
from fairdash.metrics import BaseRates


def base_rates(dataset: Dataset, subgroups: Subgroups) -> BaseRates:
    """Return the base rates of a data set under ``subgroups``."""
    return metrics.base_rates(
        dataset.y,
        sensitive_features=dataset.groups,
        subgroups=subgroups.label(dataset.frame),
        min_size=subgroups.min_size,
    )


def base_rate_kpis(
    rates: BaseRates, used: int, read: int, *, guessed: bool
) -> list[Kpi]:
    """Return rows used of those read, base rate, its gap, subgroups estimable.

    The gap is a finding: of roles that are only ``guessed`` it is not shown.
    """
    estimable = rates.local["estimable"]
    kpis = [
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
    return [kpi for kpi in kpis if not (guessed and kpi.label == "Gap in base rate")]


def not_estimable(local: pd.DataFrame) -> str:
    """Return why some subgroups have no gap: "1 too small, 1 lack a group"."""
    reasons = local.loc[~local["estimable"], "reason"]
    small = int(reasons.str.fullmatch(r"[\d,]+ rows?").sum())
    facts = [f"{small} too small" if small else ""]
    facts += [f"{len(reasons) - small} lack a group" if len(reasons) > small else ""]
    return ", ".join(fact for fact in facts if fact) or "all of them"
