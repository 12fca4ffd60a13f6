"""The game of model, multipliers and opponents, for a stack of linear models."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from fairdash._arrays import BoolArray, Codes, Float32Array
from fairdash.methods.noisy_groups.inputs import Side
from fairdash.methods.noisy_groups.worst_case import project_simplex

ViolationFunction = Callable[[BoolArray], Float32Array]
SNAPSHOT = 25  # iterations between two candidates for the best iterate
CACHED = 2**19  # features that all models score before the next, while in the cache
CLIP = np.float32(1)  # value of a row beyond which it counts no more to choose rows
DECAY = 0.9  # Adam's defaults, these three
SQUARE_DECAY = 0.999
EPSILON = 1e-8


@dataclass(frozen=True, eq=False)
class SideRows:
    """The rows that one rate is over, sorted by noisy group.

    Attributes
    ----------
    span : slice
        Where they stand among all rows.
    counts : ndarray of shape (n_side,)
        How often each occurs.
    groups : tuple of slice
        Rows of every noisy group, within ``span``.
    sizes : ndarray of shape (n_groups,)
        All training rows of every noisy group.
    """

    side: Side
    span: slice
    counts: Float32Array
    groups: tuple[slice, ...]
    sizes: Float32Array

    @cached_property
    def share(self) -> Float32Array:
        """Share of each row among those that the rate is over; sums to one."""
        return self.counts / self.counts.sum()

    @property
    def inside(self) -> Float32Array:
        """Training rows of every noisy group that the rate is over."""
        return np.array([self.counts[part].sum() for part in self.groups])

    @cached_property
    def weights(self) -> Float32Array:
        """Weight of each row in the mean of every noisy group, (n_groups, n_side)."""
        weights = np.zeros((len(self.groups), len(self.counts)), np.float32)
        for j, part in enumerate(self.groups):
            weights[j, part] = self.counts[part] / self.counts[part].sum()
        return weights


@dataclass(frozen=True, eq=False)
class GameRows:
    """Distinct training rows with the constant feature last.

    Attributes
    ----------
    X : ndarray of shape (n_distinct, n_features + 1)
    sign : ndarray of shape (n_distinct,)
        1 for the positive outcome, -1 for the other.
    share : ndarray of shape (n_distinct,)
        Of all training rows; sums to one.
    of_row : ndarray of shape (n_rows,)
        The distinct row that each training row is.
    """

    X: Float32Array
    sign: Float32Array
    share: Float32Array
    sides: tuple[SideRows, ...]
    of_row: Codes

    @cached_property
    def hinge_slope(self) -> Float32Array:
        """Slope of the mean hinge loss in the score of a row that has one."""
        return -(self.sign * self.share)

    @cached_property
    def _parts(self) -> list[tuple[slice, Float32Array]]:
        """Parts of the rows that stay in the cache, with their features transposed."""
        n_rows = max(CACHED // self.X.shape[1] // 64, 1) * 64
        starts = range(0, len(self.X), n_rows)
        parts = [slice(start, start + n_rows) for start in starts]
        return [(part, np.ascontiguousarray(self.X[part].T)) for part in parts]

    def scores(self, theta: Float32Array) -> Float32Array:
        """Return the scores of every model, (n_models, n_distinct)."""
        phi = np.empty((len(theta), 1, len(self.X)), np.float32)
        for part, features in self._parts:
            np.matmul(theta[:, None], features, out=phi[..., part])
        return phi[:, 0]


def compress(
    X: ArrayLike,
    y: Codes,
    codes: Codes,
    groups: NDArray[np.generic],
    sides: tuple[Side, ...],
    weight: NDArray[np.float64] | None = None,
) -> GameRows:
    """Merge equal rows and sort by outcome, where a rate asks for it, and by group.

    ``weight`` says how many rows each stands for, above 0.
    """
    for side in sides:
        side.check_groups(y, codes, groups)
    features = np.asarray(X, dtype=np.float32)
    # A side is a slice of the rows: those of one outcome must stand together, where
    # its rate is over one outcome only.
    by_outcome = y if len(sides[0].outcomes) == 1 else np.zeros_like(y)
    keys = np.column_stack([1 - by_outcome, codes, y, features]).astype(np.float32)
    first, of_row = _distinct(keys)
    counts = np.bincount(of_row, weight)
    n = len(y) if weight is None else weight.sum()
    order = np.lexsort((codes[first], -by_outcome[first]))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    first = first[order]
    occurrences: Float32Array = counts[order].astype(np.float32)
    sizes = np.bincount(codes, weight, len(groups)).astype(np.float32)
    side_rows = []
    for side in sides:
        (chosen,) = np.nonzero(side.rows(y[first]))
        span = slice(int(chosen[0]), int(chosen[-1]) + 1)
        ends = np.searchsorted(codes[first][span], np.arange(len(groups) + 1))
        group_slices = tuple(slice(int(a), int(b)) for a, b in pairwise(ends))
        side_rows.append(SideRows(side, span, occurrences[span], group_slices, sizes))
    return GameRows(
        X=np.column_stack([features[first], np.ones(len(first), np.float32)]),
        sign=np.where(y[first] == 1, 1, -1).astype(np.float32),
        share=(occurrences / n).astype(np.float32),
        sides=tuple(side_rows),
        of_row=rank[of_row],
    )


class BestAnswer(NamedTuple):
    """Worst mean of every group, (k, m), and the rows' weights, (k, n_side)."""

    mean: Float32Array
    pull: Float32Array


