"""The worst distribution within a total variation ball, and projection onto it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash.methods.noisy_groups._inputs import check_distribution, check_shares

Float = NDArray[np.float64]
ROUNDS = 50  # Dinkelbach ended after two in all cases seen


def tv_ball_max(
    h: ArrayLike, base: ArrayLike, radius: ArrayLike
) -> tuple[Float, Float]:
    r"""Return the largest mean of ``h`` over distributions near ``base``.

    .. math::

        \max_p \sum_i p_i h_i \quad \text{subject to} \quad
        \tfrac12 \lVert p - \hat p \rVert_1 \le \gamma

    Mass :math:`\gamma` is taken from the points with the lowest ``h`` and put on the
    highest; points that are already there keep theirs.

    Parameters
    ----------
    h : array-like of shape (..., n)
    base : array-like of shape (..., n)
        Probabilities of the points, at least 0, with sum 1.
    radius : array-like of shape (...)
        In [0, 1].

    Returns
    -------
    value : ndarray of shape (...)
    p : ndarray of shape (..., n)
        One distribution at which the maximum is attained.

    Raises
    ------
    ValueError
        When ``base`` is no distribution or ``radius`` is outside [0, 1].
    """
    base = check_distribution("base", base)
    budget = check_shares("radius", radius)
    shape = np.broadcast_shapes(np.shape(h), base.shape, (*budget.shape, 1))
    values = np.broadcast_to(np.asarray(h, dtype=np.float64), shape)
    p = np.array(np.broadcast_to(base, shape))
    order = np.argsort(values, axis=-1, kind="stable")
    top = order[..., -1:]
    movable = np.where(values == np.take_along_axis(values, top, -1), 0.0, p)
    ranked = np.take_along_axis(movable, order, -1)
    before = np.cumsum(ranked, axis=-1) - ranked
    taken = np.clip(budget[..., None] - before, 0.0, ranked)
    np.put_along_axis(p, order, np.take_along_axis(p, order, -1) - taken, -1)
    highest = np.take_along_axis(p, top, -1) + taken.sum(axis=-1, keepdims=True)
    np.put_along_axis(p, top, highest, -1)
    return (p * values).sum(axis=-1), p


def tv_ball_ratio_max(
    u: ArrayLike, counted: ArrayLike, base: ArrayLike, radius: float
) -> tuple[float, Float]:
    r"""Return the largest conditional mean of ``u`` over distributions near ``base``.

    .. math::

        \max_p \frac{\sum_i p_i c_i u_i}{\sum_i p_i c_i}

    by Dinkelbach's method: while the value grows, replace it by the ratio at the
    maximum of :math:`c (u - t)`.

    Parameters
    ----------
    u : array-like of shape (n,)
    counted : array-like of bool, shape (n,)
        c: the points that the mean is over, e.g. those with a positive outcome.
    base : array-like of shape (n,)
    radius : float

    Raises
    ------
    ValueError
        As `tv_ball_max`, and when ``base`` gives no mass to counted points.
    """
    base = check_distribution("base", base)
    c = np.asarray(counted, dtype=np.float64)
    values = np.asarray(u, dtype=np.float64)
    if not base @ c > 0:
        raise ValueError("`base` gives no mass to the points in `counted`.")
    p = base
    ratio = float(p @ (c * values) / (p @ c))
    for _ in range(ROUNDS):
        gain, moved = tv_ball_max(c * (values - ratio), base, radius)
        if gain <= 1e-15 * max(1.0, abs(ratio)):
            break
        p = moved
        ratio = float(p @ (c * values) / (p @ c))
    return ratio, p


def project_tv_ball(z: ArrayLike, base: ArrayLike, radius: float) -> Float:
    r"""Return the distribution within the ball that is closest to ``z``.

    .. math::

        \arg\min_p \lVert p - z \rVert_2 \quad \text{subject to} \quad p \ge 0,\;
        \sum_i p_i = 1,\; \tfrac12 \lVert p - \hat p \rVert_1 \le \gamma

    The closest distribution, if it lies within the ball. Otherwise increase and
    decrease each have mass :math:`\gamma` and decouple: the one is the projection of
    ``z - base`` onto a simplex, the other that of ``base - z`` onto a simplex with
    caps ``base``.

    Parameters
    ----------
    z : array-like of shape (n,)
    base : array-like of shape (n,)
    radius : float

    Raises
    ------
    ValueError
        When ``base`` is no distribution or ``radius`` is outside [0, 1].
    """
    base = check_distribution("base", base)
    gamma = float(check_shares("radius", radius))
    point = np.asarray(z, dtype=np.float64)
    nearest = project_simplex(point)
    if np.abs(nearest - base).sum() <= 2 * gamma:
        return nearest
    up, down = point - base, base - point
    increase = np.maximum(up - _level(up, np.ones_like(up), gamma), 0.0)
    kinks = np.concatenate([down, down - base])
    slopes = np.concatenate([np.ones_like(base), -np.ones_like(base)])
    decrease = np.clip(down - _level(kinks, slopes, gamma), 0.0, base)
    p: Float = base + increase - decrease
    return p


def project_simplex(z: Float, mass: float = 1.0) -> Float:
    """Return the non-negative vector with sum ``mass`` that is closest to ``z``."""
    projected: Float = np.maximum(z - _level(z, np.ones_like(z), mass), 0.0)
    return projected


def _level(kinks: Float, slopes: Float, mass: float) -> float:
    """Return where a sum of ramps reaches ``mass``.

    The sum is 0 far to the right and grows to the left; its slope changes by
    ``slopes`` at ``kinks``.
    """
    order = np.argsort(-kinks, kind="stable")
    at, slope = kinks[order], np.cumsum(slopes[order])
    reached = np.append(0.0, np.cumsum(slope[:-1] * -np.diff(at)))
    # the last kink at which the sum is not above the mass, on a rising piece
    last = int(np.flatnonzero((reached <= mass) & (slope > 0)).max(initial=0))
    return float(at[last] - (mass - reached[last]) / slope[last])
