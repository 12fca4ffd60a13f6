"""Distributionally robust constraints: groups known up to total variation."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from fairdash._arrays import BoolArray, Float32Array
from fairdash.methods.base import TrainingRows
from fairdash.methods.declare import Method, param
from fairdash.methods.noisy_groups import estimators
from fairdash.methods.noisy_groups.game import (
    Adam,
    BestAnswer,
    GameRows,
    Opponent,
    SideRows,
    ViolationFunction,
    violation_function,
)
from fairdash.methods.noisy_groups.inputs import by_group
from fairdash.methods.noisy_groups.worst_case import capped_level

NEWTON_STEPS = 40
N_DRAWS = 20  # of the check in the paper's public code


class LearnedRadius:
    """Attributes that `NoisyGroupsDRO` learns beside the model."""

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

    def _opponents(self, models: Sequence[Self], rows: GameRows) -> list[Opponent]:
        radius = _radii(models)
        rate = estimators.column(models, "adversary_rate")
        return [AscentInBall(side, radius, rate) for side in rows.sides]

    def _violations(
        self, models: Sequence[Self], rows: GameRows, training: TrainingRows
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


def _radii(models: Sequence[NoisyGroupsDRO]) -> Float32Array:
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

    def __init__(
        self, rows: SideRows, radius: Float32Array, rate: Float32Array
    ) -> None:
        n_models = len(radius)
        n_groups = len(rows.groups)
        n = len(rows.counts)
        self.n_groups = n_groups
        sizes = rows.sizes
        # Rows of each noisy group that the rate is not over, and all such rows.
        outside = sizes - rows.inside
        n_outside = sizes.sum() - rows.inside.sum()
        self._radius = radius
        self._base = np.zeros((n_groups, n + 2), np.float32)
        self._counts = np.zeros((n_groups, n + 2), np.float32)
        self._counts[:, :n] = rows.counts
        for j, part in enumerate(rows.groups):
            self._base[j, part] = 1 / sizes[j]
            self._base[j, n] = 1 / sizes[j]
            self._counts[j, n] = outside[j]
            self._counts[j, n + 1] = n_outside - outside[j]
        # Differences of sums of weights may round to slightly less than 0.
        np.maximum(self._counts, 0, out=self._counts)
        # Mass can only be taken where the noisy group has some: from its own rows of
        # this rate, and from its rows outside.
        self._support = [np.append(np.arange(n)[part], n) for part in rows.groups]
        self._p = np.repeat(self._base[None], n_models, axis=0)
        self._adam = Adam((n_models, n_groups, n), rate[:, None, None])

    def answer(
        self, v: Float32Array, decided: BoolArray, multiplier: Float32Array
    ) -> BestAnswer:
        """Return means and weights at the distributions reached, then climb."""
        p = self._p[:, :, :-2]
        weights = p * self._counts[:, :-2]
        mass = np.maximum(weights.sum(axis=2), 1e-12)
        weights /= mass[:, :, None]
        mean = np.matmul(weights, v[:, :, None])[:, :, 0]
        pull = np.matmul(multiplier[:, None, :], weights)[:, 0]
        # The derivative of a weighted mean in a row's probability is the row's
        # distance from the mean, over the mass that the mean divides by.
        scale = (multiplier / mass)[:, :, None]
        p += self._adam.step(scale * (v[:, None, :] - mean[:, :, None]))
        self._project()
        return BestAnswer(mean, pull)

    def _project(self) -> None:
        """Project onto the ball, as `project_tv_ball` does for one distribution.

        Increase and decrease of a distribution decouple where the ball's limit binds;
        where it does not, the projection onto the simplex lies within the ball.
        """
        excess = self._p - self._base
        increase_level = _level(excess, self._counts, self._radius)
        projected = self._base + np.maximum(excess - increase_level[:, :, None], 0)
        binding = np.empty(increase_level.shape, bool)
        for j, support in enumerate(self._support):
            # By sorting: the caps, probabilities of one row, are so narrow that
            # Newton's method would gain nothing.
            deficit = -excess[:, j, support]
            caps = self._base[j, support]
            counts = self._counts[j, support]
            decrease_level = capped_level(deficit, caps, counts, self._radius[:, j])
            decrease_level = decrease_level.astype(np.float32)
            # Where the two levels overlap, less than the radius would do: the limit
            # of the ball does not bind.
            binding[:, j] = increase_level[:, j] + decrease_level >= 0
            decrease = np.clip(deficit - decrease_level[:, None], 0, caps)
            projected[:, j, support] -= decrease
        inactive = ~binding
        if inactive.any():
            unprojected = self._p[inactive]
            groups = np.nonzero(inactive)[1]
            unit_mass = np.ones(len(unprojected), np.float32)
            simplex_level = _level(unprojected, self._counts[groups], unit_mass)
            projected[inactive] = np.maximum(unprojected - simplex_level[:, None], 0)
        self._p = projected


def _level(
    values: Float32Array, counts: Float32Array, mass: Float32Array
) -> Float32Array:
    """Return the level above which values that occur ``counts`` times sum to a mass."""
    # Newton's method, exact: the next level is the one at which the values above the
    # last would hold the mass. From below all values it only rises, and it has arrived
    # when it passes no more of them.
    level = np.full(values.shape[:-1], -np.inf, np.float32)
    size = np.zeros_like(level)
    for _ in range(NEWTON_STEPS):
        counted = np.where(values > level[..., None], counts, np.float32(0))
        previous_size = size
        size = counted.sum(axis=-1)
        if ((size == previous_size) | (size == 0)).all():
            break
        counted *= values
        newton_level = (counted.sum(axis=-1) - mass) / np.where(size > 0, size, 1)
        level = np.where(size > 0, np.maximum(newton_level, level), level)
    return level


def drawn_violations(
    rows: GameRows,
    training: TrainingRows,
    radius: Float32Array,
    slack: Float32Array,
    random_state: object,
) -> ViolationFunction:
    r"""Return the worst violations over a few draws, as the paper's public code.

    .. math::

        \tilde p = \max(0, \hat p_j + \gamma_j s \odot d), \quad
        d \sim \mathrm{Dirichlet}(1), \; s_i = \pm 1

    They average over the rows, so they come nowhere near the worst case.
    """
    random = check_random_state(random_state)
    shape = (N_DRAWS, radius.shape[1], len(training.codes))
    # Exponential draws over their sum are a draw of the flat Dirichlet distribution.
    moves = random.standard_exponential(shape).astype(np.float32)
    moves /= moves.sum(axis=2, keepdims=True)
    moves *= random.choice(np.array([-1, 1], np.float32), size=shape)
    # Models that share their radii share the table of tilted distributions.
    distinct_radii, radii_of_model = np.unique(radius, axis=0, return_inverse=True)
    tables = [_tilted(rows, training, radii, moves) for radii in distinct_radii]

    def worst(side: SideRows, decisions: Float32Array) -> Float32Array:
        side_index = rows.sides.index(side)
        rates = [
            tables[table][side_index] @ decided
            for table, decided in zip(radii_of_model.ravel(), decisions, strict=True)
        ]
        return np.stack(rates)

    return violation_function(rows, slack, worst)


def _tilted(
    rows: GameRows, training: TrainingRows, radii: Float32Array, moves: Float32Array
) -> list[Float32Array]:
    """Return the tilted distributions over each side's distinct rows.

    Each table has shape (n_draws * n_groups, n_side), and its rows sum to one.
    """
    codes = training.codes
    row_weights = training.row_weights
    groups = np.arange(len(radii))[:, None]
    base = (codes == groups) * row_weights / np.bincount(codes, row_weights)[:, None]
    p = np.maximum(base + radii[:, None] * moves, 0).reshape(-1, len(codes))
    # Training rows that are equal were merged: so are their probabilities.
    n_distinct = len(rows.share)
    merged = np.stack([np.bincount(rows.of_row, draw, n_distinct) for draw in p])
    tables = []
    for side in rows.sides:
        table = merged[:, side.span]
        table = table / table.sum(axis=1, keepdims=True)
        tables.append(table.astype(np.float32))
    return tables
