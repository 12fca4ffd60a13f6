"""Constraints under soft memberships: groups known through P(G | noisy group)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from fairdash._arrays import BoolArray, Float32Array, FloatArray
from fairdash.methods.base import TrainingRows
from fairdash.methods.declare import Method, param
from fairdash.methods.noisy_groups import estimators
from fairdash.methods.noisy_groups.game import (
    CLIP,
    Adam,
    BestAnswer,
    GameRows,
    Opponent,
    SideRows,
    ViolationFunction,
    by_model,
    violation_function,
)
from fairdash.methods.noisy_groups.inputs import check_noise_matrix
from fairdash.methods.noisy_groups.noise import symmetric_noise
from fairdash.methods.noisy_groups.worst_case import soft_ratio_max

DYKSTRA_STEPS = 12
TINY = np.float32(1e-9)
NOISE_LEVEL: Any = param(
    0.1,
    "Noise level",
    letter="ν",
    high=0.6,
    stackable=True,
    help="Assumed share of wrong groups, the same for all groups.",
    doc="Assumed share of wrong groups, the same for all, at most what the shares of "
    "the groups allow: see `fairdash.methods.noisy_groups.symmetric_noise`.",
)
GROUP_GIVEN_NOISY: Any = param(
    None,
    doc="P(G = j | noisy group k), noisy groups in sorted order, instead of "
    "``noise_level``: see `fairdash.methods.noisy_groups.estimate_noise`.",
    accepts="array-like of shape (n_noisy, n_groups), optional",
)


class LearnedShares:
    """What methods under soft memberships learn beside the model."""

    noise_: FloatArray


class NoisyGroupsSoft(LearnedShares, estimators.RobustClassifier):
    r"""Constraints for all soft memberships that agree with the noise: Algorithm 4.

    .. math::

        \max_{w_j:\; E[w_j(\hat Y, Y, \hat G) | \hat G = k] = P(G = j | \hat G = k)}
        g_j(\theta, w_j) \le \alpha + 1

    The memberships climb by Adam and are projected. True and noisy groups need neither
    be alike nor as many.

    Attributes
    ----------
    As in `NoisyGroupsNaive`; ``violation_`` is the exact one over soft memberships, and
    ``noise_`` the matrix that was used.

    References
    ----------
    Wang et al. (NeurIPS 2020), Eq. 7 and Algorithm 4.
    """

    noise_level: float = NOISE_LEVEL
    group_given_noisy: Any = GROUP_GIVEN_NOISY

    def _opponents(self, models: Sequence[Self], rows: GameRows) -> list[Opponent]:
        b = noises(models)
        rate = estimators.column(models, "adversary_rate")
        return [AscentSoft(side, b, rate) for side in rows.sides]

    def _violations(
        self, models: Sequence[Self], rows: GameRows, training: TrainingRows
    ) -> ViolationFunction:
        return soft_violations(rows, noises(models), estimators.column(models, "slack"))


METHOD = Method.of(
    NoisyGroupsSoft,
    key="noisy_soft",
    label="Soft",
    title="Constraints under soft group assignments",
    summary="Asks the constraints of all memberships that agree with what is known of "
    "each noisy group.",
    source=f"{estimators.PAPER}, Eq. 7 and Algorithm 4",
    efforts=estimators.EFFORTS,
    former=estimators.FORMER,
)


def noises(models: Sequence[Any]) -> Float32Array:
    """Return each model's P(G = j | noisy group k), and keep it with the model."""
    for model in models:
        prior = model.noisy_prior_
        matrix = model.group_given_noisy
        if matrix is None:
            noise = symmetric_noise(prior, model.noise_level, name="noise_level")
        else:
            noise = check_noise_matrix(matrix, len(prior))
        model.noise_ = noise
    return np.array([model.noise_ for model in models], dtype=np.float32)


def soft_violations(
    rows: GameRows, group_given_noisy: Float32Array, slack: Float32Array
) -> ViolationFunction:
    """Return the exact violations over soft memberships: see `soft_group_rates`."""

    def worst(side: SideRows, decisions: Float32Array) -> Float32Array:
        sign = side.side.sign
        prior = side.sizes.astype(np.float64) / side.sizes.sum()
        inside = prior * side.inside / side.sizes
        positive = by_model(decisions, side.weights.T) * inside
        size = np.stack([inside - positive, positive], axis=-1)
        # The least rate is the largest mean of its negative.
        value = np.broadcast_to([0.0, float(sign)], size.shape)
        rest = np.maximum(prior - inside, 0)
        budget = prior[:, None] * group_given_noisy
        mean, _ = soft_ratio_max(size, value, rest, budget, budget)
        return np.asarray(sign * mean, dtype=np.float32)

    return violation_function(rows, slack, worst)


class GroupCells(NamedTuple):
    """Rows by noisy group and decision; each array has shape (k, n_noisy, 2).

    Attributes
    ----------
    size : ndarray
        Share of all rows.
    total : ndarray
        Sum of v over these rows, as shares of all.
    cut : ndarray
        The same of v cut off at ``CLIP``: v is unbounded, and one outlier would take
        all the mass.
    """

    size: Float32Array
    total: Float32Array
    cut: Float32Array


