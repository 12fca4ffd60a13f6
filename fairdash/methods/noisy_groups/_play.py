"""The game of model, multipliers and opponents, for a stack of linear models."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdash.methods.noisy_groups._adam import Adam
from fairdash.methods.noisy_groups._choice import best_candidate
from fairdash.methods.noisy_groups._opponents import Mask, Opponent
from fairdash.methods.noisy_groups._rows import Float32, Rows

SNAPSHOT = 25  # iterations between two candidates for the best iterate


@dataclass(frozen=True)
class Settings:
    """What the models of a stack may differ in, one value each; slack is in total."""

    learning_rate: Float32
    multiplier_rate: Float32
    slack: Float32

    def __len__(self) -> int:
        return len(self.slack)


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

    theta: Float32
    multiplier: Float32
    iteration: NDArray[np.int64]
    loss: Float32
    error: Float32
    violation: Float32
    best: NDArray[np.int64]


def play(
    rows: Rows,
    opponents: Sequence[Opponent],
    settings: Settings,
    *,
    n_iterations: int,
    violation: Callable[[Mask], Float32],
    stopped: Callable[[], bool],
) -> Played:
    """Descend on the models, ascend on multipliers and memberships, by full batches.

    Parameters
    ----------
    rows : Rows
    opponents : sequence of Opponent
        One for each side of the rows; none trains without constraints.
    settings : Settings
    n_iterations : int
    violation : callable
        From decisions of all distinct rows (n_models, n_distinct) to the largest 0/1
        violation of each model, by which the best iterate is chosen.
    stopped : callable
        Asked with every candidate; True ends the game with those seen so far.
    """
    k, d = len(settings), rows.X.shape[1]
    theta = np.zeros((k, d), np.float32)
    n_constraints = sum(opponent.n_groups for opponent in opponents)
    multiplier = np.zeros((k, n_constraints), np.float32)
    descent = Adam(theta.shape, settings.learning_rate[:, None])
    ascent = Adam(multiplier.shape, settings.multiplier_rate[:, None])
    features = np.ascontiguousarray(rows.X.T)
    candidates: list[Float32] = []
    seen_at: list[int] = []
    seen: list[tuple[Float32, Float32, Float32]] = []
    for iteration in range(1, n_iterations + 1):
        slope, gap = slopes(rows, opponents, theta @ features, multiplier)
        gap -= settings.slack[:, None]
        theta = theta - descent.step(slope @ rows.X)
        multiplier = shrink(multiplier + ascent.step(gap))
        if iteration % SNAPSHOT == 0 or iteration == n_iterations:
            phi = theta @ features
            decided = phi > 0
            error = (decided != (rows.sign > 0)) @ rows.share
            loss = np.maximum(1 - phi * rows.sign, 0) @ rows.share
            seen.append((loss, error, violation(decided)))
            candidates.append(theta)
            seen_at.append(iteration)
            if stopped():
                break
    loss, error, worst = (np.stack(part) for part in zip(*seen, strict=True))
    best = np.array([best_candidate(error[:, i], worst[:, i]) for i in range(k)])
    return Played(
        theta=np.stack(candidates)[best, np.arange(k)],
        multiplier=multiplier,
        iteration=np.array(seen_at),
        loss=loss,
        error=error,
        violation=worst,
        best=best,
    )


def slopes(
    rows: Rows, opponents: Sequence[Opponent], phi: Float32, multiplier: Float32
) -> tuple[Float32, Float32]:
    """Return the Lagrangian's slope in the scores, and the constraints without slack.

    Parameters
    ----------
    phi : ndarray of shape (n_models, n_distinct)
    multiplier : ndarray of shape (n_models, n_constraints)
    """
    slope = (phi * rows.sign < 1) * -(rows.sign * rows.share)
    gap = np.empty_like(multiplier)
    start = 0
    for side, opponent in zip(rows.sides, opponents, strict=True):
        mine = slice(start, start := start + opponent.n_groups)
        here, force = multiplier[:, mine], np.float32(side.side.sign)
        phi_side = phi[:, side.span]
        signed = phi_side if side.side.sign > 0 else -phi_side
        answer = opponent.answer(np.maximum(signed, -1), phi_side > 0, here)
        overall, bend = _overall(signed, side.counts / side.counts.sum())
        gap[:, mine] = 1 + overall + answer.mean
        bend *= here.sum(axis=1, keepdims=True)
        bend += answer.pull * (signed > -1)
        slope[:, side.span] += force * bend
    return slope, gap


def _overall(signed: Float32, share: Float32) -> tuple[Float32, Float32]:
    """Return the part of all rows in each constraint, and its slope in ``signed``.

    The hinge of all rows turned around: mean max(0, 1 + phi) below TPR, minus
    mean min(1, phi) beside FPR; both are the mean of max(-1, -signed) and 1 more.
    """
    turned = np.maximum(-signed, -1)
    return (turned @ share)[:, None], (signed < 1) * -share


def shrink(multiplier: Float32, radius: float = 1.0) -> Float32:
    """Project onto non-negative multipliers with a sum of at most ``radius``."""
    kept = np.maximum(multiplier, 0)
    if not kept.shape[1]:
        return kept
    ranked = -np.sort(-kept, axis=1)
    excess = (np.cumsum(ranked, axis=1) - radius) / np.arange(1, kept.shape[1] + 1)
    level = excess.max(axis=1, keepdims=True)
    return np.asarray(np.maximum(kept - np.maximum(level, 0), 0), dtype=np.float32)
