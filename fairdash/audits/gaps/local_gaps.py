"""Gaps inside subgroups, and which of them is named."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import Any

import pandas as pd

from fairdash._deciding import Deciding
from fairdash._wording import NO_SUBGROUPS, ROWS, Noun
from fairdash.metrics import (
    BothWays,
    Finding,
    choose_finding,
    turned_gaps,
    views,
)
from fairdash.sweep import BASELINE

SEVERAL = 3  # largest gaps whose mean stands beside the largest
_MOST_DRAWN = 40  # subgroups
_FEW = 10  # rows of a group in a subgroup, as `local_words` says


@dataclass(frozen=True)
class LocalGaps:
    """A measure of some models inside subgroups; the last model is looked at.

    Attributes
    ----------
    estimates : DataFrame
        Of `fairdash.metrics.views.over_seeds`; its models are labels.
    models : DataFrame
        One row per model: label, method, colour_role, n_seeds, n, what `Deciding.of`
        takes, overall (the gap over all rows) and worst_1, both with their ends,
        ``_low`` and ``_high``; worst_k, the mean of the three largest gaps, and
        chance_k, what it stays below by chance.
    chance : float
        The largest gap of the model looked at by chance, 95th percentile.
    changes : DataFrame or None
        Paired changes against the first model, if there is one on the same rows.
    note : str
        Which seeds are compared.
    on_all_rows : bool
        Whether models are measured on all rows, not on the test rows of seeds.
    inside : tuple of Finding
        The groups farthest apart in each estimable subgroup, the higher one first.
    whole : Finding or None
        Those farthest apart over all rows.
    earlier : tuple of (tuple of Finding)
        ``inside`` of the models before the one looked at, in their order.
    opposed : BothWays or None
        Groups whose gaps point both ways inside subgroups.
    noun : Noun
        What is counted: rows, or the people that rows of counts stand for.
    """

    label: str
    estimates: pd.DataFrame
    models: pd.DataFrame
    chance: float
    changes: pd.DataFrame | None
    note: str = ""
    measure: str = "selection_rate"
    on_all_rows: bool = False
    inside: tuple[Finding, ...] = ()
    whole: Finding | None = None
    earlier: tuple[tuple[Finding, ...], ...] = ()
    opposed: BothWays | None = None
    noun: Noun = ROWS

    @cached_property
    def row(self) -> "pd.Series[Any]":
        """The row in ``models`` of the model looked at."""
        return self.models[self.models["label"] == self.label].iloc[0]

    @cached_property
    def deciding(self) -> Deciding:
        """Whether the decisions of the model looked at say anything."""
        return Deciding.of(self.row.to_dict())

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """`fairdash.metrics.views.gap_table` of all models, with the column "label"."""
        table = views.gap_table(self.estimates, self.measure)
        return table.rename(columns={"model": "label"})

    @cached_property
    def by_group(self) -> pd.DataFrame:
        """The measure in every subgroup and group: label, subgroup, group, n, value."""
        table = views.value_table(self.estimates, self.measure)
        return table.rename(columns={"model": "label"})

    @cached_property
    def ratios(self) -> pd.DataFrame:
        """The smallest over the largest value of the groups, of the model looked at.

        Columns subgroup, n, ratio, ratio_low, ratio_high, estimable, reason; first of
        all rows, then one row per subgroup. NaN for ``calibration``, which has signs.
        """
        return ratios_of(self.estimates, self.measure, self.label)

    @property
    def size(self) -> str:
        """How many rows, or people, the model looked at is measured on."""
        kind = "" if self.on_all_rows else "test"
        return self.noun.counted(round(self.row["n"]), kind)

    @property
    def n_seeds(self) -> int:
        """Number of seeds that numbers are means over."""
        return int(self.row["n_seeds"])

    @cached_property
    def model_gaps(self) -> pd.DataFrame:
        """The gaps of the model looked at."""
        return self.gaps[self.gaps["label"] == self.label]

    @cached_property
    def widest(self) -> "pd.Series[Any] | None":
        """The row of the largest gap in an estimable subgroup, if there is one."""
        estimable = self.model_gaps[self.model_gaps["estimable"]]
        return None if estimable.empty else estimable.nlargest(1, "gap").iloc[0]

    @cached_property
    def finding(self) -> Finding | None:
        """The gap that `choose_finding` names; of fair subgroups, in 4 % of tables."""
        if self.widest is None:
            return None
        findings = self.nameable(self.inside)
        subgroup = str(self.widest["subgroup"])
        widest = [f for f in findings if subgroup_of(f) == subgroup]
        return choose_finding(
            findings, next(iter(widest), None), beyond_chance=self.beyond_chance
        )

    @property
    def difference(self) -> Finding | None:
        """The finding that is named, else that over all rows, sure or not."""
        named = self.finding or self.whole
        return None if named is None else replace(named, sure=self.finding is not None)

    @property
    def clear_whole(self) -> Finding | None:
        """The gap over all rows, where it is clear and not that of a subgroup."""
        inside = self.widest is None or self.widest["subgroup"] != NO_SUBGROUPS
        return self.whole if inside and self.whole and self.whole.clear else None

    @property
    def beyond_chance(self) -> bool:
        """Whether the largest gap is beyond what a fair model shows in 95 %."""
        return self.widest is not None and bool(self.widest["gap"] > self.chance)

    @property
    def is_scattered(self) -> bool:
        """Whether the largest gap is beyond chance, but not one of the same groups.

        The largest gap of several seeds is a mean, and other groups may make it in
        each; then it lies above the intervals of all pairs of groups there.
        """
        if self.finding is not None or self.widest is None or self.n_seeds < 2:
            return False
        widest = str(self.widest["subgroup"])
        reaches = [
            max(-finding.low, finding.high)
            for finding in self.inside
            if subgroup_of(finding) == widest
        ]
        return self.beyond_chance and self.widest["gap"] > max(reaches, default=nan)

    @property
    def largest_is_named(self) -> bool:
        """Whether the finding is the largest gap, and this is beyond chance."""
        if self.finding is None or self.widest is None:
            return False
        if not self.beyond_chance:
            return False
        return subgroup_of(self.finding) == str(self.widest["subgroup"])

    @cached_property
    def model_cells(self) -> pd.DataFrame:
        """The measure of the model looked at, by subgroup and group."""
        return self.by_group[self.by_group["label"] == self.label]

    @cached_property
    def has_tiny_groups(self) -> bool:
        """Whether a group has so few rows in a subgroup that chance rules its gap."""
        estimable = self.model_gaps.loc[self.model_gaps["estimable"], "subgroup"]
        cells = self.model_cells
        n = cells.loc[cells["subgroup"].isin(estimable), "n"]
        return bool(((n > 0) & (n < _FEW)).any())

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups of the model looked at."""
        return tuple(dict.fromkeys(self.model_cells["group"].astype(str)))

    @cached_property
    def turned(self) -> list[Finding]:
        """The gaps that point the other way than those of the first model."""
        if not self.earlier or str(self.row["method"]) == BASELINE:
            return []
        return turned_gaps(self.earlier[0], self.nameable(self.inside))

    def nameable(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return the findings of subgroups that may be named; a report hides some."""
        estimable = self.model_gaps[self.model_gaps["estimable"]]
        names = set(estimable["subgroup"].astype(str))
        return [finding for finding in findings if subgroup_of(finding) in names]

    @property
    def drawn_subgroups(self) -> set[str]:
        """The subgroups of a figure: those with most rows, and with the widest gaps."""
        gaps = self.gaps.dropna(subset="gap")
        widest = gaps.loc[gaps.groupby("label")["gap"].idxmax(), "subgroup"]
        with_most_rows = self.model_gaps.nlargest(_MOST_DRAWN, "n")["subgroup"]
        return {*with_most_rows, *widest}


def subgroup_of(finding: Finding) -> str:
    """Return the subgroup of a finding, `NO_SUBGROUPS` over all rows."""
    return finding.subgroup or NO_SUBGROUPS


def ratios_of(table: pd.DataFrame, measure: str, model: str) -> pd.DataFrame:
    """Return the ratios of a model over all rows, then inside every subgroup."""
    estimates = table[table["model"] == model]
    whole = views.of_all_rows(estimates, views.ratio_of_measure(measure))
    whole = whole.assign(subgroup=NO_SUBGROUPS)
    of_model = pd.concat([whole, estimates], ignore_index=True)
    columns = ["subgroup", "n", "ratio", "ratio_low", "ratio_high", "estimable"]
    return views.ratio_table(of_model, measure)[[*columns, "reason"]]
