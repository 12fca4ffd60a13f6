"""Rows that are searched: their counts by conjunctions of conditions."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import BoolArray
from fairdash.analysis.subgroups.conditions import Condition, SearchColumn
from fairdash.analysis.subgroups.gaps import Counts, Floats, counted

# Indices of columns, of which a subgroup has one condition each.
Block = tuple[int, ...]
Conditions = tuple[Condition, ...]


@dataclass(frozen=True, eq=False)
class SearchRows:
    """Rows with the value that is compared and their group.

    Attributes
    ----------
    columns : sequence of SearchColumn
    value : ndarray of shape (n_rows,)
        0 and 1, or numbers between.
    group : ndarray of shape (n_rows,)
    n_groups : int
    unit : ndarray of shape (n_rows,), optional
        The rows of one unit are permuted together.
    weight : ndarray of shape (n_rows,), optional
        A row counts as often as it weighs.
    worth : float, optional
        How many rows of 0 and 1 one counts as at most, where values are numbers.
    """

    columns: Sequence[SearchColumn]
    value: NDArray[Any]
    group: NDArray[np.int64]
    n_groups: int
    unit: NDArray[np.int64] | None = None
    weight: Floats | None = None
    worth: float | None = None

    @property
    def mass(self) -> Floats:
        """The count of each row."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def marks(self) -> list[Floats]:
        """The summands: ones, weights, their squares, and these times numbers."""
        marks: list[Floats] = [np.ones(len(self))]
        if self.weight is not None or self.worth is not None:
            marks.append(self.mass)
            marks.append(self.mass**2)
        if self.worth is not None:
            marks.append(self.mass**2 * self.value)
        return marks

    def __len__(self) -> int:
        return len(self.value)

    def blocks(self, depth: int) -> Iterator[Block]:
        """Yield all sets of up to ``depth`` columns."""
        n_columns = len(self.columns)
        for size in range(1, min(depth, n_columns) + 1):
            yield from combinations(range(n_columns), size)

    def cells(self, block: Block) -> tuple[NDArray[np.int64], int]:
        """Return the cell of every row among the bins of columns, and their number.

        Each column has a bin more, for rows that are in none.
        """
        columns = [self.columns[index] for index in block]
        widths = tuple(column.n_bins + 1 for column in columns)
        codes = tuple(column.codes for column in columns)
        return np.ravel_multi_index(codes, widths), math.prod(widths)

    def conjunctions(self, block: Block, cells: Floats) -> Floats:
        """Return sums over conjunctions, (conjunctions, ...), of those over cells.

        One column after another: its conditions are 0/1 rows over its bins, so that a
        product of matrices adds up the bins of each condition.
        """
        table = cells
        n_conjunctions = 1
        for index in block:
            column = self.columns[index]
            items = np.pad(column.items.astype(cells.dtype), ((0, 0), (0, 1)))
            table = items @ table.reshape(n_conjunctions, column.n_bins + 1, -1)
            n_conjunctions *= len(items)
        return table.reshape(n_conjunctions, *cells.shape[1:])

    def counts(self, block: Block) -> tuple[Floats, Counts]:
        """Return rows of conjunctions, and `counted` ones, (groups, conjunctions)."""
        cell, n_cells = self.cells(block)
        sums: list[Floats] = []
        for mark in self.marks:
            by_cell = self._by_cell(cell, mark, n_cells)
            by_conjunction = self.conjunctions(block, by_cell)
            sums.append(by_conjunction.transpose(1, 2, 0))
        n_rows_by_group, _ = sums[0]
        return n_rows_by_group.sum(axis=0), counted(sums, self.worth)

    def counts_of(self, inside: BoolArray) -> Counts:
        """Return `counted` rows and positive rows of one subgroup, (groups,)."""
        cell = np.where(inside, 0, 1)
        sums = [self._by_cell(cell, mark, 2)[0] for mark in self.marks]
        return counted(sums, self.worth)

    def _by_cell(self, cell: NDArray[np.int64], mark: Floats, size: int) -> Floats:
        """Return sums of a mark over all and over positive rows, (cells, 2, groups)."""
        cell_of_group = cell * self.n_groups + self.group
        length = size * self.n_groups
        total = np.bincount(cell_of_group, mark, length)
        positive = np.bincount(cell_of_group, mark * self.value, length)
        sums = np.array([total, positive], np.float64).reshape(2, size, -1)
        return sums.transpose(1, 0, 2)

    def conditions(self, block: Block, index: int) -> Conditions:
        """Return the conditions of a conjunction of a block, by its index."""
        by_column = [self.columns[column].conditions for column in block]
        shape = tuple(len(conditions) for conditions in by_column)
        indices = np.unravel_index(index, shape)
        return tuple(
            conditions[i] for conditions, i in zip(by_column, indices, strict=True)
        )
