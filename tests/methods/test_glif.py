"""GLIF: the closed form, new rows, and what a weight of 0 and a large one do."""

import numpy as np
import pytest

from fairdash.methods import GLIF, scorer_of
from fairdash.metrics import ignore_columns

K, WEIGHT = 7, 3.0


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    s = rng.integers(2, size=300)
    X = np.column_stack([s, rng.normal(size=(300, 4))]).astype(np.float32)
    y = (1.5 * X[:, 0] + X[:, 1] + rng.logistic(size=300) > 0.7).astype(int)
    return X, y, np.array(["a", "b"])[s]


@pytest.fixture(scope="module")
def models(data):
    X, y, s = data
    names = [f"x{i}" for i in range(5)]
    one = GLIF(
        ignore_columns(["x0"], names), n_neighbors=K, n_epochs=20, random_state=0
    )
    points = [{"fairness_weight": weight} for weight in (0.0, WEIGHT, 100.0)]
    return one.fit_many(points, X, y, sensitive_features=s)


def by_hand(squared):
    """Return the places and weights of the nearest by their squared distances."""
    order = np.argsort(squared, axis=1)[:, : K + 1]
    near = np.take_along_axis(squared, order, 1)
    return order[:, :K], (1 - near[:, :K] / near[:, K:]) / K


def distances(X, others):
    apart = X[:, None, 1:].astype(float) - others[None, :, 1:]  # x0 does not count
    return (apart**2).sum(-1)


def test_training_rows_get_the_closed_form_and_new_rows_their_place_beside(
    data, models
):
    X, _, _ = data
    scorer = models[1].network_
    h = scorer.network.logits(X)
    squared = distances(X, X)
    np.fill_diagonal(squared, np.inf)
    place, w = by_hand(squared)
    W = np.zeros((len(X), len(X)))
    np.put_along_axis(W, place, w, 1)
    W = (W + W.T) / 2
    laplacian = np.diag(W.sum(1)) - W
    f = np.linalg.solve(np.eye(len(X)) + WEIGHT * laplacian, h)
    np.testing.assert_allclose(scorer.outputs_there[:, 0], f, rtol=0, atol=1e-5)

    new = X[:40] + 0.1
    place, w = by_hand(distances(new, X))
    pulled = scorer.network.logits(new) + WEIGHT * (w * f[place]).sum(1)
    np.testing.assert_allclose(
        models[1].decision_function(new),
        pulled / (1 + WEIGHT * w.sum(1)),
        rtol=0,
        atol=1e-5,
    )


def test_no_weight_changes_nothing_and_more_weight_draws_twins_together(data, models):
    X, _, _ = data
    twins = X.copy()
    twins[:, 0] = 1 - twins[:, 0]
    apart = [
        np.abs(one.decision_function(X) - one.decision_function(twins)).mean()
        for one in models
    ]
    plain = models[0].network_.network
    np.testing.assert_allclose(models[0].decision_function(X), plain.logits(X))
    assert apart[0] > 2 * apart[1]
    assert apart[1] > 5 * apart[2]


def test_what_is_stored_predicts_the_same(data, models):
    X, _, _ = data
    stored = scorer_of(models[1].network_.arrays())
    np.testing.assert_array_equal(stored.logits(X), models[1].decision_function(X))


def test_fewer_rows_than_neighbours_are_all_neighbours(data):
    X, y, s = data
    few = GLIF(n_neighbors=100, n_epochs=2, random_state=0)
    few.fit(X[:20], y[:20], sensitive_features=s[:20])
    assert few.network_.settings.tolist() == [5.0, 18.0]
    assert np.isfinite(few.predict_proba(X)).all()
