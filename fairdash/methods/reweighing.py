"""Logistic regression on rows weighted so that outcome and group look independent."""

from typing import Any

import numpy as np

from fairdash.methods._baseline import Codes, Float, LinearBaseline, ridge_logistic


class Reweighing(LinearBaseline):
    r"""Reweighing: every row counts :math:`P(a)\,P(y) / P(a, y)` times.

    Parameters
    ----------
    alpha : float, default=0.005
        Ridge penalty on the coefficients, beside the weighted mean loss; above 0.
    random_state : ignored
        Present because all methods of the catalog take one.

    Attributes
    ----------
    As in :class:`fairdash.methods.Logistic`.

    References
    ----------
    Kamiran and Calders, Data preprocessing techniques for classification without
    discrimination (2012), section 5.2.
    """

    def __init__(self, *, alpha: float = 0.005, random_state: Any = None) -> None:
        self.alpha = alpha
        self.random_state = random_state

    def _solve(self, X: Float, target: Codes, codes: Codes) -> tuple[Float, float]:
        weights = independence_weights(target, codes)
        solver = ridge_logistic(self.alpha, len(X))
        solver.fit(X, target, sample_weight=weights)
        return solver.coef_[0], float(solver.intercept_[0])


def independence_weights(target: Codes, codes: Codes) -> Float:
    """Return the weight of each row; they average to one if no cell is empty."""
    n = len(target)
    cells = np.bincount(2 * codes + target, minlength=2 * codes.max() + 2)
    cells = cells.reshape(-1, 2)
    expected = np.outer(cells.sum(1), cells.sum(0)) / n
    weights: Float = (expected / np.maximum(cells, 1))[codes, target]
    return weights
