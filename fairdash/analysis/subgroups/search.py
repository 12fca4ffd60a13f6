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

The variance of few heavy rows is itself estimated badly, so that z of many subgroups is
largest where it means least. With Kish's number of rows less one as degrees of freedom
of a group, Welch's :math:`\nu` of a pair make z a quantile of Student's distribution.
What is compared is the normal quantile of as small a chance (Wallace 1959)

.. math:: \frac{8 \nu + 1}{8 \nu + 3} \sqrt{\nu \log(1 + z^2 / \nu)} .

A group whose weights are worth fewer than FEWEST equal ones is not compared.

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
D. L. Wallace (1959), Bounds on normal approximations to Student's and the chi-square
distributions. Annals of Mathematical Statistics 30, 1121-1130.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash.analysis.subgroups.conditions import Condition, SearchColumn
from fairdash.metrics import counting

Floats = NDArray[np.floating]  # single or double precision
Mask = NDArray[np.bool_]
Block = tuple[int, ...]  # columns, of which a subgroup has one condition each
Conditions = tuple[Condition, ...]
_BYTES = 100_000_000  # of permuted labels at a time
_NEAR = 64  # conjunctions at a time, few enough to stay in a cache
_ROUNDING = 1.001  # of bounds in single precision
_ALIKE = 3.0  # standard errors; the best of many looks larger than it is
_SHARE = 0.5  # of its gap that rows outside must show to explain it
FEWEST = 6  # rows that weigh alike, of a group that is compared by its spread
_SIMILAR = 0.8  # of its own statistic, left outside the others, where none is clear


class Counts(NamedTuple):
    """Rows and positive rows of each group, (groups, ...).

    Attributes
    ----------
    degrees : array of shape (groups, ...) or None
        Degrees of freedom of the variance of a rate. None for rows that weigh alike,
        whose number says it.
    """

    n: Floats
    k: Floats
    degrees: Floats | None = None

    def take(self, places: NDArray[np.int64]) -> "Counts":
        """Return the counts of some subgroups."""
        degrees = None if self.degrees is None else self.degrees[:, places]
        return Counts(self.n[:, places], self.k[:, places], degrees)

    def of_groups(self, groups: list[int]) -> "Counts":
        """Return the counts of some groups."""
        degrees = None if self.degrees is None else self.degrees[groups]
        return Counts(self.n[groups], self.k[groups], degrees)


class Pair(NamedTuple):
    """A difference of shrunk rates, b minus a, and its variance.

    Attributes
    ----------
    degrees : array or None
        Of the variance; None where the gap is compared with normal quantiles.
    """

    a: int
    b: int
    gap: Floats
    variance: Floats
    degrees: Floats | None = None

    @property
    def squares(self) -> Floats:
        """Squares of the studentised gaps, as those of normal quantiles."""
        squares = self.gap * self.gap / self.variance
        if self.degrees is None:
            return squares
        return _wallace(self.degrees) * np.log1p(squares / self.degrees)

    def reach(self, critical: float) -> Floats:
        """Return the half width of the interval of the gap; infinite without rows."""
        error = np.sqrt(self.variance)
        if self.degrees is None or not np.isfinite(critical):
            return critical * error
        with np.errstate(over="ignore"):
            growth = np.expm1(critical**2 / _wallace(self.degrees))
            return np.sqrt(self.degrees * growth) * error


def _wallace(degrees: Floats) -> Floats:
    return degrees * ((8 * degrees + 1) / (8 * degrees + 3)) ** 2


def pairs(counts: Counts) -> Iterator[Pair]:
    """Yield every pair of groups with its gap and the variance of it.

    The variance is infinite where a group has no rows.
    """
    n, k, of_groups = counts
    size = n + 2
    rate = (k + 1) / size
    variance = np.where(n == 0, np.inf, rate * (1 - rate) / size)
    for a, b in combinations(range(len(n)), 2):
        total = n[a] + n[b]
        positive = k[a] + k[b]
        # Shrunk rates of groups decided alike differ by their sizes only.
        mixed = (positive > 0) & (positive < total)
        gap = (rate[b] - rate[a]) * mixed
        joint = (positive + 2) / (total + 4)
        pooled = joint * (1 - joint) * (1 / size[a] + 1 / size[b])
        degrees = None
        if of_groups is not None:
            degrees = _welch(variance[[a, b]], of_groups[[a, b]])
        largest = np.maximum(pooled, variance[a] + variance[b])
        yield Pair(a, b, gap, largest, degrees)


