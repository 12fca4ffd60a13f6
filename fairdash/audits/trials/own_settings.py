"""Scores of the user's own as models, and on which rows they stand beside others."""

from collections.abc import Sequence
from dataclasses import replace

from fairdash.audits.trials.models import Setting
from fairdash.datasets import AddedScores, ScoreColumn
from fairdash.scored import OWN, ScoredModel, source_of
from fairdash.store import Store

OWN_NOTE = "Own scores: on the same rows, which their model may have been trained on."


def own_models(store: Store, dataset_id: str) -> list[Setting]:
    """Return the scores of a data set as models, each audited on all rows.

    Those of its table come first, then those added later. Each is a method of its own,
    "own scores", "own scores 2" and so on, so that it has its own colour.
    """
    models = []
    for number, score in enumerate(own_scores(store, dataset_id), 1):
        method = OWN if number == 1 else f"{OWN} {number}"
        model = ScoredModel(source_of(score))
        models.append(Setting(method, score.words(), (model,)))
    return models


def own_scores(store: Store, dataset_id: str) -> list[ScoreColumn]:
    """Return the score columns of a data set's table, then the scores added later."""
    added = (added_scores.score for added_scores in store.own_scores(dataset_id))
    return [*store.dataset_record(dataset_id).roles.scores, *added]


def own_beside(
    store: Store, models: Sequence[Setting], dataset_id: str
) -> list[Setting]:
    """Return the own scores of a data set on the test rows of trained models."""
    on_splits = beside_trained([*models, *own_models(store, dataset_id)])
    return [model for model in on_splits if model.is_own]


def beside_trained(models: Sequence[Setting]) -> list[Setting]:
    """Return models with own scores on the test rows of those that were trained.

    Without any of these they stay on all rows.
    """
    trained = [model for model in models if not model.is_own]
    seeds = sorted(frozenset[int]().union(*(model.seeds for model in trained)))
    return [
        _on_splits(model, seeds) if model.is_own and seeds else model
        for model in models
    ]


def callable_models(
    store: Store, dataset_id: str, trained: Sequence[Setting]
) -> list[Setting]:
    """Return the scores of a data set whose model can be asked about changed rows.

    They are on the seeds that all ``trained`` models have, else on that of seed 0.
    """
    seeds = [0]
    if trained:
        common = frozenset.intersection(*(model.seeds for model in trained))
        seeds = sorted(common) or seeds
    return [
        _on_splits(model, seeds)
        for model in own_models(store, dataset_id)
        if isinstance(model.score, AddedScores) and model.score.has_model
    ]


def _on_splits(model: Setting, seeds: Sequence[int]) -> Setting:
    first = model.trials[0]
    return replace(model, trials=tuple(first.on_split(seed) for seed in seeds))
