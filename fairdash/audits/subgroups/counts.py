r"""Conditions on columns, and rows of all their conjunctions, by group and value.

Conditions are intervals of numbers, levels and small unions of them. A *block* is a set
of columns; its conjunctions take one condition of each. Rows are counted in the cells
of the columns' base bins, for as many columns at once as leave far fewer cells than
rows; a block's own cells are sums of these, and its conjunctions, which are boxes of
cells, products with the small tables of conditions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._wording import NO_SUBGROUPS, listing
from fairdash.datasets import Subgroups, is_number, is_whole, label_codes, quantile_cuts

MOST_LEVELS = 8  # of a column; rarer ones are in no condition of their own
_PAIRED = 6  # levels up to which two of them make a condition
_BY_VALUE = 4  # different numbers up to which a column is not cut
Float = NDArray[np.floating]
Block = tuple[int, ...]
_ROWS_A_CELL = 5  # at least, where columns are counted together


class Condition(NamedTuple):
    """Some values of one column.

    Any of ``levels``, or, without any, an interval that holds its lower end and not its
    upper; None is open.
    """

    column: str
    levels: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    whole: bool = False

    def __str__(self) -> str:
        """Return words such as "age 25–34", "age under 25" or "site Port or Quay"."""
        if self.levels:
            return f"{self.column} {' or '.join(self.levels)}"
        if self.low is None:
            return f"{self.column} under {_number(self.high)}"
        if self.high is None:
            return f"{self.column} {_number(self.low)} or more"
        last = self.high - 1 if self.whole else self.high
        if last == self.low:
            return f"{self.column} {_number(last)}"
        dash = "–" if self.low >= 0 else " to "
        return f"{self.column} {_number(self.low)}{dash}{_number(last)}"

    def holds(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Return which rows of a table it holds for; not where the value is missing."""
        column = frame[self.column]
        if self.levels:
            codes, labels = label_codes(column)
            wanted = [i for i, label in enumerate(labels) if label in self.levels]
            return np.isin(codes, wanted)
        numbers = column.to_numpy(dtype=float, na_value=np.nan)
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        inside: NDArray[np.bool_] = (numbers >= low) & (numbers < high)
        return inside


@dataclass(frozen=True, eq=False)
class SearchColumn:
    """A column in few base bins, and the conditions that put them together.

    Attributes
    ----------
    codes : uint8 array of shape (n_rows,)
        Base bin of every row; ``n_bins`` where it is in none.
    items : bool array of shape (n_conditions, n_bins)
        Which bins a condition holds for.
    conditions : tuple of Condition
    """

    name: str
    codes: NDArray[np.uint8]
    n_bins: int
    items: NDArray[np.bool_]
    conditions: tuple[Condition, ...]


def search_columns(
    frame: pd.DataFrame, names: Sequence[str], *, bins: int, min_size: int
) -> tuple[list[SearchColumn], dict[str, str]]:
    """Return the columns that can be searched, and of the others why not.

    A number of more than four different values is cut in ``bins`` bins of about equally
    many rows, and a condition is one bin, or all below or above a cut; with at most
    four values these are the bins. Of another column the (at most eight) commonest
    levels with ``min_size`` rows are conditions, and up to six of them two at a time.
    Conditions with fewer than ``min_size`` rows, or that hold everywhere, are none.
    """
    found, skipped = [], {}
    for name in names:
        column = frame[name]
        if pd.api.types.is_datetime64_any_dtype(column):
            skipped[name] = "holds dates; make numbers of them"
            continue
        coded = (
            _intervals(column, bins) if is_number(column) else _levels(column, min_size)
        )
        kept = _supported(coded, min_size)
        if len(kept.conditions):
            found.append(kept)
        else:
            skipped[name] = _why_not(column, min_size)
    return found, skipped


def describe(conditions: Sequence[Condition]) -> str:
    """Return "age under 25, site Port and income 30,000–40,000"."""
    return listing(map(str, conditions)) if conditions else NO_SUBGROUPS