def _welch(variance: Floats, degrees: Floats) -> Floats:
    """Return Welch's degrees of freedom of a difference; 1 where a group has no rows.

    B. L. Welch (1947), The generalization of Student's problem when several different
    population variances are involved. Biometrika 34, 28-35.
    """
    finite = np.isfinite(variance).all(axis=0)
    known = np.where(finite, variance, 1.0)
    of_pair = known.sum(axis=0) ** 2 / (known**2 / degrees).sum(axis=0)
    welch: Floats = np.where(finite, of_pair, 1.0)
    return welch


def studentised(counts: Counts) -> Floats:
    """Return the largest studentised gap between two groups, z."""
    squared = np.zeros(counts.n.shape[1:], counts.n.dtype)
    for pair in pairs(counts):
        np.maximum(squared, pair.squares, out=squared)
    return np.sqrt(squared)


def pooled_bound(n: Floats, k: Floats, totals: Floats) -> Floats:
    r"""Return a bound on the square of z of two groups, from the counts of one.

    With the totals N and K of both groups, all shrunk (N by 4, K by 2, n by 2, k by 1),
    it is the square of z of the joint rate only:

    .. math:: \frac{(k N - K n)^2}{n (N - n) K (N - K) / N}

    Few operations tell which of many subgroups need the exact one.
    """
    size = n + 2
    total = totals[0] + 4
    positive = totals[1] + 2
    # In place: arrays of (subgroups, permutations) are large, and memory is slow.
    squared = (k + 1) * total
    squared -= positive * size
    squared *= squared
    size *= total - size
    size *= positive * (total - positive) / total
    squared /= size
    return squared


def counted(sums: Sequence[Floats], worth: float | None) -> Counts:
    """Return rows and positive rows, with weights those of independent rows.

    ``sums``, each (2, ...), are over all rows and over those that are positive: of
    `Rows.marks`. ``worth`` is that of `Rows`.
    """
    n, k = sums[0]
    if len(sums) == 1:
        return Counts(n, k)
    # Sums of w, of w v, of w^2 and of w^2 v; of w^2 v^2 too where values are numbers.
    mass, positive_mass = sums[1]
    squares, positive_squares = sums[2]
    value_squares = positive_squares if worth is None else sums[3][1]
    n = n * (worth or 1.0)
    rate = np.clip(counting.divide(positive_mass, mass), 0, 1)
    # The sum of w^2 (v - p)^2, multiplied out.
    residual = value_squares - 2 * rate * positive_squares + rate**2 * squares
    no_spread = ~(residual > 1e-6 * squares)  # then Kish's number
    by_spread = counting.divide(
        rate * (1 - rate) * mass**2, np.where(no_spread, 1, residual)
    )
    kish = np.nan_to_num(counting.divide(mass**2, squares))
    most = np.minimum(kish * (worth or 1.0), n)
    n = np.nan_to_num(np.minimum(np.where(no_spread, most, by_spread), most))
    n = np.where(kish >= FEWEST, n, 0.0)  # the spread of fewer is not known
    return Counts(n, np.nan_to_num(rate) * n, np.maximum(kish - 1, 1.0))


def certain_gap(counts: Counts, critical: float) -> Floats:
    """Return the largest gap between two groups less the reach of its interval."""
    best = np.full(counts.n.shape[1:], -np.inf)
    for pair in pairs(counts):
        np.maximum(best, np.abs(pair.gap) - pair.reach(critical), out=best)
    return best


def widest_pair(counts: Counts) -> tuple[int, int]:
    """Return the lower and the higher group of the largest studentised gap."""
    widest = max(pairs(counts), key=lambda pair: float(pair.squares))
    a, b = widest.a, widest.b
    return (a, b) if widest.gap >= 0 else (b, a)


