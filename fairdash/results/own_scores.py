"""Models that exist already: their scores are columns of the data set."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdash.datasets import Dataset, ScoreColumn
from fairdash.metrics import as_probabilities
from fairdash.results.models import Setting
from fairdash.store import TrialRecord

OWN = "own scores"  # instead of a method of the catalog
ALL_ROWS = -1  # instead of the seed of a split: no row was trained on
_KEY = "column "


def own_models(dataset: Dataset) -> list[Setting]:
    """Return the score columns of a data set as models, each audited on all rows."""
    return [
        Setting(OWN, score.words(), (_trial(score, ALL_ROWS),))
        for score in dataset.roles.scores
    ]


def beside_trained(models: Sequence[Setting]) -> list[Setting]:
    """Return models with score columns on the test rows of those that were trained.

    Without any of these they stay on all rows.
    """
    trained = [model for model in models if not is_own(model)]
    seeds = sorted(frozenset[int]().union(*(model.seeds for model in trained)))
    return [
        replace(model, trials=tuple(replace(model.trials[0], seed=s) for s in seeds))
        if is_own(model) and seeds
        else model
        for model in models
    ]


def is_own(model: Setting) -> bool:
    """Tell whether a model is a column of scores."""
    return model.method == OWN


def score_name(model: Setting) -> str:
    """Return what the scores of a model are called: its column, or its label."""
    return str(model.trials[0].params["column"]) if is_own(model) else model.label


def score_of_key(key: str) -> ScoreColumn | None:
    """Return the score column that a trial's key names, None of a trained model."""
    if not key.startswith(_KEY):
        return None
    return ScoreColumn.model_validate_json(key.removeprefix(_KEY))


def own_probabilities(
    score: ScoreColumn, values: NDArray[np.float64], y: NDArray[np.int8]
) -> NDArray[np.float64]:
    """Return scores as probabilities: those of a kind without, by isotonic regression.

    It is of the outcomes on the score over all of these rows, groups together.
    """
    if score.kind == "score":
        return as_probabilities(y, values)
    return (values + 1) / 2 if score.kind == "margin" else values


def _trial(score: ScoreColumn, seed: int) -> TrialRecord:
    params: dict[str, Any] = score.model_dump(mode="json")
    key = _KEY + json.dumps(params)
    return TrialRecord(key, OWN, params, seed, "finished", None, None, None, None)
