"""Subgroups of models: their gaps, and who is worse off where."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from fairdash._wording import (
    FOUR_FIFTHS_RULE,
    NO_SUBGROUPS,
    UNDEFINED,
    GapNames,
    Kpi,
    change,
    count,
    floor_words,
    group_label,
    interval,
    number,
    plural,
)
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.groups.evaluation import DI_HELP, MOST_SEEDS, chance_kpi
from fairdash.audits.groups.verdict import Pair, Verdict
from fairdash.audits.trials.kept import Kept
from fairdash.datasets import Dataset, Subgroups
from fairdash.metrics import (
    INTERVAL_KINDS,
    MEASURE_NAMES,
    MEASURE_SYMBOLS,
    Speech,
    gap_table,
    measure_in_text,
    of_all_rows,
    ratio_of_measure,
    ratio_table,
    value_table,
)

PAIR_WORDS = (
    "The verdict's intervals are of the pairs it names, and hold for all pairs of "
    "groups in all subgroups at once."
)
PLACE_WORDS = (
    "The verdict's interval holds for all {n} subgroups at once, each one drawn for "
    "its own."
)
_MOST_ROWS = 40
_SURE = 0.975
_LABEL = 20  # characters on a card
_MOST_KEPT = 16  # figures of a result
_HOW = """
Each row is a **subgroup**. A mark is the largest minus the smallest value of the
measure in the groups inside it, with a 95% interval; of the rate of positive
predictions that is local DI. 0 is fair.

