"""Exact search for the subgroups with the largest gaps, and a short list of them.

No subgroup of the list is explained by another one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash.audits.subgroups.counts import Block, Condition, Float, Rows
from fairdash.audits.subgroups.statistic import (
    certain_gap,
    gap_between,
    largest_possible,
    studentised,
    widest_pair,
)

NOTHING_KNOWN: Mapping[Block, float] = {}
Words = NDArray[np.uint64]
_ALIKE = 3.0  # standard errors; the best of many looks larger than it is
_SHARE = 0.5  # of its gap that rows outside must show to explain it
_SIMILAR = 0.8  # of its own statistic, left outside the others, where none is clear


class Limits(NamedTuple):
    """Which subgroups are searched, and for what.

    With ``beyond`` gaps are compared with those of the other rows, see `statistic`.
    """

    depth: int
    min_size: int
    beyond: bool = False


@dataclass(frozen=True, eq=False)
class Found:
    """The best subgroups, best first.

    Attributes
    ----------
    score : float array of shape (n_found,)
        What they were searched for: studentised gaps, or certain ones.
    places : int array of shape (n_found,)
        Which conjunction of its block, a tuple of columns, each is.
    best : dict of block to float
        The largest score of every block that was counted.
    """

    score: Float
    blocks: tuple[Block, ...]
    places: NDArray[np.int64]
    best: dict[Block, float]

    def all_conditions(self, rows: Rows) -> list[tuple[Condition, ...]]:
        """Return what every subgroup is."""
        return [self.conditions(rows, i) for i in range(len(self.score))]

    def conditions(self, rows: Rows, which: int) -> tuple[Condition, ...]:
        """Return what one of the subgroups is."""
        block = self.blocks[which]
        at = np.unravel_index(self.places[which], rows.shape(block))
        return tuple(
            rows.columns[j].conditions[i] for j, i in zip(block, at, strict=True)
        )


def search(
    rows: Rows,
    limits: Limits,
    *,
    most: int,
    critical: float | None = None,
    bounded: bool | None = None,
    known_best: Mapping[Block, float] = NOTHING_KNOWN,
) -> Found:
    """Return the ``most`` subgroups with the largest studentised gaps.

    With ``critical`` those with the largest *certain* gap, the gap less that many
    standard errors, where it is above 0.

    Blocks of columns are gone through from few columns to many. What is known of the
    conjunctions of fewer columns bounds the rows of every kind in those of more: a
    conjunction has at most as many as the least of its parents, and at least as many
    as two parents have above their own common parent. Where no statistic within these
    bounds exceeds the least one kept, the block's rows are not counted.

    Parameters
    ----------
    bounded : bool, optional
        False counts every block, to the same end; by default so where the bounds do not
        spare even the block whose parents have the smallest scores.
    known_best : mapping of block to float, optional
        `Found.best` of a search without ``critical``. A block whose largest studentised
        gap does not exceed ``critical`` has no certain one.
    """
    depth, min_size, beyond = limits
    total = rows.total if beyond else None
    kept = _Kept(most, -0.5 if critical is None else 0.0)
    known: dict[Block, Float] = {(): rows.total}
    covers = rows.covers(depth).items()
    home = {block: columns for columns, blocks in covers for block in blocks}

    def may_hold_better(block: Block) -> bool:
        least, largest = _between(rows, block, known)
        return kept.may_take(largest_possible(least, largest, critical, total))

    for size in range(1, min(depth, len(rows.columns)) + 1):
        blocks = list(combinations(range(len(rows.columns)), size))
        # of the last size nothing is looked up again
        last = size == min(depth, len(rows.columns))
        spared = last and size > 1 and bounded is not False
        if spared:
            blocks.sort(key=lambda block: -max(kept.best(b) for b in _parents(block)))
            # where the least promising block must be counted, so must all others be
            spared = bounded is True or not may_hold_better(blocks[-1])
        for block in blocks:
            if last and known_best.get(block, np.inf) <= (critical or 0.0) - 1e-9:
                continue
            if spared and not may_hold_better(block):
                continue
            counts = rows.counts(block, home[block])
            if not last:
                known[block] = counts
            if critical is None:
                score = studentised(counts, total)
            else:
                score = certain_gap(counts, critical, total)
            score[counts.sum((0, 1)) < min_size] = -np.inf
            kept.take(block, score)
    found = kept.found()
    if critical is not None:
        return found
    best = {block: z2**0.5 if z2 > 0 else 0.0 for block, z2 in found.best.items()}
    return replace(found, score=found.score**0.5, best=best)


class _Kept:
    """The largest scores so far, all ``above`` some."""

    def __init__(self, most: int, above: float) -> None:
        self.most, self.above = most, above
        self.score, self.place = np.empty(0), np.empty(0, np.int64)
        self.block = np.empty(0, np.int64)
        self.blocks: list[Block] = []
        self._best: dict[Block, float] = {}

    def best(self, block: Block) -> float:
        return self._best[block]

    def least(self) -> float:
        """Return what a score must exceed to be kept."""
        return float(self.score[-1]) if len(self.score) == self.most else self.above

    def may_take(self, bound: Float) -> bool:
        # far more than rounding, far less than a difference that counts
        return bool((bound > self.least() - 1e-9).any())

    def take(self, block: Block, score: Float) -> None:
        self._best[block] = float(score.max(initial=-np.inf))
        new = np.flatnonzero(score > self.least())
        if not len(new):
            return
        if len(new) > self.most:
            new = new[np.argsort(-score[new], kind="stable")[: self.most]]
        owner = np.full(len(new), len(self.blocks))
        self.blocks.append(block)
        joined = np.concatenate([self.score, score[new]])
        keep = np.argsort(-joined, kind="stable")[: self.most]
        self.score = joined[keep]
        self.place = np.concatenate([self.place, new])[keep]
        self.block = np.concatenate([self.block, owner])[keep]

    def found(self) -> Found:
        blocks = tuple(self.blocks[i] for i in self.block)
        return Found(self.score, blocks, self.place, self._best)


def _parents(block: Block) -> list[Block]:
    return list(combinations(block, len(block) - 1))


def _between(
    rows: Rows, block: Block, known: dict[Block, Float]
) -> tuple[Float, Float]:
    """Return the least and the largest counts of a block, by what its parents hold."""
    shape = rows.shape(block)

    def table(part: Block) -> Float:
        kinds = (rows.n_groups, 2)
        wide = [n if j in part else 1 for j, n in zip(block, shape, strict=True)]
        return known[part].reshape(*kinds, *wide)

    parents = {part: table(part) for part in _parents(block)}
    full = (rows.n_groups, 2, *shape)
    most = np.broadcast_to(np.inf, full)
    for part in parents.values():
        most = np.minimum(most, part)
    least = np.zeros(full)
    for one, other in combinations(parents, 2):
        common = tuple(j for j in one if j in other)
        least = np.maximum(least, parents[one] + parents[other] - table(common))
    flat = (rows.n_groups, 2, -1)
    return least.reshape(flat), most.reshape(flat)


@dataclass(frozen=True, eq=False)
class Listed:
    """A subgroup of the list.

    ``counts`` are of shape (groups, 2); ``inside`` is the place in the list of the
    smallest subgroup that it is a part of, or -1; ``folded`` is how many it explains.
    """

    conditions: tuple[Condition, ...]
    counts: Float
    inside: int = -1
    folded: int = 0


def without_redundant(
    rows: Rows,
    found: Iterable[tuple[Condition, ...]],
    *,
    critical: float,
    most: int,
    beyond: bool = False,
) -> list[Listed]:
    """Go through subgroups, best first, and list those that say something new.

    1. A subgroup is explained by those listed already if its rows outside all of them
       show no gap of their own and it is not a part of one whose other rows have a
       clearly smaller gap; clearly is by ``critical`` standard errors. Where its own
       statistic is not that large, four fifths of it must be left outside.
    2. What is not explained gives up a condition as long as its parent, without it,
       explains its gap: that of the rows that come in is more than half of it, and less
       than three standard errors smaller.

    What is beyond chance comes first, by its certain gap, then the others by their
    statistics.

    With ``beyond`` gaps are compared with those of all other rows.
    """
    total = rows.total if beyond else None
    bits = Bits(rows)
    kept: dict[tuple[Condition, ...], Words] = {}
    folded: dict[tuple[Condition, ...], int] = {}
    union = np.zeros_like(bits.everyone)
    for conditions in found:
        own = bits.of(conditions)
        counts = bits.count(own)
        z = _z(counts, total)
        needed = critical if z > critical else _SIMILAR * z
        explained = kept and not (
            _z(bits.count(own & ~union), total) > needed
            or _refines(bits, own, kept.values(), needed)
        )
        if not explained:
            conditions = _general(bits, conditions)
        if explained or conditions in kept:
            shared = {c: int(_size(own & other)) for c, other in kept.items()}
            folded[max(shared, key=shared.__getitem__)] += 1
            continue
        if len(kept) == most:
            break
        kept[conditions], folded[conditions] = bits.of(conditions), 0
        union |= kept[conditions]
    order = sorted(kept, key=lambda one: _rank(bits.count(kept[one]), critical, total))
    return [
        Listed(one, bits.count(kept[one]), _inside(one, order, kept), folded[one])
        for one in order
    ]


def _rank(counts: Float, critical: float, total: Float | None) -> tuple[float, float]:
    certain = float(certain_gap(counts, critical, total))
    return -max(certain, 0.0), -_z(counts, total)


def _refines(bits: "Bits", own: Words, others: Iterable[Words], needed: float) -> bool:
    """Tell whether a part of kept subgroups clearly exceeds the rest of each."""
    parents = [other for other in others if not (own & ~other).any()]
    return bool(parents) and all(
        _against_rest(bits, own, parent)[0] > needed for parent in parents
    )


def _against_rest(bits: "Bits", own: Words, parent: Words) -> tuple[float, float]:
    """Return how a gap compares with that of the parent's other rows.

    By how many standard errors it is larger, and the other one as a share of it; no
    share where it is 0.
    """
    counts, rest = bits.count(own), bits.count(parent & ~own)
    pair = widest_pair(counts)
    (gap, variance), (gap2, variance2) = (
        gap_between(table, *pair) for table in (counts, rest)
    )
    share = float(gap2 / gap) if gap else 0.0
    return float((gap - gap2) / np.sqrt(variance + variance2)), share


def _general(bits: "Bits", conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """Give up conditions as long as the parent explains the gap."""
    own = bits.of(conditions)
    parents = []
    for i in range(len(conditions)) if len(conditions) > 1 else ():
        parent = conditions[:i] + conditions[i + 1 :]
        excess, share = _against_rest(bits, own, bits.of(parent))
        if excess < _ALIKE and share > _SHARE:
            parents.append((share, i, parent))
    return _general(bits, max(parents)[2]) if parents else conditions


def _inside(
    one: tuple[Condition, ...],
    order: Sequence[tuple[Condition, ...]],
    kept: dict[tuple[Condition, ...], Words],
) -> int:
    around = [
        i
        for i, other in enumerate(order)
        if other != one and not (kept[one] & ~kept[other]).any()
    ]
    return min(around, key=lambda i: _size(kept[order[i]]), default=-1)


def _size(words: Words) -> int:
    return int(np.bitwise_count(words).sum())


def _z(counts: Float, total: Float | None) -> float:
    return float(np.sqrt(studentised(counts, total)))


class Bits:
    """Rows as bits, 64 in a word: sets are joined and counted without touching rows."""

    def __init__(self, rows: Rows) -> None:
        self._columns = {column.name: column for column in rows.columns}
        self._known: dict[Condition, Words] = {}
        self.everyone = _packed(np.ones(len(rows), bool))
        kinds = range(2 * rows.n_groups)
        kind = rows.group * 2 + rows.value
        self._kinds = np.stack([_packed(kind == k) for k in kinds])

    def of(self, conditions: Sequence[Condition]) -> Words:
        """Return the rows that all conditions hold for."""
        words = self.everyone.copy()
        for one in conditions:
            if one not in self._known:
                column = self._columns[one.column]
                bins = np.append(column.items[column.conditions.index(one)], False)
                self._known[one] = _packed(bins[column.codes])
            words &= self._known[one]
        return words

    def count(self, words: Words) -> Float:
        """Return rows by group and value."""
        counts = np.bitwise_count(self._kinds & words).sum(1, dtype=np.int64)
        table: Float = counts.reshape(-1, 2).astype(np.float64)
        return table


def _packed(flags: NDArray[np.bool_]) -> Words:
    bits = np.packbits(flags)
    return np.pad(bits, (0, -len(bits) % 8)).view(np.uint64)
