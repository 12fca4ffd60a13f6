from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdash.datasets import Roles, make_dataset, split
from fairdash.datasets._split import subsample
from fairdash.datasets.guessing.roles import guess_roles

ROLES = Roles(target="y", positive=1, sensitive_feature="s", features=("x",))


def dataset_of(cells):
    """Return a data set with cells[2 * group + outcome] rows, shuffled."""
    cell = np.repeat(np.arange(len(cells)), cells)
    cell = np.random.default_rng(0).permutation(cell)
    x = np.random.default_rng(1).normal(size=len(cell))
    frame = pd.DataFrame({"x": x, "s": cell // 2, "y": cell % 2})
    return make_dataset(frame, ROLES, name="cells")


def cell_counts(dataset, rows):
    cell = dataset.group * 2 + dataset.y
    return np.bincount(cell[rows], minlength=2 * len(dataset.group_names))


@examples(25)
@given(st.lists(st.integers(1, 60), min_size=4, max_size=8), st.integers(0, 2**32 - 1))
def test_parts_are_sorted_disjoint_complete_and_balanced(cells, seed):
    cells = cells[: len(cells) // 2 * 2]
    dataset = dataset_of(cells)
    parts = split(dataset, seed)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), range(sum(cells)))
    for part, fraction in zip(parts, (0.6, 0.2, 0.2), strict=True):
        assert part.dtype == np.int64
        assert (np.diff(part) > 0).all()
        assert abs(len(part) - fraction * sum(cells)) <= 1
        away = cell_counts(dataset, part) - fraction * np.array(cells)
        assert np.abs(away).max() <= 1.5


@pytest.mark.parametrize(
    "fractions",
    [(0.5, 0.5, 0.5), (1.2, -0.1, -0.1), (0.5, 0.5), (float("nan"), 0.5, 0.5)],
)
def test_impossible_fractions_raise(fractions):
    with pytest.raises(ValueError, match="three numbers > 0 that add up to 1"):
        split(dataset_of([5, 5, 5, 5]), fractions=fractions)


@examples(25)
@given(
    st.lists(st.integers(1, 60), min_size=4, max_size=8),
    st.floats(0, 1),
    st.integers(0, 2**32 - 1),
)
def test_a_subsample_has_every_cell_in_proportion(cells, share, seed):
    cells = np.array(cells[: len(cells) // 2 * 2])
    dataset = dataset_of(cells)
    rows = np.arange(cells.sum())
    n_rows = len(cells) + round(share * (len(rows) - len(cells)))
    drawn = subsample(dataset, rows, n_rows, seed)
    assert len(drawn) == n_rows
    assert (np.diff(drawn) > 0).all()
    counts = cell_counts(dataset, drawn)
    assert counts.min() >= 1
    exact = cells * n_rows / len(rows)
    if exact.min() >= 1:
        assert np.abs(counts - exact).max() < 1 + 1e-9


def visits(n_units=400, seed=0):
    """Return a data set of people with one to six rows each, some without a name."""
    rng = np.random.default_rng(seed)
    n_visits = rng.integers(1, 7, n_units)
    person = np.repeat(np.arange(n_units), n_visits).astype(float)
    s = np.repeat(rng.integers(0, 2, n_units), n_visits)
    y = (rng.random(len(person)) < 0.3).astype(int)
    person[rng.random(len(person)) < 0.02] = np.nan
    frame = pd.DataFrame({"x": rng.normal(size=len(y)), "s": s, "y": y, "who": person})
    frame = frame.sample(frac=1, random_state=seed).reset_index(drop=True)
    roles = ROLES.model_copy(update={"unit": "who"})
    return make_dataset(frame, roles, name="visits")


@pytest.mark.parametrize("seed", range(5))
def test_a_split_keeps_the_rows_of_a_unit_together(seed):
    dataset = visits(seed=seed)
    parts = split(dataset, seed)
    everybody = np.sort(np.concatenate(parts))
    np.testing.assert_array_equal(everybody, range(dataset.n_rows))
    units = [set(dataset.unit[rows]) for rows in parts]
    assert not units[0] & units[1] | units[0] & units[2] | units[1] & units[2]
    for rows, share in zip(parts, (0.6, 0.2, 0.2), strict=True):
        assert abs(len(rows) / dataset.n_rows - share) < 0.02
        away = cell_counts(dataset, rows) / cell_counts(dataset, everybody) - share
        assert np.abs(away).max() < 0.08


def test_a_split_without_units_is_what_it_always_was():
    test = split(dataset_of([50, 40, 30, 20]), 3).test
    assert test[:8].tolist() == [1, 2, 4, 6, 20, 26, 28, 40]


def with_shared_tests(dataset):
    roles = dataset.roles.model_copy(update={"test_rows": "shared"})
    return replace(dataset, roles=roles)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(5, 60), min_size=4, max_size=8), st.integers(0, 2**32 - 1))
def test_seeds_share_test_rows_and_deal_the_others(cells, seed):
    cells = cells[: len(cells) // 2 * 2]
    dataset = with_shared_tests(dataset_of(cells))
    first = split(dataset, 0)
    parts = split(dataset, seed)
    np.testing.assert_array_equal(parts.test, first.test)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), range(sum(cells)))
    for part, fraction in zip(parts, (0.6, 0.2, 0.2), strict=True):
        assert abs(len(part) - fraction * sum(cells)) <= 2
        assert cell_counts(dataset, part).min() >= 1


def test_only_what_seeds_train_on_differs_and_the_first_seed_is_as_before():
    before = dataset_of([50, 40, 30, 20])
    shared = with_shared_tests(before)
    for part, same in zip(split(shared, 0), split(before, 0), strict=True):
        np.testing.assert_array_equal(part, same)
    validation = [set(split(shared, seed).validation) for seed in range(3)]
    assert len({frozenset(rows) for rows in validation}) == 3
    assert not set(split(shared, 0).test) & set.union(*validation)
    # of roles that do not say it a test row is a validation row of another seed
    rest = split(before, 1).validation
    assert set(split(before, 0).test) & set(rest)


def test_units_stay_together_where_seeds_share_test_rows():
    dataset = with_shared_tests(visits())
    first = split(dataset, 0)
    parts = split(dataset, 4)
    np.testing.assert_array_equal(first.test, parts.test)
    units = [set(dataset.unit[rows]) for rows in parts]
    assert not units[0] & units[1] | units[0] & units[2] | units[1] & units[2]


def test_roles_of_earlier_versions_keep_their_identity_and_new_ones_share_tests():
    assert "test_rows" not in ROLES.identity()
    assert Roles.model_validate(ROLES.model_dump()).test_rows == "by_seed"
    shared = ROLES.model_copy(update={"test_rows": "shared"})
    assert shared.identity()["test_rows"] == "shared"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["female", "male"], 200),
            "income": rng.normal(30, 5, 200).round(2),
            "approved": rng.choice(["yes", "no"], 200),
        }
    )
    assert guess_roles(frame).test_rows == "shared"