def gap_between(counts: Counts, low: int, high: int) -> Pair:
    """Return the gap of shrunk rates, ``high`` minus ``low``."""
    (pair,) = pairs(counts.of_groups([low, high]))
    return pair


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


def search(
    rows: Rows, depth: int, min_size: int, critical: float, *, most: int
) -> list[Conditions]:
    """Return the best conjunctions of up to ``depth`` conditions, best first.

    First the ``most`` with the largest certain gaps above 0, then the ``most`` with the
    largest studentised ones.
    """
    by_certain_gap = _Best(most, 0.0)
    by_statistic = _Best(most, -1.0)
    for block in rows.blocks(depth):
        n_rows, counts = rows.counts(block)
        large = np.flatnonzero(n_rows >= min_size)
        counts = counts.take(large)
        by_certain_gap.take(block, large, certain_gap(counts, critical))
        by_statistic.take(block, large, studentised(counts))
    places = [*by_certain_gap.places, *by_statistic.places]
    # A conjunction may be among the best of both: the first place counts.
    return list(dict.fromkeys(rows.conditions(*place) for place in places))


class _Best:
    """The ``most`` conjunctions with the largest scores above a bound, so far."""

    def __init__(self, most: int, above: float) -> None:
        self.most = most
        self.above = above
        self.score = np.empty(0)
        self.places: list[tuple[Block, int]] = []

    def take(self, block: Block, places: NDArray[np.int64], score: Floats) -> None:
        """Take the conjunctions of a block in; earlier ones come first where equal."""
        new = np.flatnonzero(score > self.above)
        scores = np.concatenate([self.score, score[new]])
        candidates = [*self.places, *((block, int(places[i])) for i in new)]
        order = np.argsort(-scores, kind="stable")[: self.most]
        self.score = scores[order]
        self.places = [candidates[i] for i in order]
        if len(order) == self.most:
            self.above = float(self.score[-1])


