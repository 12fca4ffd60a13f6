"""What Local fairness shows: tables of local DI under the subgroups asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import pandas as pd

from fairdash._wording import Kpi, change, interval, number, plural
from fairdash.datasets import Subgroups
from fairdash.metrics import local_di, mean_local_di
from fairdash.results.evaluation import (
    chance_worst,
    metrics_by_setting,
    paired_changes,
)
from fairdash.results.models import Setting, share_seed
from fairdash.results.rows import rows_of
from fairdash.store import Store

_MOST_ROWS = 40
_LABEL = 20  # characters on a card


@dataclass(frozen=True)
class LocalResult:
    """Local DI of some models on test rows; the last one is looked at.

    Attributes
    ----------
    label : str
        Of the model looked at.
    cells : DataFrame
        Tables of `fairdash.metrics.mean_local_di` with the column "label".
    models : DataFrame
        `metrics_by_setting` of the models.
    chance : float
        Worst-1-DI of the model looked at by chance, 95th percentile.
    changes : DataFrame or None
        Paired changes against the first model, if there is one on the same rows.
    """

    label: str
    cells: pd.DataFrame
    models: pd.DataFrame
    chance: float
    changes: pd.DataFrame | None

    @property
    def own(self) -> pd.DataFrame:
        """The rows of the model looked at."""
        return self.cells[self.cells["label"] == self.label]

    @property
    def shown(self) -> pd.DataFrame:
        """The rows of the figure: of very many subgroups the largest."""
        largest = self.own.nlargest(_MOST_ROWS, "n")["subgroup"]
        return self.cells[self.cells["subgroup"].isin(largest)]

    def ranked(self, groups: Sequence[str]) -> pd.DataFrame:
        """Return the subgroups of the model looked at, the widest gap first."""
        names = {"subgroup": "Subgroup", "local_di": "Local DI"}
        names |= {"ci_low": "Low", "ci_high": "High", "n": "Rows"}
        names |= {f"rate_{name}": f"P(ŷ = 1) {name}" for name in groups}
        names |= {f"n_{name}": f"Rows {name}" for name in groups}
        if self.own["n_seeds"].max() > 1:
            names |= {"local_di_sd": "± over seeds", "n_seeds": "Seeds"}
        names["reason"] = "Not estimable"
        table = self.own.sort_values("local_di", ascending=False)[list(names)]
        return table.rename(columns=names)

    def facts(self, name: str, subgroups: Subgroups) -> tuple[str, ...]:
        """Return the context line: data set, rows, subgroups, seeds."""
        row = self.models[self.models["label"] == self.label].iloc[0]
        crossed = " × ".join(subgroups.columns) or "all rows"
        return (
            name,
            plural(round(row["n"]), "test row"),
            f"subgroups {crossed}",
            plural(int(row["n_seeds"]), "seed"),
        )

    def caption(self) -> str:
        """Say what is drawn: statistic, rows, seeds, dashes and grey."""
        row = self.models[self.models["label"] == self.label].iloc[0]
        n_seeds = int(row["n_seeds"])
        seeds = "one seed" if n_seeds == 1 else f"mean of {n_seeds} seeds"
        total, drawn = self.own["subgroup"].nunique(), self.shown["subgroup"].nunique()
        part = "" if drawn == total else f", the {drawn} largest of {total}"
        return (
            f"Local DI by subgroup{part} on {plural(round(row['n']), 'test row')}, "
            f"{seeds}, 95% Newcombe intervals. Dashed: global DI. Grey: what a fair "
            "model of this size shows by chance."
        )

    def kpis(self, k: int) -> list[Kpi]:
        """Return Worst-k-DI, global DI, what chance shows, subgroups estimable."""
        row = self.models[self.models["label"] == self.label].iloc[0]
        estimable = self.own["estimable"]
        worst = self._number("worst_1_di", self._label("Worst-1-DI"), row)
        if k > 1:
            mean = number(float(row[f"worst_{k}_di"]))
            name = self._label(f"Worst-{k}-DI")
            worst = Kpi(name, mean, f"mean of the {k} largest")
        return [
            worst,
            self._number(
                "demographic_parity_difference", self._label("Global DI"), row
            ),
            Kpi(
                "Worst-1-DI by chance",
                number(self.chance),
                "95th percentile",
                help="What the largest gap of a model that is fair in every subgroup "
                "stays below in 95% of cases: groups shuffled within subgroups.",
            ),
            Kpi(
                "Subgroups estimable",
                f"{estimable.sum()} of {len(estimable)}",
                not_estimable(self.own),
            ),
        ]

    def _label(self, name: str) -> str:
        """Add the method, if it fits on a card."""
        longer = f"{name}, {self.label.split()[0]}"
        return longer if len(longer) <= _LABEL else name

    def _number(self, metric: str, label: str, row: "pd.Series[float]") -> Kpi:
        note = interval(row[f"{metric}_low"], row[f"{metric}_high"])
        value = number(row[metric])
        if self.changes is None:
            return Kpi(label, value, note)
        paired = self.changes[self.changes["metric"] == metric].iloc[0]
        clear = bool(paired["low"] > 0 or paired["high"] < 0)
        good = bool(paired["difference"] < 0) if clear else None
        return Kpi(label, value, note, delta=change(paired["difference"]), good=good)


def local_result(
    store: Store, models: Sequence[Setting], dataset_id: str, subgroups: Subgroups
) -> LocalResult:
    """Evaluate models by subgroup on the test rows of their seeds.

    Parameters
    ----------
    store : Store
    models : sequence of Setting
        At least one; the last one is looked at, the first is its reference.
    dataset_id : str
    subgroups : Subgroups
    """
    first, main = models[0], models[-1]
    tables = [
        mean_local_di(
            [
                _local(store, trial.key, dataset_id, trial.seed, subgroups)
                for trial in model.trials
            ]
        ).assign(label=model.label)
        for model in models
    ]
    changes = None
    if main is not first and share_seed(main, first):
        changes = paired_changes(store, main, first, dataset_id, subgroups)
    return LocalResult(
        main.label,
        pd.concat(tables, ignore_index=True),
        metrics_by_setting(store, models, dataset_id, subgroups),
        chance_worst(store, main, dataset_id, subgroups),
        changes,
    )


@lru_cache(maxsize=5000)
def _local(
    store: Store, key: str, dataset_id: str, seed: int, subgroups: Subgroups
) -> pd.DataFrame:
    rows = rows_of(store, dataset_id, seed, subgroups)
    return local_di(rows.predictions(key), **rows.groups)


def not_estimable(local: pd.DataFrame) -> str:
    """Return why some subgroups have no gap: "1 too small, 1 lack a group"."""
    reasons = local.loc[~local["estimable"], "reason"]
    small = int(reasons.str.fullmatch(r"[\d,]+ rows?").sum())
    facts = [f"{small} too small" if small else ""]
    facts += [f"{len(reasons) - small} lack a group" if len(reasons) > small else ""]
    return ", ".join(fact for fact in facts if fact) or "all of them"