class SoftOpponent(ABC):
    """An opponent that gives memberships to cells of rows.

    The cells of a side are (noisy group, decision); what a group has of its noisy group
    beyond them are rows that the rate is not over, a third cell with nothing to gain.
    """

    def __init__(self, rows: SideRows, group_given_noisy: Float32Array) -> None:
        self.n_groups = group_given_noisy.shape[-1]
        self._rows = rows
        self._prior = rows.sizes / rows.sizes.sum()
        self._b = group_given_noisy  # (k, n_noisy, m)

    def answer(
        self, v: Float32Array, decided: BoolArray, multiplier: Float32Array
    ) -> BestAnswer:
        """Return the means and the pull at this opponent's memberships."""
        cells = self.cells(v, decided)
        w = self._memberships(cells, multiplier)  # (k, n_noisy, 2, m)
        members = np.maximum((cells.size[..., None] * w).sum(axis=(1, 2)), TINY)
        mean = (cells.total[..., None] * w).sum(axis=(1, 2)) / members
        coefficient = np.einsum("kncj,kj->knc", w, multiplier / members)
        pull = np.empty_like(v)
        for group, part in enumerate(self._rows.groups):
            no = coefficient[:, group, :1]
            yes = coefficient[:, group, 1:]
            pull[:, part] = no + (yes - no) * decided[:, part]
        pull *= self._rows.counts / self._rows.sizes.sum()
        return BestAnswer(mean, pull)

    def cells(self, v: Float32Array, decided: BoolArray) -> GroupCells:
        """Return the cells of a side, in each noisy group no and then yes."""
        cut = np.minimum(v, CLIP)
        shape = (len(v), len(self._rows.groups), 2)
        size = np.empty(shape, np.float32)
        total = np.empty(shape, np.float32)
        cut_total = np.empty(shape, np.float32)
        for group, part in enumerate(self._rows.groups):
            share = self._rows.counts[part] / self._rows.sizes.sum()
            yes = decided[:, part] * share
            size[:, group, 1] = yes.sum(axis=1)
            size[:, group, 0] = share.sum() - size[:, group, 1]
            for values, sums in ((v, total), (cut, cut_total)):
                sums[:, group, 1] = (values[:, part] * yes).sum(axis=1)
                sums[:, group, 0] = by_model(values[:, part], share) - sums[:, group, 1]
        return GroupCells(size, total, cut_total)

    def shares(self, cells: GroupCells) -> Float32Array:
        """Return P(cell | noisy group), the rows beyond this side third."""
        prior = self._prior[:, None]
        rest = np.maximum(prior - cells.size.sum(axis=-1, keepdims=True), 0)
        return np.asarray(
            np.concatenate([cells.size, rest], axis=-1) / prior, dtype=np.float32
        )

    def gain(self, cells: GroupCells, w: Float32Array) -> Float32Array:
        """Return the slope of each group's mean in the memberships ``w``."""
        size = cells.size[..., None]
        total = cells.total[..., None]
        counted = w[:, :, :2]  # the third cell has rows that the mean is not over
        members = np.maximum((size * counted).sum(axis=(1, 2)), TINY)
        mean = (total * counted).sum(axis=(1, 2)) / members
        gain = np.zeros_like(w)
        gain[:, :, :2] = (total - size * mean[:, None, None]) / members[:, None, None]
        return gain

    @abstractmethod
    def _memberships(
        self, cells: GroupCells, multiplier: Float32Array
    ) -> Float32Array: ...


class AscentSoft(SoftOpponent):
    """The paper's way: memberships climb by Adam and are projected by Dykstra's rule.

    The third cell is projected along, so that memberships add up to P(G = j | k), and
    over the groups to one.
    """

    def __init__(
        self, rows: SideRows, group_given_noisy: Float32Array, rate: Float32Array
    ) -> None:
        super().__init__(rows, group_given_noisy)
        self._w = np.repeat(group_given_noisy[:, :, None], 3, axis=2)
        self._adam = Adam(self._w.shape, rate[:, None, None, None])

    def _memberships(self, cells: GroupCells, multiplier: Float32Array) -> Float32Array:
        gradient = self.gain(cells, self._w) * multiplier[:, None, None]
        climbed = self._w + self._adam.step(gradient)
        self._w = self._projected(climbed, self.shares(cells))
        return self._w[:, :, :2]

    def _projected(self, w: Float32Array, size: Float32Array) -> Float32Array:
        """Project onto total probability, then the simplex of every cell, in turn.

        Dykstra's rule: of the sets that are no subspaces (here only w >= 0), each round
        first gives back what the last one cut off. Plain alternation would reach a
        point of the intersection, but not the closest one.
        """
        normal = size / np.maximum((size**2).sum(axis=-1, keepdims=True), TINY)
        cut_off = np.zeros_like(w)
        for _ in range(DYKSTRA_STEPS):
            short = self._b - np.einsum("knc,kncj->knj", size, w)
            w = w + normal[..., None] * short[:, :, None, :]
            w = w + (1 - w.sum(axis=-1, keepdims=True)) / self.n_groups
            positive = np.maximum(w + cut_off, 0)
            cut_off = w + cut_off - positive
            w = positive
        return w
