"""Training, validation and test rows, the same for every method."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash.datasets._dataset import Dataset

FRACTIONS = (0.6, 0.2, 0.2)  # of training, validation and test rows


class Split(NamedTuple):
    """Sorted row indices; together every row once."""

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def split(
    dataset: Dataset,
    seed: int = 0,
    *,
    fractions: tuple[float, float, float] = FRACTIONS,
) -> Split:
    """Split rows at random, each outcome and group in the same proportions.

    The rows are shuffled within each cell (outcome x group) and dealt like cards, cell
    after cell, in the fixed sequence whose every stretch comes closest to
    ``fractions``. So a cell of five rows or more gives rows to all three parts, a
    smaller one to as many as it can, and the totals are exact to one row.

    Parameters
    ----------
    dataset : Dataset
    seed : int, default=0
    fractions : tuple of float
        Shares of training, validation and test rows; above 0, adding up to 1.

    Returns
    -------
    Split
        The same for the same data, seed and fractions, whatever the method.
    """
    if len(fractions) != 3 or min(fractions) <= 0 or abs(sum(fractions) - 1) > 1e-9:
        message = (
            f"`fractions` must be three numbers > 0 that add up to 1, got {fractions}."
        )
        raise ValueError(message)
    shuffled = np.random.default_rng(seed).permutation(dataset.n_rows)
    cell = dataset.group * 2 + dataset.y
    dealt = shuffled[np.argsort(cell[shuffled], kind="stable")]
    part = _sequence(dataset.n_rows, fractions)
    return Split(*(np.sort(dealt[part == i]) for i in range(3)))


def training_rows(
    dataset: Dataset, seed: int = 0, n_rows: int | None = None
) -> NDArray[np.int64]:
    """Return the rows a model is trained on: those of `split`, or a `subsample`.

    Parameters
    ----------
    dataset : Dataset
    seed : int, default=0
        Of the split, and of the subsample within it.
    n_rows : int, optional
        Most rows; by default, and where there are no more, all training rows.
    """
    train = split(dataset, seed).train
    if n_rows is None or n_rows >= len(train):
        return train
    return subsample(dataset, train, n_rows, seed)


def subsample(
    dataset: Dataset, rows: NDArray[np.int64], n_rows: int, seed: int = 0
) -> NDArray[np.int64]:
    """Draw some of the rows at random, stratified by outcome and group.

    A cell (outcome x group) of m rows gets ``m * n_rows / len(rows)`` of them, rounded
    up or down. A cell that would get none gets one, which the largest cells give.

    Parameters
    ----------
    dataset : Dataset
    rows : ndarray of int64
        Indices to draw from.
    n_rows : int
        How many to draw.
    seed : int, default=0

    Returns
    -------
    ndarray of int64 of shape (n_rows,)
        Sorted; the same for the same arguments.

    Raises
    ------
    ValueError
        When ``n_rows`` is larger than ``rows`` or smaller than the number of cells.
    """
    cell = dataset.group[rows] * 2 + dataset.y[rows]
    sizes = np.bincount(cell)
    n_cells = np.count_nonzero(sizes)
    if not n_cells <= n_rows <= len(rows):
        raise ValueError(
            f"`n_rows` must be {n_cells} (one row of each outcome in each group) to "
            f"{len(rows)}, got {n_rows}."
        )
    ends = np.cumsum(sizes) * n_rows / len(rows)
    counts = np.diff(np.floor(ends + 0.5).astype(np.int64), prepend=0)
    counts = np.maximum(counts, sizes > 0)
    for _ in range(counts.sum() - n_rows):
        counts[counts.argmax()] -= 1
    shuffled = np.random.default_rng(seed).permutation(len(rows))
    dealt = shuffled[np.argsort(cell[shuffled], kind="stable")]
    place = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(rows[dealt[place < np.repeat(counts, sizes)]])


@lru_cache(maxsize=4)
def _sequence(n: int, fractions: tuple[float, ...]) -> NDArray[np.int8]:
    """Return n part numbers, spread evenly in proportion to ``fractions``."""
    turns = [(np.arange(n) + 0.5) / fraction for fraction in fractions]
    order = np.argsort(np.round(np.concatenate(turns), 6), kind="stable")[:n]
    return (order // n).astype(np.int8)
