"""A data set dealt into training, validation and test rows, and samples of it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fairdash.datasets._dataset import Dataset

# Shares of training, validation and test rows.
FRACTIONS = (0.6, 0.2, 0.2)
# Index of the test rows among the parts.
_TEST = 2


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

    The rows are shuffled within each cell (outcome x group) and dealt like cards, in
    the fixed sequence whose every stretch comes closest to ``fractions``: the shares of
    training, validation and test rows, which add up to 1. So a cell of five rows or
    more gives rows to all three parts, and the totals are exact to one row. With
    ``roles.unit`` whole units are dealt, and rows of one unit are in one part. A
    table of counts is dealt by lots: each is a random sample of the people. With
    ``roles.test_rows`` of "shared" every seed has the test rows of seed 0, and deals
    the others anew.
    """
    # Of a NaN neither comparison holds.
    adds_up = abs(sum(fractions) - 1) <= 1e-9
    if len(fractions) != 3 or min(fractions) <= 0 or not adds_up:
        raise ValueError(
            f"`fractions` must be three numbers > 0 that add up to 1, got {fractions}."
        )
    units = _units(dataset)
    part = _deal(units.cell, units.size, fractions, seed)
    if seed and dataset.roles.test_rows == "shared":
        # The test rows of seed 0; the others are dealt anew.
        is_test = _deal(units.cell, units.size, fractions, 0) == _TEST
        rest = np.array(fractions[:_TEST]) / sum(fractions[:_TEST])
        part = np.full(len(units.cell), _TEST, dtype=np.int8)
        part[~is_test] = _deal(
            units.cell[~is_test], units.size[~is_test], tuple(rest), seed
        )
    if units.of_row is not None:
        part = part[units.of_row]
    train, validation, test = (np.flatnonzero(part == index) for index in range(3))
    return Split(train, validation, test)


def _deal(
    cell: NDArray[np.int64],
    size: NDArray[np.int64],
    fractions: tuple[float, ...],
    seed: int,
) -> NDArray[np.int8]:
    """Return the part of each unit, dealt at random cell by cell."""
    shuffled = np.random.default_rng(seed).permutation(len(cell))
    dealt = shuffled[np.lexsort((size[shuffled], cell[shuffled]))]
    part = np.empty(len(cell), dtype=np.int8)
    part[dealt] = _sequence(len(cell), fractions)
    return part


class _Units(NamedTuple):
    """What is dealt: rows, units of rows, or lots of people.

    Attributes
    ----------
    cell : ndarray of int64
        Outcome and group of each; of units with a positive row, positive.
    size : ndarray of int64
        Rows of each.
    of_row : ndarray of int64, optional
        Unit of each row; None where each row is one.
    """

    cell: NDArray[np.int64]
    size: NDArray[np.int64]
    of_row: NDArray[np.int64] | None


def _units(dataset: Dataset) -> _Units:
    """Return what a split of a data set deals."""
    unit = dataset.dealt
    if unit is None:
        cell = dataset.group * 2 + dataset.y
        return _Units(cell, np.ones(len(cell), dtype=np.int64), None)
    if dataset.lot is not None:
        # Each lot holds everybody alike: all are of one cell and of one size.
        _, unit = np.unique(unit, return_inverse=True)
        n_rows = np.bincount(unit)
        return _Units(np.zeros(len(n_rows), dtype=np.int64), np.ones_like(n_rows), unit)
    _, first = np.unique(unit, return_index=True)
    is_positive = np.bincount(unit, weights=dataset.y) > 0
    cell = dataset.group[first] * 2 + is_positive
    return _Units(cell, np.bincount(unit), unit)


def training_rows(
    dataset: Dataset, seed: int = 0, n_rows: int | None = None
) -> NDArray[np.int64]:
    """Return the rows a model is trained on: those of `split`, or a `subsample`.

    By default, and where there are no more than ``n_rows``, these are all training
    rows.
    """
    train = split(dataset, seed).train
    if n_rows is None or n_rows >= len(train):
        return train
    return subsample(dataset, train, n_rows, seed)


def subsample(
    dataset: Dataset, rows: NDArray[np.int64], n_rows: int, seed: int = 0
) -> NDArray[np.int64]:
    """Draw some of the rows at random, stratified by outcome and group.

    A cell (outcome x group) of m rows gets ``m * n_rows / len(rows)`` of them, rounded,
    and at least one. The result is sorted. Raises ValueError when ``n_rows`` is larger
    than ``rows`` or smaller than the number of cells.
    """
    cell = dataset.group[rows] * 2 + dataset.y[rows]
    n_cells = len(np.unique(cell))
    if not n_cells <= n_rows <= len(rows):
        raise ValueError(
            f"`n_rows` must be {n_cells} (one row of each outcome in each group) to "
            f"{len(rows)}, got {n_rows}."
        )
    return rows[draw_in_cells(cell, n_rows, seed)]


def draw_in_cells(
    cell: NDArray[np.int64], n_rows: int, seed: int = 0
) -> NDArray[np.int64]:
    """Return sorted positions of ``n_rows`` rows, each cell in proportion.

    A cell that would get none gets one, which the largest cells give; there must be as
    many rows as cells.
    """
    sizes = np.bincount(cell)
    ends = np.cumsum(sizes) * n_rows / len(cell)
    counts = np.diff(np.floor(ends + 0.5).astype(np.int64), prepend=0)
    counts = np.maximum(counts, sizes > 0)
    for _ in range(counts.sum() - n_rows):
        counts[counts.argmax()] -= 1
    shuffled = np.random.default_rng(seed).permutation(len(cell))
    dealt = shuffled[np.argsort(cell[shuffled], kind="stable")]
    first_of_cell = np.cumsum(sizes) - sizes
    rank_in_cell = np.arange(len(cell)) - np.repeat(first_of_cell, sizes)
    return np.sort(dealt[rank_in_cell < np.repeat(counts, sizes)])


@lru_cache(maxsize=4)
def _sequence(n: int, fractions: tuple[float, ...]) -> NDArray[np.int8]:
    """Return the part that each of ``n`` units goes to, in the order of dealing."""
    # A part of share f takes its k-th unit at time (k + 1/2) / f.
    turns = [(np.arange(n) + 0.5) / fraction for fraction in fractions]
    order = np.argsort(np.round(np.concatenate(turns), 6), kind="stable")[:n]
    return (order // n).astype(np.int8)
