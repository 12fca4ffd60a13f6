"""What a comparison of tables says: three answers, with their numbers and captions."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from fairdash._wording import (
    MINUS,
    Kpi,
    change,
    fitting,
    group_label,
    interval,
    listing,
    number,
    p_value,
    percent,
    plural,
    points,
)
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.brief import brief
from fairdash.audits.drifts.points import gap_column
from fairdash.audits.drifts.tables import DriftTable
from fairdash.audits.groups.local import not_estimable
from fairdash.audits.noisy_groups.certificates import STATUS_WORDS
from fairdash.metrics import (
    INTERVAL_KINDS,
    MEASURE_NAMES,
    Finding,
    Interval,
    Speech,
    clause,
    gap_ends,
    in_points,
    measure_in_text,
    whole_points,
)

_CARD = 20  # characters
_HOW = """
One mark per model and table. **Open** marks are the reference, held-out rows of the
table the models were trained on; **filled** ones the other table. Down and to the right
is worse. A line joins the two marks of a model, or the models of a method's front.

Models keep the encoding of their training rows: a new category is one they do not know.
"""
_HOW_GAPS = """
Left, the gap between the two groups that are farthest apart on the reference, inside
every subgroup: **open** there, **filled** on the other table. Right, the change; where
its interval excludes 0 it is black. Intervals of changes hold for all subgroups at
once.
"""
_HOW_SHIFTS = """
Of a number the Kolmogorov-Smirnov distance (**KS**), of a category the total variation
distance (**TV**): 0 is alike, 1 has nothing in common. 95% of tables without any shift
stay below **by chance**. The adjusted p is of the KS or the chi-square test, by Holm
over the columns. **Unseen**: rows whose value no training row has; of a number, outside
the range of training rows.
"""
_SHIFTS = {
    "column": "Column",
    "statistic": "Statistic",
    "shift": "Shift",
    "chance": "By chance",
    "p_adjusted": "Adjusted p",
    "unseen": "Unseen (%)",
    "missing_before": "Missing before (%)",
    "missing_after": "Missing now (%)",
    "change": "What changed most",
}


@dataclass(frozen=True, eq=False)
class DriftResult:
    """Models on a reference table and on others; one model and one table in detail.

    Attributes
    ----------
    measure : str
        Whose gaps are compared: of `fairdash.metrics.measure_by_group`.
    low, high : str
        The groups with the lowest and the highest value on the reference table: a gap
        is the value of ``high`` less that of ``low``.
    tables : tuple of DriftTable
        The reference first.
    points : DataFrame
        One row per table and model: table, label, method, colour_role, main, front
        (none that does not decide on the table), the columns of `table_points`, and for
        accuracy and the gap the ends _change_low and _change_high of the change from
        the reference.
    whole, changes, shifts : DataFrame
        Of `gap_changes`, over all rows and by subgroup, and of `column_shifts`.
    unseen : float
        Share of rows of the table in detail with a category of no training row.
    excluded : tuple of str
        Models that are not compared, and why.
    """

    label: str
    measure: str
    outcome: str
    feature: str
    low: str
    high: str
    seed: int
    tables: tuple[DriftTable, ...]
    against: int
    points: pd.DataFrame
    whole: pd.DataFrame
    changes: pd.DataFrame
    shifts: pd.DataFrame
    unseen: float
    excluded: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, str]:
        """The groups ``low`` and ``high`` with the column they are values of."""
        return group_label(self.feature, self.low), group_label(self.feature, self.high)

    @property
    def reference(self) -> DriftTable:
        """The table that others are compared with."""
        return self.tables[0]

    @property
    def table(self) -> DriftTable:
        """The table in detail."""
        return self.tables[self.against]

    @property
    def has_outcome(self) -> bool:
        """Whether accuracy is known on both tables compared."""
        return self.reference.y is not None and self.table.y is not None

    @property
    def clear(self) -> pd.DataFrame:
        """The subgroups whose change has an interval without 0, the largest first."""
        clear = self.changes[_excludes_0(self.changes)]
        order = clear["change"].abs().sort_values(ascending=False, kind="stable")
        return clear.loc[order.index]

    @property
    def idle(self) -> str:
        """Where the model does not decide: then its gaps say nothing of it."""
        where: dict[str, list[str]] = {}
        for place in (0, self.against):
            if status := str(self._point(place)["status"]):
                names = where.setdefault(STATUS_WORDS[status], [])
                names.append(self.tables[place].name)
        said = [f"{words} on {listing(names)}" for words, names in where.items()]
        return listing(said) if said else ""

    @property
    def gaps_comparable(self) -> bool:
        """Whether the model decides and a subgroup is estimable, on both tables."""
        return not self.idle and bool(self.changes["estimable"].any())

    @cached_property
    def accuracy_change(self) -> Interval:
        """By how much accuracy differs from the reference, with Newcombe's interval."""
        if not self.has_outcome:
            return Interval(*np.full(3, np.nan))
        return self._change("accuracy")

    def _change(self, name: str) -> Interval:
        old, new = (self._point(place) for place in (0, self.against))
        low, high = (new[f"{name}_change_{end}"] for end in ("low", "high"))
        return Interval(*map(np.asarray, (new[name] - old[name], low, high)))

    def answer(self, over_seeds: pd.DataFrame | None = None) -> Answer:
        """Return what changes on the other table.

        ``over_seeds``, of `drift_over_seeds`, is drawn instead of one seed.
        """
        without = []
        if over_seeds is not None:
            compared = set(over_seeds["label"])
            labels = self.points["label"].unique()
            without = [label for label in labels if label not in compared]
        arguments = {
            "measure": gap_column(self.measure),
            "tables": [table.name for table in self.tables],
            "against": self.table.name,
            "kind": INTERVAL_KINDS[self.measure],
        }
        points_drawn = self.points if over_seeds is None else over_seeds
        lacking = [f"{label} lacks some of the seeds" for label in without]
        return Answer(
            self.brief(),
            self.kpis(),
            Drawing("plot_drift", points_drawn, arguments),
            Listing(f"{self.label} on every table", self.table_of_tables()),
            ". ".join([*self.excluded, *lacking]),
            facts=self.facts(),
            details=self.verdict(),
            how=_HOW,
            file="fairdash-drift.csv",
            data=self.points,
        )

    def gap_answer(self) -> Answer:
        """Return how gaps by subgroup change; without a figure where none compares."""
        arguments = {
            "headline": self.gap_headline(),
            "caption": self.gap_caption(),
            "low": self.named[0],
            "high": self.named[1],
        }
        figure = Drawing("plot_gap_changes", self.changes, arguments)
        if not self.gaps_comparable:
            return Answer(self.gap_headline(), details=self.gap_caption())
        return Answer("", figure=figure, how=_HOW_GAPS)

    def shift_answer(self) -> Answer:
        """Return how far every column shifted, largest first."""
        table = self.shifts[list(_SHIFTS)].copy()
        for name in ("unseen", "missing_before", "missing_after"):
            table[name] = (100 * table[name]).round(2)
        table["p_adjusted"] = table["p_adjusted"].map(p_value)
        listed = table.rename(columns=_SHIFTS)
        return Answer("", table=Listing(self.shift_headline(), listed, how=_HOW_SHIFTS))

    def brief(self) -> str:
        """Say where a gap changed and whether accuracy did, in at most 20 words."""
        whole, accuracy = self.whole.iloc[0], self._accuracy_brief()
        if self.idle:
            return f"{self.label} decides alike for nearly everyone on these tables."
        if not whole["estimable"]:
            return brief("The gaps of these tables cannot be compared.", accuracy)
        row = self._first_clear()
        if row is None:
            return brief("No gap changes by more than chance would show.", accuracy)
        place = f"In {row['subgroup']}" if len(self.clear) else "Over all rows"
        verb, size = _moved(row), self._size(row["change"])
        words = f"{place}, the gap {verb} by {size} on {self.table.name}."
        return brief(words, accuracy)

    def verdict(self) -> str:
        """Say where a gap changed, by how much and how surely; and accuracy."""
        return f"{self._gap_verdict()} {self._accuracy_verdict()}"

    def _first_clear(self) -> "pd.Series[float] | None":
        """Return the largest clear change of a subgroup, else that over all rows."""
        if len(self.clear):
            return self.clear.iloc[0]
        return self.whole.iloc[0] if _excludes_0(self.whole).any() else None

    def _gap_verdict(self) -> str:
        whole, row = self.whole.iloc[0], self._first_clear()
        if self.idle:
            return f"{self.label} {self.idle}: gaps between groups say nothing of it."
        if not whole["estimable"]:
            return f"Gaps cannot be compared: {whole['reason']}."
        if row is not None:
            inside = f"In {row['subgroup']} on {self.table.name}"
            place = (
                inside if len(self.clear) else f"On {self.table.name}, over all rows"
            )
            return self._changed(row, place)
        n = int(self.changes["estimable"].sum())
        inside = f"nor in {f'any of {n} subgroups' if n > 1 else 'the one subgroup'}"
        return (
            f"From {self.reference.name} to {self.table.name} no gap between "
            f"{self.named[0]} and {self.named[1]} changes by more than chance would "
            f"show: over all rows {self._size(whole['change'], signed=True)} "
            f"({gap_ends(self.measure, 1, whole['ci_low'], whole['ci_high'])}), "
            f"{inside if n else 'and no subgroup is estimable on both'}."
        )

    def _changed(self, row: "pd.Series[float]", where: str) -> str:
        old, new = row["gap_before"], row["gap_after"]
        after = Finding(self.measure, None, self.low, self.high, -new, np.nan, np.nan)
        words = clause(after, Speech.of(self.outcome, self.feature))
        before = f"it was {self._size(old)}"
        if old * new < 0:
            often = self.measure.endswith("rate") or self.measure == "accuracy"
            side = f"{'less' if old > 0 else 'more'} often"
            before += f" {side}" if often else " the other way round"
        sign = np.sign(row["change"])
        ends = sorted((sign * row["ci_low"], sign * row["ci_high"]))
        return (
            f"{where}, by {self.label}, {words}; on {self.reference.name} {before}: "
            f"the gap {_moved(row)} by {self._size(row['change'])} "
            f"({gap_ends(self.measure, 1, *ends)})."
        )

    def _size(self, value: float, *, signed: bool = False) -> str:
        """Return a difference as the measure has it: in points, or in decimals."""
        if signed:
            return points(value) if in_points(self.measure) else change(value)
        return whole_points(value) if in_points(self.measure) else number(abs(value))

    def _accuracy_brief(self) -> str:
        low, high = float(self.accuracy_change.low), float(self.accuracy_change.high)
        if not self.has_outcome or math.isnan(low):
            return ""
        if low <= 0 <= high:
            return "Accuracy did not change clearly."
        verb = "rises" if low > 0 else "falls"
        size = number(100 * abs(float(self.accuracy_change.value)), 1)
        return f"Accuracy {verb} by {size} points."

    def _accuracy_verdict(self) -> str:
        if not self.has_outcome:
            return "Without the outcome its accuracy is not known."
        low, high = float(self.accuracy_change.low), float(self.accuracy_change.high)
        if low <= 0 <= high:
            ends = f"{_points(low)} to {_points(high)} points"
            return f"Accuracy does not change clearly ({ends})."
        old, new = (self._point(place)["accuracy"] for place in (0, self.against))
        verb = "rises" if low > 0 else "falls"
        return (
            f"Accuracy {verb} from {percent(old)} to {percent(new)} "
            f"({_points(low)} to {_points(high)} points)."
        )

    def facts(self) -> tuple[str, ...]:
        """Return the context line: both tables with their rows, and the seed."""
        shown = [
            f"{t.name}: {plural(t.n, 'row')}" for t in (self.reference, self.table)
        ]
        return (*shown, f"seed {self.seed}")

    def kpis(self) -> list[Kpi]:
        """Return accuracy and gap on the new table, the largest shift, unseen."""
        new, old = self._point(self.against), self._point(0)
        column = gap_column(self.measure)
        gap = self._change(column)
        name = f"{MEASURE_NAMES[self.measure]} gap"
        ends = interval(new[f"{column}_low"], new[f"{column}_high"])
        first = self.shifts.iloc[0]
        if self.has_outcome:
            start = Kpi(
                "Accuracy",
                percent(new["accuracy"]),
                f"was {percent(old['accuracy'])}",
                delta=points(float(self.accuracy_change.value)),
                good=_good(self.accuracy_change, better=1),
            )
        else:
            start = Kpi(
                "Selection rate",
                percent(new["selection_rate"]),
                f"was {percent(old['selection_rate'])}",
                help="The table has no outcome, so accuracy is not known.",
            )
        return [
            start,
            Kpi(
                name if len(name) <= _CARD else "Gap",
                number(new[column]),
                f"{ends}; was {number(old[column])}",
                delta=change(float(gap.value)),
                good=None if self.idle else _good(gap, better=-1),
            ),
            Kpi(
                "Largest shift",
                number(first["shift"]),
                f"{first['column']}; chance {number(first['chance'])}",
                help="Kolmogorov-Smirnov distance of a number, total variation of a "
                "category: 0 is alike, 1 has nothing in common.",
            ),
            Kpi(
                "Unseen categories",
                percent(self.unseen),
                "of rows have one",
                help="A category that no training row has. The encoding does not know "
                "it.",
            ),
        ]

    def gap_headline(self) -> str:
        """Return how many subgroups changed, in at most 70 characters."""
        n, total = len(self.clear), int(self.changes["estimable"].sum())
        if self.idle:
            return fitting(f"It {self.idle}", "It does not decide: gaps say nothing")
        if not total:
            return "No subgroup is estimable on both tables"
        if not n:
            if total == 1:
                return "In the one subgroup the gap does not change clearly"
            return f"In none of {total} subgroups does the gap change clearly"
        most = self.clear.iloc[0]["subgroup"]
        gaps, verb = ("The gap", "changes") if n == 1 else ("Gaps", "change")
        words = f"{gaps} of {n} of {total} subgroups {verb} clearly"
        return fitting(f"{words}, most in {most}", words)

    def gap_caption(self) -> str:
        """Say what is drawn of the gaps by subgroup, or why nothing is."""
        if self.idle:
            return "Gaps of a model that does not decide say nothing of it."
        n = int(self.changes["estimable"].sum())
        if not n:
            return (
                f"Of {plural(len(self.changes), 'subgroup')} "
                f"{not_estimable(self.changes)}: choose wider ones, or a smaller size."
            )
        several = len(self.reference.groups.categories) > 2
        pairs = " and all pairs of groups" if several else ""
        return (
            f"Gap in {measure_in_text(self.measure)}: "
            f"{self.named[1]} less {self.named[0]}, "
            f"{self.label}. Open: {self.reference.name}; filled: {self.table.name}, "
            f"95% {INTERVAL_KINDS[self.measure]}. Right: the change of two independent "
            f"tables, simultaneous 95% intervals over {plural(n, 'subgroup')}{pairs}."
        )

    def shift_headline(self) -> str:
        """Return how many columns shifted beyond chance, and the one that did most."""
        moved = self.shifts[self.shifts["p_adjusted"] < 0.05]
        total = len(self.shifts)
        if moved.empty:
            return f"None of {plural(total, 'column')} shifts beyond chance"
        verb = "shifts" if len(moved) == 1 else "shift"
        words = f"{len(moved)} of {total} columns {verb} beyond chance"
        return fitting(f"{words}, {moved.iloc[0]['column']} most", words)

    def table_of_tables(self) -> pd.DataFrame:
        """Return the numbers of the model in detail on every table."""
        own = self.points[self.points["main"]]
        table = pd.DataFrame(
            {
                "Table": own["table"],
                "Rows": own["n"],
                "Accuracy": own["accuracy"],
                "Selection rate": own["selection_rate"],
                "Gap": own[gap_column(self.measure)],
                "Worst-1-DI": own["worst_1_di"],
                "Decides": [STATUS_WORDS.get(s, "yes") for s in own["status"]],
                "Excluded": ["; ".join(t.excluded) for t in self.tables],
            }
        )
        return table.reset_index(drop=True)

    def _point(self, place: int) -> "pd.Series[float]":
        own = self.points[self.points["main"]]
        return own[own["table"] == self.tables[place].name].iloc[0]


def _moved(row: "pd.Series[float]") -> str:
    """Return what a gap does: its sides may also change."""
    old, new = row["gap_before"], row["gap_after"]
    if old * new < 0:
        return "moves"
    return "widens" if abs(new) > abs(old) else "narrows"


def _excludes_0(changes: pd.DataFrame) -> "pd.Series[bool]":
    return (changes["ci_low"] > 0) | (changes["ci_high"] < 0)


def _good(changed: Interval, *, better: int) -> bool | None:
    if changed.low > 0 or changed.high < 0:
        return bool(np.sign(changed.value) == better)
    return None


def _points(value: float) -> str:
    digits = 0 if abs(value) >= 0.005 else 1
    return f"{100 * value:.{digits}f}".replace("-", MINUS)
