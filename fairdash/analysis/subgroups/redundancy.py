"""A list of subgroups in which each says something new."""

from collections.abc import Callable, Iterable

import numpy as np

from fairdash._arrays import BoolArray
from fairdash.analysis.subgroups.gaps import (
    certain_gap,
    gap_between,
    studentised,
    widest_pair,
)
from fairdash.analysis.subgroups.rows import Conditions, SearchRows

# Standard errors; the best of many looks larger than it is.
_ALIKE = 3.0
# Share of its gap that rows outside must show to explain it.
_SHARE = 0.5
# Share of its own statistic, left outside the others, where none is clear.
_SIMILAR = 0.8


def without_redundant(
    rows: SearchRows,
    candidates: Iterable[Conditions],
    inside: Callable[[Conditions], BoolArray],
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

    def statistic(mask: BoolArray) -> float:
        return float(studentised(rows.counts_of(mask)))

    listed: dict[Conditions, BoolArray] = {}
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
    rows: SearchRows, conditions: Conditions, inside: Callable[[Conditions], BoolArray]
) -> Conditions:
    """Give up conditions as long as the parent explains the gap."""
    if len(conditions) < 2:
        return conditions
    mask = inside(conditions)
    counts = rows.counts_of(mask)
    groups = widest_pair(counts)
    pair = gap_between(counts, *groups)
    best_parent: Conditions | None = None
    widest_gap = 0.0
    for i in range(len(conditions)):
        parent = conditions[:i] + conditions[i + 1 :]
        added_rows = inside(parent) & ~mask
        added = gap_between(rows.counts_of(added_rows), *groups)
        error = np.sqrt(pair.variance + added.variance)
        z = (pair.gap - added.gap) / error
        explains = z < _ALIKE and added.gap > _SHARE * pair.gap
        if explains and (best_parent is None or added.gap >= widest_gap):
            best_parent = parent
            widest_gap = float(added.gap)
    if best_parent is None:
        return conditions
    return _general(rows, best_parent, inside)
