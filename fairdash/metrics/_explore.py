"""EXPLORE: a fair metric learned from pairs that people call comparable or not."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from sklearn.utils import check_consistent_length

from fairdash._validation import check_positive
from fairdash.metrics._fair_metric import FairMetric, Float

_FREE = 1e-3  # of the largest eigenvalue: below it, a direction counts as free
_TINY = 1e-12


def explore(
    X: ArrayLike,
    X_other: ArrayLike,
    comparable: ArrayLike,
    feature_names: Sequence[str],
    *,
    alpha: float = 1e-3,
    max_iter: int = 500,
) -> FairMetric:
    r"""Learn a positive semidefinite matrix from labelled pairs.

    Maximises the likelihood of

    .. math:: P(\text{comparable} \mid x, x') = \frac{2}{1 + e^{d}}, \quad
        d = (x - x')^T \Sigma (x - x'), \quad \Sigma = L L^T

    less :math:`\frac{\alpha}{2} \lVert L \rVert^2`, by L-BFGS on L.

    Parameters
    ----------
    X, X_other : array-like of shape (n_pairs, d)
        Row i of one and row i of the other are a pair.
    comparable : array-like of shape (n_pairs,)
        1 where a pair should be treated alike, 0 where not.
    feature_names : sequence of str
    alpha : float, default=1e-3
        Ridge penalty; without one, separable labels have no solution.
    max_iter : int, default=500

    Returns
    -------
    FairMetric
        Its ``sigma`` is learned; ``directions`` are the eigenvectors whose eigenvalue
        is below a thousandth of the largest.

    Raises
    ------
    ValueError
        When pairs do not align or all have the same label.

    References
    ----------
    Mukherjee et al., *Two simple ways to learn individual fairness metrics from data*
    (ICML 2020), section 2.2.
    """
    check_positive("alpha", alpha)
    first, second = np.asarray(X, np.float64), np.asarray(X_other, np.float64)
    labels = np.asarray(comparable, np.float64)
    if first.shape != second.shape:
        message = f"Pairs do not align: shapes {first.shape} and {second.shape}"
        raise ValueError(f"{message}; row i of both tables must be one pair.")
    check_consistent_length(first, labels)
    if set(np.unique(labels)) != {0.0, 1.0}:
        raise ValueError(
            "`comparable` must be 0 and 1, with pairs of both kinds, got "
            f"{np.unique(labels).tolist()}."
        )
    difference = first - second
    d = difference.shape[1]

    def loss(flat: Float) -> tuple[float, Float]:
        factor = flat.reshape(d, d)
        moved = difference @ factor
        distance = (moved**2).sum(1)
        value, slope = _negative_log_likelihood(distance, labels)
        gradient = 2 * (difference * slope[:, None]).T @ moved / len(labels)
        ridge = 0.5 * alpha * (flat @ flat)
        return float(value.mean() + ridge), (gradient + alpha * factor).ravel()

    scale = np.sqrt(max(_TINY, np.median((difference**2).sum(1))))
    start = (np.eye(d) / scale).ravel()
    solved = minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"maxiter": max_iter}
    )
    factor = solved.x.reshape(d, d)
    sigma = factor @ factor.T
    values, vectors = np.linalg.eigh(sigma)
    free = values <= _FREE * values[-1]
    named = [f"learned {k + 1}" for k in range(int(free.sum()))]
    names = tuple(map(str, feature_names))
    shares = (np.nan,) * len(named)
    return FairMetric(names, vectors[:, free], tuple(named), shares, sigma)


def _negative_log_likelihood(distance: Float, labels: Float) -> tuple[Float, Float]:
    """Return the loss of every pair and its slope in the distance."""
    # comparable: log(1 + e^d) - log 2; not: -log(1 - 2 / (1 + e^d)) = -log tanh(d/2)
    d = np.maximum(distance, _TINY)
    alike = np.logaddexp(0, d) - np.log(2)
    unlike = -np.log(np.tanh(d / 2))
    alike_slope = 1 / (1 + np.exp(-d))
    unlike_slope = -1 / np.sinh(np.minimum(d, 700.0))
    loss = np.where(labels == 1, alike, unlike)
    slope = np.where(labels == 1, alike_slope, unlike_slope)
    return loss, slope
