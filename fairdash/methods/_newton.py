"""The search for the saddle point of fair log-loss."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fairdash.methods._saddle import DAMPING, Position, Saddle, Step
from fairdash.methods._truncation import Float

SHORTEST_STEP = 1 / 16  # of Newton on both players, before one waits for the other
SUFFICIENT = 1e-4  # share of the promised gain that a step must bring
FLAT = 0.5  # share of the slope at the start of a step that may remain at its end
ROUNDING = 1e-14  # of values of the game, which are about 1
FINEST_STEP = 1e-12
SOFTEST, STIFFEST = 1e-6, 1e12  # damping, of the curvature's trace, and absolute

Stopped = Callable[[], bool]


def _never() -> bool:
    return False


class Solution(NamedTuple):
    """Where the search ended, and how many Hessians it took."""

    position: Position
    n_iter: int


def solve(
    game: Saddle,
    theta: Float,
    multiplier: Float,
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
    best, used = _together(game.at(theta, multiplier), tol, max_iter, stopped)
    if best.residual > tol:
        nested, more = _nested(best, tol, max_iter - used, stopped)
        left = max(0, max_iter - used - more)
        nested, last = _together(nested, tol, left, stopped)
        used += more + last
        best = min(best, nested, key=lambda position: position.residual)
    return Solution(best, used)


def _together(
    here: Position, tol: float, max_iter: int, stopped: Stopped
) -> tuple[Position, int]:
    for used in range(max_iter):
        if here.residual <= tol or stopped():
            return here, used
        step, share = here.newton(), 1.0
        there = here.moved(step, share)
        while not _norm(there) <= (1 - share / 10) * _norm(here):
            share /= 2
            if share < SHORTEST_STEP:
                return here, used + 1
            there = here.moved(step, share)
        here = there
    return here, max_iter


def _nested(
    here: Position, tol: float, max_iter: int, stopped: Stopped
) -> tuple[Position, int]:
    """Maximise D, the minimum over theta, by damped Newton in the multipliers."""
    here, used = minimise(here, tol / 10, max_iter, stopped)
    damping = DAMPING
    while used < max_iter and np.abs(here.gap).max() > tol and not stopped():
        # theta is at its best, so this is a step of D, with theta along its tangent
        start = here.moved(here.newton(damping), 1.0)
        there, more = minimise(start, tol / 10, max_iter - used, stopped)
        used += more + 1
        moved = there.multiplier - here.multiplier
        ahead, promised = float(there.gap @ moved), float(here.gap @ moved)
        if _improved(there.value - here.value, ahead, promised):
            here, damping = there, max(DAMPING, damping / 16)
            continue
        while damping <= STIFFEST:  # until the step is clearly shorter
            damping = max(8 * damping, SOFTEST * np.trace(here.eliminated.curvature))
            if _reach(here, damping) <= np.abs(moved).max() / 2:
                break
        else:  # rounding hides what is left to gain
            break
    return here, used


def _reach(here: Position, damping: float) -> float:
    """Return how far a damped step moves the multipliers within their bounds."""
    bound = here.game.bound
    aim = np.clip(here.multiplier + here.newton(damping).multiplier, -bound, bound)
    return float(np.abs(aim - here.multiplier).max())


def minimise(
    here: Position, tol: float, max_iter: int, stopped: Stopped = _never
) -> tuple[Position, int]:
    """Move theta alone to its minimum."""
    for used in range(max_iter):
        if np.abs(here.slope).max() <= tol or stopped():
            return here, used
        step = Step(here.descent(), np.zeros_like(here.multiplier))
        promised = -float(here.slope @ step.theta)
        share = 1.0
        there = here.moved(step, share)
        while not _improved(
            here.value - there.value,
            -share * float(there.slope @ step.theta),
            share * promised,
        ):
            share /= 2
            if share < FINEST_STEP:
                return here, used + 1
            there = here.moved(step, share)
        here = there
    return here, max_iter


def _improved(gained: float, ahead: float, promised: float) -> bool:
    """Tell whether a step of a concave function gains enough.

    By concavity it gains at least ``ahead``, the slope at its end times the step, which
    counts where rounding hides the gain itself; a step that ends where the function is
    flat has gained what there is.
    """
    if promised <= 0:
        return False
    enough = max(gained, ahead) >= SUFFICIENT * promised
    return bool(enough or (abs(ahead) <= FLAT * promised and gained >= -ROUNDING))


def _norm(position: Position) -> float:
    return float(np.linalg.norm(np.append(position.slope, position.gap)))
