r"""Rows of all conjunctions of conditions, counted by group and value.

A *block* is a set of columns; its conjunctions take one condition of each. Rows are
counted in the cells of the columns' base bins, for as many columns at once as leave far
fewer cells than rows; a block's own cells are sums of these, and its conjunctions,
which are boxes of cells, products with the small tables of conditions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdash.audits.subgroups.conditions import SearchColumn

Float = NDArray[np.floating]
Block = tuple[int, ...]
_ROWS_A_CELL = 5  # at least, where columns are counted together


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

    @cached_property
    def kind(self) -> NDArray[np.int64]:
        """Group and value of every row as one code."""
        return self.group * 2 + self.value

    @cached_property
    def total(self) -> Float:
        """Rows of every group and value, (groups, 2)."""
        counts = np.bincount(self.kind, minlength=2 * self.n_groups)
        total: Float = counts.reshape(-1, 2).astype(np.float64)
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

    def shape(self, block: Block) -> tuple[int, ...]:
        """Return how many conditions each column of a block has."""
        return tuple(len(self.columns[j].conditions) for j in block)

    @cached_property
    def _widths(self) -> list[int]:
        return [column.n_bins + 1 for column in self.columns]

    def covers(self, depth: int) -> dict[Block, list[Block]]:
        """Return sets of columns to count together, and the blocks counted in each.

        A set starts as a block that no earlier one holds, and takes in the column that
        adds most blocks, as long as its cells are few beside the rows.
        """
        depth = min(depth, len(self.columns))
        every = range(len(self.columns))
        found: dict[Block, list[Block]] = {}
        done: set[Block] = set()
        for block in combinations(every, depth):
            if block in done:
                continue
            held = block
            while True:
                cells = 2 * self.n_groups * np.prod([self._widths[j] for j in held])
                few = len(self) / _ROWS_A_CELL / cells
                adds = {
                    j: sum(
                        tuple(sorted((*part, j))) not in done
                        for part in combinations(held, depth - 1)
                    )
                    for j in every
                    if j not in held and self._widths[j] <= few
                }
                if not any(adds.values()):
                    break
                held = tuple(sorted((*held, max(adds, key=adds.__getitem__))))
            found[held] = [
                part
                for size in range(1, depth + 1)
                for part in combinations(held, size)
                if part not in done
            ]
            done.update(found[held])
        return found

    def coded(
        self, columns: Block, kind: NDArray[np.int64], n: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return bins and one of ``n`` kinds of every row as a code, and rows by it."""
        code = np.zeros(len(self), np.int64)
        for j in columns:
            code *= self._widths[j]
            code += self.columns[j].codes
        code *= n
        code += kind
        n_codes = n * int(np.prod([self._widths[j] for j in columns]))
        return code, np.bincount(code, minlength=n_codes)

    def cells(self, block: Block, table: NDArray[Any], columns: Block) -> NDArray[Any]:
        """Return the cells of a block, (cells, ...), of a table by codes of `coded`.

        Cells are in row-major order of the columns' bins; outside all bins is none.
        """
        table = table.reshape(*[self._widths[j] for j in columns], -1, *table.shape[1:])
        own = [j in block for j in columns]
        table = table[tuple(slice(-1 if o else None) for o in own)]
        table = table.sum(tuple(i for i, o in enumerate(own) if not o), table.dtype)
        rest = table.shape[len(block) :]
        return np.ascontiguousarray(table).reshape(-1, *rest)

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

    def boxes(self, block: Block, places: NDArray[np.int64]) -> Float:
        """Return which cells some conjunctions are, (conjunctions, cells)."""
        at = np.unravel_index(places, self.shape(block))
        boxes = np.ones((len(places), 1), np.float32)
        for j, which in zip(block, at, strict=True):
            held = self.columns[j].items[which]
            boxes = (boxes[:, :, None] * held[:, None, :]).reshape(len(places), -1)
        return boxes

    def counts(self, block: Block, columns: Block) -> Float:
        """Return rows of every conjunction by group and value, (groups, 2, ...).

        ``columns`` are those of `covers`, whose tables are kept.
        """
        known = self.__dict__.setdefault("_tables", {})
        if columns not in known:
            _, known[columns] = self.coded(columns, self.kind, 2 * self.n_groups)
        cells = self.cells(block, known[columns], columns).astype(np.float64)
        return self.conjunctions(block, cells).T.reshape(self.n_groups, 2, -1)
