"""Rows that are searched: their counts by conjunctions of conditions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdash.analysis.subgroups.conditions import Condition, SearchColumn
from fairdash.analysis.subgroups.gaps import Counts, Floats, counted

Mask = NDArray[np.bool_]
Block = tuple[int, ...]  # columns, of which a subgroup has one condition each
Conditions = tuple[Condition, ...]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with the value that is compared and their group.

    The rows of one ``unit`` are permuted together. A row counts as often as it weighs.
    Values are 0 and 1, or numbers between: then ``worth`` is how many rows of 0 and 1
    one counts as at most.
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
        """What each row counts."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def marks(self) -> list[Floats]:
        """What is summed: ones, weights, their squares, and these times numbers."""
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

    def cells(self, block: Block) -> tuple[NDArray[np.int64], tuple[int, ...]]:
        """Return the cell of every row among the bins of columns, and their numbers.

        Each column has a bin more, for rows that are in none.
        """
        widths = tuple(self.columns[j].n_bins + 1 for j in block)
        codes = tuple(self.columns[j].codes for j in block)
        return np.ravel_multi_index(codes, widths), widths

    def conjunctions(self, block: Block, cells: Floats) -> Floats:
        """Return sums over conjunctions, (conjunctions, ...), of those over cells.

        One column after another: its conditions are 0/1 rows over its bins, so that a
        product of matrices adds up the bins of each condition.
        """
        table = cells
        n_conjunctions = 1
        for j in block:
            column = self.columns[j]
            items = np.pad(column.items.astype(cells.dtype), ((0, 0), (0, 1)))
            table = items @ table.reshape(n_conjunctions, column.n_bins + 1, -1)
            n_conjunctions *= len(items)
        return table.reshape(n_conjunctions, *cells.shape[1:])

    def counts(self, block: Block) -> tuple[Floats, Counts]:
        """Return rows of conjunctions, and `counted` ones, (groups, conjunctions)."""
        cell, widths = self.cells(block)
        n_cells = int(np.prod(widths))
        sums = [
            self.conjunctions(block, self._by_cell(cell, mark, n_cells))
            for mark in self.marks
        ]
        counts = counted([part.transpose(1, 2, 0) for part in sums], self.worth)
        n_rows = sums[0][:, 0].sum(1)
        return n_rows, counts

    def counts_of(self, inside: Mask) -> Counts:
        """Return `counted` rows and positive rows of one subgroup, (groups,)."""
        cell = np.where(inside, 0, 1)
        sums = [self._by_cell(cell, mark, 2)[0] for mark in self.marks]
        return counted(sums, self.worth)

    def _by_cell(self, cell: NDArray[np.int64], mark: Floats, size: int) -> Floats:
        """Return sums of a mark over all and over positive rows, (cells, 2, groups)."""
        place = cell * self.n_groups + self.group
        length = size * self.n_groups
        total = np.bincount(place, mark, length)
        positive = np.bincount(place, mark * self.value, length)
        sums = np.array([total, positive], np.float64).reshape(2, size, -1)
        return sums.transpose(1, 0, 2)

    def conditions(self, block: Block, place: int) -> Conditions:
        """Return the conditions of a conjunction of a block, by its index."""
        shape = tuple(len(self.columns[j].conditions) for j in block)
        indices = np.unravel_index(place, shape)
        return tuple(
            self.columns[j].conditions[i] for j, i in zip(block, indices, strict=True)
        )
