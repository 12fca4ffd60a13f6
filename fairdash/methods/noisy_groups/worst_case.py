"""The worst distributions and memberships that the noise allows, in closed form."""

from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._arrays import FloatArray
from fairdash.methods.noisy_groups import inputs

T = TypeVar("T", bound=np.floating)


def tv_ball_max(
    h: ArrayLike, base: ArrayLike, radius: ArrayLike
) -> tuple[FloatArray, FloatArray]:
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
    base = inputs.check_distribution("base", base)
    budget = inputs.check_shares("radius", radius)
    shape = np.broadcast_shapes(np.shape(h), base.shape, (*budget.shape, 1))
    values = np.broadcast_to(np.asarray(h, dtype=np.float64), shape)
    p = np.array(np.broadcast_to(base, shape))
    order = np.argsort(values, axis=-1, kind="stable")
    top = order[..., -1:]
    # Mass that lies at the maximum already stays there.
    maximum = np.take_along_axis(values, top, -1)
    movable = np.where(values == maximum, 0.0, p)
    # From the lowest point up, each gives what the points below it left of the budget.
    ranked_mass = np.take_along_axis(movable, order, -1)
    mass_before = np.cumsum(ranked_mass, axis=-1) - ranked_mass
    taken = np.clip(budget[..., None] - mass_before, 0.0, ranked_mass)
    remaining = np.take_along_axis(p, order, -1) - taken
    np.put_along_axis(p, order, remaining, -1)
    mass_at_top = np.take_along_axis(p, top, -1) + taken.sum(axis=-1, keepdims=True)
    np.put_along_axis(p, top, mass_at_top, -1)
    return (p * values).sum(axis=-1), p


def worst_rates(
    side: inputs.Side,
    y: inputs.Labels,
    decision: inputs.Labels,
    codes: inputs.Labels,
    radii: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    r"""Return each group's rate, and the worst within radii, both (..., n_groups).

    .. math::

        \min TPR_j = \max\left(0, TPR_j - \frac{\gamma_j}{P(Y=1 | \hat G = j)}\right),
        \quad
        \max FPR_j = \min\left(1, FPR_j + \frac{\gamma_j}{P(Y=0 | \hat G = j)}\right)

    exact if the sample has a false negative (false positive) to put the mass on; else
    the rate is 1 (0) whatever the distribution. ``radii`` has the result's shape.
    """
    chosen = side.rows(y)
    n_groups = radii.shape[-1]
    # A radius is a share of all rows of the group, the rate is over some of them.
    n = np.bincount(codes[chosen], minlength=n_groups)
    positive = np.bincount(codes[chosen], decision[chosen], minlength=n_groups)
    rate = np.where(n > 0, positive / np.maximum(n, 1), np.nan)
    share = n / np.bincount(codes, minlength=n_groups)
    moved = np.clip(rate + side.sign * (radii / share), 0, 1)
    # Mass needs an error to go to: a false negative, or a false positive.
    movable = (decision[chosen] == (side.sign > 0)).any()
    if not movable:
        return rate, np.broadcast_to(rate, radii.shape)
    return rate, moved


def project_tv_ball(z: ArrayLike, base: ArrayLike, radius: float) -> FloatArray:
    r"""Return the distribution within the ball that is closest to ``z``.

    .. math::

        \arg\min_p \lVert p - z \rVert_2 \quad \text{subject to} \quad p \ge 0,\;
        \sum_i p_i = 1,\; \tfrac12 \lVert p - \hat p \rVert_1 \le \gamma

    The closest distribution, if it lies within the ball. Otherwise increase and
    decrease each have mass :math:`\gamma` and decouple: the one is the projection of
    ``z - base`` onto a simplex, the other that of ``base - z`` onto a simplex with
    caps ``base``.

    Raises
    ------
    ValueError
        When ``base`` is no distribution or ``radius`` is outside [0, 1].
    """
    base = inputs.check_distribution("base", base)
    gamma = inputs.check_shares("radius", radius)
    point = np.asarray(z, dtype=np.float64)
    nearest = project_simplex(point)
    distance = np.abs(nearest - base).sum() / 2
    if distance <= gamma:
        return nearest
    increase = project_simplex(point - base, float(gamma))
    deficit = base - point
    level = capped_level(deficit, base, np.ones_like(base), gamma)
    return base + increase - np.clip(deficit - level, 0.0, base)


def project_simplex(z: NDArray[T], mass: float = 1.0) -> NDArray[T]:
    """Return the non-negative vector with sum ``mass`` that is closest to ``z``.

    Along the last axis, in the precision of ``z``.
    """
    # The projection cuts all entries at one level. If only the k largest stayed above
    # it, this would be their sum less the mass, over k; the right k has the highest.
    ranked = np.sort(z, axis=-1)[..., ::-1]
    n_above = np.arange(1, z.shape[-1] + 1)
    levels = (ranked.cumsum(axis=-1) - mass) / n_above
    level = levels.max(axis=-1, keepdims=True)
    projected: NDArray[T] = np.maximum(z - level, 0)
    return projected.astype(z.dtype, copy=False)


def capped_level(
    values: NDArray[np.floating],
    caps: NDArray[np.floating],
    counts: NDArray[np.floating],
    mass: NDArray[np.floating],
) -> FloatArray:
    """Return the level above which values, each cut off at its cap, hold a mass.

    ``caps`` are the most of a value that counts and ``counts`` how often it counts,
    both (n,); values are (..., n), masses (...).
    """
    # The mass above a level is piecewise linear in it: a value begins to count where
    # the level passes it, and no longer grows from its cap on. Sorted kinks make the
    # solution exact.
    kinks = np.concatenate([values, values - caps], axis=-1)
    order = np.argsort(-kinks, axis=-1)
    levels = np.take_along_axis(kinks, order, -1)
    slope = np.cumsum(np.append(counts, -counts)[order], axis=-1, dtype=np.float64)
    gains = slope[..., :-1] * -np.diff(levels, axis=-1)
    mass_above = np.zeros(levels.shape)
    np.cumsum(gains, axis=-1, out=mass_above[..., 1:])
    # The last kink above the solution; beyond it the mass rises in a line.
    last = (mass_above <= mass[..., None]).sum(axis=-1, keepdims=True) - 1
    missing_mass = mass[..., None] - np.take_along_axis(mass_above, last, -1)
    last_slope = np.take_along_axis(slope, last, -1)
    # Slopes of values that came and went cancel up to rounding.
    last_slope = np.where(last_slope > NOTHING * counts.max(), last_slope, 1)
    return (np.take_along_axis(levels, last, -1) - missing_mass / last_slope)[..., 0]


# A cell is (predicted, actual). w[k, c, j] is the probability that a row of noisy group
# k and cell c is of group j. Only its mean over cells is known, P(G = j | noisy k).
CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))
NOTHING = 1e-12  # of all rows, up to which a group has no rows


