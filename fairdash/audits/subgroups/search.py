"""Exact search for the subgroups with the largest gaps."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash.audits.subgroups.conditions import Condition
from fairdash.audits.subgroups.counts import Block, Float, Rows
from fairdash.audits.subgroups.statistic import (
    certain_gap,
    largest_possible,
    studentised,
)


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

    score : float array of shape (n_found,)
        What they were searched for: studentised gaps, or certain ones.
    places : int array of shape (n_found,)
        Which conjunction of its block, a tuple of columns, each is.
    """

    score: Float
    blocks: tuple[Block, ...]
    places: NDArray[np.int64]
    n_counted: int

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
) -> Found:
    """Return the ``most`` subgroups with the largest studentised gaps.

    With ``critical`` those with the largest *certain* gap, the gap less that many
    standard errors, where it is above 0.

    Blocks of columns are gone through from few columns to many. What is known of the
    conjunctions of fewer columns bounds the rows of every kind in those of more: a
    conjunction has at most as many as the least of its parents, and at least as many
    as two parents have above their own common parent. Where no statistic within these
    bounds exceeds the least one kept, the block's rows are not counted.

    bounded : bool, optional
        False counts every block, to the same end; by default so where the bounds do not
        spare even the block whose parents have the smallest scores.
    """
    depth, min_size, beyond = limits
    total = rows.total if beyond else None
    kept = _Kept(most, -0.5 if critical is None else 0.0)
    known: dict[Block, Float] = {(): rows.total}
    covers = rows.covers(depth).items()
    home = {block: columns for columns, blocks in covers for block in blocks}
    counted = 0

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
            if spared and not may_hold_better(block):
                continue
            counts = rows.counts(block, home[block])
            counted += 1
            if not last:
                known[block] = counts
            if critical is None:
                score = studentised(counts, total)
            else:
                score = certain_gap(counts, critical, total)
            score[counts.sum((0, 1)) < min_size] = -np.inf
            kept.take(block, score)
    found = kept.found(counted)
    return found if critical is not None else replace(found, score=found.score**0.5)


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

    def found(self, counted: int) -> Found:
        blocks = tuple(self.blocks[i] for i in self.block)
        return Found(self.score, blocks, self.place, counted)


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
