"""Subgroups of models: their gaps, and who is worse off where."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import pandas as pd

from fairdash._wording import (
    GapNames,
    Kpi,
    change,
    count,
    floor_words,
    interval,
    number,
    plural,
)
from fairdash.datasets import FOLDS, Dataset, Subgroups
from fairdash.metrics import (
    INTERVAL_KINDS,
    MEASURE_NAMES,
    MEASURE_SYMBOLS,
    in_text,
    mean_local_di,
)
from fairdash.results.evaluation import (
    DI_HELP,
    MOST_SEEDS,
    chance_kpi,
    chance_worst,
    metrics_by_setting,
    paired_changes,
)
from fairdash.results.models import Setting, on_shared_seeds
from fairdash.results.rows import Kept, Tested, tested
from fairdash.results.verdict import Pair, Verdict
from fairdash.store import Store

FOLDS_WORDS = (
    f"Each row is predicted by that of {FOLDS} models that did not see it; intervals "
    "are of the mean of these models, not of all that other rows could have trained."
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
_FEWEST_EXPECTED = 5  # rows of each value in each group
_LABEL = 20  # characters on a card
_MOST_KEPT = 16  # figures of a result
_ENDS = ("", "_low", "_high")  # of the columns of a metric


@dataclass(frozen=True)
class LocalResult:
    """Local DI of some models on test rows; the last one is looked at.

    Attributes
    ----------
    cells : DataFrame
        Tables of `fairdash.metrics.mean_local_di` with the column "label".
    chance : float
        Worst-1-DI of the model looked at by chance, 95th percentile.
    changes : DataFrame or None
        Paired changes against the first model, if there is one on the same rows.
    note : str
        Which seeds are compared, where models have different ones.
    reference : str or None
        Group that gaps are from; None for the largest between groups.
    crossed : bool
        Whether these are all rows, each predicted by a model that did not see it.
    overall_sure : bool
        Whether the gap over all rows keeps its sign over several seeds.
    overall : dict of str to float
        The measure over all rows by group, mean over seeds; empty if not asked for.
    named : fairdash.results.pairs.NamedPair or None
        Interval of a pair that the verdict names, over all rows or in a subgroup.
    """

    label: str
    cells: pd.DataFrame
    models: pd.DataFrame
    chance: float
    changes: pd.DataFrame | None
    note: str = ""
    measure: str = "selection_rate"
    rows: str = "test row"
    reference: str | None = None
    crossed: bool = False
    overall_sure: bool = False
    overall: Mapping[str, float] = field(default_factory=dict)
    named: Any = None

    @cached_property
    def once(self) -> Kept:
        """Make what follows from the result and from what is asked, and keep it."""
        return Kept(_MOST_KEPT)

    @property
    def names(self) -> GapNames:
        """What columns and gaps of the measure are called."""
        return gap_names(self.measure)

    @cached_property
    def row(self) -> "pd.Series[Any]":
        """The metrics of the model looked at."""
        return self.models[self.models["label"] == self.label].iloc[0]

    @property
    def has_pairs(self) -> bool:
        """Whether there are more than two groups, and so several pairs of them."""
        return sum(str(name).startswith(self.names.value) for name in self.own) > 2

    @property
    def beyond_chance(self) -> bool:
        """Whether the largest gap in a subgroup is more than chance alone shows."""
        known = self.own.loc[self.own["estimable"], self.names.gap]
        return bool(known.max() > self.chance)

    @property
    def n_seeds(self) -> int:
        """Number of seeds that numbers are means over."""
        return int(self.row["n_seeds"])

    @cached_property
    def own(self) -> pd.DataFrame:
        """The rows of the model looked at."""
        return self.cells[self.cells["label"] == self.label]

    @cached_property
    def shown(self) -> pd.DataFrame:
        """The rows of the figure: of very many the largest, and the widest gaps."""
        return self.cells[self.cells["subgroup"].isin([*self._largest, *self._widest])]

    @property
    def _largest(self) -> list[str]:
        return self.own.nlargest(_MOST_ROWS, "n")["subgroup"].tolist()

    @property
    def _widest(self) -> list[str]:
        """The subgroup of each model's largest gap, which figures speak of."""
        gaps = self.cells.reset_index(drop=True).dropna(subset=self.names.gap)
        places = gaps.groupby("label")[self.names.gap].idxmax()
        return gaps.loc[places, "subgroup"].tolist()

    def drawn(self, dataset: Dataset) -> dict[str, Any]:
        """Return what `fairdash.plots.plot_local_di` draws of it."""
        return {
            "table": self.shown,
            "models": self.models,
            "groups": dataset.group_names,
            "chance": self.chance,
            "changes": self.changes,
            "names": self.names,
            "feature": dataset.roles.sensitive_feature,
        }

    def ranked(self, groups: Sequence[str]) -> pd.DataFrame:
        """Return the subgroups of the model looked at, the widest gap first.

        Over several seeds all columns are means. The mean gap is then at least the gap
        between mean rates, and larger where seeds disagree on who is ahead; so both
        stand in the table.
        """
        told = self.names
        local = told.local[0].upper() + told.local[1:]
        names = {"subgroup": "Subgroup", told.gap: local}
        names |= {"ci_low": "Low", "ci_high": "High", "n": "Rows"}
        values = [f"{told.value}{name}" for name in groups]
        named = zip(values, groups, strict=True)
        names |= {value: f"{told.symbol} {name}" for value, name in named}
        names |= {f"n_{name}": f"Rows {name}" for name in groups}
        table = self.own
        if self.n_seeds > 1:
            rates = table[values]
            apart = rates.max(axis=1, skipna=False) - rates.min(axis=1, skipna=False)
            table = table.assign(apart=apart)
            names |= {"apart": "Gap of mean rates", f"{told.gap}_sd": "± over seeds"}
            names["n_seeds"] = "Seeds"
        names["reason"] = "Not estimable"
        table = table.sort_values(told.gap, ascending=False)[list(names)]
        return table.rename(columns=names)

    def listed(self, groups: Sequence[str]) -> tuple[pd.DataFrame, dict[str, str], str]:
        """Return the table of `ranked` as it fits a page of several groups.

        Rows by group are one column of text. With it come short names of columns, and
        the sentence that says what stands below these.
        """
        table = self.ranked(groups)
        by_group = [f"Rows {name}" for name in groups]
        rows = table[by_group].to_numpy()
        said = [" / ".join(map(count, row)) for row in rows]
        table.insert(list(table).index(by_group[0]), "Rows by group", said)
        table = table.drop(columns=by_group)
        if self.own["estimable"].all():
            table = table.drop(columns="Not estimable")
        symbol = self.names.symbol
        words = f"Under each group its {symbol}; rows by group: {' / '.join(groups)}."
        return table, {f"{symbol} {name}": name for name in groups}, words

    def verdict(
        self, outcome: str, *, favourable: bool = True, feature: str = ""
    ) -> str:
        """Say who is worse off, where, by how much and how surely; then over all rows.

        ``outcome`` is what is predicted, such as "approved = yes", and ``favourable``
        whether that is good for the person; ``feature`` the column of the groups.
        """
        return Verdict(self, outcome, favourable, feature).text()

    @cached_property
    def surest(self) -> Pair | None:
        """The groups of a subgroup whose gap is surest, if one is surely not 0.

        The largest gap may be within the reach of chance, as that of a small subgroup
        often is, and the gap of a larger one still be sure: the interval that holds for
        all pairs in all subgroups at 97.5 % is above 0, and five rows of both values
        are expected in both groups. Of fair subgroups one is then named in at most 4 %
        of tables. Of measures with other intervals and of weighted rows none is named.
        """
        if self.named is None or self.named.weighted:
            return None
        if not INTERVAL_KINDS[self.measure].startswith("Newcombe"):
            return None
        sure = []
        for _, row in self.own[self.own["estimable"]].iterrows():
            pair = self.furthest_inside(row)
            groups = pair.lower, pair.higher
            n = row[[f"n_{name}" for name in groups]].to_numpy(float)
            rates = row[[f"{self.names.value}{name}" for name in groups]]
            rate = float(n @ rates.to_numpy(float) / n.sum())
            place = {"subgroup": pair.place, "confidence": _SURE}
            low, _ = self.named.ends(pair.higher, pair.lower, **place)
            if low > 0 and min(rate, 1 - rate) * n.min() >= _FEWEST_EXPECTED:
                sure.append((low, pair))
        return max(sure)[1] if sure else None

    def furthest_inside(self, row: "pd.Series[Any]") -> Pair:
        """Return the groups furthest apart in a subgroup, or from the reference."""
        start = self.names.value
        columns = [str(name) for name in row.index if str(name).startswith(start)]
        values = {name.removeprefix(start): float(row[name]) for name in columns}
        ordered = sorted(values, key=values.__getitem__)
        if self.reference is not None:
            base = values[self.reference]
            far = max(values, key=lambda name: abs(values[name] - base))
            ordered = sorted((far, self.reference), key=values.__getitem__)
        lower, higher = ordered[0], ordered[-1]
        place, low, high = str(row["subgroup"]), row["ci_low"], row["ci_high"]
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
            f"{FOLDS} folds" if self.crossed else "",
            plural(self.n_seeds, "seed") if self.crossed or self.rows != "row" else "",
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
            name = MEASURE_NAMES[self.measure]
            what, kind = f"Gap in {in_text(name)}", INTERVAL_KINDS[self.measure]
            whole = "the gap over all rows"
        held = "" if self.reference is None else f" from {self.reference}"
        text = f"{what}{held} by subgroup{part} on {rows}, {seeds}95% {kind}. "
        text += f"Dashed: {whole}."
        told = FOLDS_WORDS if self.crossed else ""
        held_for, estimable = "", self.own["estimable"].sum()
        if self.named is not None and self.has_pairs:
            held_for = PAIR_WORDS
        elif estimable > 1 and (self.beyond_chance or self.surest) and self.named:
            held_for = PLACE_WORDS.format(n=estimable)
        return " ".join(
            filter(None, [text, held_for, told, floor_words(self.label), self.note])
        )

    def kpis(self, k: int) -> list[Kpi]:
        """Return Worst-k-DI, global DI, what chance shows, subgroups estimable."""
        row, told = self.row, self.names
        estimable = self.own["estimable"]
        first = told.largest.format(k=1)
        worst = self._number(told.worst.format(k=1), self._label(first), row)
        if k > 1:
            mean = number(float(row[told.worst.format(k=k)]))
            name = self._label(told.largest.format(k=k))
            largest = f"the {k} largest"
            worst = Kpi(name, mean, f"mean of {self._each(largest)}")
        return [
            worst,
            self._number(
                told.overall, self._label(told.whole[0].upper() + told.whole[1:]), row
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
        if metric == self.names.worst.format(k=1) and self.n_seeds > 1:
            note = " · ".join(filter(None, [note, f"mean of {self._each('largest')}"]))
        about = DI_HELP if metric == "demographic_parity_difference" else None
        value = number(row[metric])
        if self.changes is None:
            return Kpi(label, value, note, help=about)
        paired = self.changes[self.changes["metric"] == metric].iloc[0]
        clear = bool(paired["low"] > 0 or paired["high"] < 0)
        idle = self.row["constant"] > MOST_SEEDS  # what it narrows is no gain
        good = bool(paired["difference"] < 0) if clear and not idle else None
        chip = change(paired["difference"])
        return Kpi(label, value, note, delta=chip, good=good, help=about)


def local_result(
    store: Store, models: Sequence[Setting], dataset_id: str, subgroups: Subgroups
) -> LocalResult:
    """Evaluate models by subgroup on the test rows of the seeds that all of them have.

    The last model is looked at, the first is its reference.
    """
    compared = on_shared_seeds(models)
    models = compared.models
    first, main = models[0], models[-1]
    tables = [
        mean_local_di(
            [_local(one) for one in tested(store, model, dataset_id, subgroups)]
        ).assign(label=model.label)
        for model in models
    ]
    changes = None
    if main is not first:
        changes = paired_changes(store, main, first, dataset_id, subgroups)
    return LocalResult(
        main.label,
        pd.concat(tables, ignore_index=True),
        metrics_by_setting(store, models, dataset_id, subgroups),
        chance_worst(store, main, dataset_id, subgroups),
        changes,
        compared.note(),
    )


def gap_names(measure: str) -> GapNames:
    """Return what columns and gaps of a measure are called."""
    if measure == "selection_rate":
        return GapNames()
    return GapNames(
        gap="gap",
        value="value_",
        overall="overall_gap",
        worst="worst_{k}_gap",
        local="local gap",
        whole="global gap",
        largest="Worst-{k} gap",
        symbol=MEASURE_SYMBOLS[measure],
    )


@lru_cache(maxsize=5000)
def _local(trial: Tested) -> pd.DataFrame:
    rows = trial.rows
    return rows.local_di(rows.predictions(trial.key))


def not_estimable(local: pd.DataFrame) -> str:
    """Return why some subgroups have no gap: "1 too small, 1 lack a group"."""
    reasons = local.loc[~local["estimable"], "reason"]
    small = int(reasons.str.fullmatch(r"[\d,]+ rows?( .*)?").sum())
    facts = [f"{small} too small" if small else ""]
    facts += [f"{len(reasons) - small} lack a group" if len(reasons) > small else ""]
    return ", ".join(fact for fact in facts if fact) or "all of them"
