r"""How large the largest gap of all subgroups is by chance.

Group labels are permuted among the rows of a stratum, and the largest statistic over
*all* subgroups searched is taken each time (Westfall and Young 1993). Columns and
values stay as they are, so the statistics keep the dependence of subgroups that
overlap. Where a person has several rows, whole persons are permuted. A permutation is
one of whole rows, the same for all subgroups; counts of eight permutations are added up
as the bytes of one word.

References
----------
P. H. Westfall and S. S. Young (1993), Resampling-based multiple testing. Wiley.
"""

from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

from fairdash.audits.subgroups.counts import Block, Float, Rows
from fairdash.audits.subgroups.search import Found, Limits
from fairdash.audits.subgroups.statistic import (
    studentised,
    union_exceeds,
    union_may_exceed,
)

_MANY = 40_000  # rows from which a second thread gains more than it holds up
_BYTES = 200_000_000  # of permuted labels at a time
_NEAR = 500_000  # numbers taken up at a time, near enough to stay in a cache


@dataclass(frozen=True, eq=False)
class Chance:
    """The largest statistics under permutation.

    Attributes
    ----------
    largest : float array of shape (n_permutations,)
        Over all subgroups searched.
    later : float array of shape (n_permutations, n_found + 1)
        Over all but the better ones among those found; the last over none of these.
    z : float array of shape (n_found,)
        Statistics of those found, best first.
    """

    largest: Float
    later: Float
    z: Float
    n_searched: int

    def p_values(self, z: ArrayLike) -> Float:
        """Return step-down adjusted p-values of statistics of subgroups searched.

        That of each is the share of permutations, the table itself being one, in which
        some subgroup that is no better in the table has a statistic as large.
        """
        asked = np.asarray(z, np.float64)
        # statistics under permutation are of single precision
        known = np.append(self.z, -np.inf)
        beaten = (self.later >= known * (1 - 1e-5)).sum(0)
        stepped = np.maximum.accumulate((1 + beaten) / (1 + len(self.later)))
        better = (self.z[:, None] > asked * (1 + 1e-9)).sum(0)
        own = (self.later[:, better] >= asked * (1 - 1e-5)).sum(0)
        p = (1 + own) / (1 + len(self.later))
        before = np.where(better > 0, stepped[better - 1], 0.0)
        adjusted: Float = np.maximum(p, before)
        return adjusted

    def critical(self, alpha: float) -> float:
        """Return what the largest statistic exceeds with probability ``alpha``."""
        rank = int(np.ceil((1 - alpha) * (1 + len(self.largest)))) - 1
        ordered = np.sort(self.largest)
        return float(ordered[rank]) if rank < len(ordered) else float("inf")


