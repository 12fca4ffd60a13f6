"""Where a model is unfair: its gaps inside subgroups, and who is worse off where."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from fairdash._deciding import Deciding
from fairdash._wording import (
    NO_SUBGROUPS,
    UNDEFINED,
    Kpi,
    change,
    count,
    floor_words,
    gap_size,
    group_label,
    headed,
    interval,
    number,
    plural,
    points,
    whole_points,
)
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.gaps import evaluation
from fairdash.audits.short_verdicts import (
    MOST_WORDS,
    NO_GAP,
    brief,
    place_brief,
    priced_brief,
)
from fairdash.audits.trials.memo import Memo
from fairdash.datasets import Dataset, Subgroups
from fairdash.metrics import Finding, Speech, catalog, clause, gap_ends, sentence, views

PAIR_WORDS = "for all pairs of groups in all subgroups at once."
_WORST_HELP = "The largest gap of each seed, averaged over the seeds."
_MOST_ROWS = 40
_NONE = "No subgroup is estimable. Choose wider ones or a smaller size."
_HOW = """
Each row is a **subgroup**. A mark is its gap: the largest minus the smallest value of
the measure in its groups. Bars are 95% intervals. 0 is fair.

A dashed line is the same gap over all rows. A model can be fair on the whole and unfair
in a subgroup. The largest of many noisy gaps is never 0. In the **grey** band lies the
largest gap of a fair model in 95% of cases.
"""
_CHANGED = {
    "accuracy": "Accuracy",
    "demographic_parity_difference": "Gap",
    "worst_1_di": "Largest gap",
}
_PAIRED = {"overall": "demographic_parity_difference", "worst_1": "worst_1_di"}


@dataclass(frozen=True)
class LocalResult:
    """A measure of some models inside subgroups; the last model is looked at.

    Attributes
    ----------
    estimates : DataFrame
        Of `fairdash.metrics.views.over_seeds`; its models are labels.
    models : DataFrame
        One row per model: label, method, colour_role, n_seeds, n, what `Deciding.of`
        takes, overall (the gap over all rows) and worst_1, both with their ends,
        ``_low`` and ``_high``.
    chance : float
        The largest gap of the model looked at by chance, 95th percentile.
    changes : DataFrame or None
        Paired changes against the first model, if there is one on the same rows.
    note : str
        Which seeds are compared.
    inside : tuple of Finding
        The groups farthest apart in each estimable subgroup, the higher one first.
    whole : Finding or None
        Those farthest apart over all rows.
    """

    label: str
    estimates: pd.DataFrame
    models: pd.DataFrame
    chance: float
    changes: pd.DataFrame | None
    note: str = ""
    measure: str = "selection_rate"
    rows: str = "test row"
    inside: tuple[Finding, ...] = ()
    whole: Finding | None = None
    _answers: Memo = field(init=False, repr=False, default_factory=lambda: Memo(4))

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
    def n_seeds(self) -> int:
        """Number of seeds that numbers are means over."""
        return int(self.row["n_seeds"])

    @cached_property
    def own(self) -> pd.DataFrame:
        """The gaps of the model looked at."""
        return self.gaps[self.gaps["label"] == self.label]

    @cached_property
    def widest(self) -> "pd.Series[Any] | None":
        """The row of the largest gap in an estimable subgroup, if there is one."""
        estimable = self.own[self.own["estimable"]]
        return None if estimable.empty else estimable.nlargest(1, "gap").iloc[0]

    @cached_property
    def finding(self) -> Finding | None:
        """The gap to name: the largest if it is beyond chance, else the surest.

        The largest gap may be within the reach of chance, as that of a small subgroup
        often is, and the gap of a larger one still be sure. Of fair subgroups one is
        then named in at most 4 % of tables.
        """
        if self.widest is None:
            return None
        names = self.own.loc[self.own["estimable"], "subgroup"].astype(str)
        shown = [f for f in self.inside if (f.subgroup or NO_SUBGROUPS) in set(names)]
        place = str(self.widest["subgroup"])
        if self.widest["gap"] > self.chance:
            for finding in shown:
                if (finding.subgroup or NO_SUBGROUPS) == place and finding.low > 0:
                    return finding
        sure = [finding for finding in shown if finding.sure]
        return max(sure, key=lambda finding: finding.low, default=None)

    def answer(
        self,
        dataset: Dataset,
        subgroups: Subgroups,
        *,
        truth: Mapping[str, float] = MappingProxyType({}),
    ) -> Answer:
        """Return where the model is unfair, with its figure made once for all readers.

        Parameters
        ----------
        dataset : Dataset
            Of which the estimates are.
        truth : mapping, optional
            The true gap in the planted subgroups of a sample.
        """
        words = dataset.name, dataset.roles.spoken_outcome(), dataset.roles.positive_is
        return self._answers(
            lambda: self._answer(dataset, subgroups, truth),
            *(*words, subgroups, *truth.items()),
        )

    def _answer(
        self, dataset: Dataset, subgroups: Subgroups, truth: Mapping[str, float]
    ) -> Answer:
        roles = dataset.roles
        feature = roles.sensitive_feature
        speech = Speech.of(roles.spoken_outcome(), feature)
        favourable = roles.positive_is != "unfavourable"
        title = f"Subgroups of {self.label} by gap"
        return Answer(
            self.brief(speech, favourable=favourable),
            self.kpis(),
            self.drawing(dataset, truth),
            Listing(title, self.ranked(feature)),
            self.caption(),
            facts=self.facts(dataset.name, subgroups),
            details=self.details(speech, favourable=favourable),
            how=_HOW,
            changes=self._listed_changes(),
            file="fairdash-local-gaps.csv",
            data=self.estimates,
        )

    def brief(self, speech: Speech, *, favourable: bool = True) -> str:
        """Say who is worse off where, and what a remedy does, in at most 20 words."""
        if self.deciding.idle:
            return self.deciding.brief(self.label)
        if self.widest is None:
            return _NONE
        remedy = self._remedy()
        worse = self.finding and self._of_worse_off(self.finding, favourable)
        if self._moved:
            return brief(remedy, *self._left(worse, speech))
        if worse is not None:
            return self._said(place_brief(worse, speech))
        if isnan(self.chance):
            return brief("What chance alone would show is not known here.", remedy)
        if (whole := self._clear_whole) is not None:
            size, verb = self._size(abs(whole.value)), "is" if whole.sure else "may be"
            said = f"Over all rows it {verb} {size}."
            return brief("No gap inside a subgroup is beyond chance.", said)
        reach = f"A fair model can reach {self._size(self.chance)}."
        return brief(NO_GAP, remedy, self.unclear, reach)

    def details(self, speech: Speech, *, favourable: bool = True) -> str:
        """Say how surely who is worse off where, then over all rows."""
        if self.deciding.idle:
            return self.deciding.details(self.label)
        if self.widest is None:
            return _NONE
        if self.finding is not None:
            worse = self._of_worse_off(self.finding, favourable)
            said = f"{sentence(worse, speech)} By {self.label}, {self._rows()}."
            place = self.widest["subgroup"]
            if place != (self.finding.subgroup or NO_SUBGROUPS):
                size = self._size(self.widest["gap"])
                said += f" The largest gap, {size} in {place}, could be chance."
            elif not self._largest_is_said:
                reach = self._size(self.chance)
                said += (
                    f" The largest gap of a fair model can reach {reach}, often "
                    "between small groups. These two have enough rows to be sure."
                )
        else:
            place, size = self.widest["subgroup"], self._size(self.widest["gap"])
            mean = " on average" if self.n_seeds > 1 else ""
            reach = "what chance alone shows is not known"
            if not isnan(self.chance):
                most = self._size(self.chance)
                reach = f"a fair model stays below {most} in 95% of cases"
            said = (
                f"No gap is sure to be beyond chance. The largest is {size}{mean}, in "
                f"{place}; {reach} ({self._rows()})."
            )
        if (whole := self._clear_whole) is None:
            return said
        ends = gap_ends(whole.measure, whole.value, whole.low, whole.high)
        few = "" if whole.sure else ", of too few rows to be sure"
        return f"{said} Over all rows, {clause(whole, speech)} ({ends}){few}."

    @property
    def _clear_whole(self) -> Finding | None:
        inside = self.widest is not None and self.widest["subgroup"] != NO_SUBGROUPS
        return self.whole if inside and self.whole and self.whole.clear else None

    def _said(self, finding: str) -> str:
        said = finding
        if not self._largest_is_said:
            inside = finding.startswith("In ")
            said = f"Surest gap: {'i' + finding[1:] if inside else finding}"
        named = f"{said.removesuffix('.')} ({self.label})."
        return named if len(named.split()) <= MOST_WORDS else said

    def _left(self, worse: Finding | None, speech: Speech) -> tuple[str, ...]:
        if worse is None:
            return ("No gap beyond chance remains.",)
        start = "Now" if self._largest_is_said else "Now sure:"
        size, place = self._size(worse.value), worse.subgroup or "all rows"
        group = group_label(speech.feature, worse.group)
        return (
            f"{start} {size}, for {group} in {place}.",
            f"{start} {size}, in {place}.",
        )

    @property
    def _largest_is_said(self) -> bool:
        if self.finding is None or self.widest is None:
            return False
        if self.widest["gap"] <= self.chance:
            return False
        named = self.finding.subgroup or NO_SUBGROUPS
        return named == str(self.widest["subgroup"])

    @property
    def unclear(self) -> str:
        """Say that the largest gap did not change clearly; "" where it did."""
        same = self._remedy() and not self._moved
        return "The largest gap did not change clearly." if same else ""

    @property
    def _moved(self) -> bool:
        if self.changes is None:
            return False
        paired = self.changes.set_index("metric").loc["worst_1_di"]
        return bool(paired["low"] > 0 or paired["high"] < 0)

    def _of_worse_off(self, finding: Finding, favourable: bool) -> Finding:
        better = catalog.better_when(self.measure, favourable=favourable)
        return finding.turned() if better == "high" else finding

    def _remedy(self) -> str:
        if self.changes is None:
            return ""
        paired = self.changes.set_index("metric").to_dict("index")
        gap, accuracy = paired["worst_1_di"], paired["accuracy"]
        return priced_brief(self.label, gap, accuracy, "the largest gap")

    def _rows(self) -> str:
        rows = "all rows" if self.rows == "row" else f"{self.rows}s"
        return f"mean of {self.n_seeds} seeds, {rows}" if self.n_seeds > 1 else rows

    @property
    def _style(self) -> Callable[[float], str]:
        return gap_size if catalog.measure_of(self.measure).in_points else number

    def _size(self, gap: float) -> str:
        in_points = catalog.measure_of(self.measure).in_points
        return whole_points(gap) if in_points else number(gap)

    @property
    def _largest(self) -> set[str]:
        gaps = self.gaps.dropna(subset="gap")
        widest = gaps.loc[gaps.groupby("label")["gap"].idxmax(), "subgroup"]
        return {*self.own.nlargest(_MOST_ROWS, "n")["subgroup"], *widest}

    def drawing(
        self, dataset: Dataset, truth: Mapping[str, float] = MappingProxyType({})
    ) -> Drawing:
        """Return the figure of gaps by subgroup.

        Of very many subgroups the largest, and those with the widest gaps.
        """
        shown = self._largest
        arguments = {
            "values": self.by_group[self.by_group["subgroup"].isin(shown)],
            "models": self.models,
            "groups": dataset.group_names,
            "chance": self.chance,
            "symbol": catalog.MEASURE_SYMBOLS[self.measure],
            "feature": dataset.roles.sensitive_feature,
            "truth": truth,
            "points": catalog.measure_of(self.measure).in_points,
            "said": self.finding and (self.finding.subgroup or NO_SUBGROUPS),
        }
        table = self.gaps[self.gaps["subgroup"].isin(shown)]
        return Drawing("plot_local_di", table, arguments, self.gaps)

    def _listed_changes(self) -> Listing | None:
        if self.changes is None:
            return None
        shown = ("metric", "reference", "value", "difference", "low", "high")
        names = {"metric": "Measure", "reference": "Before", "value": "After"}
        table = headed(self.changes, shown, **names, difference="Change")
        table["Measure"] = [_CHANGED.get(name, name) for name in table["Measure"]]
        note = (
            f"{self.label} after, {self.models['label'].iloc[0]} before, on the same "
            "test rows; 95% intervals of the change."
        )
        return Listing("What changed", table, note)

    def ranked(self, feature: str) -> pd.DataFrame:
        """Return the subgroups of the model looked at for a reader, widest gap first.

        Over several seeds all columns are means: the mean gap is at least the gap
        between mean values. Columns of groups are named after ``feature``.
        """
        table = self.own.sort_values("gap", ascending=False)
        ratios = self.ratios.drop_duplicates("subgroup", keep="last")
        ratios = ratios.set_index("subgroup").reindex(table["subgroup"])
        columns = {
            "Subgroup": table["subgroup"].astype(str),
            "Gap": table["gap"],
            "Low": table["ci_low"],
            "High": table["ci_high"],
            "Ratio": ratios["ratio"].to_numpy(),
            "Rows": table["n"],
        }
        shown = pd.DataFrame(columns).reset_index(drop=True)
        own = self.by_group[self.by_group["label"] == self.label]
        symbol = catalog.MEASURE_SYMBOLS[self.measure]
        for group, cells in own.groupby("group", sort=False):
            label = group_label(feature, str(group))
            cells = cells.set_index("subgroup").reindex(table["subgroup"])
            shown[f"{symbol} {label}"] = cells["value"].to_numpy()
            shown[f"Rows {label}"] = [
                count(int(n)) if np.isfinite(n) else UNDEFINED for n in cells["n"]
            ]
        if self.n_seeds > 1:
            shown["± over seeds"] = table["gap_sd"].to_numpy()
            shown["Seeds"] = table["n_seeds"].to_numpy()
        if not table["estimable"].all():
            shown["Not estimable"] = table["reason"].to_numpy()
        return shown

    def facts(self, name: str, subgroups: Subgroups) -> tuple[str, ...]:
        """Return the context line: data set, rows, subgroups, seeds."""
        crossed = " × ".join(subgroups.columns) or "all rows"
        return (
            name,
            plural(round(self.row["n"]), self.rows),
            f"subgroups {crossed}",
            plural(self.n_seeds, "seed") if self.rows != "row" else "",
        )

    def caption(self) -> str:
        """Say what is drawn: measure, rows, seeds, dashes and grey."""
        seeds = "" if self.rows == "row" else "one seed, "
        if self.n_seeds > 1:
            seeds = f"mean over {self.n_seeds} seeds of the gap in each, "
        total, n = self.own["subgroup"].nunique(), len(self._largest)
        part = "" if n == total else f", {n} of {total} with most rows or widest gaps,"
        text = (
            f"Gap in {catalog.measure_in_text(self.measure)} by subgroup{part} on "
            f"{plural(round(self.row['n']), self.rows)}, {seeds}95% "
            f"{catalog.INTERVAL_KINDS[self.measure]}. Dashed: the gap over all rows."
        )
        pairs = f"Intervals hold {PAIR_WORDS}"
        if self.n_seeds > 1:  # a mean of gaps has an interval of its own
            said = f"The verdict's interval holds {PAIR_WORDS}"
            pairs = said if self.finding is not None else ""
        return " ".join(filter(None, [text, pairs, floor_words(self.label), self.note]))

    def kpis(self) -> list[Kpi]:
        """Return the largest gap, that over all rows, chance, subgroups estimable."""
        estimable = self.own["estimable"]
        return [
            self._number("worst_1", "Largest gap"),
            self._number("overall", "Gap over all rows"),
            evaluation.chance_kpi(self.chance, self._style),
            Kpi(
                "Subgroups estimable",
                f"{estimable.sum()} of {len(estimable)}",
                not_estimable(self.own),
            ),
        ]

    def _number(self, metric: str, label: str) -> Kpi:
        row = self.row
        note = interval(row[f"{metric}_low"], row[f"{metric}_high"], self._style)
        rate = self.measure == "selection_rate"
        about = evaluation.GAP_HELP if metric == "overall" and rate else None
        if metric == "worst_1" and self.rows != "row":
            note = " · ".join(filter(None, [note, evaluation.of_seeds(self.n_seeds)]))
            about = _WORST_HELP if self.n_seeds > 1 else None
        value = self._style(row[metric])
        if self.changes is None:
            return Kpi(label, value, note, help=about)
        paired = self.changes[self.changes["metric"] == _PAIRED[metric]].iloc[0]
        clear = bool(paired["low"] > 0 or paired["high"] < 0)
        idle = self.deciding.idle  # what it narrows is no gain
        good = bool(paired["difference"] < 0) if clear and not idle else None
        signed = points if catalog.measure_of(self.measure).in_points else change
        chip = signed(paired["difference"])
        return Kpi(label, value, note, delta=chip, good=good, help=about)


def ratios_of(table: pd.DataFrame, measure: str, model: str) -> pd.DataFrame:
    """Return the ratios of a model over all rows, then inside every subgroup."""
    own = table[table["model"] == model]
    whole = views.of_all_rows(own, views.ratio_of_measure(measure)).assign(
        subgroup=NO_SUBGROUPS
    )
    both = pd.concat([whole, own], ignore_index=True)
    columns = ["subgroup", "n", "ratio", "ratio_low", "ratio_high", "estimable"]
    return views.ratio_table(both, measure)[[*columns, "reason"]]


def not_estimable(local: pd.DataFrame) -> str:
    """Return why some subgroups have no gap: "1 too small, 1 lack a group"."""
    reasons = local.loc[~local["estimable"], "reason"]
    small = int(reasons.str.fullmatch(r"[\d,]+ rows?( .*)?").sum())
    facts = [f"{small} too small" if small else ""]
    facts += [f"{len(reasons) - small} lack a group" if len(reasons) > small else ""]
    return ", ".join(fact for fact in facts if fact) or "all of them"
