"""Exact search for the subgroups with the largest gaps between groups."""

import numpy as np
from numpy.typing import NDArray

from fairdash.analysis.subgroups.gaps import Floats, certain_gap, studentised
from fairdash.analysis.subgroups.rows import Block, Conditions, Rows


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
