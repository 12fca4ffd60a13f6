"""Distributionally robust constraints: groups known up to total variation."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from fairdash.methods.base import TrainingRows
from fairdash.methods.declare import Method, param
from fairdash.methods.noisy_groups import estimators
from fairdash.methods.noisy_groups.game import (
    Adam,
    Answer,
    Float32,
    Mask,
    Opponent,
    Rows,
    SideRows,
    ViolationFunction,
    violation_function,
)
from fairdash.methods.noisy_groups.inputs import by_group
from fairdash.methods.noisy_groups.worst_case import capped_level

NEWTON_STEPS = 40
N_DRAWS = 20  # of the check in the paper's public code


class LearnedRadius:
    """What `NoisyGroupsDRO` learns beside the model."""

    radius_: dict[Any, float]


class NoisyGroupsDRO(LearnedRadius, estimators.RobustClassifier):
    r"""Constraints for all distributions within total variation of the noisy groups.

    .. math::

        \max_{\tilde p_j:\; TV(\tilde p_j, \hat p_j) \le \gamma_j}
        g_j(\theta, \tilde p_j) \le \alpha + 1

    with the constraints of `NoisyGroupsNaive`. The distributions climb by Adam and are
    projected (Algorithm 2), and the best iterate is judged by random draws, as in the
    paper's public code: a heuristic without a guarantee. `tv_certificate` says what
    holds.

    Attributes
    ----------
    As in `NoisyGroupsNaive`; ``violation_`` is over the ball, by draws, and ``radius_``
    the radius by group that was used.

    References
    ----------
    Wang et al. (NeurIPS 2020), Eq. 3 and Algorithm 2.
    """

    tv_radius: Any = param(
        0.1,
        "TV radius",
        letter="γ",
        stackable=True,
        help="How far a true group may be from its noisy one.",
        doc=":math:`\\gamma_j`, in [0, 1]: for all groups, by name, or in order.",
        accepts="float, mapping or sequence",
    )

    def _opponents(self, models: Sequence[Self], rows: Rows) -> list[Opponent]:
        radius = _radii(models)
        rate = estimators.column(models, "adversary_rate")
        return [AscentInBall(side, radius, rate) for side in rows.sides]

    def _violations(
        self, models: Sequence[Self], rows: Rows, training: TrainingRows
    ) -> ViolationFunction:
        radius = _radii(models)
        slack = estimators.column(models, "slack")
        return drawn_violations(rows, training, radius, slack, self.random_state)


METHOD = Method.of(
    NoisyGroupsDRO,
    key="noisy_dro",
    label="DRO",
    title="Distributionally robust constraints",
    summary="Asks the constraints of every distribution within a total variation "
    "radius of the noisy groups.",
    source=f"{estimators.PAPER}, Eq. 3 and Algorithm 2",
    efforts=estimators.EFFORTS,
    former=estimators.FORMER,
)


def _radii(models: Sequence[NoisyGroupsDRO]) -> Float32:
    groups = models[0].groups_
    for model in models:
        radii = by_group("tv_radius", model.tv_radius, groups)
        model.radius_ = dict(zip(groups.tolist(), radii, strict=True))
    return np.array([list(model.radius_.values()) for model in models], np.float32)


class AscentInBall:
    """Distributions that climb by Adam and are projected onto the ball.

    Every training row has a probability of its own; equal rows share its value, and so
    do all rows of a noisy group that the rate is not over, since none of them has a
    gradient. Two more columns hold those: of the group, and of the others.
    """

    def __init__(self, rows: SideRows, radius: Float32, rate: Float32) -> None:
        k = len(radius)
        (m, n) = (len(rows.groups), len(rows.counts))
        self.n_groups = m
        inside = rows.inside
        sizes = rows.sizes
        self._radius = radius
        self._base = np.zeros((m, n + 2), np.float32)
        self._counts = np.zeros((m, n + 2), np.float32)
        self._counts[:, :n] = rows.counts
        for j, part in enumerate(rows.groups):
            self._base[j, part] = 1 / sizes[j]
            self._base[j, n] = 1 / sizes[j]
            own = sizes[j] - inside[j]
            self._counts[j, n:] = own, (sizes.sum() - inside.sum()) - own
        np.maximum(self._counts, 0, out=self._counts)  # where weights round
        # decrease takes place where the group has mass: its rows and those beyond
        self._own = [np.append(np.arange(n)[part], n) for part in rows.groups]
        self._p = np.repeat(self._base[None], k, axis=0)
        self._adam = Adam((k, m, n), rate[:, None, None])

    def answer(self, v: Float32, decided: Mask, multiplier: Float32) -> Answer:
        """Return means and weights at the distributions reached, then climb."""
        p = self._p[:, :, :-2]
        weights = p * self._counts[:, :-2]
        whole = weights.sum(axis=2)
        weights /= np.maximum(whole, 1e-12)[:, :, None]
        mean = np.matmul(weights, v[:, :, None])[:, :, 0]
        pull = np.matmul(multiplier[:, None, :], weights)[:, 0]
        scale = (multiplier / np.maximum(whole, 1e-12))[:, :, None]
        p += self._adam.step(scale * (v[:, None, :] - mean[:, :, None]))
        self._project()
        return Answer(mean, pull)

    def _project(self) -> None:
        up = self._p - self._base
        level = _level(up, self._counts, self._radius)
        moved = self._base + np.maximum(up - level[:, :, None], 0)
        binding = np.empty(level.shape, bool)
        for j, own in enumerate(self._own):
            # the caps are so narrow that Newton's method would gain nothing
            down = -up[:, j, own]
            caps = self._base[j, own]
            below = capped_level(down, caps, self._counts[j, own], self._radius[:, j])
            below = below.astype(np.float32)
            binding[:, j] = level[:, j] + below >= 0
            moved[:, j, own] -= np.clip(down - below[:, None], 0, caps)
        within = ~binding
        if within.any():
            inner = self._p[within]
            groups = np.nonzero(within)[1]
            whole = np.ones(len(inner), np.float32)
            height = _level(inner, self._counts[groups], whole)
            moved[within] = np.maximum(inner - height[:, None], 0)
        self._p = moved


def _level(values: Float32, counts: Float32, mass: Float32) -> Float32:
    # Newton's method, exact: the next level is the one at which the values above the
    # last would hold the mass. From below all values it only rises, and it has arrived
    # when it passes no more of them.
    level = np.full(values.shape[:-1], -np.inf, np.float32)
    size = np.zeros_like(level)
    for _ in range(NEWTON_STEPS):
        held = np.where(values > level[..., None], counts, np.float32(0))
        before = size
        size = held.sum(axis=-1)
        if ((size == before) | (size == 0)).all():
            break
        held *= values
        reached = (held.sum(axis=-1) - mass) / np.where(size > 0, size, 1)
        level = np.where(size > 0, np.maximum(reached, level), level)
    return level


def drawn_violations(
    rows: Rows,
    training: TrainingRows,
    radius: Float32,
    slack: Float32,
    random_state: object,
) -> ViolationFunction:
    r"""Return the worst violations over a few draws, as the paper's public code.

    .. math::

        \tilde p = \max(0, \hat p_j + \gamma_j s \odot d), \quad
        d \sim \mathrm{Dirichlet}(1), \; s_i = \pm 1

    They average over the rows, so they come nowhere near the worst case.
    """
    random = check_random_state(random_state)
    draws = N_DRAWS, radius.shape[1], len(training.codes)
    moves = random.standard_exponential(draws).astype(np.float32)
    moves /= moves.sum(axis=2, keepdims=True)
    moves *= random.choice(np.array([-1, 1], np.float32), size=draws)
    different, which = np.unique(radius, axis=0, return_inverse=True)
    tables = [_tilted(rows, training, radii, moves) for radii in different]

    def worst(side: SideRows, here: Float32) -> Float32:
        place = rows.sides.index(side)
        models = zip(which.ravel(), here, strict=True)
        return np.stack([tables[table][place] @ decided for table, decided in models])

    return violation_function(rows, slack, worst)


def _tilted(
    rows: Rows, training: TrainingRows, radii: Float32, moves: Float32
) -> list[Float32]:
    codes = training.codes
    each = training.each
    groups = np.arange(len(radii))[:, None]
    base = (codes == groups) * each / np.bincount(codes, each)[:, None]
    p = np.maximum(base + radii[:, None] * moves, 0).reshape(-1, len(codes))
    merged = np.stack(
        [np.bincount(rows.of_row, draw, minlength=len(rows.share)) for draw in p]
    )
    parts = [merged[:, side.span] for side in rows.sides]
    return [
        np.asarray(part / part.sum(axis=1, keepdims=True), np.float32) for part in parts
    ]
