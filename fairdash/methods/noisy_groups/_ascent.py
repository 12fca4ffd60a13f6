"""The paper's opponent: projected ascent on the distributions (Algorithm 2)."""

import numpy as np

from fairdash.methods.noisy_groups._adam import Adam
from fairdash.methods.noisy_groups._opponents import Answer, Mask
from fairdash.methods.noisy_groups._rows import Float32, SideRows

NEWTON_STEPS = 40
NEAR = np.float32(1e-5)  # of the mass, at which a level is found; sums are float32


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
        self._p = np.repeat(self._base[None], k, axis=0)
        self._adam = Adam((k, m, n), rate[:, None, None])
        self._up = np.full((k, m), np.inf, np.float32)
        self._down = np.full((k, m), np.inf, np.float32)

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
        self._up = _level(up, self._counts, self._radius, self._up)
        self._down = _level(-up, self._counts, self._radius, self._down, self._base)
        within = self._up + self._down < 0  # the ball does not bind
        rise = np.maximum(up - self._up[:, :, None], 0)
        fall = np.clip(-up - self._down[:, :, None], 0, self._base)
        moved = self._base + rise - fall
        if within.any():
            inner, groups = self._p[within], np.nonzero(within)[1]
            ones = np.ones((len(inner), 1), np.float32)
            start = np.full_like(ones, np.inf)
            counts = self._counts[groups]
            level = _level(inner[:, None], counts[:, None], ones, start)
            moved[within] = np.maximum(inner - level, 0)
        self._p = moved


def _level(
    values: Float32,
    counts: Float32,
    mass: Float32,
    start: Float32,
    caps: Float32 | None = None,
) -> Float32:
    """Return the level above which ``values`` hold ``mass``, by Newton's method.

    Capped values make the sum neither convex nor concave; a bracket keeps the steps.
    """
    high = values.max(axis=-1)
    low = np.full_like(high, -np.inf)
    level = np.minimum(start, high - NEAR)
    level = np.where(np.isfinite(level), level, high - mass / counts.sum(axis=-1))
    for _ in range(NEWTON_STEPS):
        above = values - level[..., None]
        if caps is None:
            held = np.maximum(above, 0)
            active = above > 0
        else:
            held = np.minimum(np.maximum(above, 0), caps)
            active = (above > 0) & (above < caps)
        excess = (held * counts).sum(axis=-1) - mass
        if (np.abs(excess) <= NEAR * np.maximum(mass, NEAR)).all():
            break
        low = np.where(excess > 0, level, low)
        high = np.where(excess > 0, high, level)
        slope = (active * counts).sum(axis=-1)
        step = level + excess / np.maximum(slope, 1e-12)
        middle = np.where(np.isfinite(low), (low + high) / 2, high - 1)
        step = np.where((slope > 0) & (step > low) & (step < high), step, middle)
        if np.array_equal(step, level):  # as close as float32 gets
            break
        level = step
    return np.asarray(level, dtype=np.float32)
