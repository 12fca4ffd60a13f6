"""How large the planted gaps of the samples truly are, from a million drawn rows."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd


@dataclass(frozen=True)
class Truth:
    """The gaps that the generator of a sample plants, without error of sampling.

    Attributes
    ----------
    planted : float
        The gap between groups in the planted region: the largest probability of the
        outcome in a group less the smallest, as people decided.
    fair : float
        The same gap had nobody been marked down.
    subgroups : DataFrame
        One row per subgroup of the sample's own definition: subgroup (its label),
        planted (whether it lies in the region), decided and fair (gaps, as above).
    rates : DataFrame
        One row per subgroup and group: subgroup, planted, group, rows, and the shares
        with the outcome, decided and fair.
    """

    planted: float
    fair: float
    subgroups: pd.DataFrame
    rates: pd.DataFrame


def read_truth(sample: Path) -> Truth:
    """Return the true gaps of the sample that this file holds."""
    rates = pd.read_csv(sample.with_name("truth.csv"), dtype={"subgroup": str})
    rates = rates[rates["sample"] == sample.name.partition(".")[0]]
    region = _gaps(rates[rates["planted"]], ["sample"])
    return Truth(
        planted=region["decided"].item(),
        fair=region["fair"].item(),
        subgroups=_gaps(rates, ["subgroup", "planted"]).reset_index(),
        rates=rates.drop(columns="sample").reset_index(drop=True),
    )


def _gaps(rates: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    totals = rates.assign(
        decided=rates["decided"] * rates["rows"], fair=rates["fair"] * rates["rows"]
    )
    totals = totals.groupby([*by, "group"])[["rows", "decided", "fair"]].sum()
    means = totals[["decided", "fair"]].div(totals["rows"], axis=0)
    return means.groupby(by).max() - means.groupby(by).min()