def permute(
    rows: Rows,
    found: Found,
    limits: Limits,
    *,
    n_permutations: int,
    random_state: int | None = None,
) -> Chance:
    """Return the largest statistics of all subgroups under permutation.

    For each of those found, which have the largest studentised gaps, also the largest
    over those no better.
    """
    rng = np.random.default_rng(random_state)
    covers = rows.covers(limits.depth)
    n_labels = rows.n_groups * (2 if limits.beyond else 1)
    step = 8 * max(1, _BYTES // (8 * len(rows) * (n_labels - 1)))
    n_searched, parts = 0, []
    for start in range(0, n_permutations, step):
        times = min(step, n_permutations - start)
        permuted = _Permuted(rows, times, limits.beyond, rng)
        n_searched, part = _largest(rows, found, limits, permuted, covers)
        parts.append(part)
    later = np.sqrt(np.concatenate(parts))
    return Chance(later[:, 0], later, found.score, n_searched)


def _largest(
    rows: Rows,
    found: Found,
    limits: Limits,
    permuted: "_Permuted",
    covers: dict[Block, list[Block]],
) -> tuple[int, Float]:
    """Return how many subgroups are large enough, and `Chance.later`, squared."""
    _, min_size, beyond = limits
    places = defaultdict(list)
    for i, block in enumerate(found.blocks):
        places[block].append(i)
    total = rows.total.astype(np.float32) if beyond else None
    own = np.zeros((permuted.times, len(found.score)), np.float32)
    threads = 2 if len(rows) >= _MANY else 1
    largest = np.zeros((threads, permuted.times), np.float32)
    todo = iter(covers.items())

    def take(thread: int) -> int:
        n_searched = 0
        for block, some in (one for sets in todo for one in permuted.cells(*sets)):
            # rows of a subgroup do not change
            sizes = rows.conjunctions(block, some.sizes.sum(1, np.float32))
            counted = sizes >= min_size
            n_searched += int(counted.sum())
            if which := places.get(block):
                at = found.places[which]
                counted[at] = False
                cells = some.whole()
                sums = rows.boxes(block, at) @ cells.reshape(len(cells), -1)
                sums = np.moveaxis(sums.reshape(-1, *cells.shape[1:]), 0, -1)
                own[:, which] = studentised(sums, total)
            # what the other thread has found spares this one work
            raised = largest.max(0)
            _raise(raised, rows, block, some, counted, min_size, total)
            largest[thread] = raised
        return n_searched

    with ThreadPoolExecutor(threads) as pool:
        n_searched = sum(pool.map(take, range(threads)))
    later = np.concatenate([own, largest.max(0)[:, None]], axis=1)[:, ::-1]
    later = np.maximum.accumulate(later, axis=1)[:, ::-1]
    return n_searched, later


class _Cells(NamedTuple):
    """What is counted in cells: rows of each fixed kind, and drawn labels of these.

    ``sizes`` are of shape (cells, kinds), ``drawn``, without those of the first label,
    of shape (cells, kinds, labels - 1, times).
    """

    sizes: NDArray[Any]
    drawn: NDArray[Any]
    n_groups: int

    def whole(self) -> Float:
        """Return rows of every cell by group and value, (cells, groups, 2, times)."""
        *kinds, others, times = self.drawn.shape
        table = np.empty((*kinds, others + 1, times), np.float32)
        table[:, :, 1:] = self.drawn
        table[:, :, 0] = self.sizes[..., None] - table[:, :, 1:].sum(2)
        return table.swapaxes(1, 2).reshape(-1, self.n_groups, 2, times)


def _raise(
    largest: Float,
    rows: Rows,
    block: Block,
    some: _Cells,
    counted: NDArray[np.bool_],
    min_size: int,
    total: Float | None,
) -> None:
    """Raise the largest statistic of every permutation to those of one block.

    Conditions of all columns but one are put together, and those of the one with most
    only where `union_may_exceed` leaves something to find: in one of a hundred, about.
    """
    n_items = rows.shape(block)
    last = max(range(len(block)), key=n_items.__getitem__)
    items = rows.columns[block[last]].items.astype(np.float32)
    rest = (*block[:last], *block[last + 1 :])
    bins = [rows.columns[j].n_bins for j in block]

    def parts(table: Float) -> Float:
        """Return sums over the others' conditions, (conjunctions, ..., bins, times)."""
        wide = table.reshape(*bins, *table.shape[1:])
        wide = np.moveaxis(wide, last, -2)
        return rows.conjunctions(rest, wide.reshape(-1, *wide.shape[len(rest) :]))

    counted = np.moveaxis(counted.reshape(n_items), last, -1).reshape(-1, len(items))
    n = rows.total.sum(1)
    if total is not None:
        counts = np.tensordot(parts(some.whole()), items, (3, 1))
        # (which, groups, 2, times, conditions) to (groups, 2, which, conditions, times)
        score = studentised(counts.transpose(1, 2, 0, 4, 3), total)
        score[~counted] = 0
        np.maximum(largest, score.max((0, 1), initial=0), out=largest)
        return
    if rows.n_groups == 2:
        # how many there are of both is the same at all times
        share = float(n[1] / n.sum())
        both: Float = some.sizes.astype(np.float32)[..., None]
        apart = parts(some.drawn[:, :, 0] - np.float32(share) * both)
        _raise_pair(largest, apart, parts(both), share, items, counted, min_size)
        return
    every = parts(some.whole())
    for a, b in combinations(range(rows.n_groups), 2):
        both, share = every[:, a] + every[:, b], float(n[b] / (n[a] + n[b]))
        apart = every[:, b] - np.float32(share) * both
        _raise_pair(largest, apart, both, share, items, counted, None)


def _raise_pair(
    largest: Float,
    apart: Float,
    both: Float,
    share: float,
    items: Float,
    counted: NDArray[np.bool_],
    min_size: int | None,
) -> None:
    """Do so for two groups: rows of both, and what the second has beyond its share.

    Both are of shape (conjunctions, 2, bins, times).
    """
    step = max(1, _NEAR // apart[0].size)
    may = [
        union_may_exceed(apart[at], both[at], share, largest, min_size)
        for at in (slice(i, i + step) for i in range(0, len(apart), step))
    ]
    # faster than the places along two axes
    which, when = np.divmod(np.flatnonzero(np.concatenate(may)), len(largest))

    def unions(table: Float) -> Float:
        """Return sums over conditions, (..., conditions), as one product."""
        sums = table.reshape(-1, items.shape[1]) @ items.T
        return sums.reshape(*table.shape[:-1], len(items))

    fixed = both.shape[-1] == 1
    every = unions(both[..., 0]) if fixed else both
    for i in range(0, len(which), step := _NEAR // len(items)):
        at, time = which[i : i + step], when[i : i + step]
        # (which, 2, conditions)
        more = unions(apart[at, ..., time])
        sizes = every[at] if fixed else unions(every[at, ..., time])
        exceeds = union_exceeds(more, sizes, share, largest[time]) & counted[at]
        if not exceeds.any():
            continue
        left, item = np.nonzero(exceeds)
        rows = sizes[left, :, item].T
        second = np.rint(more[left, :, item].T + np.float32(share) * rows)
        score = studentised(np.stack([rows - second, second]))
        np.maximum.at(largest, time[left], score)


class _Permuted:
    """Rows with permuted labels: what is counted in their cells."""

    def __init__(
        self, rows: Rows, times: int, beyond: bool, rng: np.random.Generator
    ) -> None:
        label = rows.group * 2 + rows.value if beyond else rows.group
        self.rows, self.times = rows, times
        self.n_labels = rows.n_groups * (2 if beyond else 1)
        self.fixed = np.zeros_like(rows.value) if beyond else rows.value
        self.n_fixed = 1 if beyond else 2
        # rounded up to whole words
        labels = np.zeros((len(rows), -(-times // 8) * 8), np.uint8)
        for stratum in range(rows.n_strata):
            own: Any = np.flatnonzero(rows.stratum == stratum)
            wanted = np.bincount(label[own], minlength=self.n_labels)
            if rows.unit is not None:
                labels[own, :times] = _of_units(label[own], rows.unit[own], times, rng)
                continue
            if len(own) == len(rows):
                own = slice(None)
            for start in range(0, times, 8):
                some = [
                    _arranged(wanted, rng) for _ in range(start, min(start + 8, times))
                ]
                labels[own, start : start + len(some)] = np.stack(some, axis=1)
        self.where = [labels]
        if self.n_labels > 2:
            each = range(1, self.n_labels)
            self.where = [(labels == k).view(np.uint8) for k in each]
        self.words: dict[Any, list[NDArray[Any]]] = {}
        self.ends = np.arange(len(rows) + 1, dtype=np.int32)

    def cells(
        self, columns: Block, blocks: list[Block]
    ) -> Iterator[tuple[Block, _Cells]]:
        """Yield blocks of some columns with what is counted in their cells."""
        rows = self.rows
        code, size = rows.coded(columns, self.fixed, self.n_fixed)
        number = np.min_scalar_type(size.max())
        # several numbers in a word of the size that is added up fastest
        word = np.promote_types(number, np.uint16)
        if number not in self.words:
            self.words[number] = [
                where.astype(number, copy=False).view(word) for where in self.where
            ]
        one_each = np.ones(len(rows), word)
        within = csc_array((one_each, code, self.ends), shape=(len(size), len(rows)))
        # none of which runs over
        words = {number: [np.asarray(within @ one) for one in self.words[number]]}
        for block in blocks:
            sizes = rows.cells(block, size, columns)
            wide = np.promote_types(number, np.min_scalar_type(sizes.max()))
            if wide not in words:
                words[wide] = [one.view(number).astype(wide) for one in words[number]]
            sums = [rows.cells(block, one, columns).view(wide) for one in words[wide]]
            parts = [one[..., None, : self.times] for one in sums]
            drawn = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
            yield block, _Cells(sizes, drawn, rows.n_groups)


def _of_units(
    label: NDArray[np.int64],
    unit: NDArray[np.int64],
    times: int,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Return labels of rows with whole units permuted, (rows, times).

    Where all rows of a unit have one label, units change theirs. Else units of as many
    rows change the labels of all of them, which a unit's rows then share out.
    """
    drawn = np.empty((len(label), times), np.uint8)
    order = np.argsort(unit, kind="stable")
    _, first, size = np.unique(unit[order], return_index=True, return_counts=True)
    own = label[order]
    low, high = (f.reduceat(own, first) for f in (np.minimum, np.maximum))
    if (low == high).all():
        place = np.repeat(np.arange(len(size)), size)
        for time in range(times):
            drawn[order, time] = rng.permutation(low)[place]
        return drawn
    for n in np.unique(size):
        rows = first[size == n][:, None] + np.arange(n)
        for time in range(times):
            moved = rng.permutation(own[rows])
            drawn[order[rows], time] = rng.permuted(moved, axis=1)
    return drawn


def _arranged(wanted: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return so many of each label, every arrangement being equally likely.

    Labels are drawn row by row in about these shares, then rows of a label that came
    too often, any of them, take those that came too seldom: nothing tells rows apart.
    """
    drawn = np.zeros(wanted.sum(), np.uint8)
    bytes_ = rng.integers(0, 256, len(drawn), np.uint8)
    for share in np.round(256 * np.cumsum(wanted)[:-1] / len(drawn)):
        drawn += bytes_ >= int(share)
    missing = wanted - [np.count_nonzero(drawn == k) for k in range(len(wanted))]
    moved = [
        rng.choice(
            np.flatnonzero(drawn == k), -missing[k], replace=False, shuffle=False
        )
        for k in np.flatnonzero(missing < 0)
    ]
    if moved:
        labels = np.repeat(np.arange(len(wanted)), np.maximum(missing, 0))
        drawn[rng.permutation(np.concatenate(moved))] = labels
    return drawn
