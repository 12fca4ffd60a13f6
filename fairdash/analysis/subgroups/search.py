"""Exact search for the subgroups with the largest gaps between groups."""

import numpy as np
from numpy.typing import NDArray

from fairdash.analysis.subgroups.gaps import Floats, certain_gap, studentised
from fairdash.analysis.subgroups.rows import Block, Conditions, SearchRows


def search(
    rows: SearchRows, depth: int, min_size: int, critical: float, *, most: int
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
    best = [*by_certain_gap.conjunctions, *by_statistic.conjunctions]
    conditions = [rows.conditions(block, index) for block, index in best]
    # A conjunction may be among the best of both: it counts where it comes first.
    return list(dict.fromkeys(conditions))


class _Best:
    """The ``most`` conjunctions with the largest scores above a bound, so far."""

    def __init__(self, most: int, above: float) -> None:
        self.most = most
        self.above = above
        self.scores = np.empty(0)
        self.conjunctions: list[tuple[Block, int]] = []

    def take(self, block: Block, indices: NDArray[np.int64], scores: Floats) -> None:
        """Take the conjunctions of a block in; earlier ones come first where equal."""
        is_better = scores > self.above
        new = [(block, int(index)) for index in indices[is_better]]
        candidates = [*self.conjunctions, *new]
        all_scores = np.concatenate([self.scores, scores[is_better]])
        order = np.argsort(-all_scores, kind="stable")[: self.most]
        self.scores = all_scores[order]
        self.conjunctions = [candidates[i] for i in order]
        if len(order) == self.most:
            self.above = float(self.scores[-1])
