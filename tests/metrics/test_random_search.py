"""The search for counterparts of models without slopes."""

import numpy as np
import pytest
from scipy.special import expit

from fairdash.metrics import FairMetric, FreeRange, random_worst_case

D = 5


def metric_of(k=2, seed=0):
    labels = [f"a{i}" for i in range(k)]
    free = np.random.default_rng(seed).normal(size=(D, k))
    return FairMetric.ignoring(range(D), free, labels)


def people(n=80):
    return np.random.default_rng(1).normal(size=(n, D))


@pytest.mark.parametrize("radius", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_of_a_linear_score_it_finds_most_of_the_closed_form_and_never_more(
    radius, seed
):
    metric, X = metric_of(), people()
    w = np.random.default_rng(seed).normal(size=D)
    limits = FreeRange.of(X, metric)
    found = random_worst_case(lambda Z: Z @ w, X, metric, radius=radius)
    along, at = w @ metric.basis, X @ metric.basis
    rise = np.maximum(along * (limits.low - at), along * (limits.high - at)).sum(1)
    fall = np.minimum(along * (limits.low - at), along * (limits.high - at)).sum(1)
    counts = np.linalg.norm(metric.projection @ w) * np.sqrt(radius)
    exact = np.maximum(rise, -fall) + counts
    assert (found.value <= exact + 1e-9).all()
    assert found.value.mean() > 0.75 * exact.mean()


def test_counterparts_keep_the_distance_and_the_range_and_are_scored_so():
    metric, X = metric_of(), people()

    def score(Z):
        return expit(np.sin(Z).sum(1) > 0) + 0.01 * (Z[:, 0] > 0)

    found = random_worst_case(score, X, metric, radius=0.2)
    assert (found.distance <= 0.2 + 1e-9).all()
    limits, at = FreeRange.of(X, metric), found.X @ metric.basis
    assert (at <= limits.high + 1e-9).all()
    assert (at >= limits.low - 1e-9).all()
    np.testing.assert_allclose(found.value, np.abs(score(found.X) - score(X)))
    again = random_worst_case(score, X, metric, radius=0.2)
    np.testing.assert_array_equal(again.X, found.X)


def test_a_score_that_ignores_what_is_free_does_not_move_without_a_radius():
    metric, X = metric_of(), people()
    w = metric.projection @ np.arange(D)
    found = random_worst_case(lambda Z: (Z @ w).round(6), X, metric)
    np.testing.assert_allclose(found.value, 0, atol=1e-5)


@pytest.mark.parametrize("wrong", [{"radius": -1}, {"n_tries": 0}])
def test_wrong_settings_are_named(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must be"):
        random_worst_case(lambda Z: Z[:, 0], people(), metric_of(), **wrong)