class Opponent(Protocol):
    """Memberships of the groups that a side's rows are in."""

    n_groups: int

    def answer(
        self, v: Float32Array, decided: BoolArray, multiplier: Float32Array
    ) -> BestAnswer:
        """Return the means and the pull on each row."""
        ...


class GivenGroups:
    """Memberships as given: the noisy groups treated as true."""

    def __init__(self, rows: SideRows) -> None:
        self.n_groups = len(rows.groups)
        self.weights = rows.weights

    def answer(
        self, v: Float32Array, decided: BoolArray, multiplier: Float32Array
    ) -> BestAnswer:
        """Return the means of the noisy groups."""
        return BestAnswer(
            by_model(v, self.weights.T), by_model(multiplier, self.weights)
        )


class Candidate(NamedTuple):
    """An iterate that may become the result; each value has one entry a model."""

    iteration: int
    theta: Float32Array
    loss: Float32Array
    error: Float32Array
    violation: Float32Array


@dataclass(frozen=True, eq=False)
class Played:
    """A finished game.

    Attributes
    ----------
    theta : ndarray of shape (n_models, n_features + 1)
        The best iterate of each model, the intercept last.
    multiplier : ndarray of shape (n_models, n_constraints)
        Of the last iterate.
    iteration, loss, error, violation : ndarray of shape (n_snapshots, n_models)
        0/1 error and largest violation on the training rows of every candidate.
    best : ndarray of shape (n_models,)
        The candidate that ``theta`` is.
    """

    theta: Float32Array
    multiplier: Float32Array
    iteration: NDArray[np.int64]
    loss: Float32Array
    error: Float32Array
    violation: Float32Array
    best: NDArray[np.int64]


class Adam:
    """Kingma and Ba (2015), with their defaults.

    ``rate`` broadcasts to ``shape``.
    """

    def __init__(self, shape: tuple[int, ...], rate: Float32Array) -> None:
        self.rate = rate
        self._mean = np.zeros(shape, np.float32)
        self._square = np.zeros(shape, np.float32)
        self._steps = 0

    def step(self, gradient: Float32Array) -> Float32Array:
        """Return the move along ``gradient``."""
        self._steps += 1
        self._mean *= DECAY
        self._mean += (1 - DECAY) * gradient
        self._square *= SQUARE_DECAY
        self._square += (1 - SQUARE_DECAY) * gradient * gradient
        mean_share = 1 - DECAY**self._steps
        square_share = 1 - SQUARE_DECAY**self._steps
        size: Float32Array = np.sqrt(self._square)
        size *= np.float32(square_share**-0.5)
        size += np.float32(EPSILON)
        move: Float32Array = np.divide(self._mean, size, dtype=np.float32)
        move *= np.asarray(self.rate / mean_share, dtype=np.float32)
        return move


