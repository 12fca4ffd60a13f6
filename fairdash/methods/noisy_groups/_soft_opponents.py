"""Opponents that know P(G = j | noisy group) and give memberships to cells of rows.

The cells of a side are (noisy group, decision); what a group has of its noisy group
beyond them are rows that the rate is not over, a third cell with nothing to gain.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from fairdash.methods.noisy_groups._adam import Adam
from fairdash.methods.noisy_groups._opponents import CLIP, ROUNDS, Answer, Mask
from fairdash.methods.noisy_groups._rows import Float32, SideRows

DYKSTRA_STEPS = 12
TINY = np.float32(1e-9)


class Cells(NamedTuple):
    """Share of all rows in each cell, and the sum of v there; (k, n_noisy, 2)."""

    size: Float32
    total: Float32
    cut: Float32


class _Soft(ABC):
    """What both share: sums over cells, and the way back to rows."""

    def __init__(self, rows: SideRows, group_given_noisy: Float32) -> None:
        self.n_groups = group_given_noisy.shape[-1]
        self._rows = rows
        self._prior = rows.sizes / rows.sizes.sum()
        self._b = group_given_noisy  # (k, n_noisy, m)

    def answer(self, v: Float32, decided: Mask, multiplier: Float32) -> Answer:
        """Return the means and the pull at this opponent's memberships."""
        cells = self._cells(v, decided)
        w = self._memberships(cells, multiplier)  # (k, n_noisy, 2, m)
        whole = np.maximum((cells.size[..., None] * w).sum(axis=(1, 2)), TINY)
        mean = (cells.total[..., None] * w).sum(axis=(1, 2)) / whole
        coefficient = np.einsum("kncj,kj->knc", w, multiplier / whole)
        pull = np.empty_like(v)
        for group, mine in enumerate(self._rows.groups):
            no, yes = coefficient[:, group, :1], coefficient[:, group, 1:]
            pull[:, mine] = no + (yes - no) * decided[:, mine]
        pull *= self._rows.counts / self._rows.sizes.sum()
        return Answer(mean, pull)

    def _cells(self, v: Float32, decided: Mask) -> Cells:
        cut = np.minimum(v, CLIP)
        shape = (len(v), len(self._rows.groups), 2)
        size, total, short = (np.empty(shape, np.float32) for _ in range(3))
        for group, mine in enumerate(self._rows.groups):
            share = self._rows.counts[mine] / self._rows.sizes.sum()
            yes = decided[:, mine] * share
            size[:, group, 1] = yes.sum(axis=1)
            size[:, group, 0] = share.sum() - size[:, group, 1]
            for values, sums in ((v, total), (cut, short)):
                sums[:, group, 1] = np.einsum("kn,kn->k", values[:, mine], yes)
                sums[:, group, 0] = values[:, mine] @ share - sums[:, group, 1]
        return Cells(size, total, short)

    def _shares(self, cells: Cells) -> Float32:
        """Return P(cell | noisy group), the rows beyond this side third."""
        prior = self._prior[:, None]
        rest = np.maximum(prior - cells.size.sum(axis=-1, keepdims=True), 0)
        return np.asarray(
            np.concatenate([cells.size, rest], axis=-1) / prior, dtype=np.float32
        )

    def _gain(self, cells: Cells, w: Float32) -> Float32:
        """Return the slope of each group's mean in the memberships ``w``."""
        counted = w[:, :, :2]
        whole = np.maximum((cells.size[..., None] * counted).sum(axis=(1, 2)), TINY)
        mean = (cells.total[..., None] * counted).sum(axis=(1, 2)) / whole
        gain = np.zeros_like(w)
        gain[:, :, :2] = (
            cells.total[..., None] - cells.size[..., None] * mean[:, None, None]
        ) / whole[:, None, None]
        return gain

    @abstractmethod
    def _memberships(self, cells: Cells, multiplier: Float32) -> Float32: ...