A dashed line is the same gap over all rows: a model can be fair on the whole and unfair
in a subgroup. The largest of many noisy gaps is never 0; the **grey** band ends where
the largest gap of a fair model stays in 95% of cases.
"""
_RATIO_HOW = f"""
The smallest value of the measure among the groups over the largest, or over that of
the group they are compared with, inside every subgroup; 1 is alike.
 {FOUR_FIFTHS_RULE}"""
_RATIO_CAPTION = (
    "{}; 95% intervals (Donner and Zou 2012) for the pair of groups that is farthest "
    "apart. Calibration has no ratio."
)
_CHANGES = {
    "metric": "Measure",
    "reference": "Before",
    "value": "After",
    "difference": "Change",
    "low": "Low",
    "high": "High",
}
_CHANGED = {
    "accuracy": "Accuracy",
    "demographic_parity_difference": "DI",
    "worst_1_di": "Worst-1-DI",
}
_PAIRED = {"overall": "demographic_parity_difference", "worst_1": "worst_1_di"}


@dataclass(frozen=True)
class LocalResult:
    """A measure of some models inside subgroups; the last model is looked at.

    Attributes
    ----------
    estimates : DataFrame
        Of `fairdash.metrics.over_seeds`; its models are labels.
    models : DataFrame
        One row per model: label, method, colour_role, n_seeds, n, constant (share of
        seeds in which it decides alike for everyone), overall (the gap over all rows)
        and worst_1 to worst_3, the first two with their ends, ``_low`` and ``_high``.
    chance : float
        The largest gap of the model looked at by chance, 95th percentile.
    changes : DataFrame or None
        Paired changes against the first model, if there is one on the same rows.
    note : str
        Which seeds are compared, where models have different ones.
    reference : str or None
        Group that gaps are from; None for the largest between groups.
    overall_sure : bool
        Whether the gap over all rows keeps its sign over several seeds.
    named : fairdash.audits.groups.pairs.NamedPair or None
        Interval of a pair that the verdict names, over all rows or in a subgroup.
    """

    label: str
    estimates: pd.DataFrame
    models: pd.DataFrame
    chance: float
    changes: pd.DataFrame | None
    note: str = ""
    measure: str = "selection_rate"
    rows: str = "test row"
    reference: str | None = None
    overall_sure: bool = False
    named: Any = None

    @cached_property
    def once(self) -> Kept:
        """Make what follows from the result and from what is asked, and keep it."""
        return Kept(_MOST_KEPT)

    @property
    def names(self) -> GapNames:
        """What gaps of the measure are called."""
        return gap_names(self.measure)

    @cached_property
    def row(self) -> "pd.Series[Any]":
        """The row in ``models`` of the model looked at."""
        return self.models[self.models["label"] == self.label].iloc[0]

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """`fairdash.metrics.gap_table` of all models, with the column "label"."""
        table = gap_table(self.estimates, self.measure)
        return table.rename(columns={"model": "label"})

    @cached_property
    def by_group(self) -> pd.DataFrame:
        """The measure in every subgroup and group: label, subgroup, group, n, value."""
        table = value_table(self.estimates, self.measure)
        return table.rename(columns={"model": "label"})

    @cached_property
    def overall(self) -> dict[str, float]:
        """The measure of the model looked at over all rows, by group."""
        whole = of_all_rows(self.estimates, self.measure).dropna(subset="value")
        own = whole[whole["model"] == self.label]
        return dict(zip(own["group"], own["value"], strict=True))

    @cached_property
    def ratios(self) -> pd.DataFrame:
        """The smallest over the largest value of the groups, of the model looked at.

        Columns subgroup, n, ratio, ratio_low, ratio_high, estimable, reason; first of
        all rows, then one row per subgroup. NaN for ``calibration``, which has signs.
        """
        return ratios_of(self.estimates, self.measure, self.label)

    @property
    def has_pairs(self) -> bool:
        """Whether there are more than two groups, and so several pairs of them."""
        return self.by_group["group"].nunique() > 2

    @property
    def beyond_chance(self) -> bool:
        """Whether the largest gap in a subgroup is more than chance alone shows."""
        estimable = self.own.loc[self.own["estimable"], "gap"]
        return bool(estimable.max() > self.chance)

    @property
    def n_seeds(self) -> int:
        """Number of seeds that numbers are means over."""
        return int(self.row["n_seeds"])

    @cached_property
    def own(self) -> pd.DataFrame:
        """The gaps of the model looked at."""
        return self.gaps[self.gaps["label"] == self.label]

    @cached_property
    def cells(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Rows and value by subgroup and group, of the model looked at."""
        own = self.by_group[self.by_group["label"] == self.label]
        found: dict[str, dict[str, tuple[float, float]]] = {}
        for place, group, n, value in own[
            ["subgroup", "group", "n", "value"]
        ].to_numpy():
            found.setdefault(place, {})[group] = n, value
        return found

    @property
    def _shown(self) -> set[str]:
        return {*self._largest, *self._widest}

    @property
    def _largest(self) -> list[str]:
        return self.own.nlargest(_MOST_ROWS, "n")["subgroup"].tolist()

    @property
    def _widest(self) -> list[str]:
        """The subgroup of each model's largest gap, which figures speak of."""
        gaps = self.gaps.dropna(subset="gap")
        places = gaps.groupby("label")["gap"].idxmax()
        return gaps.loc[places, "subgroup"].tolist()

    def answer(
        self,
        dataset: Dataset,
        subgroups: Subgroups,
        *,
        k: int = 1,
        gap: str | None = "difference",
        truth: Mapping[str, float] = MappingProxyType({}),
    ) -> Answer:
        """Return where the model is unfair.

        Parameters
        ----------
        dataset : Dataset
            Of which the estimates are.
        k : int
            The first card is of the k largest gaps.
        gap : "difference" or "ratio"
            What the figure shows.
        truth : mapping, optional
            The true gap in the planted subgroups of a sample.
        """
        roles = dataset.roles
        feature, outcome = roles.sensitive_feature, roles.spoken_outcome()
        favourable, ratio = roles.positive_is != "unfavourable", gap == "ratio"

        def slow() -> tuple[str, str, Drawing, Listing]:
            said = Verdict(self, Speech.of(outcome, feature), favourable)
            figure = self.drawing(dataset, truth)
            title = f"Subgroups of {self.label} by gap"
            listing = Listing(title, self.ranked(feature), self.below())
            drawn = self._ratios(feature) if ratio else figure
            return said.brief(), said.text(), drawn, listing

        said = outcome, favourable, feature
        short, words, figure, listing = self.once(slow, "answer", *said, ratio, *truth)
        return Answer(
            short,
            self.once(lambda: self.kpis(k), "kpis", k),
            figure,
            listing,
            _RATIO_CAPTION.format(self.label) if ratio else self.caption(),
            facts=self.facts(dataset.name, subgroups),
            details=words,
            how=_RATIO_HOW if ratio else _HOW,
            changes=self._listed_changes(),
            file="fairdash-local-di.csv",
            data=self.estimates,
        )

    def drawing(
        self, dataset: Dataset, truth: Mapping[str, float] = MappingProxyType({})
    ) -> Drawing:
        """Return the figure of gaps by subgroup.

        Of very many subgroups the largest, and those with the widest gaps.
        """
        shown = self._shown
        table = self.gaps[self.gaps["subgroup"].isin(shown)]
        arguments = {
            "values": self.by_group[self.by_group["subgroup"].isin(shown)],
            "models": self.models,
            "groups": dataset.group_names,
            "chance": self.chance,
            "changes": self.changes,
            "names": self.names,
            "feature": dataset.roles.sensitive_feature,
            "truth": truth,
        }
        return Drawing("plot_local_di", table, arguments, self.gaps)

    def _ratios(self, feature: str) -> Drawing:
        """Return the figure of ratios by subgroup of the model looked at."""
        arguments = {
            "label": self.label,
            "measure": MEASURE_NAMES[self.measure],
            "colour_role": self.row["colour_role"],
            "reference": self.reference and group_label(feature, self.reference),
        }
        return Drawing("plot_ratios", self.ratios, arguments)

    def _listed_changes(self) -> Listing | None:
        """Return the paired changes against the first model, if there are any."""
        if self.changes is None:
            return None
        table = self.changes.rename(columns=_CHANGES)[list(_CHANGES.values())]
        table["Measure"] = [_CHANGED.get(name, name) for name in table["Measure"]]
        note = (
            f"{self.label} after, {self.models['label'].iloc[0]} before, on the same "
            "test rows, resampled together; 95% intervals of the change."
        )
        return Listing("What changed", table, note)

    def ranked(self, feature: str) -> pd.DataFrame:
        """Return the subgroups of the model looked at for a reader, widest gap first.

        Over several seeds all columns are means. The mean gap is then at least the gap
        between mean values, and larger where seeds disagree on who is ahead; so both
        stand in the table. The columns of groups are named after ``feature``.
        """
        told, table = self.names, self.own.sort_values("gap", ascending=False)
        cells = [self.cells[name] for name in table["subgroup"]]
        columns = {
            "Subgroup": table["subgroup"].astype(str),
            told.local[0].upper() + told.local[1:]: table["gap"],
            "Low": table["ci_low"],
            "High": table["ci_high"],
            "Rows": table["n"],
        }
        shown = pd.DataFrame(columns)
        groups = {
            group: group_label(feature, group) for cell in cells for group in cell
        }
        for group, label in groups.items():
            shown[f"{told.symbol} {label}"] = [cell[group][1] for cell in cells]
        shown["Rows by group"] = [
            " / ".join(_whole(n) for n, _ in cell.values()) for cell in cells
        ]
        if self.n_seeds > 1:
            values = [[value for _, value in cell.values()] for cell in cells]
            shown["Gap of mean rates"] = np.ptp(values, axis=1)
            shown["± over seeds"] = table["gap_sd"]
            shown["Seeds"] = table["n_seeds"]
        if not table["estimable"].all():
            shown["Not estimable"] = table["reason"]
        return shown

    def below(self) -> str:
        """Say what the columns of `ranked` by group are."""
        groups = next(iter(self.cells.values()), {})
        return f"Rows by group: {' / '.join(groups)}."

    def verdict(
        self, outcome: str, *, favourable: bool = True, feature: str = ""
    ) -> str:
        """Say who is worse off, where, by how much and how surely; then over all rows.

        ``outcome`` is what is predicted, such as "approved = yes", and ``favourable``
        whether that is good for the person; ``feature`` the column of the groups.
        """
        return Verdict(self, Speech.of(outcome, feature), favourable).text()

    @cached_property
    def surest(self) -> Pair | None:
        """The groups of a subgroup whose gap is surest, if one is surely not 0.

        The largest gap may be within the reach of chance, as that of a small subgroup
        often is, and the gap of a larger one still be sure: the interval that holds for
        all pairs in all subgroups at 97.5 % is above 0, and five rows of both values
        are expected in both groups. Of fair subgroups one is then named in at most 4 %
        of tables.
        """
        if self.named is None:
            return None
        sure = []
        for _, row in self.own[self.own["estimable"]].iterrows():
            pair = self.furthest_inside(row)
            groups = pair.higher, pair.lower, pair.place
            low, _ = self.named.ends(*groups, confidence=_SURE)
            if low > 0 and not self.named.too_few(*groups):
                sure.append((low, pair))
        return max(sure)[1] if sure else None

    def furthest_inside(self, row: "pd.Series[Any]") -> Pair:
        """Return the groups furthest apart in a subgroup, or from the reference."""
        place, low, high = str(row["subgroup"]), row["ci_low"], row["ci_high"]
        values = {
            name: value
            for name, (_, value) in self.cells[place].items()
            if np.isfinite(value)
        }
        ordered = sorted(values, key=values.__getitem__)
        if self.reference is not None:
            base = values[self.reference]
            far = max(values, key=lambda name: abs(values[name] - base))
            ordered = sorted((far, self.reference), key=values.__getitem__)
        lower, higher = ordered[0], ordered[-1]
        if self.named is not None:
            low, high = self.named.ends(higher, lower, place)
        return Pair(place, lower, higher, values[higher] - values[lower], low, high)

    def facts(self, name: str, subgroups: Subgroups) -> tuple[str, ...]:
        """Return the context line: data set, rows, subgroups, seeds."""
        row = self.row
        crossed = " × ".join(subgroups.columns) or "all rows"
        return (
            name,
            plural(round(row["n"]), self.rows),
            f"subgroups {crossed}",
            plural(self.n_seeds, "seed") if self.rows != "row" else "",
        )

    def caption(self) -> str:
        """Say what is drawn: statistic, rows, seeds, dashes and grey."""
        seeds = "" if self.rows == "row" else "one seed, "
        if self.n_seeds > 1:
            seeds = f"mean over {self.n_seeds} seeds of the gap in each, "
        total, largest = self.own["subgroup"].nunique(), set(self._largest)
        n = len(largest)
        part = "" if n == total else f", the {n} largest of {total}"
        if more := len({*self._widest} - largest):
            widest = "that with the widest gap"
            part += f" and {widest if more == 1 else 'those with the widest gaps'}"
        rows = plural(round(self.row["n"]), self.rows)
        if self.measure == "selection_rate":
            what, kind = "Local DI", "Newcombe intervals"
            whole = "global demographic parity difference (DI)"
        else:
            what = f"Gap in {measure_in_text(self.measure)}"
            kind = INTERVAL_KINDS[self.measure]
            whole = "the gap over all rows"
        held = "" if self.reference is None else f" from {self.reference}"
        text = f"{what}{held} by subgroup{part} on {rows}, {seeds}95% {kind}. "
        text += f"Dashed: {whole}."
        held_for, estimable = "", self.own["estimable"].sum()
        if self.named is not None and self.has_pairs:
            held_for = PAIR_WORDS
        elif estimable > 1 and (self.beyond_chance or self.surest) and self.named:
            held_for = PLACE_WORDS.format(n=estimable)
        return " ".join(
            filter(None, [text, held_for, floor_words(self.label), self.note])
        )

    def kpis(self, k: int) -> list[Kpi]:
        """Return Worst-k-DI, global DI, what chance shows, subgroups estimable."""
        row, told = self.row, self.names
        estimable = self.own["estimable"]
        first = told.largest.format(k=1)
        worst = self._number("worst_1", self._label(first), row)
        if k > 1:
            mean = number(float(row[f"worst_{k}"]))
            name = self._label(told.largest.format(k=k))
            largest = f"the {k} largest"
            worst = Kpi(name, mean, f"mean of {self._each(largest)}")
        return [
            worst,
            self._number(
                "overall", self._label(told.whole[0].upper() + told.whole[1:]), row
            ),
            chance_kpi(self.chance, first),
            Kpi(
                "Subgroups estimable",
                f"{estimable.sum()} of {len(estimable)}",
                not_estimable(self.own),
            ),
        ]

    def _each(self, words: str) -> str:
        return f"each seed's {words}" if self.n_seeds > 1 else words

    def _label(self, name: str) -> str:
        """Add the method, if it fits on a card."""
        longer = f"{name}, {self.label.split()[0]}"
        return longer if len(longer) <= _LABEL else name

    def _number(self, metric: str, label: str, row: "pd.Series[float]") -> Kpi:
        note = interval(row[f"{metric}_low"], row[f"{metric}_high"])
        if metric == "worst_1" and self.n_seeds > 1:
            note = " · ".join(filter(None, [note, f"mean of {self._each('largest')}"]))
        rate = self.measure == "selection_rate"
        about = DI_HELP if metric == "overall" and rate else None
        value = number(row[metric])
        if self.changes is None:
            return Kpi(label, value, note, help=about)
        paired = self.changes[self.changes["metric"] == _PAIRED[metric]].iloc[0]
        clear = bool(paired["low"] > 0 or paired["high"] < 0)
        idle = self.row["constant"] > MOST_SEEDS  # what it narrows is no gain
        good = bool(paired["difference"] < 0) if clear and not idle else None
        chip = change(paired["difference"])
        return Kpi(label, value, note, delta=chip, good=good, help=about)


def ratios_of(table: pd.DataFrame, measure: str, model: str) -> pd.DataFrame:
    """Return the ratios of a model over all rows, then inside every subgroup."""
    own = table[table["model"] == model]
    whole = of_all_rows(own, ratio_of_measure(measure)).assign(subgroup=NO_SUBGROUPS)
    both = pd.concat([whole, own], ignore_index=True)
    columns = ["subgroup", "n", "ratio", "ratio_low", "ratio_high", "estimable"]
    return ratio_table(both, measure)[[*columns, "reason"]]


def gap_names(measure: str) -> GapNames:
    """Return what gaps of a measure are called."""
    if measure == "selection_rate":
        return GapNames()
    symbol = MEASURE_SYMBOLS[measure]
    return GapNames("local gap", "global gap", "Worst-{k} gap", symbol)


def not_estimable(local: pd.DataFrame) -> str:
    """Return why some subgroups have no gap: "1 too small, 1 lack a group"."""
    reasons = local.loc[~local["estimable"], "reason"]
    small = int(reasons.str.fullmatch(r"[\d,]+ rows?( .*)?").sum())
    facts = [f"{small} too small" if small else ""]
    facts += [f"{len(reasons) - small} lack a group" if len(reasons) > small else ""]
    return ", ".join(fact for fact in facts if fact) or "all of them"


def _whole(n: float) -> str:
    """Return a number of rows; that of a suppressed subgroup as a dash."""
    return count(int(n)) if np.isfinite(n) else UNDEFINED
