"""What a comparison of tables says: verdict, numbers, captions."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairdash._wording import (
    FOUR_FIFTHS_RULE,
    MINUS,
    RATIO_INTERVALS,
    Kpi,
    change,
    fitting,
    four_fifths,
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
GAPS = """
Left, the gap between the two groups that are farthest apart on the reference, inside
every subgroup: **open** there, **filled** on the other table. Right, the change; where
its interval excludes 0 it is black. Intervals of changes hold for all subgroups at
once.
"""
_ODDS = "equalized_odds_difference"

MEASURE_LABELS = {
    "demographic_parity_difference": "DI",
    "worst_1_di": "Worst-1-DI",
    _ODDS: "Equalized odds",
}
RATE_WORDS = {
    "selection_rate": "selection rates",
    "true_positive_rate": "true positive rates",
    "false_positive_rate": "false positive rates",
}


@dataclass(frozen=True, eq=False)
class DriftResult:
    """Models on a reference table and on others; one model and one table in detail.

    Attributes
    ----------
    measure : str
        Across the figure: a column of ``points``.
    rate : str
        Whose gaps are compared: a measure of `fairdash.metrics.measure_by_group`.
    low, high : str
        The groups with the lowest and the highest rate on the reference table: a gap
        is the rate of ``high`` less that of ``low``.
    tables : tuple of DriftTable
        The reference first.
    points : DataFrame
        One row per table and model: table, label, method, colour_role, main, front
        (none that does not decide on the table), the columns of `table_points`, and for
        accuracy and every measure the ends _change_low and _change_high of the change
        from the reference.
    whole, changes, drivers, shifts : DataFrame
        Of `gap_changes`, over all rows and by subgroup, `gap_drivers`, `column_shifts`.
    unseen : float
        Share of rows of the table in detail with a category of no training row.
    chance : tuple of float
        Worst-1-DI of the model by chance, 95th percentile, per table.
    ratios : tuple of Interval
        Per table the smallest over the largest value of the groups, of ``rate``.
    excluded : tuple of str
        Models that are not compared, and why.
    """

    label: str
    measure: str
    rate: str
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
    drivers: pd.DataFrame
    shifts: pd.DataFrame
    unseen: float
    chance: tuple[float, ...]
    ratios: tuple[Interval, ...]
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
        beyond = (self.changes["ci_low"] > 0) | (self.changes["ci_high"] < 0)
        found = self.changes[beyond]
        order = found["change"].abs().sort_values(ascending=False, kind="stable")
        return found.loc[order.index]

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

    def accuracy_change(self) -> Interval:
        """Return by how much accuracy differs from the reference, with Newcombe's."""
        if not self.has_outcome:
            return Interval(*np.full(3, np.nan))
        return self._change("accuracy")

    def measure_change(self) -> Interval:
        """Return by how much the measure differs, its two intervals combined."""
        return self._change(self.measure)

    def _change(self, name: str) -> Interval:
        old, new = (self._point(place) for place in (0, self.against))
        low, high = (new[f"{name}_change_{end}"] for end in ("low", "high"))
        return Interval(*map(np.asarray, (new[name] - old[name], low, high)))

    def answer(
        self, over_seeds: pd.DataFrame | None = None, gap: str = "difference"
    ) -> Answer:
        """Return what changes on the other table.

        Parameters
        ----------
        over_seeds : DataFrame, optional
            Of `drift_over_seeds`; drawn instead of one seed.
        gap : "difference" or "ratio"
            What the table shows.
        """
        without = []
        if over_seeds is not None:
            compared = set(over_seeds["label"])
            labels = self.points["label"].unique()
            without = [label for label in labels if label not in compared]
        arguments = {
            "measure": self.measure,
            "tables": [table.name for table in self.tables],
            "against": self.table.name,
            "kind": INTERVAL_KINDS[self.rate],
        }
        points_drawn = self.points if over_seeds is None else over_seeds
        return Answer(
            self.brief(),
            self.kpis(),
            Drawing("plot_drift", points_drawn, arguments),
            self._listing(gap),
            ". ".join(
                [*self.excluded, *(f"{one} lacks some of the seeds" for one in without)]
            ),
            facts=self.facts(),
            details=self.verdict(),
            how=_HOW,
            file="fairdash-drift.csv",
            data=self.points,
        )

    def _listing(self, gap: str) -> Listing:
        title, note = f"{self.label} on every table", ""
        table = self.table_of_tables()
        if gap == "ratio":
            table = self.table_of_ratios()
            note = f"{RATIO_INTERVALS}. {self.ratio_caption()}"
        return Listing(title, table, note, FOUR_FIFTHS_RULE)

    def gap_answer(self) -> Answer:
        """Return how gaps by subgroup change, where they can be compared."""
        arguments = {
            "headline": self.gap_headline(),
            "caption": self.gap_caption(),
            "low": self.named[0],
            "high": self.named[1],
        }
        return Answer(
            "", figure=Drawing("plot_gap_changes", self.changes, arguments), how=GAPS
        )

    def brief(self) -> str:
        """Say where a gap changed and whether accuracy did, in at most 20 words."""
        whole, accuracy = self.whole.iloc[0], self._accuracy_brief()
        if self.idle:
            return f"{self.label} decides alike for nearly everyone on these tables."
        if not whole["estimable"]:
            return brief("The gaps of these tables cannot be compared.", accuracy)
        if len(self.clear):
            row = self.clear.iloc[0]
            place = f"In {row['subgroup']}"
        elif whole["ci_low"] > 0 or whole["ci_high"] < 0:
            row, place = whole, "Over all rows"
        else:
            return brief("No gap changes by more than chance would show.", accuracy)
        old, new = row["gap_before"], row["gap_after"]
        how = "changes sides" if old * new < 0 else "widens"
        how = "narrows" if how == "widens" and abs(new) < abs(old) else how
        size = self._size(row["change"])
        return brief(
            f"{place}, the gap {how} by {size} on {self.table.name}.", accuracy
        )

    def _accuracy_brief(self) -> str:
        changed = self.accuracy_change()
        low, high = float(changed.low), float(changed.high)
        if not self.has_outcome or math.isnan(low):
            return ""
        if low <= 0 <= high:
            return "Accuracy did not change clearly."
        verb = "rises" if low > 0 else "falls"
        return (
            f"Accuracy {verb} by {number(100 * abs(float(changed.value)), 1)} points."
        )

    def verdict(self) -> str:
        """Say where a gap changed, by how much and how surely; and accuracy."""
        return f"{self._gap_verdict()} {self._accuracy_verdict()}"

    def _gap_verdict(self) -> str:
        whole = self.whole.iloc[0]
        if self.idle:
            return f"{self.label} {self.idle}: gaps between groups say nothing of it."
        if not whole["estimable"]:
            return f"Gaps cannot be compared: {whole['reason']}."
        if len(self.clear):
            row = self.clear.iloc[0]
            return self._changed(row, f"In {row['subgroup']} on {self.table.name}")
        if whole["ci_low"] > 0 or whole["ci_high"] < 0:
            return self._changed(whole, f"On {self.table.name}, over all rows")
        n = int(self.changes["estimable"].sum())
        inside = f"nor in {f'any of {n} subgroups' if n > 1 else 'the one subgroup'}"
        return (
            f"From {self.reference.name} to {self.table.name} no gap between "
            f"{self.named[0]} and {self.named[1]} changes by more than chance would "
            f"show: over all rows {self._size(whole['change'], signed=True)} "
            f"({gap_ends(self.rate, 1, whole['ci_low'], whole['ci_high'])}), "
            f"{inside if n else 'and no subgroup is estimable on both'}."
        )

    def _changed(self, row: "pd.Series[float]", where: str) -> str:
        old, new = row["gap_before"], row["gap_after"]
        after = Finding(self.rate, None, self.low, self.high, -new, np.nan, np.nan)
        words = clause(after, Speech.of(self.outcome, self.feature))
        before, how = f"it was {self._size(old)}", "moves"
        if old * new < 0:
            often = self.rate.endswith("rate") or self.rate == "accuracy"
            side = f"{'less' if old > 0 else 'more'} often"
            before += f" {side}" if often else " the other way round"
        else:
            how = "widens" if abs(new) > abs(old) else "narrows"
        sign = np.sign(row["change"])
        ends = sorted((sign * row["ci_low"], sign * row["ci_high"]))
        return (
            f"{where}, by {self.label}, {words}; on {self.reference.name} {before}: "
            f"the gap {how} by {self._size(row['change'])} "
            f"({gap_ends(self.rate, 1, *ends)})."
        )

    def _size(self, value: float, *, signed: bool = False) -> str:
        """Return a difference as the measure has it: in points, or in decimals."""
        if signed:
            return points(value) if in_points(self.rate) else change(value)
        return whole_points(value) if in_points(self.rate) else number(abs(value))

    def _accuracy_verdict(self) -> str:
        found = self.accuracy_change()
        if not self.has_outcome:
            return "Without the outcome its accuracy is not known."
        low, high = float(found.low), float(found.high)
        if low <= 0 <= high:
            ends = f"{_points(low)} to {_points(high)} points"
            return f"Accuracy does not change clearly ({ends})."
        old, new = (self._point(place)["accuracy"] for place in (0, self.against))
        how = "rises" if low > 0 else "falls"
        return (
            f"Accuracy {how} from {percent(old)} to {percent(new)} "
            f"({_points(low)} to {_points(high)} points)."
        )

    def facts(self) -> tuple[str, ...]:
        """Return the context line: both tables with their rows, and the seed."""
        shown = [
            f"{t.name}: {plural(t.n, 'row')}" for t in (self.reference, self.table)
        ]
        return (*shown, f"seed {self.seed}")

    def kpis(self) -> list[Kpi]:
        """Return accuracy and measure on the new table, the largest shift, unseen."""
        new, old = self._point(self.against), self._point(0)
        accuracy, gap = self.accuracy_change(), self.measure_change()
        name = MEASURE_LABELS.get(self.measure, f"{MEASURE_NAMES[self.rate]} gap")
        name = name if len(name) <= _CARD else "Gap"
        ends = interval(new[f"{self.measure}_low"], new[f"{self.measure}_high"])
        first = self.shifts.iloc[0]
        if self.has_outcome:
            start = Kpi(
                "Accuracy",
                percent(new["accuracy"]),
                f"was {percent(old['accuracy'])}",
                delta=points(float(accuracy.value)),
                good=_good(accuracy, better=1),
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
                name,
                number(new[self.measure]),
                f"{ends}; was {number(old[self.measure])}",
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
        pairs += " and both rates" if self.measure == _ODDS else ""
        return (
            f"Gap in {self.rate_words()}: {self.named[1]} less {self.named[0]}, "
            f"{self.label}. Open: {self.reference.name}; filled: {self.table.name}, "
            f"95% {INTERVAL_KINDS[self.rate]}. Right: the change of two independent "
            f"tables, simultaneous 95% intervals over {plural(n, 'subgroup')}{pairs}."
        )

    def rate_words(self) -> str:
        """Return what gaps are in, inside a sentence."""
        return RATE_WORDS.get(self.rate, measure_in_text(self.rate))

    def driver_headline(self) -> str:
        """Return which subgroup brings most of the change of the gap over all rows.

        Of those estimable on both tables whose contribution has an interval without 0.
        """
        whole = self.whole.iloc[0]["change"]
        if self.drivers.empty:
            return "What drives a gap is told of rates alone"
        if self.idle or not np.isfinite(whole):
            return "The gap over all rows cannot be compared"
        able = self.changes.loc[self.changes["estimable"], "subgroup"]
        if able.empty:
            return "What drives the gap: no subgroup is estimable on both tables"
        clear = (self.drivers["ci_low"] > 0) | (self.drivers["ci_high"] < 0)
        clear &= self.drivers["subgroup"].isin(able)
        of = f"the gap's {points(whole)} over all rows"
        if not clear.any():
            return fitting(f"No subgroup clearly brings part of {of}")
        first = self.drivers[clear].iloc[0]
        by_size = abs(first["composition"]) > abs(first["rates"])
        text = f"{first['subgroup']} brings {points(first['contribution'])}"
        text += " by its size" if by_size else ""
        return fitting(f"{text} of {of}", text)

    def driver_table(self) -> pd.DataFrame:
        """Return the contributions for a reader, in percentage points."""
        names = {
            "subgroup": "Subgroup",
            "contribution": "Brings (pt)",
            "ci_low": "Low",
            "ci_high": "High",
            "rates": "By its gap (pt)",
            "composition": "By its size (pt)",
            "share_before": "Share before (%)",
            "share_after": "Share now (%)",
        }
        if self.drivers.empty:
            return pd.DataFrame(columns=list(names.values()))
        table = self.drivers[list(names)].copy()
        parts = table.columns[1:]
        table[parts] = (100 * table[parts]).round(1) + 0.0  # 0.0 makes -0.0 a 0
        return table.rename(columns=names)

    def shift_headline(self) -> str:
        """Return how many columns shifted beyond chance, and the one that did most."""
        moved = self.shifts[self.shifts["p_adjusted"] < 0.05]
        total = len(self.shifts)
        if moved.empty:
            return f"None of {plural(total, 'column')} shifts beyond chance"
        verb = "shifts" if len(moved) == 1 else "shift"
        words = f"{len(moved)} of {total} columns {verb} beyond chance"
        return fitting(f"{words}, {moved.iloc[0]['column']} most", words)

    def shift_table(self) -> pd.DataFrame:
        """Return the shifts for a reader."""
        names = {
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
        table = self.shifts[list(names)].copy()
        for name in ("unseen", "missing_before", "missing_after"):
            table[name] = (100 * table[name]).round(2)
        table["p_adjusted"] = table["p_adjusted"].map(p_value)
        return table.rename(columns=names)

    def table_of_tables(self) -> pd.DataFrame:
        """Return the numbers of the model in detail on every table."""
        own = self.points[self.points["main"]]
        table = pd.DataFrame(
            {
                "Table": own["table"],
                "Rows": own["n"],
                "Accuracy": own["accuracy"],
                "Selection rate": own["selection_rate"],
                "DI": own["demographic_parity_difference"],
                "Worst-1-DI": own["worst_1_di"],
                "Worst-1-DI by chance": list(self.chance),
                "Equalized odds": own["equalized_odds_difference"],
                "Decides": [STATUS_WORDS.get(s, "yes") for s in own["status"]],
                "Excluded": ["; ".join(t.excluded) for t in self.tables],
            }
        )
        return table.reset_index(drop=True)

    def ratio_caption(self) -> str:
        """Say what ratios stand beside, or why there is none."""
        none = "Calibration has signs, so no ratio of it is defined. "
        return (none if self.rate == "calibration" else "") + (
            "Changes above are of differences: these alone are sums over subgroups."
        )

    def table_of_ratios(self) -> pd.DataFrame:
        """Return the ratio of the groups on every table, of the model in detail."""
        value, low, high = (np.array(ends) for ends in zip(*self.ratios, strict=True))
        name = self.rate_words()
        return pd.DataFrame(
            {
                "Table": [table.name for table in self.tables],
                "Rows": [table.n for table in self.tables],
                f"Ratio of {name}": value,
                "Low": low,
                "High": high,
                "Four fifths": [*map(four_fifths, value, high)],
            }
        )

    def _point(self, place: int) -> "pd.Series[float]":
        own = self.points[self.points["main"]]
        return own[own["table"] == self.tables[place].name].iloc[0]


def _good(found: Interval, *, better: int) -> bool | None:
    if found.low > 0 or found.high < 0:
        return bool(np.sign(found.value) == better)
    return None


def _points(value: float) -> str:
    digits = 0 if abs(value) >= 0.005 else 1
    return f"{100 * value:.{digits}f}".replace("-", MINUS)
