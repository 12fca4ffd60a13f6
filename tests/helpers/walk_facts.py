"""What is true of the models of a run, computed from their exported predictions.

Nothing here reads what a page or an audit of the app found: decisions come from the
export of predictions, numbers from pandas and the public functions of
`fairdash.metrics`.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from walk_tables import WalkTable

from fairdash.audits import Setting, portable, trials
from fairdash.metrics import local_di, worst_k_di
from fairdash.store import Store

PLAIN = "Unconstrained"


@dataclass(frozen=True, eq=False)
class ModelFacts:
    """The decisions of one model on the rows of one part, of every seed.

    ``rows`` has the columns seed, group, outcome, decision, probability, subgroup and
    weight.
    """

    label: str
    rows: pd.DataFrame
    min_size: int

    def means(self) -> dict[str, float]:
        """Return accuracy, gap, largest local gap and share decided 1, over seeds."""
        seeds = [self._figures(part) for _, part in self.rows.groupby("seed")]
        return pd.DataFrame(seeds).mean(skipna=False).to_dict()

    def _figures(self, part: pd.DataFrame) -> dict[str, float]:
        right = part["outcome"] == part["decision"]
        rates = _rates(part)
        return {
            "accuracy": float(np.average(right, weights=part["weight"])),
            "gap": float(rates.max() - rates.min()),
            "worst": worst_k_di(self.local(part)),
            "share": float(np.average(part["decision"], weights=part["weight"])),
        }

    def local(self, part: pd.DataFrame) -> pd.DataFrame:
        """Return the gaps inside subgroups of the rows of one seed."""
        return local_di(
            part["decision"],
            sensitive_features=part["group"],
            subgroups=part["subgroup"],
            min_size=self.min_size,
            sample_weight=None if (part["weight"] == 1).all() else part["weight"],
        )

    @cached_property
    def local_gaps(self) -> "pd.Series[float]":
        """The gap inside each subgroup, mean over seeds; NaN where not estimable."""
        seeds = [
            self.local(part).set_index("subgroup")["local_di"]
            for _, part in self.rows.groupby("seed")
        ]
        return pd.concat(seeds, axis=1).mean(axis=1)

    def signed(self) -> pd.DataFrame:
        """Return signed gaps inside subgroups with standard errors, means over seeds.

        One row per subgroup and pair of groups: subgroup, first, second, gap (rate of
        the first less that of the second), error.
        """
        rates = self.rows.groupby(["seed", "subgroup", "group"], observed=True)[
            "decision"
        ]
        table = rates.agg(["mean", "size"]).reset_index()
        table["variance"] = table["mean"] * (1 - table["mean"]) / table["size"]
        # test rows of several splits overlap: seeds narrow an interval little
        means = table.groupby(["subgroup", "group"], observed=True)[
            ["mean", "variance"]
        ].mean()
        pairs = []
        for subgroup, part in means.groupby("subgroup", observed=True):
            part = part.droplevel("subgroup")
            for first, second in combinations(part.index, 2):
                gap = part.loc[first, "mean"] - part.loc[second, "mean"]
                variance = part.loc[first, "variance"] + part.loc[second, "variance"]
                pairs.append((subgroup, first, second, gap, np.sqrt(variance)))
        columns = ["subgroup", "first", "second", "gap", "error"]
        return pd.DataFrame(pairs, columns=columns)


@dataclass(frozen=True, eq=False)
class Facts:
    """The models of one finished sweep over a generated table."""

    store: Store
    run: str
    table: WalkTable
    _models: dict[Any, ModelFacts] = field(default_factory=dict)

    @cached_property
    def dataset_id(self) -> str:
        """Id of the data set that was swept over."""
        return self.store.run(self.run).dataset_id

    @cached_property
    def models(self) -> dict[str, Setting]:
        """The models of the run by label, the plain one first."""
        known = trials.known_models(self.store, self.dataset_id, self.run)
        return {model.label: model for model in known}

    @cached_property
    def seeds(self) -> list[int]:
        """Seeds of every model."""
        return sorted(self.models[PLAIN].seeds)

    def model(
        self, label: str, part: str = "test", seeds: tuple[int, ...] = ()
    ) -> ModelFacts:
        """Return the decisions of a model on the test rows of some seeds, or of all."""
        key = label, part, seeds
        if key not in self._models:
            self._models[key] = self._exported(*key)
        return self._models[key]

    def _exported(self, label: str, part: str, seeds: tuple[int, ...]) -> ModelFacts:
        frame = self.table.frame()
        beside = pd.DataFrame({"subgroup": self.table.subgroups.label(frame)})
        weight = self.table.roles.sample_weight
        beside["weight"] = 1.0 if weight is None else frame[weight].astype(float)
        model = self.models[label].id
        tables = []
        for seed in seeds or self.seeds:
            exported = portable.predictions(self.store, self.run, model, seed)
            rows = exported[exported["part"] == part].assign(seed=seed)
            tables.append(rows.join(beside, on="row"))
        rows = pd.concat(tables, ignore_index=True)
        return ModelFacts(label, rows, self.table.subgroups.min_size)

    def label_of(self, chip: str | None) -> str | None:
        """Return the label of the model that a control names, by label or by id."""
        by_id = {model.id: label for label, model in self.models.items()}
        return by_id.get(chip or "", chip if chip in self.models else None)

    def named_in(self, text: str) -> set[str]:
        """Return the labels of all models that a text names."""
        named, rest = set(), text
        for label in sorted(self.models, key=len, reverse=True):
            if label in rest:
                named.add(label)
                rest = rest.replace(label, "")
        return named

    def turned(self, label: str) -> list[str]:
        """Return the subgroups in which a gap clearly changed its direction."""
        keys = ["subgroup", "first", "second"]
        before = self.model(PLAIN).signed().set_index(keys)
        after = self.model(label).signed().set_index(keys)
        clear = (before["gap"].abs() > 2 * before["error"]) & (
            after["gap"].abs() > 2 * after["error"]
        )
        other = np.sign(before["gap"]) != np.sign(after["gap"])
        return sorted(set(clear[clear & other].reset_index()["subgroup"]))

    def accuracy_change(self, label: str) -> tuple[float, float]:
        """Return by how much accuracy changes against the plain model, and its error.

        Rows are paired: right by one model and wrong by the other.
        """
        plain, model = self.model(PLAIN).rows, self.model(label).rows
        keys = ["seed", "row"]
        both = plain.merge(model, on=keys, suffixes=("_plain", ""))
        change = (both["decision"] == both["outcome"]).astype(float) - (
            both["decision_plain"] == both["outcome"]
        )
        n = len(both) / both["seed"].nunique()
        return float(np.average(change, weights=both["weight"])), change.std() / n**0.5


def _rates(part: pd.DataFrame) -> "pd.Series[float]":
    weighted = part["decision"] * part["weight"]
    groups = part["group"]
    return weighted.groupby(groups).sum() / part["weight"].groupby(groups).sum()
