"""Multicalibration: subgroups where a base model is wrong are corrected."""

import numpy as np
import pytest
from cases import sampled

from fairdash.methods import CATALOG, scorer_of

Multicalibration = CATALOG["multicalibration"].estimator_class()


def planted(n, seed):
    """Return rows of a group and a flag that count together, and true probabilities."""
    rng = np.random.default_rng(seed)
    group, flag = rng.integers(2, size=(2, n))
    X = np.column_stack([rng.normal(size=n), flag, rng.normal(size=n)])
    true = 1 / (1 + np.exp(-(X[:, 0] + 2.0 * np.where(group == flag, 1, -1))))
    return X, (rng.random(n) < true).astype(int), group, true


def largest_error(p, true, group, X):
    cells = 2 * group + X[:, 1].astype(int)
    return max(abs((p - true)[cells == cell].mean()) for cell in range(4))


@pytest.mark.parametrize("base", sampled(["logistic", "gradient_boosting"], 2))
def test_the_largest_error_of_a_subgroup_and_the_brier_score_fall_on_fresh_rows(base):
    X, y, group, _ = planted(3000, 0)
    model = Multicalibration(estimator=base, random_state=0)
    model.fit(X, y, sensitive_features=group)
    X, y, group, true = planted(5000, 1)
    before = model.network_.base.positive(X, group)
    after = model.predict_proba(X, sensitive_features=group)[:, 1]
    errors = [largest_error(p, true, group, X) for p in (before, after)]
    assert errors[0] > 0.25
    assert errors[1] < 0.1
    assert np.mean((after - y) ** 2) < np.mean((before - y) ** 2) - 0.03


def test_a_model_that_is_right_stays_as_it_is_and_is_stored_whole():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = (X[:, 0] + rng.logistic(size=1500) > 0).astype(int)
    group = rng.integers(2, size=1500)
    model = Multicalibration(alpha=0.001, random_state=0)
    model.fit(X, y, sensitive_features=group)
    p = model.predict_proba(X, sensitive_features=group)[:, 1]
    base = model.network_.base.positive(X, group)
    assert np.abs(p - base).mean() < 0.03
    arrays = {n: np.ascontiguousarray(a) for n, a in model.network_.arrays().items()}
    np.testing.assert_allclose(scorer_of(arrays).positive(X, group), p)
