"""The subgradient printed for fair log-loss misses a term; ours does not.

See docs/fair_log_loss.md.
"""

import numpy as np
import pytest
from scipy.special import expit

from fairdash.methods import fair_log_loss_multiplier
from fairdash.methods.log_loss.truncation import play

ALPHA = 0.01


def problem(seed):
    rng = np.random.default_rng(seed)
    n = 400
    s = rng.integers(2, size=n)
    X = np.column_stack([rng.normal(size=(n, 3)), np.ones(n)])
    X[:, 0] += s
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=n) > 0.5).astype(float)
    return X, y, s, rng.normal(size=4)


def best_answer(theta, X, s):
    """The multiplier that is best for theta, as a pull on every row, and the play."""
    score = expit(X @ theta)
    multiplier = fair_log_loss_multiplier(score[s == 1], score[s == 0], len(s))
    shares = np.bincount(s) / len(s)
    pull = np.where(s == 1, multiplier / shares[1], -multiplier / shares[0])
    return pull, play(X @ theta, pull)


def objective(theta, X, y, s):
    """max over lambda of Eq. 10, as Eq. 67 writes it: log loss of P under Q, no gap."""
    _, (p, q, _) = best_answer(theta, X, s)
    loss = -q * np.log(p) - (1 - q) * np.log1p(-p) + (q - y) * (X @ theta)
    return loss.mean() + ALPHA / 2 * theta @ theta


def corrected(theta, X, y, s):
    _, (_, q, _) = best_answer(theta, X, s)
    return (q - y) @ X / len(y) + ALPHA * theta


def printed(theta, X, y, s):
    """The derivative of the objective with lambda held, which is what is printed."""
    pull, (p, q, truncated) = best_answer(theta, X, s)
    slope = np.where(truncated, 0, pull * p * (1 - p))
    return (q - y - slope) @ X / len(y) + ALPHA * theta


def differences(theta, *data, h=1e-6):
    steps = h * np.eye(len(theta))
    return np.array(
        [
            (objective(theta + d, *data) - objective(theta - d, *data)) / 2 / h
            for d in steps
        ]
    )


@pytest.mark.parametrize("seed", range(6))
def test_finite_differences_agree_with_ours_and_not_with_the_printed_one(seed):
    X, y, s, theta = problem(seed)
    true = differences(theta, X, y, s)
    np.testing.assert_allclose(corrected(theta, X, y, s), true, atol=1e-7)
    assert np.abs(printed(theta, X, y, s) - true).max() > 0.01
