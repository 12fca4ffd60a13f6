"""Rows of a stored data set, as the metrics want them, and what was trained on.

Kept by data set, seed and subgroups: these name contents, so what is kept is never
stale; it must not be written to.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._wording import count
from fairdash.datasets import Dataset, Subgroups, split, training_rows
from fairdash.results.own_scores import ALL_ROWS, own_probabilities, score_of_key
from fairdash.store import Store


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of a data set and their groups.

    Attributes
    ----------
    store : Store
    dataset : Dataset
    where : ndarray of int64
        Which rows of the data set.
    y : ndarray of int8
    groups : dict
        The keyword arguments sensitive_features, subgroups and min_size.
    """

    store: Store
    dataset: Dataset
    where: NDArray[np.int64]
    y: NDArray[np.int8]
    groups: dict[str, Any]

    def raw_scores(self, key: str) -> NDArray[np.float64]:
        """Return the scores of a trial on these rows, of a column as it stands."""
        own = score_of_key(key)
        if own is None:
            return self.scores(key).astype(np.float64)
        return own.values(self.dataset.frame.iloc[self.where])

    def ranks(self, key: str) -> NDArray[np.floating[Any]]:
        """Return scores between 0 and 1 in the order of those of a trial."""
        if score_of_key(key) is None:
            return self.scores(key)
        values = self.raw_scores(key)
        ranks: NDArray[np.float64] = values - values.min()
        highest = float(ranks.max())
        return ranks / highest if highest else ranks

    def scores(self, key: str) -> NDArray[np.floating[Any]]:
        """Return the probabilities that a trial gives on these rows."""
        own = score_of_key(key)
        if own is not None:
            return own_probabilities(own, self.raw_scores(key), self.y)
        scores: NDArray[np.float32] = self.store.artifact(key).scores()[self.where]
        return scores

    def predictions(self, key: str) -> NDArray[np.int64]:
        """Return the 0/1 predictions of a trial on these rows."""
        own = score_of_key(key)
        if own is not None:
            return own.decisions(self.raw_scores(key))
        return (self.scores(key) > 0.5).astype(np.int64)


@lru_cache(maxsize=32)
def rows_of(store: Store, dataset_id: str, seed: int, subgroups: Subgroups) -> Rows:
    """Return the test rows of a seed under ``subgroups``; all rows for `ALL_ROWS`."""
    dataset = store.dataset(dataset_id)
    everything = seed == ALL_ROWS
    where = np.arange(dataset.n_rows) if everything else split(dataset, seed).test
    return _rows(store, dataset_id, where, subgroups)


def rows_trained_on(
    store: Store, dataset_id: str, seed: int, key: str, subgroups: Subgroups
) -> Rows:
    """Return the rows a trial was trained on, in the order of its weights."""
    n_rows = store.artifact(key).train_rows()
    return _trained_on(store, dataset_id, seed, n_rows, subgroups)


@lru_cache(maxsize=64)
def part_sizes(store: Store, dataset_id: str) -> tuple[int, int, int]:
    """Return the numbers of training, validation and test rows, of any seed."""
    train, validation, test = split(store.dataset(dataset_id), 0)
    return len(train), len(validation), len(test)


def rows_used(store: Store, dataset_id: str, train_rows: int | None) -> int:
    """Return how many rows a specification with ``train_rows`` trains on."""
    n_train, _, _ = part_sizes(store, dataset_id)
    return n_train if train_rows is None else min(train_rows, n_train)


def trained_on(store: Store, dataset_id: str, train_rows: int | None) -> str:
    """Return how many rows were trained on, and what was done with the others.

    Nothing where all training rows were.
    """
    if train_rows is None:
        return ""
    n_train, _, _ = part_sizes(store, dataset_id)
    rows = f"{count(train_rows)} of {count(n_train)} training rows"
    return f"Trained on {rows}, stratified by outcome and group; evaluated on all."


@lru_cache(maxsize=32)
def _trained_on(
    store: Store, dataset_id: str, seed: int, n_rows: int | None, subgroups: Subgroups
) -> Rows:
    where = training_rows(store.dataset(dataset_id), seed, n_rows)
    return _rows(store, dataset_id, where, subgroups)


def _rows(
    store: Store, dataset_id: str, where: NDArray[np.int64], subgroups: Subgroups
) -> Rows:
    dataset = store.dataset(dataset_id)
    groups = {
        "sensitive_features": dataset.sensitive_features[where],
        "subgroups": _labels(store, dataset_id, subgroups).iloc[where],
        "min_size": subgroups.min_size,
    }
    return Rows(store, dataset, where, dataset.y[where], groups)


def _labels(store: Store, dataset_id: str, subgroups: Subgroups) -> "pd.Series[Any]":
    """Return the subgroup of every row, whatever the smallest size."""
    any_size = subgroups.model_copy(update={"min_size": 1})
    return _labels_of_any_size(store, dataset_id, any_size)


@lru_cache(maxsize=32)
def _labels_of_any_size(
    store: Store, dataset_id: str, subgroups: Subgroups
) -> "pd.Series[Any]":
    return subgroups.label(store.dataset(dataset_id).frame)
