"""Where a model is unfair: its gaps inside subgroups, and who is worse off where."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from fairdash._change import by_metric
from fairdash._deciding import Deciding
from fairdash._metric_names import MAIN, PARITY, WORST, metric_title
from fairdash._validation import CROSS
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
    interval_note,
    number,
    plural,
    points,
    sentences,
    whole_points,
)
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.gaps import evaluation
from fairdash.audits.trials.memo import Memo
from fairdash.datasets import Dataset, Subgroups
from fairdash.metrics import (
    BothWays,
    Finding,
    Speech,
    catalog,
    clause,
    direction_words,
    gap_ends,
    sentence,
    turned_gaps,
    turned_words,
    views,
    worse_off,
)
from fairdash.sweep import BASELINE
from fairdash.wording import NO_GAP, place_brief, priced_brief

PAIR_WORDS = "for all pairs of groups in all subgroups at once."
_WORST_HELP = "The largest gap of each seed, averaged over the seeds."
UNCLEAR = "not clear"
SEVERAL = 3  # largest gaps whose mean stands beside the largest
_MOST_ROWS = 40
_NONE = "No subgroup is estimable. Choose wider ones or a smaller size."
_HOW = """
Each row is a **subgroup**. A mark is its gap: the largest minus the smallest value of
the measure in its groups. Bars are 95% intervals. 0 is fair.
Of two groups the fill of a mark is the colour of the one that is **worse off**; a mark
is hollow where its interval does not say which.