def as_subgroups(conditions: Sequence[Condition], start: Subgroups) -> Subgroups:
    """Return the definition of subgroups of which one is what the conditions hold for.

    Numbers are cut at the ends of their intervals; levels stand for themselves, so a
    union of two levels is two subgroups.
    """
    cuts = {
        one.column: tuple(end for end in (one.low, one.high) if end is not None)
        for one in conditions
        if not one.levels
    }
    names = tuple(one.column for one in conditions)
    return Subgroups(columns=names, cuts=cuts, min_size=start.min_size)


def _intervals(column: "pd.Series[Any]", bins: int) -> SearchColumn:
    """Cut a number; a condition is one bin, or all bins below or above a cut."""
    values = column.to_numpy(dtype=float, na_value=np.nan)
    cuts = np.asarray(quantile_cuts(column, bins))
    if len(cuts) < _BY_VALUE:
        present = np.unique(values[np.isfinite(values)])
        cuts = present[1:] if len(present) <= _BY_VALUE else cuts
    n = len(cuts) + 1
    codes = np.searchsorted(cuts, values, side="right").astype(np.uint8)
    codes[~np.isfinite(values)] = n
    spans = [(i, i + 1) for i in range(n)]
    spans += [(0, j) for j in range(2, n)] + [(i, n) for i in range(1, n - 1)]
    items = np.array([[i <= b < j for b in range(n)] for i, j in spans], bool).reshape(
        -1, n
    )
    whole = is_whole(column)
    ends = [None, *map(float, cuts), None]
    conditions = tuple(
        Condition(str(column.name), (), ends[i], ends[j], whole) for i, j in spans
    )
    return SearchColumn(str(column.name), codes, n, items, conditions)


def _levels(column: "pd.Series[Any]", min_size: int) -> SearchColumn:
    """Take the commonest levels, and where these are few their pairs."""
    codes, labels = label_codes(column)
    rows = np.bincount(codes + 1, minlength=len(labels) + 1)[1:]
    common = np.argsort(-rows, kind="stable")[:MOST_LEVELS]
    kept = np.sort(common[rows[common] >= min_size])
    place = np.full(len(labels) + 1, len(kept), np.uint8)
    place[kept] = np.arange(len(kept))
    unions: list[tuple[int, ...]] = [(i,) for i in range(len(kept))]
    if 2 < len(kept) <= _PAIRED:
        unions += combinations(range(len(kept)), 2)
    items = np.zeros((len(unions), len(kept)), bool)
    for item, union in zip(items, unions, strict=True):
        item[list(union)] = True
    conditions = tuple(
        Condition(str(column.name), tuple(labels[kept[i]] for i in union))
        for union in unions
    )
    return SearchColumn(str(column.name), place[codes], len(kept), items, conditions)


def _supported(column: SearchColumn, min_size: int) -> SearchColumn:
    """Drop conditions that hold for too few rows, or for all."""
    rows = np.bincount(column.codes, minlength=column.n_bins + 1)[:-1]
    held = column.items @ rows
    keep = (held >= min_size) & (held < len(column.codes))
    conditions = tuple(c for c, k in zip(column.conditions, keep, strict=True) if k)
    return SearchColumn(
        column.name, column.codes, column.n_bins, column.items[keep], conditions
    )


def _why_not(column: "pd.Series[Any]", min_size: int) -> str:
    levels = int(column.nunique())
    if levels <= 1:
        return "is constant" if levels else "has no values"
    return f"has {levels:,} values, none of them in {min_size:,} rows"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    text = f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
    return text.replace("-", "−")


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with the value that is compared, their group and their stratum.

    Groups are permuted inside strata, from 0 to ``n_strata - 1``; the rows of one
    ``unit`` stay together.
    """

    columns: Sequence[SearchColumn]
    value: NDArray[np.int64]
    group: NDArray[np.int64]
    n_groups: int
    stratum: NDArray[np.int64]
    n_strata: int = 1
    unit: NDArray[np.int64] | None = None

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
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return bins and one of ``n`` kinds of every row as a code, and rows by it."""
        n_codes = n * int(np.prod([self._widths[j] for j in columns]))
        code: NDArray[Any] = np.zeros(
            len(self), np.int32 if n_codes < 2**31 else np.int64
        )
        for j in columns:
            code *= self._widths[j]
            code += self.columns[j].codes
        code *= n
        code += kind.astype(code.dtype, copy=False)
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
