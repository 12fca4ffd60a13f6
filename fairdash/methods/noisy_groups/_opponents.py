"""Who the model plays against: memberships that make its rates look worst.

Each opponent is given ``v``, how badly each row counts (models x rows of a side), and
answers with the weighted mean of every group and, summed over groups with their
multipliers, the weight of each row. The answer is to the same ``v`` for all models.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdash.methods.noisy_groups._rows import Float32, SideRows

Mask = NDArray[np.bool_]
CLIP = np.float32(1)  # beyond it one outlier would take all of the moved mass
ROUNDS = 3  # of Dinkelbach's method; more than two were never needed


class Answer(NamedTuple):
    """Worst mean of every group, (k, m), and the rows' weights, (k, n_side)."""

    mean: Float32
    pull: Float32


class Opponent(Protocol):
    """Memberships of the groups that a side's rows are in."""

    n_groups: int

    def answer(self, v: Float32, decided: Mask, multiplier: Float32) -> Answer:
        """Return the means and the pull on each row."""
        ...


class Known:
    """Memberships as they are given: the noisy groups taken at their word."""

    def __init__(self, rows: SideRows) -> None:
        self.n_groups = len(rows.groups)
        self.weights = np.zeros((self.n_groups, len(rows.counts)), np.float32)
        for j, mine in enumerate(rows.groups):
            self.weights[j, mine] = rows.counts[mine] / rows.counts[mine].sum()

    def answer(self, v: Float32, decided: Mask, multiplier: Float32) -> Answer:
        """Return the means of the noisy groups."""
        return Answer(v @ self.weights.T, multiplier @ self.weights)


class WorstInBall:
    """The exact worst distribution within a total variation ball.

    The rule of `fairdash.methods.noisy_groups.tv_ball_ratio_max`: mass leaves the rows
    of the group with the lowest v, as long as v is below the mean, then those that
    the rate is not over, and goes to the highest v of all groups. v is cut off at 1 to
    choose; rows beyond share the mass.
    """

    def __init__(self, rows: SideRows, radius: Float32) -> None:
        self.n_groups = len(rows.groups)
        self._rows, self._radius = rows, radius  # (k, m)

    def answer(self, v: Float32, decided: Mask, multiplier: Float32) -> Answer:
        """Return the means and weights at the worst distributions."""
        rows = self._rows
        cut = np.minimum(v, CLIP)
        highest = cut.max(axis=1, keepdims=True)
        top = (cut >= highest) * rows.counts
        top /= top.sum(axis=1, keepdims=True)
        top_mean = (top * v).sum(axis=1)
        pull = np.zeros_like(v)
        mean = np.empty((len(v), self.n_groups), np.float32)
        to_top = np.zeros((len(v), 1), np.float32)
        for j, mine in enumerate(rows.groups):
            mass = rows.counts[mine] / rows.sizes[j]
            left, moved = _leave(cut[:, mine], mass, self._radius[:, j], highest[:, 0])
            whole = mass.sum() - left.sum(axis=1) + moved
            stay = mass - left
            mean[:, j] = ((stay * v[:, mine]).sum(axis=1) + moved * top_mean) / whole
            scale = (multiplier[:, j] / whole)[:, None]
            pull[:, mine] += scale * stay
            to_top += scale * moved[:, None]
        pull += to_top * top
        return Answer(mean, pull)


def _leave(
    v: Float32, mass: Float32, radius: Float32, highest: Float32
) -> tuple[Float32, Float32]:
    """Return the mass that leaves each row of a group, and what arrives at the top."""
    order = np.argsort(v, axis=1)
    ranked, sizes = np.take_along_axis(v, order, 1), mass[order]
    before = np.cumsum(sizes, axis=1) - sizes
    most = np.clip(radius[:, None] - before, 0, sizes)
    inside = mass.sum()
    ratio = (v @ mass) / inside
    for _ in range(ROUNDS):
        left = most * (ranked < ratio[:, None])
        gone = left.sum(axis=1)
        moved = np.minimum(radius, gone + (1 - inside))
        kept = v @ mass - (left * ranked).sum(axis=1)
        ratio = (kept + moved * highest) / (inside - gone + moved)
    unsorted = np.empty_like(left)
    np.put_along_axis(unsorted, order, left, 1)
    return unsorted, moved.astype(np.float32)
