r"""The largest gap of all subgroups that chance alone makes.

For rates of rows that weigh alike, groups are permuted, and the largest z of
*all* subgroups is taken each time (Westfall and Young 1993). Numbers, and rows that
weigh unlike, may be spread unlike in groups that are alike in their mean, so that
groups cannot change places: the residuals :math:`v - m` from the mean that groups have
in common get a random sign instead, one a unit (the wild bootstrap, Liu 1988). Those
from a mean of a group's own are too small where few rows of it are heavy.

References
----------
R. Y. Liu (1988), Bootstrap procedures under some non-i.i.d. models. Annals of
Statistics 16, 1696-1708.
P. H. Westfall and S. S. Young (1993), Resampling-based multiple testing. Wiley.
"""

import numpy as np
from numpy.typing import NDArray

from fairdash.analysis.subgroups.gaps import (
    Counts,
    Floats,
    counted,
    pooled_bound,
    studentised,
)
from fairdash.analysis.subgroups.rows import Block, SearchRows
from fairdash.metrics import counting

# Of permuted labels at a time.
_BYTES = 100_000_000
# Conjunctions at a time, few enough to stay in a cache.
_NEAR = 64
# Of bounds in single precision.
_ROUNDING = 1.001


def largest_by_chance(
    rows: SearchRows, depth: int, min_size: int, times: int, rng: np.random.Generator
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
        _, unit_code = np.unique(unit, return_inverse=True)
    n_units = int(unit_code.max()) + 1
    bits = rng.integers(0, 2, (n_units, times))
    signs = (2 * bits - 1).astype(np.float32)
    return signs[unit_code]


def _largest_by_signs(
    rows: SearchRows, depth: int, min_size: int, signs: NDArray[np.float32]
) -> tuple[int, Floats]:
    """Return how many subgroups are searched, and the largest z of each line of signs.

    Values become a common mean plus or minus the residual from it: that of the groups
    by the number of like rows that they are worth.
    """
    residual, centre = _residuals(rows)
    n_searched = 0
    largest = np.zeros(signs.shape[1])
    for block in rows.blocks(depth):
        constant, signed = _sums_by_signs(rows, block, residual, signs)
        large = np.flatnonzero(constant[..., 0].sum(axis=1) >= min_size)
        n_searched += len(large)
        for start in range(0, len(large), _NEAR):
            part = large[start : start + _NEAR]
            near = [sums[part] for sums in signed]
            counts = _counts_by_signs(constant[part], near, centre, rows.worth or 1.0)
            np.maximum(largest, studentised(counts).max(axis=0), out=largest)
    return n_searched, largest


def _sums_by_signs(
    rows: SearchRows,
    block: Block,
    residual: NDArray[np.float64],
    signs: NDArray[np.float32],
) -> tuple[Floats, list[Floats]]:
    """Return sums over conjunctions that all signs share, and those that they change.

    The first, (conjunctions, groups, 4), are of ones, of w, of w^2 and of w^2 r^2 with
    the residual r; the others, (conjunctions, groups, times) each, of s w r and of
    s w^2 r with the sign s.
    """
    from scipy.sparse import csr_array

    mass = rows.mass.astype(np.float64)
    constant_marks = [np.ones(len(rows)), mass, mass**2, (mass * residual) ** 2]
    signed_marks = [mass * residual, mass**2 * residual]
    cell, n_cells = rows.cells(block)
    cell_of_group = cell * rows.n_groups + rows.group
    size = n_cells * rows.n_groups
    shape = (n_cells, rows.n_groups, -1)
    sums = [np.bincount(cell_of_group, mark, size) for mark in constant_marks]
    by_cell: Floats = np.stack(sums, axis=1).astype(np.float64)
    constant = rows.conjunctions(block, by_cell.reshape(shape))
    indices = (cell_of_group, np.arange(len(rows)))
    signed = []
    for mark in signed_marks:
        by_cell = csr_array((mark, indices), (size, len(rows))) @ signs
        signed.append(rows.conjunctions(block, by_cell.reshape(shape)))
    return constant, signed


def _counts_by_signs(
    constant: Floats, signed: list[Floats], centre: float, worth: float
) -> Counts:
    """Return `counted` rows of conjunctions, (groups, conjunctions, times)."""
    by_weight, by_square = signed
    times = by_weight.shape[-1]
    n, weight, squares, residual_squares = (
        np.repeat(constant[..., mark, None], times, axis=2) for mark in range(4)
    )
    # With v = m + s r and s^2 = 1: the square of a value multiplied out.
    value_squares = centre**2 * squares + 2 * centre * by_square + residual_squares
    sums = [
        (n, n),
        (weight, centre * weight + by_weight),
        (squares, centre * squares + by_square),
        (n, value_squares),
    ]
    by_group: list[Floats] = [np.stack(pair).transpose(0, 2, 1, 3) for pair in sums]
    return counted(by_group, worth)


def _residuals(rows: SearchRows) -> tuple[NDArray[np.float64], float]:
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
    rows: SearchRows, depth: int, min_size: int, labels: NDArray[np.uint8]
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
    is_member = np.stack([labels == group for group in range(1, n_groups)], axis=1)
    in_group[:, :-1] = is_member.reshape(len(rows), -1)
    n_searched = 0
    largest = np.zeros(times, np.float32)
    starts = np.arange(len(rows) + 1)
    ones = np.ones(len(rows), np.float32)
    for block in rows.blocks(depth):
        cell, n_cells = rows.cells(block)
        cell_of_value = 2 * cell + rows.value
        matrix = csc_array((ones, cell_of_value, starts), (2 * n_cells, len(rows)))
        by_value = matrix @ in_group
        by_cell = by_value.reshape(-1, 2, in_group.shape[1])
        # Of values 0 and 1: then of all rows, and of the positive ones.
        by_cell[:, 0] += by_cell[:, 1]
        sums = rows.conjunctions(block, by_cell)
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
    n, k = np.stack([first, second], axis=-1).transpose(1, 2, 0)
    np.maximum.at(largest, time, studentised(Counts(n, k)))


def _of_groups(sums: Floats, n_groups: int, times: int) -> Counts:
    """Return rows and positive rows of all groups, (groups, subgroups, times)."""
    by_group = sums[..., :-1].reshape(-1, 2, n_groups - 1, times)
    by_group = by_group.transpose(1, 2, 0, 3)
    totals = sums[..., -1].T[:, None, :, None]
    first = totals - by_group.sum(axis=1, keepdims=True)
    n, k = np.concatenate([first, by_group], axis=1)
    return Counts(n, k)


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
    for n_rows in np.unique(size):
        # One line a unit of so many rows.
        rows_of_units = order[first[size == n_rows][:, None] + np.arange(n_rows)]
        for time in range(times):
            exchanged = rng.permutation(group[rows_of_units])
            labels[rows_of_units, time] = rng.permuted(exchanged, axis=1)
    return labels
