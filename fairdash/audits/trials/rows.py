"""Rows of a stored data set, as the metrics want them, and what models say of them.

Rows are kept by data set, seed and subgroups: these name contents, so what is kept is
never stale; it must not be written to.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._counts import people_of
from fairdash._wording import some_percent
from fairdash.audits.trials.models import Setting
from fairdash.datasets import (
    Dataset,
    ScoreColumn,
    Subgroups,
    draws,
    split,
    training_rows,
)
from fairdash.methods import CATALOG
from fairdash.metrics import Drawn, as_probabilities, catalog, local_di
from fairdash.scored import ScoredModel
from fairdash.store import Store
from fairdash.sweep import Part

Decisions = NDArray[np.int64] | Drawn


def decisions(store: Store, dataset_id: str, model: ScoredModel) -> Decisions:
    """Return the decisions of a model on all rows of a data set."""
    return rows_of(store, dataset_id, None, Subgroups()).decisions(model)


def own_probabilities(
    score: ScoreColumn,
    values: NDArray[np.float64],
    y: NDArray[np.int8],
    sample_weight: NDArray[np.float64] | None = None,
    cluster: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return scores as probabilities: those of a kind without, by isotonic regression.

    It is of the outcomes on the score over all of these rows, groups together, in ten
    folds.
    """
    if score.kind == "score":
        return as_probabilities(y, values, sample_weight, cluster=cluster)
    return (values + 1) / 2 if score.kind == "margin" else values


@dataclass(frozen=True, eq=False)
class TrialRows:
    """Some rows of a data set and their groups.

    ``groups`` are the keyword arguments sensitive_features, subgroups and min_size.
    """

    store: Store
    dataset: Dataset
    where: NDArray[np.int64]
    y: NDArray[np.int8]
    groups: dict[str, Any]

    @property
    def sample_weight(self) -> NDArray[np.float64] | None:
        """The sampling weights of these rows, None without."""
        return self.dataset.weight_of(self.where)

    @property
    def people(self) -> NDArray[np.float64] | None:
        """How many people each of these rows stands for, None where each is one."""
        return people_of(self.sample_weight)

    @property
    def sampling(self) -> dict[str, Any]:
        """How rows were drawn, as `fairdash.metrics` takes it: weights and units."""
        return self.dataset.sampling_of(self.where)

    def local_di(self, predicted: Decisions) -> pd.DataFrame:
        """Return `fairdash.metrics.local_di` of decisions, with weights and units."""
        return local_di(predicted, **self.groups, **self.sampling)

    def raw_scores(self, model: ScoredModel) -> NDArray[np.float64]:
        """Return the scores of a model on these rows, of a column as it stands."""
        if model.score is None:
            return self.scores(model).astype(np.float64)
        return self.store.score_values(self.dataset, model.score)[self.where]

    def numbers(
        self, model: ScoredModel, measure: str
    ) -> tuple[Any, NDArray[np.float64]]:
        """Return outcomes and predictions as a measure of numbers or ranks takes them.

        Raises ValueError for an error of what is no predicted number.
        """
        predicted = self.raw_scores(model)
        if not catalog.measure_of(measure).needs_outcome:
            return None, predicted
        outcomes = self.dataset.outcome_numbers
        predicts_numbers = model.score is not None and model.score.kind == "score"
        if not predicts_numbers or outcomes is None:
            raise ValueError(
                f"{catalog.MEASURE_NAMES[measure]} needs predicted numbers and an "
                "outcome of numbers. Compare only columns that predict numbers, or "
                "choose another measure."
            )
        return outcomes[self.where], predicted

    def ranks(self, model: ScoredModel) -> NDArray[np.floating[Any]]:
        """Return scores between 0 and 1 in the order of those of a model."""
        if not model.is_own:
            return self.scores(model)
        values = self.raw_scores(model)
        ranks: NDArray[np.float64] = values - values.min()
        highest = float(ranks.max())
        return ranks / highest if highest else ranks

    def scores(self, model: ScoredModel) -> NDArray[np.floating[Any]]:
        """Return the probabilities that a model gives on these rows."""
        if model.score is not None:
            values = self.raw_scores(model)
            return own_probabilities(model.score, values, self.y, **self.sampling)
        stored: NDArray[np.float32] = self.store.artifact(model.source.key).scores()
        return stored[self.where]

    def decisions(self, model: ScoredModel) -> Decisions:
        """Return the decisions of a model on these rows as `fairdash.metrics` has them.

        Those of a random mixture are `Drawn`, unless a rule other than the usual cuts
        its chances.
        """
        if not self._draws(model):
            return self.predictions(model)
        return Drawn(self.scores(model).astype(np.float64), self.content)

    def predictions(self, model: ScoredModel) -> NDArray[np.int64]:
        """Return the 0/1 predictions of a model on these rows, by its rule.

        Those of a random mixture are drawn, as the exported model draws them with
        seed 0.
        """
        if self._draws(model):
            return draws.drawn(self.scores(model), self.content).astype(np.int64)
        if not model.rule.usual:
            return (self.raw_scores(model) > self.threshold(model)).astype(np.int64)
        if model.score is not None:
            return model.score.decisions(self.raw_scores(model))
        return (self.scores(model) > 0.5).astype(np.int64)

    @property
    def content(self) -> NDArray[np.uint64]:
        """A number for what each row holds: rows of the same have the same draw."""
        return self.dataset.content[self.where]

    def _draws(self, model: ScoredModel) -> bool:
        decides_by_chance = model.rule.usual and not model.is_own
        return decides_by_chance and _is_mixture(self.store, model.source.key)

    def threshold(self, model: ScoredModel) -> float:
        """Return the threshold of scores by the rule of a model.

        A rule is learned on the validation rows of the model's split; of scores that
        came without a split, on all rows.
        """
        if model.rule.usual:
            return 0.5
        if model not in self._thresholds:
            self._thresholds[model] = self._learned(model)
        return self._thresholds[model]

    @cached_property
    def _thresholds(self) -> dict[ScoredModel, float]:
        return {}

    def _learned(self, model: ScoredModel) -> float:
        dataset = self.dataset
        train = validation = np.arange(dataset.n_rows)
        if model.split is not None:
            train, validation, _ = split(dataset, model.split)
        scores: NDArray[np.floating[Any]]
        if model.score is None:
            scores = self.store.artifact(model.source.key).scores()
        else:
            scores = self.store.score_values(dataset, model.score)
        base_rate = np.average(dataset.y[train], weights=dataset.weight_of(train))
        return model.rule.threshold(
            scores[validation],
            dataset.y[validation],
            base_rate=float(base_rate),
            sample_weight=dataset.weight_of(validation),
        )


@lru_cache(maxsize=5000)
def _is_mixture(store: Store, key: str) -> bool:
    method = CATALOG.get(store.artifact(key).row()["method"])
    return method is not None and method.mixture


class Tested(NamedTuple):
    """A model on the test rows of its split, or on all rows."""

    model: ScoredModel
    store: Store
    dataset_id: str
    subgroups: Subgroups

    @property
    def rows(self) -> TrialRows:
        """The rows, as of `rows_of`."""
        return rows_of(self.store, self.dataset_id, self.model.split, self.subgroups)


def tested(
    store: Store, setting: Setting, dataset_id: str, subgroups: Subgroups
) -> list[Tested]:
    """Return the trials of a setting where they are tested, by seed."""
    return [Tested(trial, store, dataset_id, subgroups) for trial in setting.trials]


def alike_advice(store: Store, model: Setting, dataset_id: str) -> str:
    """Say that a model decides nearly alike for all over its seeds, else nothing.

    It does where the rarer decision is less than half as frequent as the rarer outcome.
    """
    seeds = tested(store, model, dataset_id, Subgroups())
    shares = [_accepted_and_outcomes(seed.rows, seed.model) for seed in seeds]
    accepted, base_rate = np.mean(shares, axis=0)
    if min(accepted, 1 - accepted) >= min(base_rate, 1 - base_rate) / 2:
        return ""
    noun = store.dataset(dataset_id).roles.noun.several
    return (
        f"{model.label} predicts the outcome for {some_percent(accepted)} of {noun}; "
        f"{some_percent(base_rate)} have it. Choose another decision rule."
    )


def _accepted_and_outcomes(rows: TrialRows, model: ScoredModel) -> tuple[float, float]:
    decided = rows.decisions(model)
    chance = decided.chance if isinstance(decided, Drawn) else decided
    weight = rows.sample_weight
    return (
        float(np.average(chance, weights=weight)),
        float(np.average(rows.y, weights=weight)),
    )


@lru_cache(maxsize=32)
def rows_of(
    store: Store,
    dataset_id: str,
    seed: int | None,
    subgroups: Subgroups,
    part: Literal["test", "validation"] = "test",
) -> TrialRows:
    """Return the rows of a part of a split under ``subgroups``; all rows of no seed."""
    dataset = store.dataset(dataset_id)
    if seed is None:
        row_numbers = np.arange(dataset.n_rows)
    else:
        row_numbers = getattr(split(dataset, seed), part)
    return _rows(store, dataset_id, row_numbers, subgroups)


def decided_part(rows: TrialRows) -> Part:
    """Return rows, and their estimable subgroups, as a certified choice takes them."""
    labels = np.asarray(rows.groups["subgroups"])
    local = rows.local_di(np.zeros(len(rows.where), np.int64))
    names = local.loc[local["estimable"], "subgroup"]
    within = {str(name): labels == name for name in names}
    group = rows.dataset.group[rows.where].astype(np.int64)
    return Part(rows.y, group, within, rows.sample_weight, rows.sampling["cluster"])


def rows_trained_on(
    store: Store, dataset_id: str, model: ScoredModel, subgroups: Subgroups
) -> TrialRows:
    """Return the rows a model was trained on, in the order of its weights."""
    n_rows = store.artifact(model.source.key).train_rows()
    return rows_to_train_on(store, dataset_id, model.seed, n_rows, subgroups)


@lru_cache(maxsize=8)
def rows_to_train_on(
    store: Store, dataset_id: str, seed: int, n_rows: int | None, subgroups: Subgroups
) -> TrialRows:
    """Return the rows that trials of a seed train on, at most ``n_rows`` of them."""
    row_numbers = training_rows(store.dataset(dataset_id), seed, n_rows)
    return _rows(store, dataset_id, row_numbers, subgroups)


def _rows(
    store: Store, dataset_id: str, where: NDArray[np.int64], subgroups: Subgroups
) -> TrialRows:
    dataset = store.dataset(dataset_id)
    any_size = subgroups.model_copy(update={"min_size": 1})
    groups = {
        "sensitive_features": dataset.sensitive_features[where],
        "subgroups": _labels(store, dataset_id, any_size).iloc[where],
        "min_size": subgroups.min_size,
    }
    return TrialRows(store, dataset, where, dataset.y[where], groups)


@lru_cache(maxsize=32)
def _labels(store: Store, dataset_id: str, subgroups: Subgroups) -> "pd.Series[Any]":
    return store.dataset(dataset_id).label_subgroups(subgroups)
