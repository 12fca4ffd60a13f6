"""Fair log-loss with its multiplier held: what the constraint's price does alone."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_positive, encode_binary_target, encode_groups
from fairdash.methods.log_loss.multipliers import bounds, scales
from fairdash.methods.log_loss.saddle import Saddle, minimise
from fairdash.methods.log_loss.truncation import TruncatedLogistic

_TOLERANCE, _STEPS = 1e-9, 200


def hold_multiplier(
    X: NDArray[np.floating],
    y: ArrayLike,
    sensitive_features: ArrayLike,
    multiplier: float,
    *,
    alpha: float = 0.005,
) -> TruncatedLogistic:
    r"""Minimise the game of fair log-loss over coefficients at a given multiplier.

    Under demographic parity of two groups; at ``FairLogLoss.multiplier_`` this is the
    fitted model, at 0 plain logistic regression.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        Two classes.
    sensitive_features : array-like of shape (n_rows,)
        Two groups; a positive multiplier pulls the second one down.
    multiplier : float
        :math:`\lambda` in [-1, 1].
    alpha : float, default=0.005
        Penalty, above 0.

    Returns
    -------
    TruncatedLogistic

    Raises
    ------
    ValueError
        For parameters out of range, and other than two classes and two groups.
    """
    check_positive("alpha", alpha)
    if not abs(multiplier) <= 1:
        raise ValueError(f"`multiplier` must lie in [-1, 1], got {multiplier!r}.")
    _, target = encode_binary_target(y)
    groups, codes = encode_groups(sensitive_features, X)
    if len(groups) != 2:
        raise ValueError(f"`sensitive_features` must have two groups, got {groups}.")
    constraint = "demographic_parity"
    table = scales(target, codes, groups, constraint)
    labels = target.astype(np.float64)
    design = np.column_stack([np.asarray(X, np.float64), np.ones(len(X))])
    bound = bounds(labels, constraint, 2)
    game = Saddle(design, labels, table[target, codes], bound, alpha)
    held = np.array([float(multiplier)])
    start = game.at(np.zeros(design.shape[1]), held)
    found, _ = minimise(start, _TOLERANCE, _STEPS)
    theta = found.theta
    return TruncatedLogistic(theta[:-1], float(theta[-1]), table @ held)