def largest_by_chance(
    rows: Rows, depth: int, min_size: int, times: int, rng: np.random.Generator
) -> tuple[int, Floats]:
    """Return how many subgroups are searched, and the largest z of each permutation."""
    n_searched = 0
    statistics = []
    by_signs = len(rows.marks) > 1
    width = rows.n_groups if by_signs else rows.n_groups - 1
    step = max(1, _BYTES // (8 * len(rows) * width))
    for start in range(0, times, step):
        n_draws = min(step, times - start)
        if by_signs:
            signs = random_signs(len(rows), rows.unit, n_draws, rng)
            n_searched, largest = _largest_by_signs(rows, depth, min_size, signs)
        else:
            labels = permuted(rows.group, rows.unit, n_draws, rng)
            n_searched, largest = _largest(rows, depth, min_size, labels)
        statistics.append(largest)
    return n_searched, np.concatenate(statistics)


def random_signs(
    n_rows: int, unit: NDArray[np.int64] | None, times: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Return signs by chance, (rows, times), the same for all rows of a unit."""
    unit_code = np.arange(n_rows)
    if unit is not None:
        unit_code = np.unique(unit, return_inverse=True)[1]
    bits = rng.integers(0, 2, (int(unit_code.max()) + 1, times))
    return (2 * bits - 1).astype(np.float32)[unit_code]


def _largest_by_signs(
    rows: Rows, depth: int, min_size: int, signs: NDArray[np.float32]
) -> tuple[int, Floats]:
    """Return how many subgroups are searched, and the largest z of each line of signs.

    Values become a common mean plus or minus the residual from it: that of the groups
    by the number of like rows that they are worth.
    """
    from scipy.sparse import csr_array

    times = signs.shape[1]
    n_groups = rows.n_groups
    mass = rows.mass.astype(np.float64)
    residual, centre = _residuals(rows)
    # v = m + s (v - m): sums of w v, w^2 v and w^2 v^2 need these only, where s^2 = 1.
    constant_marks = [np.ones(len(rows)), mass, mass**2, (mass * residual) ** 2]
    signed_marks = [mass * residual, mass**2 * residual]
    n_searched = 0
    largest = np.zeros(times)
    for block in rows.blocks(depth):
        cell, widths = rows.cells(block)
        n_cells = int(np.prod(widths))
        size = n_cells * n_groups
        place = cell * n_groups + rows.group
        by_cell: Floats = np.stack(
            [np.bincount(place, mark, size) for mark in constant_marks], axis=1
        ).astype(np.float64)
        constant = rows.conjunctions(block, by_cell.reshape(n_cells, n_groups, -1))
        indices = (place, np.arange(len(rows)))
        signed = []
        for mark in signed_marks:
            cell_sums = csr_array((mark, indices), (size, len(rows))) @ signs
            signed.append(
                rows.conjunctions(block, cell_sums.reshape(n_cells, n_groups, -1))
            )
        large = np.flatnonzero(constant[..., 0].sum(axis=1) >= min_size)
        n_searched += len(large)
        for start in range(0, len(large), _NEAR):
            part = large[start : start + _NEAR]
            n, weight, squares, residual_squares = (
                np.repeat(constant[part, :, k, None], times, axis=2) for k in range(4)
            )
            by_weight, by_square = (sums[part] for sums in signed)
            value_squares = (
                centre**2 * squares + 2 * centre * by_square + residual_squares
            )
            sums: list[list[Any]] = [
                [n, n],
                [weight, centre * weight + by_weight],
                [squares, centre * squares + by_square],
                [n, value_squares],
            ]
            by_group: list[Floats] = [
                np.stack(pair).transpose(0, 2, 1, 3) for pair in sums
            ]
            z = studentised(counted(by_group, rows.worth or 1.0))
            np.maximum(largest, z.max(0), out=largest)
    return n_searched, largest


def _residuals(rows: Rows) -> tuple[NDArray[np.float64], float]:
    """Return the residual of every row from the mean that groups have in common.

    Groups count by Kish's number of rows; the mean comes second.
    """
    mass = rows.mass.astype(np.float64)
    value = rows.value.astype(np.float64)
    group_mass = np.bincount(rows.group, mass, rows.n_groups)
    value_sums = np.bincount(rows.group, mass * value, rows.n_groups)
    mean = counting.divide(value_sums, group_mass)
    squares = np.bincount(rows.group, mass**2, rows.n_groups)
    kish = np.nan_to_num(counting.divide(group_mass**2, squares))
    centre = float(np.average(np.nan_to_num(mean), weights=kish))
    return value - centre, centre


def _largest(
    rows: Rows, depth: int, min_size: int, labels: NDArray[np.uint8]
) -> tuple[int, Floats]:
    """Return how many subgroups are searched, and the largest z of each permutation.

    All permutations of a block are counted by one product of a sparse matrix.
    """
    from scipy.sparse import csc_array

    times = labels.shape[1]
    n_groups = rows.n_groups
    # Columns are the groups but the first, times permutations. The last column counts
    # rows of all groups, from which the first group follows.
    in_group = np.ones((len(rows), (n_groups - 1) * times + 1), np.float32)
    marks = np.stack([labels == group for group in range(1, n_groups)], axis=1)
    in_group[:, :-1] = marks.reshape(len(rows), -1)
    n_searched = 0
    largest = np.zeros(times, np.float32)
    starts = np.arange(len(rows) + 1)
    ones = np.ones(len(rows), np.float32)
    for block in rows.blocks(depth):
        cell, widths = rows.cells(block)
        n_cells = int(np.prod(widths))
        place = 2 * cell + rows.value
        by_value = csc_array((ones, place, starts), (2 * n_cells, len(rows))) @ in_group
        cells = by_value.reshape(-1, 2, in_group.shape[1])
        cells[:, 0] += cells[:, 1]  # all rows, then the positive ones
        sums = rows.conjunctions(block, cells)
        large = sums[:, 0, -1] >= min_size
        n_searched += int(large.sum())
        for start in range(0, len(large), _NEAR):
            part = slice(start, start + _NEAR)
            large_sums = sums[part][large[part]]
            if n_groups == 2:
                _raise(largest, large_sums)
            elif len(large_sums):
                z = studentised(_of_groups(large_sums, n_groups, times))
                np.maximum(largest, z.max(0), out=largest)
    return n_searched, largest


def _raise(largest: Floats, sums: Floats) -> None:
    """Raise the largest z of each permutation to those of some subgroups, in place.

    A cheap bound leaves few subgroups for which z is computed.
    """
    totals = sums[..., -1]
    n, k = sums[..., :-1].swapaxes(0, 1)
    may_exceed = pooled_bound(n, k, totals.T[..., None]) > largest**2 / _ROUNDING
    if not may_exceed.any():
        return
    subgroup, time = np.nonzero(may_exceed)
    second = sums[subgroup, :, time]
    first = totals[subgroup] - second
    counts = np.stack([first, second], axis=-1).transpose(1, 2, 0)
    np.maximum.at(largest, time, studentised(Counts(*counts)))


def _of_groups(sums: Floats, n_groups: int, times: int) -> Counts:
    """Return rows and positive rows of all groups, (groups, subgroups, times)."""
    by_group = sums[..., :-1].reshape(-1, 2, n_groups - 1, times).transpose(1, 2, 0, 3)
    totals = sums[..., -1].T[:, None, :, None]
    first = totals - by_group.sum(1, keepdims=True)
    return Counts(*np.concatenate([first, by_group], axis=1))


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
    sorted_group = group[order]
    _, first, size = np.unique(unit[order], return_index=True, return_counts=True)
    unit_index = np.repeat(np.arange(len(size)), size)
    one_group_each = (sorted_group == sorted_group[first][unit_index]).all()
    if one_group_each:
        unit_labels = rng.permuted(labels[order[first]], axis=0)
        labels[order] = unit_labels[unit_index]
        return labels
    for n in np.unique(size):
        places = order[first[size == n][:, None] + np.arange(n)]
        for time in range(times):
            exchanged = rng.permutation(group[places])
            labels[places, time] = rng.permuted(exchanged, axis=1)
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

    def statistic(mask: Mask) -> float:
        return float(studentised(rows.counts_of(mask)))

    listed: dict[Conditions, Mask] = {}
    union = np.zeros(len(rows), bool)
    for conditions in candidates:
        mask = inside(conditions)
        z = statistic(mask)
        needed = critical if z > critical else _SIMILAR * z
        if listed and statistic(mask & ~union) <= needed:
            continue
        general = _general(rows, conditions, inside)
        if general in listed:
            continue
        listed[general] = inside(general)
        union |= listed[general]
        if len(listed) == most:
            break

    def rank(conditions: Conditions) -> tuple[float, float]:
        counts = rows.counts_of(listed[conditions])
        certain = float(certain_gap(counts, critical))
        return -max(certain, 0.0), -float(studentised(counts))

    return sorted(listed, key=rank)


def _general(
    rows: Rows, conditions: Conditions, inside: Callable[[Conditions], Mask]
) -> Conditions:
    """Give up conditions as long as the parent explains the gap."""
    if len(conditions) < 2:
        return conditions
    mask = inside(conditions)
    counts = rows.counts_of(mask)
    groups = widest_pair(counts)
    pair = gap_between(counts, *groups)
    explaining = []
    for i in range(len(conditions)):
        parent = conditions[:i] + conditions[i + 1 :]
        added = inside(parent) & ~mask
        of_added = gap_between(rows.counts_of(added), *groups)
        z = (pair.gap - of_added.gap) / np.sqrt(pair.variance + of_added.variance)
        if z < _ALIKE and of_added.gap > _SHARE * pair.gap:
            explaining.append((float(of_added.gap), i, parent))
    if not explaining:
        return conditions
    _, _, best_parent = max(explaining)
    return _general(rows, best_parent, inside)


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values; NaN stays and is not counted."""
    n_tests = int((~np.isnan(p)).sum())
    order: Any = np.argsort(p)[:n_tests]  # NaN is sorted last
    steps = p[order] * np.arange(n_tests, 0, -1)
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted
