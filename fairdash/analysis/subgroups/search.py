r"""Exact search for the subgroups with the largest gaps, and what chance makes of it.

With :math:`k_a` of :math:`n_a` rows of group a positive, rates are shrunk as by Agresti
and Caffo (2000), :math:`\tilde p_a = (k_a + 1) / (n_a + 2)`, and

.. math::

    z = \max_{a \ne b} \frac{|\tilde p_a - \tilde p_b|}{\sqrt{V_{ab}}} , \quad
    V_{ab} = \max\Big(
        \frac{\tilde p_a (1 - \tilde p_a)}{n_a + 2}
        + \frac{\tilde p_b (1 - \tilde p_b)}{n_b + 2} ,\;
        \bar p (1 - \bar p) \Big(\frac{1}{n_a + 2} + \frac{1}{n_b + 2}\Big)\Big)

with the joint rate :math:`\bar p = (k_a + k_b + 2) / (n_a + n_b + 4)`. The first
variance is too small where a rate of few rows is 0 or 1, the second where a small group
differs from a large one; with the larger one small and large subgroups compare. Where
no row of the pair is positive, or all are, the difference counts as 0.

With sampling weights a rate is a weighted one, and n and k are those of as many
independent rows as have its linearised variance V: :math:`n = p (1 - p) / V`, at most
Kish's number, which heavy rows that happen to agree would exceed.

Numbers are between 0 and 1, p is their mean and n as with weights. A group spread less
than all rows counts as these: n is at most its rows times their :math:`p (1 - p) / V`.

A group whose weights are worth fewer than fifteen equal ones (Kish) is not compared.

By chance: of rates of rows that weigh alike groups are permuted, and the largest z of
*all* subgroups is taken each time (Westfall and Young 1993). Numbers, and rows that
weigh unlike, may be spread unlike in groups that are alike in their mean, so that
groups cannot change places: the residuals :math:`v - m` from the mean that groups have
in common get a random sign instead, one a unit (the wild bootstrap, Liu 1988). Those
from a mean of a group's own are too small where few rows of it are heavy.

References
----------
R. Y. Liu (1988), Bootstrap procedures under some non-i.i.d. models. Annals of
Statistics 16, 1696-1708.
A. Agresti and B. Caffo (2000), Simple and effective confidence intervals for
proportions and differences of proportions. American Statistician 54, 280-288.
P. H. Westfall and S. S. Young (1993), Resampling-based multiple testing. Wiley.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash.analysis.subgroups.conditions import Condition, SearchColumn
from fairdash.metrics import counting

Float = NDArray[np.floating]
Mask = NDArray[np.bool_]
Block = tuple[int, ...]  # columns, of which a subgroup has one condition each
Conditions = tuple[Condition, ...]
_BYTES = 100_000_000  # of permuted labels at a time
_NEAR = 64  # conjunctions at a time, few enough to stay in a cache
_ROUNDING = 1.001  # of bounds in single precision
_ALIKE = 3.0  # standard errors; the best of many looks larger than it is
_SHARE = 0.5  # of its gap that rows outside must show to explain it
_FEWEST = 15  # rows that weigh alike, of a group that is compared by its spread
_SIMILAR = 0.8  # of its own statistic, left outside the others, where none is clear


class Pair(NamedTuple):
    """A difference of shrunk rates, b minus a, and its variance."""

    a: int
    b: int
    gap: Float
    variance: Float


def pairs(n: Float, k: Float) -> Iterator[Pair]:
    """Yield every pair of groups with its gap and the variance of it.

    ``n`` and ``k``, (groups, ...), are rows and positive rows. The variance is infinite
    where a group has no rows.
    """
    size = n + 2
    rate = (k + 1) / size
    variance = np.where(n == 0, np.inf, rate * (1 - rate) / size)
    for a, b in combinations(range(len(n)), 2):
        both, positive = n[a] + n[b], k[a] + k[b]
        # shrunk rates of groups decided alike are apart by nothing but their sizes
        mixed = (positive > 0) & (positive < both)
        joint = (positive + 2) / (both + 4)
        pooled = joint * (1 - joint) * (1 / size[a] + 1 / size[b])
        spread = np.maximum(pooled, variance[a] + variance[b])
        yield Pair(a, b, (rate[b] - rate[a]) * mixed, spread)


def studentised(n: Float, k: Float) -> Float:
    """Return the largest studentised gap between two groups, z."""
    squared = np.zeros(n.shape[1:], n.dtype)
    for pair in pairs(n, k):
        np.maximum(squared, pair.gap * pair.gap / pair.variance, out=squared)
    return np.sqrt(squared)


def pooled_bound(n: Float, k: Float, of_both: Float) -> Float:
    """Return what the square of z of two groups cannot exceed, from those of one.

    That is z of the joint rate alone, squared; few operations tell which of many
    subgroups need the exact one.
    """
    size, both, joint = n + 2, of_both[0] + 4, of_both[1] + 2
    apart = (k + 1) * both
    apart -= joint * size
    apart *= apart
    size *= both - size
    size *= joint * (both - joint) / both
    apart /= size
    return apart


def counted(sums: Sequence[Float], worth: float | None) -> tuple[Float, Float]:
    """Return rows and positive rows, with weights those of independent rows.

    ``sums``, each (2, ...), are over all rows and over those that are positive: of
    `Rows.marks`. ``worth`` is that of `Rows`.
    """
    n, k = sums[0]
    if len(sums) == 1:
        return n, k
    (whole, positive), (squares, of_positive) = sums[1:3]
    of_squares = of_positive if worth is None else sums[3][1]
    n = n * (worth or 1.0)
    rate = np.clip(counting.divide(positive, whole), 0, 1)
    residual = of_squares - 2 * rate * of_positive + rate**2 * squares
    alike = ~(residual > 1e-6 * squares)  # no spread to be seen: Kish's number
    by_spread = counting.divide(
        rate * (1 - rate) * whole**2, np.where(alike, 1, residual)
    )
    like = np.nan_to_num(counting.divide(whole**2, squares))
    at_most = np.minimum(like * (worth or 1.0), n)
    n = np.nan_to_num(np.minimum(np.where(alike, at_most, by_spread), at_most))
    n = np.where(like >= _FEWEST, n, 0.0)  # of fewer the spread is not known
    return n, np.nan_to_num(rate) * n


def certain_gap(n: Float, k: Float, critical: float) -> Float:
    """Return the largest gap between two groups less ``critical`` standard errors."""
    best = np.full(n.shape[1:], -np.inf)
    for pair in pairs(n, k):
        known = np.isfinite(pair.variance)
        error = np.sqrt(np.where(known, pair.variance, 0.0))
        low = np.where(known, np.abs(pair.gap) - critical * error, -np.inf)
        np.maximum(best, low, out=best)
    return best


def widest_pair(n: Float, k: Float) -> tuple[int, int]:
    """Return the lower and the higher group of the largest studentised gap."""
    widest = max(pairs(n, k), key=lambda pair: float(pair.gap**2 / pair.variance))
    a, b = widest.a, widest.b
    return (a, b) if widest.gap >= 0 else (b, a)


def gap_between(n: Float, k: Float, low: int, high: int) -> tuple[float, float]:
    """Return the gap of shrunk rates, ``high`` minus ``low``, and its variance."""
    own = [low, high]
    (pair,) = pairs(n[own], k[own])
    return float(pair.gap), float(pair.variance)


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
    weight: Float | None = None
    worth: float | None = None

    @property
    def mass(self) -> Float:
        """What each row counts."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def marks(self) -> list[Float]:
        """What is summed: ones, weights, their squares, and these times numbers."""
        marks: list[Float] = [np.ones(len(self))]
        if self.weight is not None or self.worth is not None:
            marks += [self.mass, self.mass**2]
        return marks if self.worth is None else [*marks, self.mass**2 * self.value]

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

    def conjunctions(self, block: Block, cells: Float) -> Float:
        """Return sums over conjunctions, (conjunctions, ...), of those over cells."""
        table, done = cells, 1
        for j in block:
            column = self.columns[j]
            items = np.pad(column.items.astype(cells.dtype), ((0, 0), (0, 1)))
            table = items @ table.reshape(done, column.n_bins + 1, -1)
            done *= len(items)
        return table.reshape(done, *cells.shape[1:])

    def counts(self, block: Block) -> tuple[Float, Float, Float]:
        """Return rows of conjunctions, and `counted` ones, (groups, conjunctions)."""
        cell, widths = self.cells(block)
        sums = [
            self.conjunctions(block, self._by_cell(cell, mark, int(np.prod(widths))))
            for mark in self.marks
        ]
        counts = counted([part.transpose(1, 2, 0) for part in sums], self.worth)
        return sums[0][:, 0].sum(1), *counts

    def counts_of(self, inside: Mask) -> tuple[Float, Float]:
        """Return `counted` rows and positive rows of one subgroup, (groups,)."""
        cell = np.where(inside, 0, 1)
        sums = [self._by_cell(cell, mark, 2)[0] for mark in self.marks]
        return counted(sums, self.worth)

    def _by_cell(self, cell: NDArray[np.int64], mark: Float, size: int) -> Float:
        place = cell * self.n_groups + self.group
        length = size * self.n_groups
        both = [np.bincount(place, part, length) for part in (mark, mark * self.value)]
        sums = np.array(both, np.float64).reshape(2, size, -1)
        return sums.transpose(1, 0, 2)

    def conditions(self, block: Block, place: int) -> Conditions:
        """Return what a conjunction of a block is."""
        shape = tuple(len(self.columns[j].conditions) for j in block)
        at = np.unravel_index(place, shape)
        return tuple(
            self.columns[j].conditions[i] for j, i in zip(block, at, strict=True)
        )


