"""Logistic regression whose margin is nearly uncorrelated with the group."""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from fairdash._validation import check_positive
from fairdash.methods._baseline import Codes, Float, LinearBaseline

FIRST, LAST, FACTOR = 1e-1, 1e-10, 10.0  # weights of the barrier, and their ratio
STEPS = 50  # of Newton's method at one weight
ENOUGH = 1e-20  # Newton decrement, squared, at which a weight is done


class CovarianceConstraint(LinearBaseline):
    r"""Logistic regression under a bound on the covariance of margin and group.

    .. math::

        \min_\theta\; E[L_Y] + \frac{\alpha}{2} \lVert w \rVert^2 \quad
        \text{subject to} \quad
        \left| \frac1n \sum_i (1[a_i = k] - \bar a_k)\, \theta \cdot x_i \right| \le c

    for every group :math:`k`. A convex problem, solved by Newton's method with a
    logarithmic barrier. It bounds a covariance, not the gap of rates, which it need not
    close.

    Parameters
    ----------
    covariance_bound : float, default=0.01
        :math:`c`, above 0.
    alpha : float, default=0.005
        Ridge penalty on the coefficients, above 0; the intercept is free.
    random_state : ignored
        Present because all methods of the catalog take one.

    Attributes
    ----------
    As in :class:`fairdash.methods.Logistic`.

    References
    ----------
    Zafar et al., Fairness constraints: mechanisms for fair classification (AISTATS
    2017), Eq. 4.
    """

    def __init__(
        self,
        *,
        covariance_bound: float = 0.01,
        alpha: float = 0.005,
        random_state: Any = None,
    ) -> None:
        self.covariance_bound = covariance_bound
        self.alpha = alpha
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_positive("covariance_bound", self.covariance_bound)

    def _solve(self, X: Float, target: Codes, codes: Codes) -> tuple[Float, float]:
        design = np.column_stack([X, np.ones(len(X))])
        indicator = np.eye(codes.max() + 1)[codes]
        # the covariances are directions @ theta, as shares of the bound
        directions = (indicator - indicator.mean(0)).T @ design
        directions /= len(X) * self.covariance_bound
        ridge = np.append(np.full(X.shape[1], self.alpha), 0.0)
        theta = np.zeros(design.shape[1])
        weight = FIRST
        while weight >= LAST:
            theta = _centre(theta, design, target, ridge, directions, weight)
            weight /= FACTOR
        return theta[:-1], float(theta[-1])


def _centre(
    theta: Float,
    design: Float,
    target: Codes,
    ridge: Float,
    directions: Float,
    weight: float,
) -> Float:
    """Minimise loss, penalty and barrier by Newton's method."""

    def value(theta: Float) -> float:
        room = 1 - (directions @ theta) ** 2
        if (room <= 0).any():
            return np.inf
        margin = design @ theta
        loss = np.mean(np.logaddexp(0, margin) - target * margin)
        return float(loss + ridge @ theta**2 / 2 - weight * np.log(room).sum())

    for _ in range(STEPS):
        p = expit(design @ theta)
        share = directions @ theta
        room = 1 - share**2
        slope = (p - target) @ design / len(p) + ridge * theta
        slope += weight * (2 * share / room) @ directions
        rows = np.sqrt(p * (1 - p) / len(p))[:, None] * design
        bend = weight * (2 / room + (2 * share / room) ** 2)
        hessian = rows.T @ rows + (directions.T * bend) @ directions
        hessian[np.diag_indices_from(hessian)] += ridge + 1e-12
        step = -cho_solve(cho_factor(hessian), slope)
        gain = float(-slope @ step)
        if gain <= ENOUGH:
            break
        here, size = value(theta), 1.0
        while value(theta + size * step) > here - 1e-4 * size * gain:
            size /= 2
            if size < 1e-8:  # rounding hides what is left to gain
                return theta
        theta = theta + size * step
    return theta
