"""Fair log-loss as a game: value, slopes, Newton steps, and the search for its end."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from fairdash._arrays import FloatArray
from fairdash.methods.log_loss.truncation import Played, play

JITTER = 1e-13  # of the trace, against rounding in near-singular Hessians
CHUNK = 2048  # rows that stay in the cache between their weighting and product
DAMPING = 1e-12  # of multipliers that nothing depends on
SHORTEST_STEP = 1 / 16  # of Newton on both players, before one waits for the other
SUFFICIENT = 1e-4  # share of the promised gain that a step must bring
FLAT = 0.5  # share of the slope at the start of a step that may remain at its end
ROUNDING = 1e-14  # of values of the game, which are about 1
FINEST_STEP = 1e-12
SOFTEST = 1e-6  # damping a refused step begins with, of the curvature's trace
STIFFEST = 1e12  # damping beyond which the search gives up

Stopped = Callable[[], bool]


@dataclass(frozen=True)
class Saddle:
    r"""Minimise over :math:`\theta`, maximise over :math:`\lambda`.

    .. math::

        L(\theta, \lambda) = \sum_i s_i \left( \ell(\theta \cdot x_i, a_i)
        - y_i\, \theta \cdot x_i \right) + \frac{\alpha}{2} \lVert \theta \rVert^2,
        \qquad a = S \lambda

    convex in :math:`\theta`, concave in :math:`\lambda` and once differentiable, with

    .. math::

        \ell = \begin{cases}
        \log(1 + e^m) + a\,\sigma(m) & \text{not truncated} \\
        m + \log a + 1 & a\,\sigma(m) > 1 \\
        \log(-a) + a + 1 & a\,(1 - \sigma(m)) < -1 \end{cases}

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        With a column of ones for the intercept, which is penalised like the others.
    share : ndarray of shape (n_rows,)
        :math:`s`: of all rows; sums to one.
    scale : ndarray of shape (n_rows, n_multipliers)
        :math:`S`: one over the share of the row's cell, with sign; 0 outside.
    bound : ndarray of shape (n_multipliers,)
        Share of the rows that each multiplier's constraint compares; no saddle point
        has a larger multiplier.
    """

    X: FloatArray
    y: FloatArray
    share: FloatArray
    scale: FloatArray
    bound: FloatArray
    alpha: float

    def at(self, theta: FloatArray, multiplier: FloatArray) -> "Position":
        """Return the game at given parameters."""
        margin = self.X @ theta
        pull = self.scale @ multiplier
        return Position(self, theta, multiplier, margin, pull, play(margin, pull))


class Step(NamedTuple):
    """Changes of both players' parameters."""

    theta: FloatArray
    multiplier: FloatArray


class Eliminated(NamedTuple):
    """The Newton system with theta eliminated: see `Position.eliminated`."""

    theta: FloatArray
    cross: FloatArray
    curvature: FloatArray
    slope: FloatArray


