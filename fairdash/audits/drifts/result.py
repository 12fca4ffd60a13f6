"""The result of comparing two tables, with its numbers and captions."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairdash._change import Change, excludes_zero
from fairdash._deciding import Deciding
from fairdash._wording import (
    NO_SUBGROUPS,
    Kpi,
    change,
    gap_size,
    group_label,
    headed,
    interval,
    number,
    p_value,
    percent,
    plural,
    points,
    sentences,
    whole_points,
)
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.drifts.tables import DriftTable
from fairdash.audits.gaps.local import not_estimable
from fairdash.metrics import catalog, gap_ends, intervals
from fairdash.scored import USUAL, DecisionRule

_CARD = 20  # characters
_HOW = """
Left, the gap between the two groups that are farthest apart on the reference. It is
over all rows and inside every subgroup. **Open**: held-out rows of the training table.
**Filled**: the other table. Right, the change; where its interval
excludes 0 it is black. Intervals of changes hold for all subgroups at once.

Models keep the encoding of their training rows: a new category is one they do not know.
"""
_HOW_SHIFTS = """
Numbers have the Kolmogorov-Smirnov distance (**KS**), categories the total variation
distance (**TV**): 0 is alike, 1 has nothing in common. The adjusted p is of the KS or
the chi-square test, by Holm over the columns. **Unseen**: rows whose value no training
row has, or a number outside the range of training rows.
"""
_SHIFTS = {
    "column": "Column",
    "statistic": "Statistic",
    "shift": "Shift",
    "p_adjusted": "Adjusted p",
    "unseen": "Unseen (%)",
    "missing": "More missing (%)",
    "change": "What changed most",
}


@dataclass(frozen=True, eq=False)
class DriftResult:
    """Models on a reference table and on another one; one of them in detail.

    Attributes
    ----------
    measure : str
        Whose gaps are compared: of `fairdash.metrics.measure_by_group`.
    low, high : str
        The groups with the lowest and the highest value on the reference table: a gap
        is the value of ``high`` less that of ``low``.
    tables : pair of DriftTable
        The reference first.
    points : DataFrame
        One row per table and model, the one in detail first: table, label, the columns
        of `fairdash.metrics.evaluate`, selection_rate, status (of `decision_status`),
        gap, gap_low, gap_high. What needs an outcome is NaN where a table has none.
    changes, shifts : DataFrame
        Of `gap_changes`, over all rows and by subgroup, and of `column_shifts`.
    excluded : tuple of str
        Models that are not compared, and why.
    rule : DecisionRule
        By which the model in detail decides.
    """

    label: str
    measure: str
    feature: str
    low: str
    high: str
    seed: int
    tables: tuple[DriftTable, DriftTable]
    points: pd.DataFrame
    changes: pd.DataFrame
    shifts: pd.DataFrame
    excluded: tuple[str, ...] = ()
    rule: DecisionRule = USUAL

    @property
    def clear(self) -> pd.DataFrame:
        """The subgroups whose change has an interval without 0, the largest first."""
        inside = self.changes.iloc[1:]
        clear = inside[excludes_zero(inside["ci_low"], inside["ci_high"])]
        order = clear["change"].abs().sort_values(ascending=False, kind="stable")
        return clear.loc[order.index]

    @property
    def idle(self) -> str:
        """Where the model does not decide: then its gaps say nothing of it."""
        for table, point in zip(self.tables, self._both(), strict=True):
            rate = point["selection_rate"]
            deciding = Deciding.of_status(str(point["status"]), rate)
            if deciding.idle:
                return f"{deciding.predicate()} on {table.name}"
        return ""

    def changed(self, name: str) -> Change:
        """Return how a column of ``points`` changed, with Zou and Donner's interval."""
        old, new = (
            intervals.Interval(
                *(np.asarray(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
            )
            for row in self._both()
        )
        low, high = intervals.difference_of(new, old)
        return Change(float(new.value - old.value), float(low), float(high))

    def answer(self) -> Answer:
        """Return how gaps change on the other table, by subgroup."""
        headline = self.headline()
        names = (self.low, self.high)
        low, high = (group_label(self.feature, name) for name in names)
        arguments = {
            "headline": headline,
            "title": f"gap, {high} − {low}",
            "caption": self._caption(),
            "in_points": self._in_points,
        }
        rows = [f"{t.name}: {t.size}" for t in self.tables]
        remarks = [why for table in self.tables for why in table.remarks]
        return Answer(
            self.brief(),
            self.kpis(),
            Drawing("plot_gap_changes", self.changes, arguments),
            Listing("Models on both tables", self.table_of_models()),
            ". ".join([*remarks, *self.excluded]),
            facts=(*rows, f"seed {self.seed}", f"decided 1: {self.rule.words()}"),
            details=self.details(),
            how=_HOW,
            file="fairdash-drift.csv",
            data=self.points,
        )

    def shift_answer(self) -> Answer:
        """Return how far every column shifted, largest first."""
        table = self.shifts[list(_SHIFTS)].copy()
        for name in ("unseen", "missing"):
            table[name] = (100 * table[name]).round(2)
        table["p_adjusted"] = table["p_adjusted"].map(p_value)
        n = int((self.shifts["p_adjusted"] < 0.05).sum())
        title = f"{n or 'None'} of {plural(len(table), 'column')} shifted beyond chance"
        listed = table.rename(columns=_SHIFTS)
        return Answer("", table=Listing(title, listed, how=_HOW_SHIFTS))

    def brief(self) -> str:
        """Say where a gap changed and whether accuracy did."""
        row = self._named()
        accuracy = self._accuracy()
        if self.idle:
            return f"{self.label} {self.idle}, so its gaps say nothing."
        if not self.changes["estimable"].iloc[0]:
            return sentences("The gaps of these tables cannot be compared.", accuracy)
        if not excludes_zero(row["ci_low"], row["ci_high"]):
            return sentences("No gap changes by more than chance would show.", accuracy)
        return sentences(moved_gap(row, self.measure, self.tables[1].name), accuracy)

    def details(self) -> str:
        """Say the change that is named, and that of accuracy, with their intervals."""
        row = self._named()
        if self.idle:
            gaps = f"{self.label} {self.idle}, so its gaps say nothing."
        elif not row["estimable"]:
            gaps = f"Gaps cannot be compared: {row['reason']}."
        else:
            ends = interval(row["ci_low"], row["ci_high"], self._signed)
            size = self._signed(row["change"])
            gaps = f"{row['subgroup']}: the gap changes by {size} ({ends})."
        moved = self.changed("accuracy")
        if self.tables[1].y is None:
            return f"{gaps} Without the outcome its accuracy is not known."
        ends = interval(moved.low, moved.high, points)
        return f"{gaps} Accuracy changes by {ends}."

    def kpis(self) -> list[Kpi]:
        """Return accuracy and gap on the new table, and the largest shift."""
        old, new = self._both()
        gap = self.changed("gap")
        first = self.shifts.iloc[0]
        name = f"{catalog.MEASURE_NAMES[self.measure]} gap"
        size = gap_size if self._in_points else number
        ends = interval(new["gap_low"], new["gap_high"], size)
        accuracy = self.changed("accuracy")
        return [
            Kpi(
                "Accuracy",
                percent(new["accuracy"]),
                f"was {percent(old['accuracy'])}",
                delta="" if self.tables[1].y is None else points(accuracy.value),
                good=accuracy.good(rise=True),
                help="The other table has an accuracy if it has the outcome.",
            ),
            Kpi(
                name if len(name) <= _CARD else "Gap",
                size(new["gap"]),
                f"{ends}; was {size(old['gap'])}",
                delta=self._signed(gap.value),
                good=None if self.idle else gap.good(rise=False),
            ),
            Kpi(
                "Largest shift",
                number(first["shift"]),
                str(first["column"]),
                help="Kolmogorov-Smirnov distance of a number, total variation of a "
                "category: 0 is alike, 1 has nothing in common.",
            ),
        ]

    def headline(self) -> str:
        """Return how many subgroups changed, in at most 70 characters."""
        n = len(self.clear)
        total = int(self.changes["estimable"].iloc[1:].sum())
        if self.idle:
            return "It does not decide: gaps say nothing"
        if not total:
            return "No subgroup is estimable on both tables"
        return (
            f"The gap changes clearly in {n or 'none'} of {plural(total, 'subgroup')}"
        )

    def table_of_models(self) -> pd.DataFrame:
        """Return accuracy and gap of every model on both tables."""
        columns = ["label", "table", "n", "accuracy", "selection_rate"]
        columns += ["gap", "gap_low", "gap_high"]
        listed = headed(self.points, columns, label="Model")
        marks = [
            Deciding.of_status(status, rate).mark() or "yes"
            for status, rate in zip(
                self.points["status"], self.points["selection_rate"], strict=True
            )
        ]
        return listed.assign(Decides=marks)

    @property
    def _in_points(self) -> bool:
        return catalog.measure_of(self.measure).in_points

    @property
    def _signed(self) -> Callable[[float], str]:
        return points if self._in_points else change

    def _both(self) -> list["pd.Series[float]"]:
        half = len(self.points) // 2
        return [self.points.iloc[place] for place in (0, half)]

    def _named(self) -> "pd.Series[float]":
        return self.clear.iloc[0] if len(self.clear) else self.changes.iloc[0]

    def _accuracy(self) -> str:
        moved = self.changed("accuracy")
        if math.isnan(moved.low):
            return ""
        if not moved.clear:
            return "Accuracy did not change clearly."
        verb = "rises" if moved.low > 0 else "falls"
        return f"Accuracy {verb} by {number(100 * abs(moved.value), 1)} points."

    def _caption(self) -> str:
        inside = self.changes.iloc[1:]
        n = int(inside["estimable"].sum())
        several = len(self.tables[0].groups.categories)
        low, high = (group_label(self.feature, x) for x in (self.low, self.high))
        pairs = " and all pairs of groups" if several > 2 else ""
        words = (
            f"Gap in {catalog.measure_in_text(self.measure)}: "
            f"{high} less {low}, {self.label}. "
            f"Open: {self.tables[0].name}; filled: {self.tables[1].name}, "
            f"95% {catalog.INTERVAL_KINDS[self.measure]}. "
            f"Right: the change of two independent tables, simultaneous 95% intervals "
            f"over {plural(n, 'subgroup')}{pairs}."
        )
        if n < len(inside):
            words += f" {not_estimable(inside)} of {plural(len(inside), 'subgroup')}."
        return words


def moved_gap(row: "pd.Series[Any]", measure: str, table: str) -> str:
    """Say that the gap of a row of `gap_changes` is another on a table, by how much."""
    place = row["subgroup"]
    place = "Over all rows" if place == NO_SUBGROUPS else f"In {place}"
    old = row["gap_before"]
    new = row["gap_after"]
    verb = "widens" if abs(new) > abs(old) else "narrows"
    verb = "moves" if old * new < 0 else verb
    return f"{place}, the gap {verb} {moved_by(row, measure)} on {table}."


def moved_by(row: "pd.Series[Any]", measure: str) -> str:
    """Return a change with its interval: "by 8 points (5 to 11)"."""
    size = number(abs(row["change"]))
    if catalog.measure_of(measure).in_points:
        size = whole_points(row["change"])
    return f"by {size} ({gap_ends(measure, *row[['change', 'ci_low', 'ci_high']])})"
