"""Draws of mixtures: levels that hang on what a row holds and on the seed alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, kstest

from fairdash.datasets import draws, load_sample

SEEDS = st.integers(0, 2**64 - 1)


@given(seed=SEEDS, data=st.data())
def test_a_row_has_its_level_in_whichever_batch_order_and_precision(seed, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    X = rng.normal(size=(40, 3)).astype(np.float32)
    some = np.array(data.draw(st.permutations(range(40))))[:25]
    level = draws.levels(draws.array_content(X), seed)
    again = draws.levels(draws.array_content(X[some].astype(np.float64)), seed)
    np.testing.assert_array_equal(again, level[some])
    assert ((level >= 0) & (level < 1)).all()
    frame = pd.DataFrame({"x": X[:, 0], "word": np.array(["a", "b"])[some[0] % 2]})
    whole = draws.table_content(frame, ["x"])
    parts = draws.table_content(frame.iloc[some], ["x"])
    np.testing.assert_array_equal(parts, whole[some])


def test_levels_are_uniform_over_rows_and_over_seeds_and_rows_do_not_move_together():
    rows = np.arange(20_000, dtype=np.float32)[:, None] % 200  # near each other
    X = np.column_stack([rows, np.arange(20_000) // 200])
    content = draws.array_content(X)
    assert len(np.unique(content)) == len(X)
    assert kstest(draws.levels(content, 0), "uniform").pvalue > 0.001
    over_seeds = np.array([draws.levels(content[:50], seed) for seed in range(2000)])
    assert min(kstest(level, "uniform").pvalue for level in over_seeds.T) > 1e-5
    # correlations of independent levels: squares add up to a chi-square
    between = np.corrcoef(over_seeds.T)[np.triu_indices(50, 1)]
    assert chi2.sf(2000 * (between**2).sum(), len(between)) > 0.001
    next_seed = np.corrcoef(draws.levels(content, 0), draws.levels(content, 1))[0, 1]
    assert abs(next_seed) < 0.03


def test_equal_rows_share_a_level_and_missing_and_minus_zero_are_values():
    X = np.array([[0.0, np.nan], [-0.0, -np.nan], [0.0, 1.0]])
    first, second, third = draws.array_content(X)
    assert first == second != third
    frame = pd.DataFrame({"n": [1.0, 1.0, np.nan], "word": ["a", "a", None]})
    first, second, third = draws.table_content(frame, ["n"])
    assert first == second != third
    text = draws.table_content(frame.astype({"word": "category"}), ["n"])
    np.testing.assert_array_equal(text, [first, second, third])


def test_a_mixed_table_and_an_array_of_objects_have_content_too():
    frame = pd.DataFrame({"x": [1, 2, 1], "word": ["a", "b", "a"]})
    for rows in (frame, frame.to_numpy(object)):
        first, second, third = draws.array_content(rows)
        assert first == third != second


def test_the_content_of_a_data_set_is_of_its_features_alone():
    data = load_sample("hiring")
    features = data.frame[list(data.roles.features)]
    same = features.groupby(list(features), dropna=False, observed=True).ngroup()
    codes, contents = pd.factorize(data.content)
    pairs = pd.DataFrame({"same": same, "code": codes}).drop_duplicates()
    assert len(pairs) == len(contents) == same.nunique()


@pytest.mark.parametrize("seed", [-1, 2**64, 0.5, "one"])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(ValueError, match="`random_state` must be a whole number"):
        draws.levels(np.zeros(2, np.uint64), seed)


def test_none_and_generators_draw_anew():
    content = np.zeros(1, np.uint64)
    for make in (np.random.default_rng, np.random.RandomState):
        first_draw = make(3)
        second_draw = make(3)
        first = draws.levels(content, first_draw)
        second = draws.levels(content, first_draw)
        assert first != second
        assert first == draws.levels(content, second_draw)
    assert draws.levels(content, None) != draws.levels(content, None)
