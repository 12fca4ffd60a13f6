"""The paper's opponent: projected ascent on the distributions (Algorithm 2)."""

import numpy as np

from fairdash.methods.noisy_groups._adam import Adam
from fairdash.methods.noisy_groups._opponents import Answer, Mask
from fairdash.methods.noisy_groups._rows import Float32, SideRows

NEWTON_STEPS = 40


class AscentInBall:
    """Distributions that climb by Adam and are projected onto the ball.

    Every training row has a probability of its own; equal rows share its value, and so
    do all rows of a noisy group that the rate is not over, since none of them has a
    gradient. Two more columns hold those: of the group, and of the others.
    """

    def __init__(self, rows: SideRows, radius: Float32, rate: Float32) -> None:
        k, (m, n) = len(radius), (len(rows.groups), len(rows.counts))
        self.n_groups = m
        inside, sizes = rows.inside, rows.sizes
        self._side = slice(0, n)
        self._radius = radius
        self._base = np.zeros((m, n + 2), np.float32)
        self._counts = np.zeros((m, n + 2), np.float32)
        self._counts[:, :n] = rows.counts
        for j, mine in enumerate(rows.groups):
            self._base[j, mine] = 1 / sizes[j]
            self._base[j, n] = 1 / sizes[j]
            self._counts[j, n] = sizes[j] - inside[j]
            self._counts[j, n + 1] = (sizes.sum() - inside.sum()) - self._counts[j, n]
        # decrease takes place where the group has mass: its rows and those beyond
        self._own = [np.append(np.arange(n)[mine], n) for mine in rows.groups]
        self._p = np.repeat(self._base[None], k, axis=0)
        self._level = np.zeros((k, m), np.float32)  # of the increase, as last found
        self._adam = Adam((k, m, n), rate[:, None, None])

    def answer(self, v: Float32, decided: Mask, multiplier: Float32) -> Answer:
        """Return means and weights at the distributions reached, then climb."""
        p = self._p[:, :, self._side]
        weights = p * self._counts[:, self._side]
        whole = weights.sum(axis=2)
        weights /= np.maximum(whole, 1e-12)[:, :, None]
        mean = np.matmul(weights, v[:, :, None])[:, :, 0]
        pull = np.matmul(multiplier[:, None, :], weights)[:, 0]
        scale = (multiplier / np.maximum(whole, 1e-12))[:, :, None]
        p += self._adam.step(scale * (v[:, None, :] - mean[:, :, None]))
        self._project()
        return Answer(mean, pull)

    def _project(self) -> None:
        """Replace every distribution by the closest one in its ball."""
        up = self._p - self._base
        level = _level(up, self._counts, self._radius, self._level)
        moved = self._base + np.maximum(up - level[:, :, None], 0)
        binding = np.empty(level.shape, bool)
        for j, own in enumerate(self._own):
            down, cap = -up[:, j, own], self._base[j, own[0]]
            below = _fall(down, self._counts[j, own], cap, self._radius[:, j])
            binding[:, j] = level[:, j] + below >= 0
            moved[:, j, own] -= np.clip(down - below[:, None], 0, cap)
        within = ~binding
        if within.any():
            inner, groups = self._p[within], np.nonzero(within)[1]
            one = np.ones(len(inner), np.float32)
            height = _level(inner, self._counts[groups], one, level[within])
            moved[within] = np.maximum(inner - height[:, None], 0)
        self._p, self._level = moved, level


def _fall(down: Float32, counts: Float32, cap: np.float32, mass: Float32) -> Float32:
    """Return the level above which values, each cut off at ``cap``, hold ``mass``.

    The caps are so narrow that the sum is nearly a staircase, on which Newton's method
    gains nothing: exact, by sorting where its slope changes.
    """
    kinks = np.concatenate([down, down - cap], axis=1)
    order = np.argsort(-kinks, axis=1)
    at = np.take_along_axis(kinks, order, 1)
    slope = np.cumsum(np.append(counts, -counts)[order], axis=1, dtype=np.float64)
    reached = np.zeros(at.shape)
    np.cumsum(slope[:, :-1] * -np.diff(at, axis=1), axis=1, out=reached[:, 1:])
    last = (reached <= mass[:, None]).sum(axis=1, keepdims=True) - 1
    short = mass - np.take_along_axis(reached, last, 1)[:, 0]
    steep = np.maximum(np.take_along_axis(slope, last, 1)[:, 0], 1)
    level = np.take_along_axis(at, last, 1)[:, 0] - short / steep
    return np.asarray(level, dtype=np.float32)


def _level(values: Float32, counts: Float32, mass: Float32, start: Float32) -> Float32:
    """Return the level above which ``values`` hold ``mass``.

    Newton's method, exact: the next level is the one at which the values above the last
    would hold the mass. Wherever it starts, the first step leads to or below the level
    sought, from where it only rises, and it has arrived when it passes no more values.
    It begins below the largest value that any row has, since above there is none.
    """
    top = np.where(counts > 0, values, -np.inf).max(axis=-1)
    level = np.where(start < top, start, np.float32(-np.inf))
    lowest, size = np.full_like(level, -np.inf), np.zeros_like(level)
    for _ in range(NEWTON_STEPS):
        held = np.where(values > level[..., None], counts, np.float32(0))
        before, size = size, held.sum(axis=-1)
        if ((size == before) | (size == 0)).all():
            break
        held *= values
        reached = (held.sum(axis=-1) - mass) / np.maximum(size, 1)
        lowest = level = np.where(size > 0, np.maximum(reached, lowest), level)
    return level