def cell_probabilities(
    y: ArrayLike, y_pred: ArrayLike, noisy_groups: ArrayLike
) -> pd.DataFrame:
    """Return P(noisy group, cell), one row per noisy group; it sums to one."""
    outcome, decision, names, codes = inputs.decided_rows(y, y_pred, noisy_groups)
    cells = np.bincount(4 * codes + 2 * decision + outcome, minlength=4 * len(names))
    table = cells.reshape(-1, 4) / len(outcome)
    return pd.DataFrame(table, index=pd.Index(names, name="group"), columns=list(CELLS))


def soft_group_max(
    h: ArrayLike, cell_probability: ArrayLike, group_given_noisy: ArrayLike, group: int
) -> float:
    r"""Return the largest contribution of one group to a mean over cells.

    .. math::

        \max_w \sum_{k, c} P(\hat G = k, c)\, h_c\, w_{kcj} \quad \text{subject to}
        \quad \sum_c P(c \mid \hat G = k)\, w_{kcj} = P(G = j \mid \hat G = k),
        \; 0 \le w \le 1

    separable in k: cells are filled in descending order of h until the share of the
    group is used up. Divided by P(G = j) it is a mean within the group.

    Parameters
    ----------
    h : array-like of shape (4,) or (n_noisy, 4)
    cell_probability : array-like of shape (n_noisy, 4)
        P(noisy group, cell), see `cell_probabilities`.
    group_given_noisy : array-like of shape (n_noisy, n_groups)
        P(G = j | noisy group k); rows sum to one.
    group : int
        j, the column of ``group_given_noisy``.

    Raises
    ------
    ValueError
        When probabilities do not sum to one.
    """
    joint, b = _checked(cell_probability, group_given_noisy)
    if not 0 <= group < b.shape[1]:
        message = f"`group` must be a column of the {b.shape[1]} in `group_given_noisy`"
        raise ValueError(f"{message}, got {group}.")
    values = np.broadcast_to(np.asarray(h, dtype=np.float64), joint.shape)
    order = np.argsort(-values, axis=1, kind="stable")
    sizes = np.take_along_axis(joint, order, 1)
    budget = joint.sum(axis=1, keepdims=True) * b[:, group, None]
    taken = np.clip(budget - (np.cumsum(sizes, axis=1) - sizes), 0.0, sizes)
    return float((taken * np.take_along_axis(values, order, 1)).sum())


