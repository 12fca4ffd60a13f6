"""Training, validation and test rows, the same for every method."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash.datasets._dataset import Dataset


class Split(NamedTuple):
    """Sorted row indices; together every row once."""

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def split(
    dataset: Dataset,
    seed: int = 0,
    *,
    fractions: tuple[float, float, float] = (0.6, 0.2, 0.2),
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


def _sequence(n: int, fractions: tuple[float, ...]) -> NDArray[np.int64]:
    """Return n part numbers, spread evenly in proportion to ``fractions``."""
    turns = [(np.arange(n) + 0.5) / fraction for fraction in fractions]
    order = np.argsort(np.round(np.concatenate(turns), 6), kind="stable")[:n]
    return order // n
