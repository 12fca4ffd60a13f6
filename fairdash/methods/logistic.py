"""Logistic regression, the linear model that others are compared with."""

from typing import Any

from fairdash.methods._baseline import Codes, Float, LinearBaseline, ridge_logistic


class Logistic(LinearBaseline):
    r"""Logistic regression, solved exactly by scikit-learn's L-BFGS.

    Minimises :math:`E[L_Y] + \frac{\alpha}{2} \lVert w \rVert^2` over linear
    predictors; the intercept is free.

    Parameters
    ----------
    alpha : float, default=1e-4
        Ridge penalty, above 0.
    max_iter : int, default=1000
        Most iterations.
    random_state : ignored
        Present because all methods of the catalog take one.

    Attributes
    ----------
    As in :class:`Unconstrained`; ``history_`` has one row.
    n_iter_ : int
        Iterations taken.
    """

    def __init__(
        self, *, alpha: float = 1e-4, max_iter: int = 1000, random_state: Any = None
    ) -> None:
        self.alpha = alpha
        self.max_iter = max_iter
        self.random_state = random_state

    def _solve(self, X: Float, target: Codes, codes: Codes) -> tuple[Float, float]:
        solver = ridge_logistic(self.alpha, len(X)).set_params(max_iter=self.max_iter)
        solver.fit(X, target)
        self.n_iter_ = int(solver.n_iter_[0])
        return solver.coef_[0], float(solver.intercept_[0])