def soft_ratio_max(
    size: FloatArray,
    value: FloatArray,
    rest: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    r"""Return the largest mean that each group can have, and the memberships it takes.

    .. math::

        \max_x \frac{\sum_{k, c} x_{kcj} v_{kc}}{\sum_{k, c} x_{kcj}} \quad
        \text{subject to} \quad 0 \le x_{kcj} \le s_{kc}, \;
        l_{kj} \le \sum_c x_{kcj} + r_{kj} \le h_{kj}, \; 0 \le r_{kj} \le r_k

    with the rows beyond the mean, :math:`r_k` of each noisy group, at choice. Given
    the largest mean, cells above it fill up to the budget, then the rows beyond, then
    the cells below it as far as they must. Only which cells lie above it is open: the
    best of as many choices as there are cells is exact.

    The mean, (..., n_groups), is NaN for a group that cannot have any row that it is
    over; ``x`` is of shape (..., n_noisy, n_cells, n_groups).

    Parameters
    ----------
    size, value : ndarray of shape (..., n_noisy, n_cells)
        s, share of all rows in each cell, and v, their mean.
    rest : ndarray of shape (..., n_noisy)
        Share of all rows that the mean is not over.
    low, high : ndarray of shape (..., n_noisy, n_groups)
        Share of all rows that is of each noisy group and group, at least and at most.
    """
    # Every array below has shape (..., n_noisy, n_cells, n_groups, n_choices): each
    # choice takes the value of one cell as the limit that the largest mean may have.
    limits = value.reshape(*value.shape[:-2], 1, 1, 1, -1)
    above = value[..., None, None] >= limits
    # Cells fill up in falling order of their value, ties in the order of cells.
    index = np.arange(value.shape[-1])
    cell_value = value[..., :, None]
    other_value = value[..., None, :]
    first_of_ties = (other_value == cell_value) & (index < index[:, None])
    earlier = (other_value > cell_value) | first_of_ties
    filled = (earlier * size[..., None, :]).sum(axis=-1)[..., None, None]
    beyond = rest[..., None, None, None]
    least = low[..., None, :, None]
    most = high[..., None, :, None]
    # Cells above the limit raise the mean: they fill the budget. Cells below lower it:
    # they take only what the least share still lacks once the rows beyond are used up.
    room = np.where(above, most - filled, least - filled - beyond)
    x = np.clip(room, 0, size[..., None, None])
    members = x.sum(axis=(-4, -3))
    total = (x * value[..., None, None]).sum(axis=(-4, -3))
    mean = np.where(members > NOTHING, total / np.maximum(members, NOTHING), -np.inf)
    best = mean.argmax(axis=-1)[..., None]
    memberships = np.take_along_axis(x, best[..., None, None, :, :], -1)[..., 0]
    largest = np.take_along_axis(mean, best, -1)[..., 0]
    return np.where(np.isfinite(largest), largest, np.nan), memberships


def soft_group_rates(
    cell_probability: ArrayLike,
    group_given_noisy: ArrayLike,
    *,
    least: ArrayLike | None = None,
    most: ArrayLike | None = None,
) -> pd.DataFrame:
    r"""Return the extreme rates of each true group that total probability allows.

    With :math:`\pi_k = P(\hat G = k)` and :math:`b_{jk} = P(G = j | \hat G = k)`

    .. math::

        \min TPR_j = \frac{\sum_k \pi_k TP_k}{\sum_k \pi_k (TP_k + FN_k)}, \quad
        TP_k = \max(0, b_{jk} - 1 + P(1, 1 | k)), \quad
        FN_k = \min(P(0, 1 | k), b_{jk})

    and alike for the largest false positive rate and the smallest rate of positive
    predictions: `soft_ratio_max` over two cells. Where the shares are known up to an
    interval, TP has its lower end and FN its upper.

    ``least`` and ``most``, (n_noisy, n_groups), are ends of intervals around
    ``group_given_noisy``; see `soft_group_max` for the rest.

    Returns
    -------
    DataFrame
        ``min_tpr``, ``max_fpr`` and ``min_positive_rate``, one row per column of
        ``group_given_noisy``; NaN where nothing says that the group has such rows.
    """
    joint, b = _checked(cell_probability, group_given_noisy)
    low = b if least is None else np.minimum(b, np.asarray(least, dtype=np.float64))
    high = b if most is None else np.maximum(b, np.asarray(most, dtype=np.float64))
    prior = joint.sum(axis=1, keepdims=True)
    negative = joint[:, :2]
    positive = joint[:, 2:]
    cells = {
        inputs.TPR: (joint[:, 1], joint[:, 3]),
        inputs.FPR: (joint[:, 0], joint[:, 2]),
        inputs.POSITIVE_RATE: (negative.sum(axis=1), positive.sum(axis=1)),
    }
    table = {}
    for side, (no, yes) in cells.items():
        size = np.column_stack([no, yes])
        value = np.broadcast_to([0.0, float(side.sign)], size.shape)
        rest = prior[:, 0] - no - yes
        mean, _ = soft_ratio_max(size, value, rest, prior * low, prior * high)
        table[side.worst] = side.sign * mean
    return pd.DataFrame(table)


def _checked(
    cell_probability: ArrayLike, group_given_noisy: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return P(noisy group, cell) and P(G = j | noisy group k) as checked arrays."""
    joint = np.asarray(cell_probability, dtype=np.float64)
    if joint.ndim != 2 or joint.shape[1] != len(CELLS):
        message = "`cell_probability` must have one row per noisy group and 4 columns"
        raise ValueError(f"{message}, got shape {joint.shape}.")
    inputs.check_distribution("cell_probability", joint.ravel())
    return joint, inputs.check_noise_matrix(group_given_noisy, len(joint))
