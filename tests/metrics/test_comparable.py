"""FACE against planted directions and NumPy's own decomposition."""

import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import given
from hypothesis import strategies as st

from fairdash.metrics import comparable_directions

NAMES = [f"x{i}" for i in range(6)]


def planted(seed, k=2, n_pairs=40, noise=0.0):
    """Return people in pairs that differ along k planted directions only."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.normal(size=(6, k)))[0]
    people = rng.normal(size=(n_pairs, 6))
    moved = people + rng.normal(size=(n_pairs, k)) @ directions.T
    moved += noise * rng.normal(size=moved.shape)
    pairs = np.tile(np.arange(n_pairs), 2)
    order = rng.permutation(2 * n_pairs)
    return np.vstack([people, moved])[order], pairs[order], directions


@examples(25)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_planted_directions_are_found_and_nothing_else(seed, k):
    X, pairs, directions = planted(seed, k)
    metric = comparable_directions(X, pairs, NAMES)
    assert metric.basis.shape == (6, k)
    projector = directions @ directions.T
    np.testing.assert_allclose(metric.sigma, np.eye(6) - projector, atol=1e-6)


def test_directions_are_the_first_singular_vectors_of_centred_groups():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6)) * [5, 4, 3, 2, 1, 0.5]
    groups = rng.integers(0, 20, 90)
    frame = pd.DataFrame(X)
    centred = (frame - frame.groupby(groups).transform("mean")).to_numpy()
    vectors = np.linalg.svd(centred)[2][:3]
    metric = comparable_directions(X, groups, NAMES, n_directions=3)
    np.testing.assert_allclose(metric.sigma, np.eye(6) - vectors.T @ vectors, atol=1e-9)


def test_rows_without_a_comparable_one_and_missing_values_count_nothing():
    X, pairs, _ = planted(1)
    rng = np.random.default_rng(1)
    alone = np.vstack([X, 50 * rng.normal(size=(12, 6))])
    labels = [*map(str, pairs), *(f"alone {i}" for i in range(6)), *[None, np.nan] * 3]
    np.testing.assert_allclose(
        comparable_directions(alone, labels, NAMES).sigma,
        comparable_directions(X, pairs, NAMES).sigma,
        atol=1e-9,
    )


def test_named_columns_do_not_count_either():
    X, pairs, _ = planted(2, k=1)
    metric = comparable_directions(X, pairs, NAMES, columns=["x3"])
    assert metric.distance(np.eye(6)[3], np.zeros(6)) == pytest.approx(0)
    assert metric.basis.shape[1] == 2


@pytest.mark.parametrize(
    ("labels", "change", "message"),
    [
        (range(80), {}, "No two of these rows have one value"),
        ([None] * 80, {}, "No two of these rows have one value"),
        ([1] * 79, {}, "inconsistent numbers of samples"),
        ([1] * 80, {}, "Set `n_directions` below 6"),
        ([1] * 80, {"n_directions": 0}, "`n_directions` must be a whole number"),
        ([1] * 80, {"columns": ["y"]}, "'y' is not a feature"),
    ],
)
def test_what_gives_no_metric_is_refused(labels, change, message):
    X, _, _ = planted(3)
    with pytest.raises(ValueError, match=message):
        comparable_directions(X, list(labels), NAMES, **change)


def test_pairs_of_equal_rows_say_nothing():
    with pytest.raises(ValueError, match="the same in every column"):
        comparable_directions(np.ones((4, 6)), [1, 1, 2, 2], NAMES)