A dashed line is the same gap over all rows. A model can be fair on the whole and unfair
in a subgroup. The largest of many noisy gaps is never 0. In the **grey** band lies the
largest gap of a fair model in 95% of cases.
"""
_CHANGED = {
    **{metric: metric_title(metric) for metric in MAIN},
    WORST: "Largest gap",
}
_PAIRED = {"overall": PARITY, "worst_1": WORST}


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
        ``_low`` and ``_high``; worst_k, the mean of the three largest gaps, and
        chance_k, what it stays below by chance.
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
    earlier : tuple of (tuple of Finding)
        ``inside`` of the models before the one looked at, in their order.
    opposed : BothWays or None
        Groups whose gaps point both ways inside subgroups.
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
    earlier: tuple[tuple[Finding, ...], ...] = ()
    opposed: BothWays | None = None
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
        shown = self._named(self.inside)
        place = str(self.widest["subgroup"])
        if self.widest["gap"] > self.chance:
            for finding in shown:
                if (finding.subgroup or NO_SUBGROUPS) == place and finding.low > 0:
                    return finding
        sure = [finding for finding in shown if finding.sure]
        return max(sure, key=lambda finding: finding.low, default=None)

    def _asked(self) -> Finding | None:
        """Return the finding that is named, else one over all rows, sure or not."""
        named = self.finding or self.whole
        return None if named is None else replace(named, sure=self.finding is not None)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups of the model looked at."""
        own = self.by_group[self.by_group["label"] == self.label]
        return tuple(dict.fromkeys(own["group"].astype(str)))

    @cached_property
    def turned(self) -> list[Finding]:
        """The gaps that point the other way than those of the first model."""
        before = self.earlier[0] if self.earlier and not self._is_plain else ()
        return turned_gaps(before, self._named(self.inside))

    def _named(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return the findings of subgroups that may be named; a report hides some."""
        names = set(self.own.loc[self.own["estimable"], "subgroup"].astype(str))
        return [each for each in findings if (each.subgroup or NO_SUBGROUPS) in names]

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
            self.kpis(feature, favourable=favourable),
            self.drawing(dataset, truth),
            Listing(title, self.ranked(feature, favourable=favourable)),
            self.caption(),
            facts=self.facts(dataset.name, subgroups),
            details=self.details(speech, favourable=favourable),
            how=_HOW,
            difference=self._asked(),
            changes=self._listed_changes(),
            file="fairdash-local-gaps.csv",
            data=self.estimates,
        )

    def brief(self, speech: Speech, *, favourable: bool = True) -> str:
        """Say who is worse off where, what a remedy does, and which way gaps point."""
        return sentences(*self.brief_sentences(speech, favourable=favourable))

    def brief_sentences(
        self, speech: Speech, *, favourable: bool = True
    ) -> tuple[str, ...]:
        """Return the sentences of `brief`, some of them empty."""
        if self.deciding.idle:
            return (self.deciding.brief(self.label),)
        if self.widest is None:
            return _NONE, self._over_all("the gap")
        remedy = self._remedy()
        worse = self.finding and worse_off(self.finding, favourable=favourable)
        turned = turned_words(self.turned, speech.feature, favourable=favourable)
        cancelled = "" if self._clear_whole else self._opposed_words(speech)
        if self.changes is not None and by_metric(self.changes)[WORST].clear:
            return remedy, turned, self._left(worse, speech), cancelled
        if worse is not None:
            return self._named_brief(worse, speech), turned, cancelled
        if self._scattered:
            return remedy, self._scattered, cancelled
        if isnan(self.chance):
            return "What chance alone would show is not known here.", remedy
        if over_all := self._over_all("it"):
            surely = "surely " if self._beyond_chance else ""
            return f"No gap inside a subgroup is {surely}beyond chance.", over_all
        reach = f"A fair model can reach {self._size(self.chance)}."
        return NO_GAP, remedy or reach, cancelled

    def details(self, speech: Speech, *, favourable: bool = True) -> str:
        """Say how surely who is worse off where, then over all rows."""
        if self.deciding.idle:
            return self.deciding.details(self.label)
        if self.widest is None:
            return sentences(_NONE, self._over_all_surely(speech))
        if self.finding is not None:
            worse = worse_off(self.finding, favourable=favourable)
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
            # of several seeds a card averages the largest of each, wherever it is
            average = " average over seeds" if self.n_seeds > 1 else ""
            reach = "what chance alone shows is not known"
            if not isnan(self.chance):
                most = self._size(self.chance)
                reach = f"a fair model stays below {most} in 95% of cases"
            first = "" if self._scattered else "No gap is sure to be beyond chance. "
            said = (
                f"{first}The largest{average} is {size}, "
                f"in {place}; {reach} ({self._rows()})."
            )
        if self._clear_whole is None:
            return said
        over_all = self._over_all_surely(speech)
        return sentences(said, over_all, self._opposed_words(speech))

    @property
    def _clear_whole(self) -> Finding | None:
        """The gap over all rows, where it is clear and not that of a subgroup."""
        inside = self.widest is None or self.widest["subgroup"] != NO_SUBGROUPS
        return self.whole if inside and self.whole and self.whole.clear else None

    def _over_all(self, gap: str) -> str:
        """Say how large the gap is over all rows; "" where it is not clear."""
        if (whole := self._clear_whole) is None:
            return ""
        verb = "is" if whole.sure else "may be"
        return f"Over all rows {gap} {verb} {self._size(abs(whole.value))}."

    def _over_all_surely(self, speech: Speech) -> str:
        """Say that with who is worse off and the interval."""
        if (whole := self._clear_whole) is None:
            return ""
        ends = gap_ends(whole.measure, whole.value, whole.low, whole.high)
        few = "" if whole.sure else ", of too few rows to be sure"
        return f"Over all rows, {clause(whole, speech)} ({ends}){few}."

    def _opposed_words(self, speech: Speech) -> str:
        if self.opposed is None:
            return ""
        over_all = self._clear_whole is not None
        return self.opposed.words(speech.feature, len(self.groups), over_all=over_all)

    def _named_brief(self, worse: Finding, speech: Speech) -> str:
        words = place_brief(worse, speech).removesuffix(".")
        if not self._largest_is_said:
            inside = worse.subgroup is not None
            words = f"{words[0].lower()}{words[1:]}" if inside else words
            words = f"Surest gap: {words}"
        return f"{words} ({self.label})."

    def _left(self, worse: Finding | None, speech: Speech) -> str:
        if worse is None:
            if self._scattered or not self._beyond_chance:
                return self._scattered or "No gap beyond chance remains."
            return "No gap is surely beyond chance."
        start = "Now" if self._largest_is_said else "Now sure:"
        size, place = self._size(worse.value), worse.subgroup or "all rows"
        group = group_label(speech.feature, worse.group)
        return f"{start} {size}, against {group} in {place}."

    @property
    def _beyond_chance(self) -> bool:
        return self.widest is not None and bool(self.widest["gap"] > self.chance)

    @property
    def _scattered(self) -> str:
        """Say that the largest gap is beyond chance, but not one of the same groups."""
        if self.finding is not None or self.widest is None or self.n_seeds < 2:
            return ""
        gap, place = float(self.widest["gap"]), str(self.widest["subgroup"])
        pairs = [f for f in self.inside if (f.subgroup or NO_SUBGROUPS) == place]
        reach = max((max(-f.low, f.high) for f in pairs), default=float("nan"))
        if not (self._beyond_chance and gap > reach):
            return ""
        inside = "over all rows" if place == NO_SUBGROUPS else f"in {place}"
        return (
            f"The largest gap, {self._size(gap)} {inside}, is beyond chance, but not "
            "between the same groups in every seed."
        )

    @property
    def _largest_is_said(self) -> bool:
        if self.finding is None or self.widest is None:
            return False
        if not self._beyond_chance:
            return False
        named = self.finding.subgroup or NO_SUBGROUPS
        return named == str(self.widest["subgroup"])

    @property
    def _is_plain(self) -> bool:
        return str(self.row["method"]) == BASELINE

    def _remedy(self) -> str:
        if self.changes is None:
            return ""
        moved = by_metric(self.changes)
        gap, accuracy = moved[WORST], moved["accuracy"]
        first = self.models.iloc[0]
        against = "" if first["method"] == BASELINE else f", against {first['label']},"
        label = f"{self.label}{against}"
        return priced_brief(label, gap, accuracy, "the largest gap")

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
            "worse_off": self.directions(dataset.roles.positive_is != "unfavourable"),
        }
        table = self.gaps[self.gaps["subgroup"].isin(shown)]
        return Drawing("plot_local_di", table, arguments, self.gaps)

    def directions(self, favourable: bool) -> pd.DataFrame:
        """Return which of two groups is worse off, by model and subgroup.

        Columns label, subgroup, group, of the gaps whose interval excludes 0; none of
        three and more groups, of which no gap has one direction.
        """
        models = self.models["label"].tolist()
        by_model = zip(models, [*self.earlier, self.inside], strict=False)
        rows = [
            (label, finding.subgroup or NO_SUBGROUPS, worse.group)
            for label, findings in by_model
            for finding in self._named(findings)
            if finding.clear and len(self.groups) == 2
            for worse in [worse_off(finding, favourable=favourable)]
        ]
        return pd.DataFrame(rows, columns=["label", "subgroup", "group"])

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

    def ranked(self, feature: str, *, favourable: bool = True) -> pd.DataFrame:
        """Return the subgroups of the model looked at for a reader, widest gap first.

        Over several seeds all columns are means: the mean gap is at least the gap
        between mean values. Columns of groups are named after ``feature``. Who is worse
        off, of more than two groups the lowest and the highest, is said where the
        interval of the gap excludes 0.
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
        estimable = table["estimable"].tolist()
        for place, (title, by_place) in enumerate(self._pointed(favourable).items()):
            names = [
                by_place.get(name, UNCLEAR) if gap_known else UNDEFINED
                for name, gap_known in zip(shown["Subgroup"], estimable, strict=True)
            ]
            shown.insert(2 + place, title, names)
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

    def _pointed(self, favourable: bool) -> dict[str, dict[str, str]]:
        """Return by heading who is worse off, or lowest and highest, by subgroup."""
        clear = [finding for finding in self._named(self.inside) if finding.clear]
        places = [finding.subgroup or NO_SUBGROUPS for finding in clear]
        if len(self.groups) == 2:
            worse = [worse_off(each, favourable=favourable).group for each in clear]
            return {"Worse off": dict(zip(places, worse, strict=True))}
        lowest = [finding.reference for finding in clear]
        highest = [finding.group for finding in clear]
        return {
            "Lowest": dict(zip(places, lowest, strict=True)),
            "Highest": dict(zip(places, highest, strict=True)),
        }

    def facts(self, name: str, subgroups: Subgroups) -> tuple[str, ...]:
        """Return the context line: data set, rows, subgroups, seeds."""
        crossed = CROSS.join(subgroups.columns) or "all rows"
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

    def kpis(self, feature: str = "", *, favourable: bool = True) -> list[Kpi]:
        """Return the largest gap, that over all rows, chance, subgroups estimable."""
        estimable, several = self.own["estimable"], self._several()
        inside = {finding.subgroup or NO_SUBGROUPS: finding for finding in self.inside}
        widest = None
        if self.widest is not None:
            widest = inside.get(str(self.widest["subgroup"]))
        largest, over_all = (
            finding
            and direction_words(
                finding, feature, len(self.groups), favourable=favourable
            )
            for finding in (widest, self.whole)
        )
        cards = [
            self._number("worst_1", "Largest gap", largest or ""),
            *several,
            self._number("overall", "Gap over all rows", over_all or ""),
            evaluation.chance_kpi(self.chance, self._style),
        ]
        if several and estimable.all():  # the facts name the subgroups
            return cards
        return [
            *cards,
            Kpi(
                "Subgroups estimable",
                f"{estimable.sum()} of {len(estimable)}",
                not_estimable(self.own),
            ),
        ]

    def _several(self) -> list[Kpi]:
        """Return the mean of the three largest gaps, where there are so many."""
        if isnan(self.row["worst_k"]):
            return []
        return [
            Kpi(
                f"{SEVERAL} largest gaps, mean",
                self._style(self.row["worst_k"]),
                f"by chance up to {self._style(self.row['chance_k'])}",
                help=f"Worst-{SEVERAL}-DI: it hangs less on one small subgroup than "
                "the largest gap does. A model that is fair in every subgroup stays "
                "below the value by chance in 95% of cases.",
            )
        ]

    def _number(self, metric: str, label: str, direction: str) -> Kpi:
        row = self.row
        ends = interval_note(row[f"{metric}_low"], row[f"{metric}_high"], self._style)
        note = " · ".join(filter(None, [ends, direction])) or "not estimable"
        rate = self.measure == "selection_rate"
        about = evaluation.GAP_HELP if metric == "overall" and rate else None
        if metric == "worst_1" and self.rows != "row" and not isnan(row[metric]):
            note = " · ".join(filter(None, [note, evaluation.of_seeds(self.n_seeds)]))
            about = _WORST_HELP if self.n_seeds > 1 else None
        value = self._style(row[metric])
        if self.changes is None or isnan(row[metric]):
            return Kpi(label, value, note, help=about)
        moved = by_metric(self.changes)[_PAIRED[metric]]
        # what an idle model narrows is no gain
        good = None if self.deciding.idle else moved.good(rise=False)
        signed = points if catalog.measure_of(self.measure).in_points else change
        chip = signed(moved.value)
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