def search(
    rows: Rows, depth: int, min_size: int, critical: float, *, most: int
) -> list[Conditions]:
    """Return the best conjunctions of up to ``depth`` conditions, best first.

    First the ``most`` with the largest certain gaps above 0, then the ``most`` with the
    largest studentised ones.
    """
    certain, plain = _Best(most, 0.0), _Best(most, -1.0)
    for block in rows.blocks(depth):
        amount, n, k = rows.counts(block)
        large = np.flatnonzero(amount >= min_size)
        n, k = n[:, large], k[:, large]
        certain.take(block, large, certain_gap(n, k, critical))
        plain.take(block, large, studentised(n, k))
    both = [*certain.places, *plain.places]
    return list(dict.fromkeys(rows.conditions(*place) for place in both))


class _Best:
    def __init__(self, most: int, above: float) -> None:
        self.most, self.above = most, above
        self.score = np.empty(0)
        self.places: list[tuple[Block, int]] = []

    def take(self, block: Block, places: NDArray[np.int64], score: Float) -> None:
        new = np.flatnonzero(score > self.above)
        joined = np.concatenate([self.score, score[new]])
        every = [*self.places, *((block, int(places[i])) for i in new)]
        order = np.argsort(-joined, kind="stable")[: self.most]
        self.score, self.places = joined[order], [every[i] for i in order]
        if len(order) == self.most:
            self.above = float(self.score[-1])


