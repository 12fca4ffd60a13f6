"""What is true of the models of a run, computed from their exported predictions.

Nothing here reads what a page or an audit of the app found: decisions come from the
export of predictions, numbers from pandas and the public functions of
`fairdash.metrics`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from by_hand import newcombe_interval
from walk_question import Question
from walk_tables import WalkTable

from fairdash.audits import Setting, portable, trials
from fairdash.metrics import LocalMeasure, decision_status, local_di, worst_k_di
from fairdash.store import Store

PLAIN = "Unconstrained"
_RARE = 0.1  # of the rarer outcome, below which decisions are nearly alike


@dataclass(frozen=True, eq=False)
class ModelFacts:
    """The decisions of one model on the rows of one part, of every seed.

    ``rows`` has the columns seed, group, outcome, decision, probability, subgroup and
    weight.
    """

    label: str
    rows: pd.DataFrame
    min_size: int
    measure: str = "selection_rate"

    @cached_property
    def by_seed(self) -> pd.DataFrame:
        """Accuracy, gap, largest local gap and share decided 1, a row a seed.

        ``alike`` is 1 where the rarer decision is less than a tenth as frequent as the
        rarer outcome, ``idle`` where decisions say nothing of the outcome.
        """
        seeds = [self._figures(part) for _, part in self.rows.groupby("seed")]
        return pd.DataFrame(seeds)

    def means(self) -> dict[str, float]:
        """Return the means of `by_seed` over the seeds where each is defined."""
        return self.by_seed.mean().to_dict()

    def _figures(self, part: pd.DataFrame) -> dict[str, float]:
        right = part["outcome"] == part["decision"]
        rates = self.rates(part)
        return {
            "accuracy": float(np.average(right, weights=part["weight"])),
            "gap": float(rates.max() - rates.min()),
            "worst": worst_k_di(self.local(part)),
            "share": (share := self._share(part, "decision")),
            "alike": _rarer(share) < _RARE * _rarer(self._share(part, "outcome"))
            or not _rarer(share),
            "idle": self._status(part) != "",
        }

    def _share(self, part: pd.DataFrame, column: str) -> float:
        return float(np.average(part[column], weights=part["weight"]))

    def _status(self, part: pd.DataFrame) -> str:
        weight = None if self._equal(part) else part["weight"]
        table = decision_status(part["outcome"], part["decision"], sample_weight=weight)
        return str(table["status"].iloc[0])

    def _equal(self, part: pd.DataFrame) -> bool:
        return bool((part["weight"] == 1).all())

    @property
    def decides(self) -> bool:
        """Whether its decisions say something of the outcome, in half of the seeds."""
        return float(self.by_seed["idle"].mean()) <= 0.5

    @property
    def decides_alike(self) -> bool:
        """Whether nearly everyone gets the same decision in most seeds."""
        return float(self.by_seed["alike"].mean()) > 0.5

    def reaches(self, level: float) -> list[float]:
        """Return how large each gap between groups may be over all rows, by Newcombe.

        Ends are means over seeds. The larger of both sides, a number a pair of groups.
        """
        groups = sorted(self.rows["group"].unique())
        pairs = list(combinations(groups, 2))
        ends = []
        for _, part in self.rows.groupby("seed"):
            table = part.groupby("group")["decision"].agg(["sum", "size"])
            first, second = (table.loc[[p[at] for p in pairs]] for at in (0, 1))
            ends.append(
                newcombe_interval(
                    first["sum"].to_numpy(),
                    first["size"].to_numpy(),
                    second["sum"].to_numpy(),
                    second["size"].to_numpy(),
                    level,
                )
            )
        low, high = np.mean(ends, axis=0)
        return np.maximum(np.abs(low), np.abs(high)).tolist()

    def reach_of_largest(self) -> float:
        """Return the far end of the gap of the two groups furthest apart in a seed.

        A mean over seeds, in each of which they may be other groups.
        """
        ends = []
        for _, part in self.rows.groupby("seed"):
            table = part.groupby("group")["decision"].agg(["sum", "size"])
            rates = table["sum"] / table["size"]
            high = table.loc[rates.idxmax()]
            low = table.loc[rates.idxmin()]
            counts = [[count] for row in (high, low) for count in row]
            ends.append(newcombe_interval(*map(np.asarray, counts), 0.95)[1][0])
        return float(np.mean(ends))

    def by_chance(self, draws: int = 2000) -> float:
        """Return what the largest local gap of a fair model stays below in 95 %.

        Decisions are dealt to the groups of a subgroup by chance; mean over seeds.
        """
        rng = np.random.default_rng(0)
        floors = []
        for _, part in self.rows.groupby("seed"):
            local = self.local(part).set_index("subgroup")["local_di"]
            largest = np.full(draws, np.nan)
            for subgroup in local.index[local.notna()]:
                rows = part[part["subgroup"] == subgroup]
                sizes = rows["group"].value_counts().to_numpy()
                n = int(rows["decision"].sum())
                dealt = rng.multivariate_hypergeometric(sizes, n, size=draws) / sizes
                largest = np.fmax(largest, np.ptp(dealt, axis=1))
            floors.append(np.quantile(largest, 0.95))
        return float(np.mean(floors))

    def rates(self, part: pd.DataFrame) -> "pd.Series[float]":
        """Return the measure by group over the rows of one seed."""
        value, counted = _MEASURED[self.measure](part)
        part = part[counted]
        value = value[counted]
        sums = (value * part["weight"]).groupby(part["group"]).sum()
        return sums / part["weight"].groupby(part["group"]).sum()

    def local(self, part: pd.DataFrame) -> pd.DataFrame:
        """Return the gaps inside subgroups of the rows of one seed."""
        if self.measure != "selection_rate":
            cells = LocalMeasure.of(
                self.measure,
                part["outcome"],
                part["decision"],
                sensitive_features=part["group"],
                subgroups=part["subgroup"],
                min_size=self.min_size,
                sample_weight=None if (part["weight"] == 1).all() else part["weight"],
            )
            return cells.table(gap="local_di")
        return local_di(
            part["decision"],
            sensitive_features=part["group"],
            subgroups=part["subgroup"],
            min_size=self.min_size,
            sample_weight=None if (part["weight"] == 1).all() else part["weight"],
        )

    @cached_property
    def local_gaps(self) -> "pd.Series[float]":
        """The gap inside each subgroup, mean over seeds; NaN where half cannot tell."""
        seeds = [
            self.local(part).set_index("subgroup")["local_di"]
            for _, part in self.rows.groupby("seed")
        ]
        gaps = pd.concat(seeds, axis=1)
        return gaps.mean(axis=1).where(2 * gaps.notna().sum(axis=1) >= len(seeds))

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
    question: Question = field(default_factory=Question)
    _models: dict[Any, ModelFacts] = field(default_factory=dict)

    def asked(self, question: Question) -> "Facts":
        """Return what is true where the controls of a page ask another question."""
        return replace(self, question=question)

    @cached_property
    def dataset_id(self) -> str:
        """Id of the data set that was swept over."""
        return self.store.run(self.run).dataset_id

    @cached_property
    def models(self) -> dict[str, Setting]:
        """The models of the run by label, the plain one first."""
        expected = trials.known_models(self.store, self.dataset_id, self.run)
        return {model.label: model for model in expected}

    @cached_property
    def seeds(self) -> list[int]:
        """Seeds of every model."""
        return sorted(self.models[PLAIN].seeds)

    def model(
        self, label: str, part: str = "test", seeds: tuple[int, ...] = ()
    ) -> ModelFacts:
        """Return the decisions of a model on the test rows of some seeds, or of all."""
        key = self.question, label, part, seeds
        if key not in self._models:
            self._models[key] = self._exported(label, part, seeds)
        return self._models[key]

    def _exported(self, label: str, part: str, seeds: tuple[int, ...]) -> ModelFacts:
        frame = self.table.frame()
        question = self.question
        subgroups = question.subgroups(self.table.subgroups)
        frame_of_labels = pd.DataFrame({"subgroup": subgroups.label(frame)})
        weight = self.table.roles.sample_weight
        frame_of_labels["weight"] = (
            1.0 if weight is None else frame[weight].astype(float)
        )
        model = self.models[label].id
        tables = []
        query = self.seeds if question.seed is None else [question.seed]
        for seed in seeds or query:
            exported = portable.predictions(
                self.store, self.run, model, seed, question.rule
            )
            rows = exported[exported["part"] == part].assign(seed=seed)
            tables.append(_people(rows.join(frame_of_labels, on="row")))
        rows = pd.concat(tables, ignore_index=True)
        measure = question.measure if question.measure in MEASURES else "selection_rate"
        return ModelFacts(label, rows, subgroups.min_size, measure)

    def label_of(self, chip: str | None) -> str | None:
        """Return the label of the model that a control names, by label or by id."""
        by_id = {model.id: label for label, model in self.models.items()}
        return by_id.get(chip or "", chip if chip in self.models else None)

    def named_in(self, text: str) -> set[str]:
        """Return the labels of all models that a text names."""
        named = set()
        rest = text
        for label in sorted(self.models, key=len, reverse=True):
            if label in rest:
                named.add(label)
                rest = rest.replace(label, "")
        return named

    def turned(self, label: str) -> list[str]:
        """Return the subgroups in which a gap surely changed its direction.

        Pages hold the ends of all subgroups and pairs at once, which are means of those
        of each seed: so the errors are of the rows of one seed, and three are asked.
        """
        keys = ["subgroup", "first", "second"]
        before = self.model(PLAIN).signed().set_index(keys)
        after = self.model(label).signed().set_index(keys)
        errors = 3 * math.sqrt(self.model(label).rows["seed"].nunique())
        clear = (before["gap"].abs() > errors * before["error"]) & (
            after["gap"].abs() > errors * after["error"]
        )
        another = np.sign(before["gap"]) != np.sign(after["gap"])
        turned = set(clear[clear & another].reset_index()["subgroup"])
        model = self.model(label)
        for _, part in model.rows.groupby("seed"):  # each seed can tell its gap
            local = model.local(part).set_index("subgroup")["local_di"]
            turned &= set(local.index[local.notna()])
        return sorted(turned)

    def accuracy_change(self, label: str) -> tuple[float, float]:
        """Return by how much accuracy changes against the plain model, and its error.

        Rows are paired: right by one model and wrong by the other.
        """
        plain = self.model(PLAIN).rows
        model = self.model(label).rows
        keys = ["seed", "row"]
        merged = plain.merge(model, on=keys, suffixes=("_plain", ""))
        change = (merged["decision"] == merged["outcome"]).astype(float) - (
            merged["decision_plain"] == merged["outcome"]
        )
        n = len(merged) / merged["seed"].nunique()
        return float(
            np.average(change, weights=merged["weight"])
        ), change.std() / n**0.5


def _people(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each person, numbered anew, where rows are counts."""
    if "people" not in rows:
        return rows
    repeated = rows.loc[rows.index.repeat(rows["people"])]
    return repeated.assign(row=np.arange(len(repeated))).reset_index(drop=True)


def _rarer(share: float) -> float:
    return min(share, 1 - share)


# by measure: the number of a row, and which rows count
_MEASURED: dict[str, Callable[[pd.DataFrame], tuple[Any, Any]]] = {
    "selection_rate": lambda rows: (rows["decision"], rows["decision"] >= 0),
    "true_positive_rate": lambda rows: (rows["decision"], rows["outcome"] == 1),
    "false_positive_rate": lambda rows: (rows["decision"], rows["outcome"] == 0),
    "false_negative_rate": lambda rows: (1 - rows["decision"], rows["outcome"] == 1),
    "precision": lambda rows: (rows["outcome"], rows["decision"] == 1),
    "accuracy": lambda rows: (
        (rows["outcome"] == rows["decision"]).astype(float),
        rows["decision"] >= 0,
    ),
}
MEASURES = frozenset(_MEASURED)
