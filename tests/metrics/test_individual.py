"""Fair metrics against closed forms, scikit-learn, SciPy and planted directions."""

import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from fairdash import metrics

NAMES = ("age", "sex=F", "sex=M", "skill")


def random_metric(seed, d=6, k=2):
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(d)]
    return metrics.FairMetric.ignoring(names, rng.normal(size=(d, k)))


def test_the_certified_distance():
    A = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 2], [0, 0, 1.0]])
    sigma = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0.2, -0.4], [0, 0, -0.4, 0.8]]
    metric = metrics.FairMetric.ignoring("abcd", A)
    np.testing.assert_allclose(metric.sigma, sigma, atol=1e-12)
    assert metrics.fair_distance([1, 2, 3, 4.0], [0, 5, 1, 0.0], A) == pytest.approx(
        7.2
    )
    assert metrics.fair_distance(
        [[1, 2, 3, 4.0]], [[0, 5, 1, 0.0]], metric
    ) == pytest.approx([7.2])


@examples(25)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_sigma_is_a_projector_that_nothing_free_can_change(seed, k):
    metric = random_metric(seed, k=k)
    rng = np.random.default_rng(seed)
    x, second = rng.normal(size=(2, 5, 6))
    np.testing.assert_allclose(metric.sigma @ metric.sigma, metric.sigma, atol=1e-9)
    moved = second + rng.normal(size=(5, k)) @ metric.basis.T
    np.testing.assert_allclose(
        metric.distance(x, moved), metric.distance(x, second), atol=1e-8
    )
    assert (metric.distance(x, second) > 0).all()


def test_ignored_columns_are_free_with_all_their_levels():
    metric = metrics.ignore_columns(["sex"], NAMES)
    assert metric.distance([[0, 1, 0, 0.0]], [[0, 0, 1, 0.0]]) == 0
    assert metric.distance([[3, 1, 0, 0.0]], [[0, 0, 1, 4.0]]) == 25


def test_group_directions_are_those_of_the_logistic_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    s = (X[:, 0] - X[:, 3] + rng.logistic(size=500) > 0).astype(int)
    metric = metrics.group_directions(X, s, NAMES, columns=["sex=F"])
    model = LogisticRegression(C=1 / (1e-3 * 500), tol=1e-8).fit(X[:, [0, 2, 3]], s)
    w = model.coef_[0] / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(metric.basis[[0, 2, 3], 1], w, atol=1e-3)
    assert metric.basis[1].tolist() == [1.0, 0.0]
    three = metrics.group_directions(X, np.digitize(X[:, 0], [-0.5, 0.5]), NAMES)
    assert three.basis.shape == (4, 2)  # coefficients of three groups sum to zero


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: metrics.ignore_columns(["race"], NAMES), "'race' is not a feature"),
        (
            lambda: metrics.group_directions(np.eye(2), ["a", "b"], "xy", columns="xy"),
            "directions that should not count span all 2 columns",
        ),
        (
            lambda: metrics.group_directions(
                np.random.default_rng(0).normal(size=(120, 5)),
                np.arange(120) % 6,
                "vwxyz",
            ),
            "directions that predict 6 groups span all that the 5 feature\\(s\\)",
        ),
        (
            lambda: metrics.fair_distance([1.0], [2.0], np.eye(2)[:, :1]),
            "1 columns and the metric 2",
        ),
    ],
)
def test_bad_input_names_the_way_out(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_consistency_counts_rows_that_never_change():
    y_pred = np.array([[1, 0, 1, 1], [1, 1, 1, 0], [1, 0, 1, 1]])
    assert metrics.prediction_consistency(y_pred) == 0.5
    assert np.isnan(metrics.prediction_consistency(np.empty((2, 0))))


def test_flips_are_all_combinations_of_values_that_the_table_has():
    frame = pd.DataFrame({"sex": ["F", "M"], "race": ["W", "B"], "age": [30, 40]})
    variants = metrics.flip_columns(frame, {"sex": ["F", "M"], "race": ["W", "B"]})
    assert len(variants) == 4
    assert {(v["sex"][0], v["race"][0]) for v in variants} == {
        (s, r) for s in "FM" for r in "WB"
    }
    assert all(v["age"].tolist() == [30, 40] for v in variants)
    (third,) = metrics.flip_columns(
        frame, {"age": [50]}, table=frame.assign(age=[50, 60])
    )
    assert third["age"].tolist() == [50, 50]


def test_a_column_called_self_is_flipped():
    frame = pd.DataFrame({"self": ["a", "b"], "x": [1, 2]})
    variants = metrics.flip_columns(frame, {"self": ["a", "b"]})
    assert [table["self"].tolist() for table in variants] == [["a", "a"], ["b", "b"]]


@pytest.mark.parametrize(
    "values, message",
    [
        ({"origin": ["x"]}, "'origin' cannot be flipped: the columns are sex, income"),
        ({"sex": []}, "0 variants of every row"),
        ({"sex": ["X"]}, "has no value 'X'"),
        ({"income": range(60), "sex": ["F"] * 9}, "540 variants of every row"),
    ],
)
def test_a_flip_that_cannot_be_made_says_why(values, message):
    frame = pd.DataFrame({"sex": ["F", "M"] * 30, "income": np.arange(60)})
    with pytest.raises(ValueError, match=message):
        metrics.flip_columns(frame, values)
