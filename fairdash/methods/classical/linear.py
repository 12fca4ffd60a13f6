"""Logistic regression: plain, on weighted rows, constrained."""

import numpy as np
from scipy.optimize import LinearConstraint, minimize
from scipy.special import expit

from fairdash._arrays import Codes, FloatArray
from fairdash._validation import check_positive
from fairdash.methods.base import TrainingRows, Weighted
from fairdash.methods.classical import plain
from fairdash.methods.classical.bases import ITERATIONS, fit_base, ridge_logistic
from fairdash.methods.declare import Method, param, vary
from fairdash.methods.params import RIDGE

PRECISION = 1e-14  # of the loss, at which the search for the optimum ends
STEPS = 500  # at most


class Logistic(plain.LinearBaseline):
    r"""Logistic regression, solved exactly by scikit-learn's L-BFGS.

    Minimises :math:`E[L_Y] + \frac{\alpha}{2} \lVert w \rVert^2` over linear
    predictors; the intercept is free.

    Attributes
    ----------
    n_iter_ : int
        Iterations taken.
    """

    _ignores_groups = True

    alpha: float = vary(RIDGE, default=1e-4, low=1e-4, high=1.0, step=1e-4)
    max_iter: int = param(ITERATIONS, doc="Most iterations.")

    def _solve(self, rows: TrainingRows) -> tuple[FloatArray, float]:
        solver = ridge_logistic(self.alpha, rows.n_rows)
        solver.set_params(max_iter=self.max_iter)
        solver.fit(rows.X, rows.target, sample_weight=rows.weight)
        self.n_iter_ = int(solver.n_iter_[0])
        return solver.coef_[0], float(solver.intercept_[0])


class Reweighing(Weighted, plain.CarriesBase, plain.OneModel):
    r"""Reweighing: every row counts :math:`P(a)\,P(y) / P(a, y)` times.

    References
    ----------
    Kamiran and Calders, Data preprocessing techniques for classification without
    discrimination (2012), section 5.2.
    """

    def _learn(self, rows: TrainingRows) -> FloatArray:
        weights = independence_weights(rows.target, rows.codes, rows.weight)
        model = self._base(rows)
        return self._keep(fit_base(model, rows.X, rows.target, weights), rows)


class CovarianceConstraint(plain.LinearBaseline):
    r"""Logistic regression under a bound on the covariance of margin and group.

    .. math::

        \min_\theta\; E[L_Y] + \frac{\alpha}{2} \lVert w \rVert^2 \quad
        \text{subject to} \quad
        \left| \frac1n \sum_i (1[a_i = k] - \bar a_k)\, m_i \right| \le c

    for every group :math:`k`, with the margin :math:`m_i = \theta \cdot x_i`: a convex
    problem, solved by sequential quadratic programming.

    It bounds a covariance, not the gap of rates, which it need not close: a margin
    scaled down has less covariance and the same decisions.

    References
    ----------
    Zafar et al., Fairness constraints: mechanisms for fair classification (AISTATS
    2017), Eq. 4.
    """

    covariance_bound: float = param(
        0.01,
        "Covariance bound",
        letter="c",
        low=0.001,
        high=0.5,
        step=0.001,
        axis="log",
        trade_off=True,
        check=check_positive,
        help="Smaller: fairer, less accurate.",
        doc=":math:`c`, above 0.",
    )
    alpha: float = RIDGE

    def _solve(self, rows: TrainingRows) -> tuple[FloatArray, float]:
        X, target, codes, _ = rows
        share = rows.row_weights / rows.n_rows
        design = np.column_stack([X, np.ones(len(X))])
        ridge = np.append(np.full(X.shape[1], self.alpha), 0.0)
        indicator = np.eye(codes.max() + 1)[codes]
        # A covariance is linear in theta: a row of these coefficients for each group.
        # As shares of the bound, all constraints are of the same size.
        pulls = ((indicator - share @ indicator) * share[:, None]).T
        directions = pulls / self.covariance_bound @ design

        def loss_and_slope(theta: FloatArray) -> tuple[float, FloatArray]:
            margin = design @ theta
            loss = share @ (np.logaddexp(0, margin) - target * margin)
            slope = (share * (expit(margin) - target)) @ design + ridge * theta
            return float(loss + ridge @ theta**2 / 2), slope

        solution = minimize(
            loss_and_slope,
            np.zeros(design.shape[1]),
            jac=True,
            method="SLSQP",
            constraints=LinearConstraint(directions, -1, 1),
            options={"ftol": PRECISION, "maxiter": STEPS},
        )
        return solution.x[:-1], float(solution.x[-1])


LOGISTIC = Method.of(
    Logistic,
    key="logistic",
    label="Logistic",
    title="Logistic regression without a fairness term",
    summary="The linear model at its exact optimum, with a small ridge penalty.",
    source="scikit-learn, L-BFGS",
)
REWEIGHING = Method.of(
    Reweighing,
    key="reweighing",
    label="Reweighing",
    title="Reweighing",
    summary="A base model on rows weighted so that outcome and group look independent.",
    source="Kamiran and Calders (2012), section 5.2",
)
COVARIANCE = Method.of(
    CovarianceConstraint,
    key="covariance",
    label="Covariance",
    title="Covariance constraint",
    summary="Logistic regression whose margin hardly varies with the group.",
    source="Zafar et al., Fairness constraints (AISTATS 2017), Eq. 4",
    former={"constraints": "demographic_parity"},
)


def independence_weights(
    target: Codes, codes: Codes, weight: FloatArray | None = None
) -> FloatArray:
    """Return the weight of each row, P(a) P(y) / P(a, y) times what it counts.

    They average to one if no cell is empty.
    """
    row_weights = np.ones(len(target)) if weight is None else weight
    cells = np.bincount(2 * codes + target, row_weights, minlength=2 * codes.max() + 2)
    cells = cells.reshape(-1, 2)
    expected = np.outer(cells.sum(1), cells.sum(0)) / cells.sum()
    return (expected / np.where(cells > 0, cells, 1))[codes, target] * row_weights
