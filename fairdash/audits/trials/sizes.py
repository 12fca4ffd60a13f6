"""How many rows the models of a run are trained and tested on."""

from functools import lru_cache

from fairdash._wording import count
from fairdash.datasets import split
from fairdash.store import Store


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