def play(
    rows: GameRows,
    opponents: Sequence[Opponent],
    *,
    learning_rate: Float32Array,
    multiplier_rate: Float32Array,
    slack: Float32Array,
    n_iterations: int,
    violation: Callable[[BoolArray], Float32Array],
    stopped: Callable[[], bool],
) -> Played:
    """Descend on the models, ascend on multipliers and memberships, by full batches.

    Rates and slack have a value for each model.
    """
    n_models = len(slack)
    n_features = rows.X.shape[1]
    n_constraints = sum(opponent.n_groups for opponent in opponents)
    theta = np.zeros((n_models, n_features), np.float32)
    multiplier = np.zeros((n_models, n_constraints), np.float32)
    descent = Adam(theta.shape, learning_rate[:, None])
    ascent = Adam(multiplier.shape, multiplier_rate[:, None])
    candidates: list[Candidate] = []
    for iteration in range(1, n_iterations + 1):
        # Both players answer the same iterate: the multipliers see the scores from
        # before the model's step.
        slope, gap = slopes(rows, opponents, rows.scores(theta), multiplier)
        gap -= slack[:, None]
        theta = theta - descent.step(by_model(slope, rows.X))
        multiplier = shrink(multiplier + ascent.step(gap))
        if iteration % SNAPSHOT == 0 or iteration == n_iterations:
            phi = rows.scores(theta)
            decided = phi > 0
            hinge = np.maximum(1 - phi * rows.sign, 0)
            wrong = decided != (rows.sign > 0)
            candidate = Candidate(
                iteration,
                theta,
                loss=by_model(hinge, rows.share),
                error=by_model(wrong, rows.share),
                violation=violation(decided),
            )
            candidates.append(candidate)
            if stopped():
                break
    error = np.stack([candidate.error for candidate in candidates])
    worst = np.stack([candidate.violation for candidate in candidates])
    best = np.array([best_candidate(error[:, i], worst[:, i]) for i in range(n_models)])
    thetas = np.stack([candidate.theta for candidate in candidates])
    return Played(
        theta=thetas[best, np.arange(n_models)],
        multiplier=multiplier,
        iteration=np.array([candidate.iteration for candidate in candidates]),
        loss=np.stack([candidate.loss for candidate in candidates]),
        error=error,
        violation=worst,
        best=best,
    )


def best_candidate(error: ArrayLike, violation: ArrayLike) -> int:
    """Return the candidate whose worse rank, of error and of violation, is smallest.

    All candidates without a violation share the first rank, so if there are any with a
    small error the most accurate of them wins; if none keeps the constraint the choice
    is a compromise, not the constant model that often violates least.

    A violation of at most 0 keeps the constraint. Among equals it is the one with the
    smallest error, then the last.

    References
    ----------
    Cotter, Jiang and Sridharan, Two-player games for efficient non-convex constrained
    optimization (ALT 2019), section 5.2.
    """
    errors = np.asarray(error, dtype=np.float64)
    excess = np.maximum(np.asarray(violation, dtype=np.float64), 0)
    rank = np.maximum(rankdata(errors, "min"), rankdata(excess, "min"))
    return int(np.lexsort((-np.arange(len(errors)), errors, rank))[0])


def slopes(
    rows: GameRows,
    opponents: Sequence[Opponent],
    phi: Float32Array,
    multiplier: Float32Array,
) -> tuple[Float32Array, Float32Array]:
    """Return the Lagrangian's slope in the scores, and the constraints without slack.

    ``phi`` are scores, (n_models, n_distinct), ``multiplier`` is (n_models,
    n_constraints).
    """
    # In place, since these arrays have an entry for each model and row.
    slope = phi * rows.sign
    np.less(slope, 1, out=slope)  # the hinge has a slope where y phi < 1
    slope *= rows.hinge_slope
    gap = np.empty_like(multiplier)
    start = 0
    for side, opponent in zip(rows.sides, opponents, strict=True):
        end = start + opponent.n_groups
        side_multiplier = multiplier[:, start:end]
        phi_side = phi[:, side.span]
        # With the sign, "TPR not below" and "FPR not above" have the same formula.
        signed = phi_side if side.side.sign > 0 else -phi_side
        v = np.maximum(signed, -1)
        answer = opponent.answer(v, phi_side > 0, side_multiplier)
        overall, side_slope = _overall(signed, side.share)
        gap[:, start:end] = 1 + overall + answer.mean
        side_slope *= side_multiplier.sum(axis=1, keepdims=True)
        pull = np.greater(signed, -1, out=np.empty_like(side_slope))
        pull *= answer.pull
        side_slope += pull
        if side.side.sign > 0:
            slope[:, side.span] += side_slope
        else:
            slope[:, side.span] -= side_slope
        start = end
    return slope, gap


def by_model(values: NDArray[Any], matrix: Float32Array) -> Float32Array:
    """Return values x matrix of (n_models, n) and (n, k) or (n,), model by model.

    One product for all models would round by their number.
    """
    return np.matmul(values[:, None], matrix)[:, 0]


def shrink(multiplier: Float32Array, radius: float = 1.0) -> Float32Array:
    """Project onto non-negative multipliers with a sum of at most ``radius``."""
    positive = np.maximum(multiplier, 0)
    exceeds = positive.sum(axis=1, keepdims=True) > radius
    if not exceeds.any():
        return positive
    return np.where(exceeds, project_simplex(positive, radius), positive)


def violation_function(
    rows: GameRows,
    slack: Float32Array,
    worst: Callable[[SideRows, Float32Array], Float32Array] | None = None,
) -> ViolationFunction:
    """Return a function of decisions that gives each model's largest violation.

    ``worst`` returns the rates of a side's groups, (n_models, n_groups); without it
    they are those of the noisy groups.
    """

    def violation(decided: BoolArray) -> Float32Array:
        largest = []
        for side in rows.sides:
            decisions = decided[:, side.span].astype(np.float32)
            overall = by_model(decisions, side.share)
            if worst is None:
                rates = by_model(decisions, side.weights.T)
            else:
                rates = worst(side, decisions)
            gaps = side.side.sign * (rates - overall[:, None])
            # A group that cannot have such rows has the rate NaN and violates nothing.
            largest.append(np.fmax.reduce(gaps, axis=1))
        return np.asarray(np.max(largest, axis=0) - slack, dtype=np.float32)

    return violation


def _overall(
    signed: Float32Array, share: Float32Array
) -> tuple[Float32Array, Float32Array]:
    """Return the part of all rows in each constraint, and its slope in ``signed``.

    The hinge of all rows turned around: mean max(0, 1 + phi) below TPR, minus
    mean min(1, phi) beside FPR; both are the mean of max(-1, -signed) and 1 more.
    """
    turned = -signed
    overall = by_model(np.maximum(turned, -1, out=turned), share)[:, None]
    np.less(signed, 1, out=turned)
    return overall, np.multiply(turned, -share, out=turned)


def _distinct(keys: Float32Array) -> tuple[Codes, Codes]:
    """Return the first of each set of equal rows, and the set of every row."""
    rows = np.ascontiguousarray(keys + np.float32(0))  # -0.0 becomes 0.0
    # As bytes, rows compare at once; along an axis they would field by field.
    n_bytes = rows.dtype.itemsize * rows.shape[1]
    as_bytes = rows.view(np.dtype((np.void, n_bytes))).ravel()
    _, first, of_row = np.unique(as_bytes, return_index=True, return_inverse=True)
    return first, of_row.ravel()