@dataclass(frozen=True)
class Position:
    """Value and derivatives of the game at one place."""

    game: Saddle
    theta: FloatArray
    multiplier: FloatArray
    margin: FloatArray
    pull: FloatArray
    played: Played

    @cached_property
    def value(self) -> float:
        """L at this place."""
        m = self.margin
        a = self.pull
        cut = self.played.truncated
        loss = np.logaddexp(0, m) + a * self.played.p
        up = cut & (a > 0)
        down = cut & (a < 0)
        loss[up] = m[up] + np.log(a[up]) + 1
        loss[down] = np.log(-a[down]) + a[down] + 1
        ridge = self.game.alpha / 2 * (self.theta @ self.theta)
        return float(self.game.share @ (loss - self.game.y * m) + ridge)

    @cached_property
    def slope(self) -> FloatArray:
        """Gradient in theta: mean of (Q - y) x, and the penalty's."""
        # By Danskin's theorem on Eq. 10 lambda counts as fixed. The subgradient that
        # the paper prints (Eq. 67-71) lacks a term.
        game = self.game
        error = (self.played.q - game.y) * game.share
        return error @ game.X + game.alpha * self.theta

    @cached_property
    def gap(self) -> FloatArray:
        """Gradient in the multipliers: how far each constraint is from holding."""
        return (self.played.p * self.game.share) @ self.game.scale

    @cached_property
    def residual(self) -> float:
        """Largest violation of the conditions of a saddle point."""
        return float(max(np.abs(self.slope).max(), np.abs(self.gap).max(initial=0)))

    @cached_property
    def curvature(self) -> tuple[NDArray[np.float64], bool]:
        """Cholesky factor of the Hessian in theta, and whether it is the lower one."""
        game = self.game
        p = self.played.p
        weight = (1 + self.pull - 2 * self.pull * p) * p * (1 - p)
        weight[self.played.truncated] = 0  # where Q is 0 or 1 whatever theta is
        root = np.sqrt(np.maximum(weight, 0) * game.share)
        hessian = np.zeros((game.X.shape[1], game.X.shape[1]))
        for start in range(0, len(p), CHUNK):
            part = slice(start, start + CHUNK)
            rows = root[part, None] * game.X[part]
            hessian += rows.T @ rows
        ridge = game.alpha + JITTER * np.trace(hessian) / len(hessian)
        hessian[np.diag_indices_from(hessian)] += ridge
        factor, lower = cho_factor(hessian, overwrite_a=True, check_finite=False)
        return factor, lower

    def descent(self) -> FloatArray:
        """Return the Newton step of theta alone."""
        return -cho_solve(self.curvature, self.slope, check_finite=False)

    @cached_property
    def eliminated(self) -> "Eliminated":
        r"""The Newton system with theta eliminated.

        :math:`H^{-1} r`, :math:`H^{-1} B`, the curvature
        :math:`C + B^\top H^{-1} B` and the slope :math:`G - B^\top H^{-1} r` in the
        multipliers.
        """
        game = self.game
        p = self.played.p
        truncated = self.played.truncated
        # B: how the gaps change with theta; a truncated row's probability does not.
        tilt = np.where(truncated, 0, p * (1 - p)) * game.share
        cross = game.X.T @ (game.scale * tilt[:, None])
        # C: a truncated probability is 1/a or 1 + 1/a, so it moves with lambda.
        cut = game.scale[truncated] / self.pull[truncated, None]
        direct = (cut.T * game.share[truncated]) @ cut
        # One solve with the factor of H for both columns, r and B.
        right_sides = np.column_stack([self.slope, cross])
        solved = cho_solve(self.curvature, right_sides, check_finite=False)
        theta = solved[:, 0]
        theta_cross = solved[:, 1:]
        return Eliminated(
            theta=theta,
            cross=theta_cross,
            curvature=direct + cross.T @ theta_cross,
            slope=self.gap - cross.T @ theta,
        )

    def newton(self, damping: float = DAMPING) -> Step:
        r"""Return the Newton step of both players.

        .. math::

            d\lambda &= (C + B^\top H^{-1} B + \mu I)^{-1} (G - B^\top H^{-1} r) \\
            d\theta &= -H^{-1} (r + B\, d\lambda)

        The larger the damping :math:`\mu`, the shorter the step.
        """
        system = self.eliminated
        bend = system.curvature + damping * np.eye(len(system.slope))
        change = np.linalg.solve(bend, system.slope).astype(np.float64, copy=False)
        return Step(-system.theta - system.cross @ change, change)

    def moved(self, step: Step, share: float) -> "Position":
        """Return the game after a share of a step, multipliers within their bounds."""
        bound = self.game.bound
        multiplier = self.multiplier + share * step.multiplier
        return self.game.at(
            self.theta + share * step.theta, np.clip(multiplier, -bound, bound)
        )


def _never() -> bool:
    return False


class Solution(NamedTuple):
    """End of a search, and the number of Hessians that it took."""

    position: Position
    n_iter: int


def solve(
    game: Saddle,
    theta: FloatArray,
    multiplier: FloatArray,
    *,
    tol: float,
    max_iter: int,
    stopped: Stopped = _never,
) -> Solution:
    """Return the saddle point, or the best position found in ``max_iter`` steps.

    ``stopped`` is asked before every step, and ends the search.

    Both players move at once by Newton, while that shrinks the residual. Where the
    kinks of truncation stop it, theta is minimised for every multiplier, and the
    multiplier maximises the minimum, a concave function: slower, and sure.
    """
    best, n_iter = _together(game.at(theta, multiplier), tol, max_iter, stopped)
    if best.residual > tol:
        nested, n_nested = _nested(best, tol, max_iter - n_iter, stopped)
        remaining = max(0, max_iter - n_iter - n_nested)
        nested, n_last = _together(nested, tol, remaining, stopped)
        n_iter += n_nested + n_last
        best = min(best, nested, key=lambda position: position.residual)
    return Solution(best, n_iter)