def largest_by_chance(
    rows: Rows, depth: int, min_size: int, times: int, rng: np.random.Generator
) -> tuple[int, Float]:
    """Return how many subgroups are searched, and the largest z of each permutation."""
    n_searched, parts = 0, []
    by_signs = len(rows.marks) > 1
    width = rows.n_groups if by_signs else rows.n_groups - 1
    step = max(1, _BYTES // (8 * len(rows) * width))
    for start in range(0, times, step):
        n = min(step, times - start)
        if by_signs:
            signs = random_signs(len(rows), rows.unit, n, rng)
            n_searched, largest = _largest_by_signs(rows, depth, min_size, signs)
        else:
            labels = permuted(rows.group, rows.unit, n, rng)
            n_searched, largest = _largest(rows, depth, min_size, labels)
        parts.append(largest)
    return n_searched, np.concatenate(parts)


def random_signs(
    n_rows: int, unit: NDArray[np.int64] | None, times: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Return signs by chance, (rows, times), the same for all rows of a unit."""
    place = (
        np.arange(n_rows) if unit is None else np.unique(unit, return_inverse=True)[1]
    )
    drawn = rng.integers(0, 2, (int(place.max()) + 1, times))
    return (2 * drawn - 1).astype(np.float32)[place]


def _largest_by_signs(
    rows: Rows, depth: int, min_size: int, signs: NDArray[np.float32]
) -> tuple[int, Float]:
    """Return how many subgroups are searched, and the largest z of each line of signs.

    Values become a common mean plus or minus the residual from it: that of the groups
    by the number of like rows that they are worth.
    """
    from scipy.sparse import csr_array

    times, n_groups = signs.shape[1], rows.n_groups
    mass, value = rows.mass.astype(np.float64), rows.value.astype(np.float64)
    whole = np.bincount(rows.group, mass, n_groups)
    mean = counting.divide(np.bincount(rows.group, mass * value, n_groups), whole)
    of_groups = np.bincount(rows.group, mass**2, n_groups)
    like = np.nan_to_num(counting.divide(whole**2, of_groups))
    centre = float(np.average(np.nan_to_num(mean), weights=like))
    residual = value - centre
    fixed = [np.ones(len(rows)), mass, mass**2, (mass * residual) ** 2]
    moving = [mass * residual, mass**2 * residual]
    n_searched, largest = 0, np.zeros(times)
    for block in rows.blocks(depth):
        cell, widths = rows.cells(block)
        place, n_cells = cell * n_groups + rows.group, int(np.prod(widths))
        size = n_cells * n_groups
        each = [np.bincount(place, part, size) for part in fixed]
        still: Float = np.stack(each, axis=1).astype(np.float64)
        still = rows.conjunctions(block, still.reshape(n_cells, n_groups, -1))
        at, shape = (place, np.arange(len(rows))), (size, len(rows))
        drawn = [
            rows.conjunctions(
                block,
                (csr_array((part, at), shape) @ signs).reshape(n_cells, n_groups, -1),
            )
            for part in moving
        ]
        large = np.flatnonzero(still[..., 0].sum(axis=1) >= min_size)
        n_searched += len(large)
        for start in range(0, len(large), _NEAR):
            near = large[start : start + _NEAR]
            amount, weight, squares, spread = (
                np.repeat(still[near, :, k, None], times, axis=2) for k in range(4)
            )
            by_weight, by_square = (part[near] for part in drawn)
            sums: list[list[Any]] = [
                [amount, amount],
                [weight, centre * weight + by_weight],
                [squares, centre * squares + by_square],
                [amount, centre**2 * squares + 2 * centre * by_square + spread],
            ]
            by_group: list[Float] = [
                np.stack(pair).transpose(0, 2, 1, 3) for pair in sums
            ]
            z = studentised(*counted(by_group, rows.worth or 1.0))
            np.maximum(largest, z.max(0), out=largest)
    return n_searched, largest


def _largest(
    rows: Rows, depth: int, min_size: int, labels: NDArray[np.uint8]
) -> tuple[int, Float]:
    from scipy.sparse import csc_array

    times, n_groups = labels.shape[1], rows.n_groups
    marks = np.stack([labels == group for group in range(1, n_groups)], axis=1)
    # the last column counts rows of all groups
    drawn = np.ones((len(rows), (n_groups - 1) * times + 1), np.float32)
    drawn[:, :-1] = marks.reshape(len(rows), -1)
    n_searched, largest = 0, np.zeros(times, np.float32)
    starts, ones = np.arange(len(rows) + 1), np.ones(len(rows), np.float32)
    for block in rows.blocks(depth):
        cell, widths = rows.cells(block)
        n_cells = int(np.prod(widths))
        place, shape = 2 * cell + rows.value, (2 * n_cells, len(rows))
        by_value = csc_array((ones, place, starts), shape) @ drawn
        cells = by_value.reshape(-1, 2, drawn.shape[1])
        cells[:, 0] += cells[:, 1]
        sums = rows.conjunctions(block, cells)
        large = sums[:, 0, -1] >= min_size
        n_searched += int(large.sum())
        for start in range(0, len(large), _NEAR):
            near = slice(start, start + _NEAR)
            own = sums[near][large[near]]
            if n_groups == 2:
                _raise(largest, own)
            elif len(own):
                z = studentised(*_of_groups(own, n_groups, times))
                np.maximum(largest, z.max(0), out=largest)
    return n_searched, largest


def _raise(largest: Float, sums: Float) -> None:
    both = sums[..., -1]
    n, k = sums[..., :-1].swapaxes(0, 1)
    over = pooled_bound(n, k, both.T[..., None]) > largest**2 / _ROUNDING
    if not over.any():
        return
    at, time = np.nonzero(over)
    own = sums[at, :, time]
    exact = studentised(*np.stack([both[at] - own, own], axis=-1).transpose(1, 2, 0))
    np.maximum.at(largest, time, exact)


def _of_groups(sums: Float, n_groups: int, times: int) -> Float:
    others = sums[..., :-1].reshape(-1, 2, n_groups - 1, times).transpose(1, 2, 0, 3)
    first = sums[..., -1].T[:, None, :, None] - others.sum(1, keepdims=True)
    return np.concatenate([first, others], axis=1)


def permuted(
    group: NDArray[np.int64],
    unit: NDArray[np.int64] | None,
    times: int,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Return permuted groups, (rows, times): of rows, or of whole units.

    Where all rows of a unit have one group, units change theirs. Else units of as many
    rows change the groups of all of them, which a unit's rows then share out.
    """
    labels = np.repeat(group.astype(np.uint8)[:, None], times, axis=1)
    if unit is None:
        return rng.permuted(labels, axis=0)
    order = np.argsort(unit, kind="stable")
    own = group[order]
    _, first, size = np.unique(unit[order], return_index=True, return_counts=True)
    of_unit = np.repeat(np.arange(len(size)), size)
    if (own == own[first][of_unit]).all():
        drawn = rng.permuted(labels[order[first]], axis=0)
        labels[order] = drawn[of_unit]
        return labels
    for n in np.unique(size):
        places = order[first[size == n][:, None] + np.arange(n)]
        for time in range(times):
            moved = rng.permutation(group[places])
            labels[places, time] = rng.permuted(moved, axis=1)
    return labels


def without_redundant(
    rows: Rows,
    candidates: Iterable[Conditions],
    inside: Callable[[Conditions], Mask],
    *,
    critical: float,
    most: int,
) -> list[Conditions]:
    """Go through subgroups, best first, and list those that say something new.

    1. A subgroup is skipped if its rows outside all listed ones show no gap of their
       own, by ``critical`` standard errors. Where its own statistic is not that large,
       four fifths of it must stand outside.
    2. A listed one gives up a condition as long as its parent, without it, explains its
       gap: that of the rows that come in is more than half of it, and less than three
       standard errors smaller.

    The list is ordered by the certain gap, then by the statistic.
    """

    def z(mask: Mask) -> float:
        return float(studentised(*rows.counts_of(mask)))

    listed: dict[Conditions, Mask] = {}
    union = np.zeros(len(rows), bool)
    for conditions in candidates:
        mask = inside(conditions)
        own = z(mask)
        needed = critical if own > critical else _SIMILAR * own
        if listed and z(mask & ~union) <= needed:
            continue
        general = _general(rows, conditions, inside)
        if general in listed:
            continue
        listed[general] = inside(general)
        union |= listed[general]
        if len(listed) == most:
            break

    def rank(conditions: Conditions) -> tuple[float, float]:
        n, k = rows.counts_of(listed[conditions])
        certain = float(certain_gap(n, k, critical))
        return -max(certain, 0.0), -float(studentised(n, k))

    return sorted(listed, key=rank)


def _general(
    rows: Rows, conditions: Conditions, inside: Callable[[Conditions], Mask]
) -> Conditions:
    """Give up conditions as long as the parent explains the gap."""
    if len(conditions) < 2:
        return conditions
    mask = inside(conditions)
    n, k = rows.counts_of(mask)
    pair = widest_pair(n, k)
    gap, variance = gap_between(n, k, *pair)
    explaining = []
    for i in range(len(conditions)):
        parent = conditions[:i] + conditions[i + 1 :]
        rest, its_variance = gap_between(*rows.counts_of(inside(parent) & ~mask), *pair)
        less = (gap - rest) / np.sqrt(variance + its_variance)
        if less < _ALIKE and rest > _SHARE * gap:
            explaining.append((rest, i, parent))
    return _general(rows, max(explaining)[2], inside) if explaining else conditions


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values; NaN stays and is not counted."""
    adjusted = np.full(len(p), np.nan)
    order: Any = np.argsort(p)[: int((~np.isnan(p)).sum())]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted
