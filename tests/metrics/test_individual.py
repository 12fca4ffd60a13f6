"""Consistency, the search for counterparts and the certificates of a model."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from fairdash.methods import Network
from fairdash.metrics import (
    FairMetric,
    ctf_score,
    dif_certificate,
    flip_columns,
    free_sensitivity,
    ignore_columns,
    loss_ratio,
    output_distance,
    prediction_consistency,
    recall_gaps,
)
from fairdash.metrics.individual.certificates import upper_limit
from fairdash.metrics.individual.worst_case import FreeRange, worst_case


def network(sizes, seed=0):
    rng = np.random.default_rng(seed)
    pairs = list(pairwise(sizes))
    return Network(
        [rng.normal(size=pair) for pair in pairs],
        [rng.normal(size=pair[1]) for pair in pairs],
    )


def metric_of(seed, d=6, k=2):
    rng = np.random.default_rng(seed)
    labels = [f"a{i}" for i in range(k)]
    return FairMetric.ignoring(range(d), rng.normal(size=(d, k)), labels)


@pytest.mark.parametrize("n_outputs", [1, 2, 5])
@pytest.mark.parametrize("seed", range(2))
def test_a_linear_model_has_the_regulariser_of_the_closed_form(seed, n_outputs):
    metric = metric_of(seed)
    W = metric.projection @ np.random.default_rng(seed).normal(size=(6, n_outputs))
    model = Network([W], [np.zeros(n_outputs)])
    X = np.random.default_rng(9).normal(size=(40, 6))
    certificate = dif_certificate(model, X, metric, radius=0.3)
    # one logit s stands for -s/2 and s/2
    logits = W if n_outputs > 1 else np.hstack([-W / 2, W / 2])
    sigma = np.linalg.norm(logits.T @ metric.projection, 2)
    expected = 0.3 * sigma**2 / logits.shape[1]
    assert certificate.value == pytest.approx(
        expected, rel=1e-3 if n_outputs < 5 else 0.05
    )
    assert certificate.value <= expected + 1e-9
    assert certificate.free == pytest.approx(0, abs=1e-12)
    assert free_sensitivity(model, metric) == pytest.approx(0, abs=1e-12)


def test_a_linear_model_that_sees_a_free_direction_is_as_unfair_as_its_range():
    metric = ignore_columns(["b"], ["a", "b"])
    model = Network([np.array([[0.0], [2.0]])], [np.zeros(1)])
    X = np.array([[0.0, -1.0], [0.0, 0.5], [0.0, 1.0]])
    case = worst_case(model, X, metric)
    np.testing.assert_allclose(case.value, np.array([4.0, 3.0, 4.0]) ** 2 / 4)
    np.testing.assert_allclose(case.X[:, 1], [1, -1, -1])
    np.testing.assert_allclose(case.distance, 0)
    assert dif_certificate(model, X, metric, radius=1e-9).free == pytest.approx(
        np.mean([4.0, 2.25, 4.0])
    )


@pytest.mark.parametrize("sizes", [(6, 8, 1), (6, 8, 5, 3)])
@pytest.mark.parametrize("with_target", [True, False])
def test_the_search_never_ends_below_the_row_and_keeps_its_limits(sizes, with_target):
    model, metric = network(sizes), metric_of(1)
    X = np.random.default_rng(0).normal(size=(60, 6))
    target = np.arange(60) % max(2, sizes[-1]) if with_target else None
    case = worst_case(model, X, metric, radius=0.5, target=target)
    still = worst_case(model, X, metric, radius=0.5, target=target, n_steps=1)
    assert (case.value >= still.value - 1e-12).all()
    assert (case.distance <= 0.5 + 1e-9).all()
    coordinates, limits = case.X @ metric.basis, FreeRange.of(X, metric)
    assert (coordinates <= limits.high + 1e-9).all()
    assert (coordinates >= limits.low - 1e-9).all()
    if target is None:
        reached = output_distance(model.outputs(X), model.outputs(case.X))
        np.testing.assert_allclose(case.value, reached)
        assert (case.value >= 0).all()


def test_the_search_beats_many_random_counterparts():
    model, metric = network((6, 8, 1)), metric_of(2)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6))
    limits = FreeRange.of(X, metric)
    case = worst_case(model, X, metric, radius=0.5)
    best = np.zeros(50)
    for _ in range(400):
        u = rng.uniform(limits.low, limits.high, size=(50, 2)) - X @ metric.basis
        delta = rng.normal(size=(50, 6)) @ metric.projection
        delta *= np.sqrt(0.5) / np.linalg.norm(delta, axis=1, keepdims=True)
        other = X + u @ metric.basis.T + delta
        best = np.maximum(best, output_distance(model.outputs(X), model.outputs(other)))
    assert (case.value >= best).mean() > 0.9
    assert case.value.mean() > best.mean()


def test_the_certificate_is_at_least_what_everybody_moved_as_far_as_allowed_gives():
    model, metric = network((6, 8, 1)), metric_of(3)
    X = np.random.default_rng(0).normal(size=(80, 6))
    tight, loose = (dif_certificate(model, X, metric, radius=e) for e in (0.01, 1.0))
    for certificate in (tight, loose):
        assert certificate.free <= certificate.value
    assert tight.value < loose.value
    # by duality the value is at least that of moving everybody as far as allowed
    assert loose.value >= worst_case(model, X, metric, radius=1.0).value.mean() - 1e-9


def test_the_gradient_of_a_network_is_that_of_finite_differences():
    model = network((6, 8, 5, 3))
    X = np.random.default_rng(0).normal(size=(4, 6))
    slope = np.random.default_rng(1).normal(size=(4, 3))
    gradient = model.input_gradient(X, slope)
    for i in range(6):
        step = np.eye(6)[i] * 1e-6
        change = model.outputs(X + step) - model.outputs(X - step)
        np.testing.assert_allclose(
            gradient[:, i], (slope * change).sum(1) / 2e-6, rtol=1e-5, atol=1e-6
        )


def test_the_loss_ratio_is_the_one_sided_bound_of_the_ratios():
    metric = ignore_columns(["b"], ["a", "b"])
    model = Network([np.array([[1.0], [0.7]])], [np.zeros(1)])
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(2, size=200)
    test = loss_ratio(model, X, y, metric, radius=0.0)
    low, high = X[:, 1].min(), X[:, 1].max()

    def loss(b):
        return np.logaddexp(0, (1 - 2 * y) * (X[:, 0] + 0.7 * b))

    ratio = np.maximum(loss(low), loss(high)) / loss(X[:, 1])
    assert test.mean == pytest.approx(ratio.mean())
    error = ratio.std(ddof=1) / np.sqrt(200)
    assert test.low == pytest.approx(ratio.mean() - 1.6448536 * error)
    assert test.unfair
    fair = Network([np.array([[1.0], [0.0]])], [np.zeros(1)])
    fine = loss_ratio(fair, X, y, metric, radius=0.0)
    assert (fine.mean, fine.low, fine.unfair) == (1.0, 1.0, False)


def test_consistency_counts_rows_that_never_change():
    y_pred = np.array([[1, 0, 1, 1], [1, 1, 1, 0], [1, 0, 1, 1]])
    assert prediction_consistency(y_pred) == 0.5
    assert np.isnan(prediction_consistency(np.empty((2, 0))))


def test_the_ctf_score_is_the_mean_deviation_or_the_squared_distance():
    p = np.array([[0.1, 0.5], [0.3, 0.5]])
    assert ctf_score(p) == pytest.approx(0.05)
    many = np.array([[[0.2, 0.8, 0.0]], [[0.5, 0.5, 0.0]]])
    assert ctf_score(many) == pytest.approx(0.18)


def test_gaps_are_those_of_true_positive_rates_by_class():
    y = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    pred = np.array([1, 1, 1, 0, 0, 0, 1, 0])
    s = np.array(list("aabbaabb"))
    gaps = recall_gaps(y, pred, sensitive_features=s)
    assert gaps["gap_max"] == 0.5
    assert gaps["gap_rms"] == pytest.approx(0.5)
    alone = recall_gaps(y, pred, sensitive_features=list("aaaaaabb"))
    assert np.isnan(alone["gap_max"])


def test_flips_are_all_combinations_of_the_values_seen():
    frame = pd.DataFrame({"sex": ["F", "M"], "race": ["W", "B"], "age": [30, 40]})
    variants = flip_columns(frame, ["sex", "race"], features=["sex", "race", "age"])
    assert len(variants) == 4
    assert {(v["sex"][0], v["race"][0]) for v in variants} == {
        (s, r) for s in "FM" for r in "WB"
    }
    assert all(v["age"].tolist() == [30, 40] for v in variants)
    some = flip_columns(frame, {"sex": ["F"]}, features=["sex"])
    assert [v["sex"].tolist() for v in some] == [["F", "F"]]


@pytest.mark.parametrize(
    "columns, message",
    [
        (["origin"], "'origin' cannot be flipped: it is not a feature"),
        ([], "at least one column"),
        ({"sex": ["X"]}, "has no value 'X'"),
        (["income"], "60 values; a column to flip may have 50"),
    ],
)
def test_a_flip_that_cannot_be_made_says_why(columns, message):
    frame = pd.DataFrame({"sex": ["F", "M"] * 30, "income": np.arange(60)})
    with pytest.raises(ValueError, match=message):
        flip_columns(frame, columns, features=["sex", "income"])


def test_a_value_may_be_set_that_only_the_whole_table_has():
    table = pd.DataFrame({"job": ["a", "b", "c"]})
    part = table.iloc[:2]
    with pytest.raises(ValueError, match="'job' has no value 'c'"):
        flip_columns(part, {"job": ["c"]}, features=["job"])
    (changed,) = flip_columns(part, {"job": ["c"]}, features=["job"], known=table)
    assert changed["job"].tolist() == ["c", "c"]


def test_a_loss_of_zero_neither_decides_alone_nor_hides_unfairness():
    metric = ignore_columns(["b"], ["a", "b"])
    model = Network([np.array([[800.0], [900.0]])], [np.zeros(1)])
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, 2))
    y = (model.outputs(X)[:, 0] > 0).astype(int)  # all right, most without a loss
    test = loss_ratio(model, X, y, metric, radius=0.0)
    assert np.isfinite([test.mean, test.low]).all()
    assert test.unfair
    blind = Network([np.array([[800.0], [0.0]])], [np.zeros(1)])
    y = (X[:, 0] > 0).astype(int)
    fine = loss_ratio(blind, X, y, metric, radius=0.0)
    assert (fine.mean, fine.low, fine.unfair) == (1.0, 1.0, False)


def test_the_upper_limit_covers_what_it_says_where_the_plain_one_does_not():
    rng = np.random.default_rng(0)
    covered = plain = 0
    for _ in range(2000):
        x = rng.exponential(size=300)  # skewness 2, as of audited networks
        covered += upper_limit(x) >= 1
        plain += x.mean() + 1.645 * x.std(ddof=1) / np.sqrt(300) >= 1
    assert 0.94 <= covered / 2000 <= 0.965
    assert plain / 2000 < 0.94
    assert upper_limit(np.ones(5)) == 1
    assert np.isnan(upper_limit([1.0]))


def learned(costs):
    """A metric whose directions, up to the last, are nearly free."""
    k, sigma = len(costs) - 1, np.diag(costs)
    names = [f"x{i}" for i in range(k + 1)]
    return FairMetric(names, np.eye(k + 1)[:, :k], names[:k], (np.nan,) * k, sigma)


@pytest.mark.parametrize("radius", [0.0, 0.3])
@pytest.mark.parametrize("sizes", [(3, 1), (3, 8, 1), (3, 8, 3)])
def test_moves_that_a_learned_metric_calls_free_count_where_they_cost(sizes, radius):
    metric, X = learned([5e-4, 0.0, 1.0]), np.random.default_rng(1).normal(size=(50, 3))
    model, limits = network(sizes), FreeRange.of(X, metric)
    case = worst_case(model, X, metric, radius=radius)
    assert (case.distance <= radius + 1e-9).all()
    assert (case.X[:, :2] <= limits.high + 1e-9).all()
    assert (case.X[:, :2] >= limits.low - 1e-9).all()
    assert np.ptp(case.X[:, 1]) > 1  # what costs nothing is free at any radius


def test_of_a_linear_model_the_distance_is_shared_out_at_best():
    metric, radius = learned([5e-4, 1.0]), 0.004
    X = np.random.default_rng(2).normal(size=(30, 2))
    model, limits = network((2, 1)), FreeRange.of(X, metric)
    case = worst_case(model, X, metric, radius=radius)
    move = np.linspace(limits.low - X[:, :1], limits.high - X[:, :1], 2001)[..., 0]
    move = np.where(5e-4 * move**2 <= radius, move, 0)
    rest = np.sqrt(radius - 5e-4 * move**2)
    along, across = model.weights[0][:, 0]
    changes = [np.abs(along * move + sign * across * rest) for sign in (-1, 1)]
    best = np.max(changes, axis=(0, 1)) ** 2 / 4
    np.testing.assert_allclose(case.value, best, rtol=2e-3)