def _together(
    position: Position, tol: float, max_iter: int, stopped: Stopped
) -> Solution:
    """Move both players by Newton's method while that shrinks the residual."""
    for n_iter in range(max_iter):
        if position.residual <= tol or stopped():
            return Solution(position, n_iter)
        step = position.newton()
        share = 1.0
        candidate = position.moved(step, share)
        # "not <=" also refuses a norm that is NaN.
        while not _norm(candidate) <= (1 - share / 10) * _norm(position):
            share /= 2
            if share < SHORTEST_STEP:
                return Solution(position, n_iter + 1)
            candidate = position.moved(step, share)
        position = candidate
    return Solution(position, max_iter)


def _nested(
    position: Position, tol: float, max_iter: int, stopped: Stopped
) -> Solution:
    """Maximise D(lambda) = min over theta of L, by damped Newton steps."""
    position, n_iter = minimise(position, tol / 10, max_iter, stopped)
    damping = DAMPING
    while n_iter < max_iter and np.abs(position.gap).max() > tol and not stopped():
        # theta is at its best, so this is a step of D, with theta along its tangent.
        start = position.moved(position.newton(damping), 1.0)
        candidate, n_inner = minimise(start, tol / 10, max_iter - n_iter, stopped)
        n_iter += n_inner + 1
        change = candidate.multiplier - position.multiplier
        end_slope = float(candidate.gap @ change)
        start_slope = float(position.gap @ change)
        if _improved(candidate.value - position.value, end_slope, start_slope):
            position = candidate
            damping = max(DAMPING, damping / 16)
            continue
        # Refused: dampen until the step is clearly shorter.
        stiffer = _stiffer(position, damping, np.abs(change).max() / 2)
        if stiffer is None:  # rounding hides what is left to gain
            break
        damping = stiffer
    return Solution(position, n_iter)


def _stiffer(position: Position, damping: float, longest: float) -> float | None:
    """Return a damping with which no multiplier moves further than ``longest``."""
    least = SOFTEST * np.trace(position.eliminated.curvature)
    while damping <= STIFFEST:
        damping = max(8 * damping, least)
        if _reach(position, damping) <= longest:
            return damping
    return None


def _reach(position: Position, damping: float) -> float:
    """Return the length of the largest move of a multiplier, within the bounds."""
    bound = position.game.bound
    step = position.newton(damping).multiplier
    target = np.clip(position.multiplier + step, -bound, bound)
    return float(np.abs(target - position.multiplier).max())


def minimise(
    position: Position, tol: float, max_iter: int, stopped: Stopped = _never
) -> Solution:
    """Move theta alone to its minimum, by Newton's method with a line search."""
    for n_iter in range(max_iter):
        if np.abs(position.slope).max() <= tol or stopped():
            return Solution(position, n_iter)
        step = Step(position.descent(), np.zeros_like(position.multiplier))
        start_slope = -float(position.slope @ step.theta)
        share = 1.0
        candidate = position.moved(step, share)
        while not _improved(
            position.value - candidate.value,
            -share * float(candidate.slope @ step.theta),
            share * start_slope,
        ):
            share /= 2
            if share < FINEST_STEP:
                return Solution(position, n_iter + 1)
            candidate = position.moved(step, share)
        position = candidate
    return Solution(position, max_iter)


def _improved(gain: float, end_slope: float, start_slope: float) -> bool:
    """Return whether a step gained enough of what the slope at its start promised.

    Slopes are along the step, times its length.
    """
    # By concavity a step gains at least the slope at its end, which counts where
    # rounding hides the gain itself. A step that ends where the function is flat has
    # gained all that there is.
    if start_slope <= 0:
        return False
    enough = max(gain, end_slope) >= SUFFICIENT * start_slope
    return bool(enough or (abs(end_slope) <= FLAT * start_slope and gain >= -ROUNDING))


def _norm(position: Position) -> float:
    return float(np.linalg.norm(np.append(position.slope, position.gap)))
