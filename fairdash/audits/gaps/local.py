"""Where a model is unfair: its gaps inside subgroups as an answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil, isnan
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from fairdash._change import by_metric
from fairdash._metric_names import MAIN, PARITY, WORST, metric_title
from fairdash._validation import CROSS
from fairdash._wording import (
    UNDEFINED,
    Kpi,
    change,
    count,
    gap_size,
    group_label,
    headed,
    interval_note,
    number,
    plural,
    points,
    sentences,
)
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.gaps import evaluation, local_words
from fairdash.audits.gaps.local_gaps import SEVERAL, LocalGaps, subgroup_of
from fairdash.audits.trials.memo import Memo
from fairdash.datasets import Dataset, Subgroups
from fairdash.metrics import Finding, Speech, catalog, direction_words, worse_off

UNCLEAR = "not clear"
_WORST_HELP = "The largest gap of each seed, averaged over the seeds."
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
class LocalResult(LocalGaps):
    """A measure of some models inside subgroups, in sentences, tables and a figure."""

    _answers: Memo = field(init=False, repr=False, default_factory=lambda: Memo(4))

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
        feature = roles.group_prefix()
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
            difference=self.difference,
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
        return local_words.brief_sentences(self, speech, favourable=favourable)

    def details(self, speech: Speech, *, favourable: bool = True) -> str:
        """Say how surely who is worse off where, then over all rows."""
        return local_words.details(self, speech, favourable=favourable)

    def drawing(
        self, dataset: Dataset, truth: Mapping[str, float] = MappingProxyType({})
    ) -> Drawing:
        """Return the figure of gaps by subgroup.

        Of very many subgroups the largest, and those with the widest gaps.
        """
        subgroups = self.drawn_subgroups
        arguments = {
            "values": self.by_group[self.by_group["subgroup"].isin(subgroups)],
            "models": self.models,
            "groups": dataset.group_names,
            "chance": self.chance,
            "symbol": catalog.MEASURE_SYMBOLS[self.measure],
            "feature": dataset.roles.group_prefix(),
            "truth": truth,
            "points": catalog.measure_of(self.measure).in_points,
            "said": self.finding and subgroup_of(self.finding),
            "noun": self.noun,
            "worse_off": self.directions(dataset.roles.positive_is != "unfavourable"),
        }
        table = self.gaps[self.gaps["subgroup"].isin(subgroups)]
        return Drawing("plot_local_di", table, arguments, self.gaps)

    def directions(self, favourable: bool) -> pd.DataFrame:
        """Return which of two groups is worse off, by model and subgroup.

        Columns label, subgroup, group, of the gaps whose interval excludes 0; none of
        three and more groups, of which no gap has one direction.
        """
        rows = []
        by_model = [*self.earlier, self.inside] if len(self.groups) == 2 else []
        for label, findings in zip(self.models["label"], by_model, strict=False):
            for finding in self.nameable(findings):
                if finding.clear:
                    worse = worse_off(finding, favourable=favourable)
                    rows.append((label, subgroup_of(finding), worse.group))
        return pd.DataFrame(rows, columns=["label", "subgroup", "group"])

    def _listed_changes(self) -> Listing | None:
        if self.changes is None:
            return None
        columns = ("metric", "reference", "value", "difference", "low", "high")
        names = {"metric": "Measure", "reference": "Before", "value": "After"}
        table = headed(self.changes, columns, **names, difference="Change")
        table["Measure"] = [_CHANGED.get(name, name) for name in table["Measure"]]
        note = (
            f"{self.label} after, {self.models['label'].iloc[0]} before, on the same "
            f"test {self.noun.several}; 95% intervals of the change."
        )
        left_out = self.changes.loc[self.changes["metric"] == PARITY, "n_left_out"]
        n_left_out = ceil(left_out.max())
        if n_left_out:
            groups = plural(n_left_out, "group")
            note += (
                f" Not in the gap over all rows: {groups} with too few "
                f"{self.noun.several}."
            )
        return Listing("What changed", table, note)

    def ranked(self, feature: str, *, favourable: bool = True) -> pd.DataFrame:
        """Return the subgroups of the model looked at for a reader, widest gap first.

        Over several seeds all columns are means: the mean gap is at least the gap
        between mean values. Columns of groups are named after ``feature``. Who is worse
        off, of more than two groups the lowest and the highest, is said where the
        interval of the gap excludes 0.
        """
        gaps = self.model_gaps.sort_values("gap", ascending=False)
        ratios = self.ratios.drop_duplicates("subgroup", keep="last")
        ratios = ratios.set_index("subgroup").reindex(gaps["subgroup"])
        columns: dict[str, Any] = {"Subgroup": gaps["subgroup"].astype(str).to_numpy()}
        columns["Gap"] = gaps["gap"].to_numpy()
        for heading, group_of in self._pointed(favourable).items():
            columns[heading] = [
                group_of.get(str(subgroup), UNCLEAR) if estimable else UNDEFINED
                for subgroup, estimable in zip(
                    gaps["subgroup"], gaps["estimable"], strict=True
                )
            ]
        columns["Low"] = gaps["ci_low"].to_numpy()
        columns["High"] = gaps["ci_high"].to_numpy()
        columns["Ratio"] = ratios["ratio"].to_numpy()
        counted = self.noun.several.capitalize()
        columns[counted] = gaps["n"].to_numpy()
        symbol = catalog.MEASURE_SYMBOLS[self.measure]
        for group, cells in self.model_cells.groupby("group", sort=False):
            label = group_label(feature, str(group))
            cells = cells.set_index("subgroup").reindex(gaps["subgroup"])
            columns[f"{symbol} {label}"] = cells["value"].to_numpy()
            columns[f"{counted} {label}"] = [
                count(int(n)) if np.isfinite(n) else UNDEFINED for n in cells["n"]
            ]
        if self.n_seeds > 1:
            columns["± over seeds"] = gaps["gap_sd"].to_numpy()
            columns["Seeds"] = gaps["n_seeds"].to_numpy()
        if not gaps["estimable"].all():
            columns["Not estimable"] = gaps["reason"].to_numpy()
        return pd.DataFrame(columns)

    def _pointed(self, favourable: bool) -> dict[str, dict[str, str]]:
        """Return by heading who is worse off, or lowest and highest, by subgroup."""
        nameable = self.nameable(self.inside)
        clear = {subgroup_of(finding): finding for finding in nameable if finding.clear}
        if len(self.groups) == 2:
            worse = {
                subgroup: worse_off(finding, favourable=favourable).group
                for subgroup, finding in clear.items()
            }
            return {"Worse off": worse}
        return {
            "Lowest": {name: finding.reference for name, finding in clear.items()},
            "Highest": {name: finding.group for name, finding in clear.items()},
        }

    def facts(self, name: str, subgroups: Subgroups) -> tuple[str, ...]:
        """Return the context line: data set, rows, subgroups, seeds."""
        crossed = CROSS.join(subgroups.columns) or "all rows"
        return (
            name,
            self.size,
            f"subgroups {crossed}",
            plural(self.n_seeds, "seed") if not self.on_all_rows else "",
        )

    def caption(self) -> str:
        """Say what is drawn: measure, rows, seeds, dashes and grey."""
        return local_words.caption(self)

    def kpis(self, feature: str = "", *, favourable: bool = True) -> list[Kpi]:
        """Return the largest gap, that over all rows, chance, subgroups estimable."""
        mean_of_largest = self._mean_of_largest()
        inside = {subgroup_of(finding): finding for finding in self.inside}
        widest = None
        if self.widest is not None:
            widest = inside.get(str(self.widest["subgroup"]))

        def direction(finding: Finding | None) -> str:
            if finding is None:
                return ""
            n_groups = len(self.groups)
            return direction_words(finding, feature, n_groups, favourable=favourable)

        cards = [
            self._number("worst_1", "Largest gap", direction(widest)),
            *mean_of_largest,
            self._number("overall", "Gap over all rows", direction(self.whole)),
            evaluation.chance_kpi(self.chance, self._style),
        ]
        estimable = self.model_gaps["estimable"]
        if mean_of_largest and estimable.all():
            return cards  # the facts name the subgroups
        return [
            *cards,
            Kpi(
                "Subgroups estimable",
                f"{estimable.sum()} of {len(estimable)}",
                not_estimable(self.model_gaps),
            ),
        ]

    def _mean_of_largest(self) -> list[Kpi]:
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
        if metric == "worst_1" and not self.on_all_rows and not isnan(row[metric]):
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

    @property
    def _style(self) -> Callable[[float], str]:
        return gap_size if catalog.measure_of(self.measure).in_points else number


def not_estimable(local: pd.DataFrame) -> str:
    """Return why some subgroups have no gap: "1 too small, 1 lack a group"."""
    reasons = local.loc[~local["estimable"], "reason"]
    small = int(reasons.str.fullmatch(r"[\d,]+ rows?( .*)?").sum())
    facts = [f"{small} too small" if small else ""]
    facts += [f"{len(reasons) - small} lack a group" if len(reasons) > small else ""]
    return ", ".join(fact for fact in facts if fact) or "all of them"
