"""A short list of subgroups, none of which another one explains."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdash.audits.subgroups.conditions import Condition
from fairdash.audits.subgroups.counts import Float, Rows
from fairdash.audits.subgroups.statistic import (
    certain_gap,
    gap_between,
    studentised,
    widest_pair,
)

Words = NDArray[np.uint64]
_ALIKE = 3.0  # standard errors; the best of many looks larger than it is
_SHARE = 0.5  # of its gap that rows outside must show to explain it
_SIMILAR = 0.8  # of its own statistic, left outside the others, where none is clear


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
