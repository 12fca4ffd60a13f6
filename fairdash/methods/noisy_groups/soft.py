"""The worst soft group memberships that total probability allows, in closed form.

A cell is a prediction with an outcome, in the order (0, 0), (0, 1), (1, 0), (1, 1) of
(predicted, actual). w[k, c, j] is the probability that a row of noisy group k and cell
c is of group j; known are the means over cells, P(G = j | noisy group k).
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash.methods.noisy_groups.inputs import (
    FPR,
    POSITIVE_RATE,
    TPR,
    check_distribution,
    check_noise_matrix,
    decided_rows,
)

Float = NDArray[np.float64]
CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))
NOTHING = 1e-12  # of all rows, up to which a group has no rows


def cell_probabilities(
    y: ArrayLike, y_pred: ArrayLike, noisy_groups: ArrayLike
) -> pd.DataFrame:
    """Return P(noisy group, cell), one row per noisy group; it sums to one."""
    outcome, decision, names, codes = decided_rows(y, y_pred, noisy_groups)
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
    size: Float, value: Float, rest: Float, low: Float, high: Float
) -> tuple[Float, Float]:
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
    # (..., n_noisy, n_cells, n_groups, n_choices)
    limits = value.reshape(*value.shape[:-2], 1, 1, 1, -1)
    above = value[..., None, None] >= limits
    place = np.arange(value.shape[-1])
    one, other = value[..., :, None], value[..., None, :]
    earlier = (other > one) | ((other == one) & (place < place[:, None]))
    before = (earlier * size[..., None, :]).sum(axis=-1)[..., None, None]
    beyond = rest[..., None, None, None]
    least, most = low[..., None, :, None], high[..., None, :, None]
    room = np.where(above, most - before, least - before - beyond)
    x = np.clip(room, 0, size[..., None, None])
    whole = x.sum(axis=(-4, -3))
    total = (x * value[..., None, None]).sum(axis=(-4, -3))
    mean = np.where(whole > NOTHING, total / np.maximum(whole, NOTHING), -np.inf)
    best = mean.argmax(axis=-1)[..., None]
    chosen = np.take_along_axis(x, best[..., None, None, :, :], -1)[..., 0]
    largest = np.take_along_axis(mean, best, -1)[..., 0]
    return np.where(np.isfinite(largest), largest, np.nan), chosen


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
    negative, positive = joint[:, :2], joint[:, 2:]
    cells = {
        TPR: (joint[:, 1], joint[:, 3]),
        FPR: (joint[:, 0], joint[:, 2]),
        POSITIVE_RATE: (negative.sum(axis=1), positive.sum(axis=1)),
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
) -> tuple[Float, Float]:
    joint = np.asarray(cell_probability, dtype=np.float64)
    if joint.ndim != 2 or joint.shape[1] != len(CELLS):
        message = "`cell_probability` must have one row per noisy group and 4 columns"
        raise ValueError(f"{message}, got shape {joint.shape}.")
    check_distribution("cell_probability", joint.ravel())
    return joint, check_noise_matrix(group_given_noisy, len(joint))
