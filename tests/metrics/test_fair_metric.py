"""Fair metrics against closed forms, scikit-learn, SciPy and planted directions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from fairdash.metrics import (
    FairMetric,
    comparable_directions,
    explore,
    fair_distance,
    group_directions,
    ignore_columns,
    pair_tables,
)
from fairdash.metrics.individual.directions import _negative_log_likelihood

NAMES = ("age", "sex=F", "sex=M", "skill")


def random_metric(seed, d=6, k=2):
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(d)]
    labels = [f"a{i}" for i in range(k)]
    return FairMetric.ignoring(names, rng.normal(size=(d, k)), labels)


def test_the_certified_distance():
    A = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 2], [0, 0, 1.0]])
    sigma = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0.2, -0.4], [0, 0, -0.4, 0.8]]
    metric = FairMetric.ignoring("abcd", A, "uvw")
    np.testing.assert_allclose(metric.sigma, sigma, atol=1e-12)
    assert fair_distance([1, 2, 3, 4.0], [0, 5, 1, 0.0], A) == pytest.approx(7.2)
    assert fair_distance([[1, 2, 3, 4.0]], [[0, 5, 1, 0.0]], metric) == pytest.approx(
        [7.2]
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_sigma_is_a_projector_that_nothing_free_can_change(seed, k):
    metric = random_metric(seed, k=k)
    rng = np.random.default_rng(seed)
    x, other = rng.normal(size=(2, 5, 6))
    np.testing.assert_allclose(metric.sigma @ metric.sigma, metric.sigma, atol=1e-9)
    np.testing.assert_allclose(metric.sigma, metric.projection, atol=1e-9)
    moved = other + rng.normal(size=(5, k)) @ metric.directions.T
    np.testing.assert_allclose(
        metric.distance(x, moved), metric.distance(x, other), atol=1e-8
    )
    assert (metric.distance(x, other) > 0).all()


def test_ignored_columns_are_free_with_all_their_levels():
    metric = ignore_columns(["sex"], NAMES)
    assert metric.labels == ("sex=F", "sex=M")
    assert metric.distance([[0, 1, 0, 0.0]], [[0, 0, 1, 0.0]]) == 0
    assert metric.distance([[3, 1, 0, 0.0]], [[0, 0, 1, 4.0]]) == 25


def test_group_directions_are_those_of_the_logistic_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    s = (X[:, 0] - X[:, 3] + rng.logistic(size=500) > 0).astype(int)
    metric = group_directions(X, s, NAMES, columns=["sex=F"])
    model = LogisticRegression(C=1 / (1e-3 * 500), tol=1e-8).fit(X[:, [0, 2, 3]], s)
    w = model.coef_[0] / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(metric.directions[[0, 2, 3], 1], w, atol=1e-3)
    assert metric.directions[1].tolist() == [1.0, 0.0]
    three = group_directions(X, np.digitize(X[:, 0], [-0.5, 0.5]), NAMES)
    assert three.labels == ("predicts 0", "predicts 1", "predicts 2")


def planted_pairs(noise, seed=0):
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.normal(size=(10, 2)))[0]
    X = rng.normal(size=(300, 10))
    move = rng.normal(size=(300, 2)) * [3, 1]
    other = X + move @ A.T + noise * rng.normal(size=X.shape)
    return A, X, other


def test_planted_directions_of_counterfactual_pairs_are_found():
    A, X, other = planted_pairs(0.05)
    rows, pairs = pair_tables(X, other)
    names = [f"e{i}" for i in range(10)]
    metric = comparable_directions(rows, pairs, names, n_directions=2)
    np.testing.assert_allclose(metric.basis @ metric.basis.T, A @ A.T, atol=0.02)
    first, second = metric.explained
    assert first > 0.8
    assert first + second > 0.98


def test_pairs_of_two_give_the_singular_vectors_of_the_difference():
    _, X, other = planted_pairs(0.5)
    rows, pairs = pair_tables(X, other)
    metric = comparable_directions(rows, pairs, range(10), n_directions=3)
    right = np.linalg.svd(X - other, full_matrices=False)[2][:3].T
    np.testing.assert_allclose(np.abs(np.diag(right.T @ metric.directions)), 1)
    assert metric.table(X)["variance"].sum() < 1


def test_explore_learns_which_column_does_not_matter():
    rng = np.random.default_rng(0)
    X, other = rng.normal(size=(2, 2000, 3))
    d = (X - other)[:, 1:] ** 2 @ [0.6, 0.2]
    comparable = rng.random(2000) < 2 / (1 + np.exp(d))
    metric = explore(X, other, comparable, ["free", "much", "little"], alpha=1e-4)
    np.testing.assert_allclose(np.diag(metric.sigma), [0, 0.6, 0.2], atol=0.06)
    assert np.linalg.eigvalsh(metric.sigma).min() > -1e-12


def test_the_likelihood_of_explore_has_the_slope_it_says():
    d = np.array([0.01, 0.3, 2.0, 5.0])
    for label in (0.0, 1.0):
        labels = np.full(4, label)
        up, _ = _negative_log_likelihood(d + 1e-6, labels)
        down, _ = _negative_log_likelihood(d - 1e-6, labels)
        value, slope = _negative_log_likelihood(d, labels)
        p = 2 / (1 + np.exp(d))
        np.testing.assert_allclose(value, -np.log(p if label else 1 - p), rtol=1e-9)
        np.testing.assert_allclose(slope, (up - down) / 2e-6, rtol=1e-4)


def learned_metric():
    rng = np.random.default_rng(0)
    X, other = rng.normal(size=(2, 60, 3))
    other[:, 0] = np.where(np.arange(60) % 2, X[:, 0], other[:, 0])
    return explore(X, other, np.arange(60) % 2, "abc")


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ignore_columns(["race"], NAMES), "'race' is not a feature"),
        (lambda: pair_tables(np.eye(3), np.eye(3)[:2]), "pairs do not align"),
        (
            lambda: comparable_directions(np.eye(3), [1, 2, 3], "abc"),
            "No two rows are comparable",
        ),
        (
            lambda: comparable_directions(np.ones((4, 2)), [1, 1, 2, 2], "ab"),
            "equal in every feature",
        ),
        (
            lambda: group_directions(np.eye(2), ["a", "b"], "xy", columns="xy"),
            "2 directions that should not count span all 2 columns",
        ),
        (
            lambda: group_directions(
                np.random.default_rng(0).normal(size=(120, 5)),
                np.arange(120) % 6,
                "vwxyz",
            ),
            "directions that predict 6 groups span all that the 5 feature\\(s\\)",
        ),
        (
            lambda: learned_metric() | learned_metric(),
            "learned as a whole",
        ),
        (
            lambda: fair_distance([1.0], [2.0], np.eye(2)[:, :1]),
            "1 columns and the metric 2",
        ),
    ],
)
def test_bad_input_names_the_way_out(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_pairs_learned_from_too_briefly_warn():
    X, other = np.random.default_rng(0).normal(size=(2, 60, 3))
    with pytest.warns(ConvergenceWarning, match="for 2 steps without an end"):
        explore(X, other, np.arange(60) % 2, "abc", max_iter=2)
