r"""Rows of all conjunctions of conditions, counted by group and value.

A *block* is a set of columns; its conjunctions take one condition of each. Rows are
counted once in the cells of the columns' base bins, and the conjunctions, which are
boxes of cells, by products with the small tables of conditions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fairdash.audits.subgroups.conditions import SearchColumn

Float = NDArray[np.floating]
Block = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with the value that is compared, their group and their stratum.

    Attributes
    ----------
    stratum : int array of shape (n_rows,)
        Groups are permuted inside strata, from 0 to ``n_strata - 1``.
    """

    columns: Sequence[SearchColumn]
    value: NDArray[np.int64]
    group: NDArray[np.int64]
    n_groups: int
    stratum: NDArray[np.int64]
    n_strata: int = 1

    def __len__(self) -> int:
        return len(self.value)

    @property
    def kinds(self) -> tuple[int, int, int]:
        """Numbers of strata, groups and values."""
        return self.n_strata, self.n_groups, 2

    @cached_property
    def kind(self) -> NDArray[np.int64]:
        """Stratum, group and value of every row as one code."""
        code: NDArray[np.int64] = np.ravel_multi_index(
            (self.stratum, self.group, self.value), self.kinds
        )
        return code

    @cached_property
    def total(self) -> Float:
        """Rows of every group and value, (groups, 2)."""
        counts = np.bincount(self.kind, minlength=int(np.prod(self.kinds)))
        total: Float = counts.reshape(self.kinds).sum(0).astype(np.float64)
        return total

    def part(self, which: NDArray[np.bool_]) -> "Rows":
        """Return some of the rows, with the same conditions."""
        columns = [
            replace(column, codes=column.codes[which]) for column in self.columns
        ]
        return Rows(
            columns,
            self.value[which],
            self.group[which],
            self.n_groups,
            self.stratum[which],
            self.n_strata,
        )

    def blocks(self, depth: int) -> Iterator[Block]:
        """Yield blocks of one column, then of two, up to ``depth``."""
        for size in range(1, depth + 1):
            yield from combinations(range(len(self.columns)), size)

    def shape(self, block: Block) -> tuple[int, ...]:
        """Return how many conditions each column of a block has."""
        return tuple(len(self.columns[j].conditions) for j in block)

    @cached_property
    def _scaled(self) -> list[NDArray[np.int64]]:
        return [column.codes.astype(np.int64) for column in self.columns]

    def cells(self, block: Block) -> NDArray[np.int64]:
        """Return rows by base cell, (cells, strata, groups, 2); outside all bins none.

        Cells are in row-major order of the columns' bins.
        """
        code = self._prefix(block[:-1])
        width = self.columns[block[-1]].n_bins + 1
        n_kinds = int(np.prod(self.kinds))
        # the last column moves slowest: its codes alone change from block to block
        step = n_kinds * int(np.prod([self.columns[j].n_bins + 1 for j in block[:-1]]))
        code = code + self._scaled[block[-1]] * step
        counts = np.bincount(code, minlength=step * width)
        bins = [self.columns[j].n_bins for j in block]
        table = counts.reshape(width, *(b + 1 for b in bins[:-1]), *self.kinds)
        table = np.moveaxis(table, 0, len(block) - 1)
        inside = table[tuple(slice(b) for b in bins)]
        return inside.reshape(-1, *self.kinds)

    def _prefix(self, block: Block) -> NDArray[np.int64]:
        known = self.__dict__.setdefault("_known", {})
        if block not in known:
            known.clear()
            code = np.zeros(len(self), np.int64)
            for j in block:
                code *= self.columns[j].n_bins + 1
                code += self._scaled[j]
            known[block] = code * int(np.prod(self.kinds)) + self.kind
        code_known: NDArray[np.int64] = known[block]
        return code_known

    def conjunctions(self, block: Block, cells: Float) -> Float:
        """Return sums over conjunctions, (conjunctions, ...), of those over cells."""
        rest = cells.shape[1:]
        bins = [self.columns[j].n_bins for j in block]
        table = cells.reshape(*bins, -1)
        for axis, j in enumerate(block):
            items = self.columns[j].items.astype(cells.dtype)
            # (conditions, bins) @ (earlier, bins, later)
            before = int(np.prod(table.shape[:axis]))
            shape = (*table.shape[:axis], len(items), *table.shape[axis + 1 :])
            table = np.matmul(items, table.reshape(before, bins[axis], -1))
            table = table.reshape(shape)
        return table.reshape(-1, *rest)

    def counts(self, block: Block) -> Float:
        """Return rows of every conjunction by group and value, (groups, 2, ...)."""
        cells = self.cells(block).sum(1).astype(np.float64)
        return np.moveaxis(self.conjunctions(block, cells), 0, -1)
