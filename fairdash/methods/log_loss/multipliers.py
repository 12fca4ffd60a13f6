"""The multipliers of fair log-loss: what they count for, and the best for scores."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_whole, value_label
from fairdash.methods.log_loss.truncation import Float

OUTCOMES = {
    "demographic_parity": ((0, 1),),
    "true_positive_rate_parity": ((1,),),
    "equalized_odds": ((1,), (0,)),
}


def bounds(labels: Float, constraints: str, n_groups: int) -> Float:
    """Return the share of the rows that each multiplier's constraint compares."""
    shares = [np.isin(labels, outcomes).mean() for outcomes in OUTCOMES[constraints]]
    return np.repeat(np.array(shares), n_groups - 1)


def scales(
    target: NDArray[np.int64],
    codes: NDArray[np.int64],
    groups: NDArray[Any],
    constraints: str,
) -> Float:
    """Return what each multiplier counts for in each cell, (2, n_groups, multipliers).

    One over the share of the cell in all rows: positive for the compared group,
    negative for the first group, 0 elsewhere.

    Raises
    ------
    ValueError
        When a cell is empty.
    """
    columns = []
    for outcomes in OUTCOMES[constraints]:
        chosen = np.isin(target, outcomes)
        sizes = np.bincount(codes[chosen], minlength=len(groups))
        if not sizes.all():
            empty = value_label(groups[sizes.argmin()])
            message = (
                f"Group {empty} has no rows with outcome class {outcomes[0]}, so "
                f"{constraints} compares nothing; leave the group "
                "out, join it with another, or use demographic_parity."
            )
            raise ValueError(message)
        for group in range(1, len(groups)):
            column = np.zeros((2, len(groups)))
            column[list(outcomes), group] = len(codes) / sizes[group]
            column[list(outcomes), 0] = -len(codes) / sizes[0]
            columns.append(column)
    return np.stack(columns, axis=-1)


def fair_log_loss_multiplier(e1: ArrayLike, e0: ArrayLike, n: int) -> float:
    r"""Return the multiplier that makes two cells of scores equal on average.

    The predictor of cell 1 is :math:`\min(\sigma, p_1/\lambda)`, that of cell 0
    :math:`\max(\sigma, 1 - p_0/\lambda)` for :math:`\lambda > 0`, and with the cells
    swapped below 0. With the mean of cell 1 the larger, join
    :math:`v = \sigma_1/n_1` with :math:`(1 - \sigma_0)/n_0` and find the level
    :math:`c` with :math:`\sum_i \min(v_i, c) = 1`; then
    :math:`\lambda = 1/(n c) \leq p_1 + p_0`.

    Parameters
    ----------
    e1, e0 : array-like
        Scores, probabilities in [0, 1], of cell 1 and of cell 0.
    n : int
        Number of all rows, those outside both cells included.

    Returns
    -------
    float
        0 when the means agree: where they agree at the optimum of a fit, the fit's
        own ``multiplier_`` is needed instead.

    Raises
    ------
    ValueError
        When a cell is empty, a score is outside [0, 1], or ``n`` is too small.

    References
    ----------
    Rezaei et al., Fairness for Robust Log Loss Classification (AAAI 2020), Theorem 2
    and Algorithm 1.
    """
    first, second = _scores("e1", e1), _scores("e0", e0)
    check_whole("n", n, at_least=len(first) + len(second))
    gap = first.mean() - second.mean()
    if gap == 0:
        return 0.0
    sign = 1.0
    if gap < 0:
        first, second, sign = second, first, -1.0
    volumes = np.concatenate([first / len(first), (1 - second) / len(second)])
    return float(sign / (n * _level(volumes)))


def _level(volumes: NDArray[np.float64]) -> float:
    """Return c with ``minimum(volumes, c).sum() == 1``, from below."""
    level = 1 / len(volumes)
    while True:
        below = volumes <= level
        if below.all():  # only where rounding hides that the sum exceeds 1
            return level
        higher = (1 - volumes[below].sum()) / np.count_nonzero(~below)
        if higher <= level:
            return level
        level = float(higher)


def _scores(name: str, values: ArrayLike) -> NDArray[np.float64]:
    scores = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if scores.size == 0:
        raise ValueError(f"`{name}` is empty: a group without rows has no average.")
    if scores.ndim > 1 or not np.all((scores >= 0) & (scores <= 1)):
        raise ValueError(f"`{name}` must be one row of probabilities in [0, 1].")
    return scores