class WorstSoft(_Soft):
    """The exact worst memberships for each group: cells filled in order of their mean.

    Dinkelbach's method, as the mean is a ratio.
    """

    def _memberships(self, cells: Cells, multiplier: Float32) -> Float32:
        prior = self._prior[:, None]
        budget = prior * self._b  # (k, n_noisy, m)
        rest = np.maximum(prior - cells.size.sum(axis=-1, keepdims=True), 0)
        size = np.concatenate([cells.size, rest], axis=-1)[:, :, None]
        total = np.concatenate([cells.cut, 0 * rest], axis=-1)[:, :, None]
        mean = total / np.maximum(size, TINY)
        counted = np.array([1, 1, 0], np.float32)
        share = budget[..., None] * (size / np.maximum(prior[..., None], TINY))
        taken = share
        for _ in range(ROUNDS):
            whole = np.maximum((taken * counted).sum(axis=(1, 3)), TINY)
            ratio = (taken * counted * mean).sum(axis=(1, 3)) / whole
            gain = counted * (mean - ratio[:, None, :, None])
            order = np.argsort(-gain, axis=-1, kind="stable")
            sizes = np.take_along_axis(np.broadcast_to(size, gain.shape), order, -1)
            before = np.cumsum(sizes, axis=-1) - sizes
            filled = np.clip(budget[..., None] - before, 0, sizes)
            taken = np.empty_like(filled)
            np.put_along_axis(taken, order, filled, -1)
        w = taken / np.maximum(size, TINY)
        return np.asarray(np.swapaxes(w[..., :2], 2, 3), dtype=np.float32)


class AscentSoft(_Soft):
    """The paper's way: memberships climb by Adam and are projected by Dykstra's rule.

    The third cell is projected along, so that memberships add up to P(G = j | k), and
    over the groups to one.
    """

    def __init__(
        self, rows: SideRows, group_given_noisy: Float32, rate: Float32
    ) -> None:
        super().__init__(rows, group_given_noisy)
        start = np.broadcast_to(
            group_given_noisy[:, :, None, :],
            (*group_given_noisy.shape[:2], 3, self.n_groups),
        )
        self._w = np.array(start)
        self._adam = Adam(self._w.shape, rate[:, None, None, None])

    def _memberships(self, cells: Cells, multiplier: Float32) -> Float32:
        gradient = self._gain(cells, self._w) * multiplier[:, None, None]
        climbed = self._w + self._adam.step(gradient)
        self._w = self._projected(climbed, self._shares(cells))
        return self._w[:, :, :2]

    def _projected(self, w: Float32, size: Float32) -> Float32:
        """Project onto total probability, then the simplex of every cell, in turn."""
        normal = size / np.maximum((size**2).sum(axis=-1, keepdims=True), TINY)
        kept = np.zeros_like(w)
        for _ in range(DYKSTRA_STEPS):
            short = self._b - np.einsum("knc,kncj->knj", size, w)
            w = w + normal[..., None] * short[:, :, None, :]
            w = w + (1 - w.sum(axis=-1, keepdims=True)) / self.n_groups
            positive = np.maximum(w + kept, 0)
            kept = w + kept - positive
            w = positive
        return w


class PenalisedSoft(_Soft):
    r"""The opponent of Algorithm 3: total probability is a penalty, not a rule.

    Memberships climb within the simplex of every cell. For leaving
    :math:`|\sum_c P(c | k) w_{kcj} - P(G = j | k)| \le \tau` the model's side answers
    with a multiplier :math:`\mu` of size :math:`R'` on the worst k of each group, which
    pushes them back.
    """

    def __init__(
        self,
        rows: SideRows,
        group_given_noisy: Float32,
        *,
        tolerance: float,
        penalty: float,
        rate: float,
    ) -> None:
        super().__init__(rows, group_given_noisy)
        self._tolerance, self._penalty, self._rate = tolerance, penalty, rate
        start = np.broadcast_to(
            group_given_noisy[:, :, None, :],
            (*group_given_noisy.shape[:2], 3, self.n_groups),
        )
        self._w = np.array(start)

    def climb(self, v: Float32, decided: Mask, multiplier: Float32) -> None:
        """Take one step of the memberships against the model that has these scores."""
        cells = self._cells(v, decided)
        size, w = self._shares(cells), self._w
        gain = self._gain(cells, w)
        over = np.einsum("knc,kncj->knj", size, w) - self._b
        worst = np.abs(over).argmax(axis=1, keepdims=True)
        most = np.take_along_axis(over, worst, 1)
        mu = np.zeros_like(over)
        push = self._penalty * np.sign(most) * (np.abs(most) > self._tolerance)
        np.put_along_axis(mu, worst, push.astype(np.float32), 1)
        gain -= mu[:, :, None, :] * size[..., None]
        self._w = _simplex(w + self._rate * multiplier[:, None, None] * gain)

    def _memberships(self, cells: Cells, multiplier: Float32) -> Float32:
        return self._w[:, :, :2]


def _simplex(w: Float32) -> Float32:
    """Project the last axis onto the simplex."""
    ranked = -np.sort(-w, axis=-1)
    level = (np.cumsum(ranked, axis=-1) - 1) / np.arange(1, w.shape[-1] + 1)
    return np.asarray(np.maximum(w - level.max(axis=-1, keepdims=True), 0), np.float32)
