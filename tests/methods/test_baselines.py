"""The classical baselines against their definitions."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from fairdash.methods.classical.hardt import HardtLogistic
from fairdash.methods.classical.linear import CovarianceConstraint, Reweighing
from fairdash.methods.classical.reductions import Reductions


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    s = rng.integers(2, size=2000)
    X = rng.normal(size=(2000, 4))
    X[:, 0] += 1.5 * s
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=2000) > 0.5).astype(int)
    return X, y, np.array(["a", "b"])[s]


def gap(scores, s):
    return abs(scores[s == "b"].mean() - scores[s == "a"].mean())


@pytest.fixture(scope="module")
def plain_gap(data):
    X, y, s = data
    return gap(LogisticRegression(C=1 / (0.005 * len(y))).fit(X, y).predict(X), s)


def test_reweighing_is_logistic_regression_with_these_weights(data):
    from fairdash.methods.classical.linear import independence_weights

    X, y, s = data
    model = Reweighing(alpha=0.01).fit(X, y, sensitive_features=s)
    weights = independence_weights(y, (s == "b").astype(int))
    theirs = LogisticRegression(C=1 / (0.01 * len(y)), tol=1e-8)
    theirs.fit(X, y, sample_weight=weights)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities, theirs.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("bound", [0.003, 0.05, 10])
def test_the_covariance_constraint_finds_the_optimum_of_a_general_solver(bound, data):
    X, y, s = data
    model = CovarianceConstraint(covariance_bound=bound).fit(X, y, sensitive_features=s)
    design = np.column_stack([X, np.ones(len(X))])
    direction = ((s == "b") - (s == "b").mean()) @ design / len(X)

    def loss(theta):
        margin = design @ theta
        value = np.mean(np.logaddexp(0, margin) - y * margin)
        slope = (1 / (1 + np.exp(-margin)) - y) @ design / len(y)
        slope[:-1] += 0.005 * theta[:-1]
        return value + 0.0025 * theta[:-1] @ theta[:-1], slope

    limits = [
        {
            "type": "ineq",
            "fun": lambda theta, sign=sign: bound - sign * (direction @ theta),
        }
        for sign in (-1, 1)
    ]
    best = minimize(
        loss, np.zeros(5), jac=True, method="SLSQP", constraints=limits,
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    result = np.append(model.network_.weights[0], model.network_.biases[0])
    np.testing.assert_allclose(result, best.x, atol=2e-4)
    assert abs(direction @ result) <= bound * (1 + 1e-4)


def test_reductions_hold_the_tolerance_in_expected_decisions(data, plain_gap):
    X, y, s = data
    model = Reductions(tolerance=0.02).fit(X, y, sensitive_features=s)
    assert model.weights_.sum() == pytest.approx(1)
    assert gap(model.predict_proba(X)[:, 1], s) < 0.06 < plain_gap


@pytest.mark.parametrize("constraints", ["demographic_parity", "equalized_odds"])
def test_hardt_meets_the_constraint_on_the_rows_it_learned_from(constraints, data):
    X, y, s = data
    model = HardtLogistic(constraints).fit(X, y, sensitive_features=s)
    p = model.predict_proba(X, sensitive_features=s)[:, 1]
    cells = [y >= 0] if constraints == "demographic_parity" else [y == 0, y == 1]
    for cell in cells:
        assert gap(p[cell], s[cell]) < 0.005
