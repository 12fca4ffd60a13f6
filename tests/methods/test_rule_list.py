"""Rule lists against every list there is, and in the words of their table."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from cases import paired
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdash.audits.rules import rule_words
from fairdash.datasets import Roles, encode, make_dataset
from fairdash.methods.classical.rule_list import RobustFairCORELS
from fairdash.methods.classical.rule_search import possible_conditions


def small_table(seed, n=60, n_groups=2):
    rng = np.random.default_rng(seed)
    group = rng.integers(n_groups, size=n)
    X = np.column_stack([rng.integers(2, size=n), rng.integers(2, size=n), group])
    X = np.column_stack([X, rng.normal(size=n)]).astype(float)
    X[rng.random(n) < 0.3, 2] = 0
    y = (X[:, 0] + X[:, 2] + rng.normal(size=n) > 0.8).astype(int)
    y[:2] = 0, 1
    group[:n_groups] = np.arange(n_groups)
    return X, y, group


def gap(decided, y, group, odds):
    """The largest difference between groups, by pandas."""
    table = pd.DataFrame({"d": decided, "g": group, "y": y if odds else 0})
    rates = table.groupby(["y", "g"])["d"].mean().groupby("y")
    return float((rates.max() - rates.min()).max())


def every_list(X, y, group, *, odds, tolerance, kept, most, cost, least):
    """The smallest objective of any list, one by one."""
    conditions, met = possible_conditions(X, 3, 0.05)
    best = np.inf
    options = list(product(range(len(conditions)), (0, 1)))
    for length in range(most + 1):
        for rules in product(options, repeat=length):
            decided = np.zeros(len(y), int)
            free = np.ones(len(y), bool)
            small = False
            for condition, decision in rules:
                caught = free & met[condition]
                small |= caught.sum() < least
                decided[caught] = decision
                free &= ~caught
            if small:
                continue
            for default in (0, 1):
                final = np.where(free, default, decided)
                objective = (final != y).mean() + cost * length
                if objective < best - 1e-12 and all(
                    gap(final[rows], y[rows], group[rows], odds) <= tolerance + 1e-12
                    for rows in kept
                ):
                    best = objective
    return best


@pytest.mark.parametrize(
    ("constraints", "drawn"),
    paired(
        ["demographic_parity", "equalized_odds"],
        [(0, 0.1, 0), (1, 0.3, 4), (2, 1, 2)],
        together=1,
    ),
)
def test_the_best_list_is_found(constraints, drawn):
    seed, tolerance, m = drawn
    X, y, group = small_table(seed, n_groups=2 + seed % 2)
    model = RobustFairCORELS(
        constraints,
        tolerance=tolerance,
        n_samples=m,
        max_rules=2,
        n_bins=3,
        min_support=0.05,
        rule_cost=0.01,
        max_prefixes=100_000,
        random_state=seed,
    ).fit(X, y, sensitive_features=group)
    halves = np.random.RandomState(seed).random((m, len(X))) < 0.5
    best = every_list(
        X,
        y,
        group,
        odds=constraints == "equalized_odds",
        tolerance=tolerance,
        kept=[np.ones(len(X), bool), *halves],
        most=2,
        cost=0.01,
        least=3,
    )
    assert model.objective_ == pytest.approx(best, abs=1e-12)
    assert model.bound_ == model.objective_  # and it says that it is the best
    reached = (model.predict(X) != y).mean() + 0.01 * len(model.rules_)
    assert reached == pytest.approx(best, abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.05, 0.2]), st.booleans())
def test_a_list_is_fair_on_all_rows_and_on_every_half(seed, tolerance, odds):
    X, y, group = small_table(seed, n=200)
    model = RobustFairCORELS(
        "equalized_odds" if odds else "demographic_parity",
        tolerance=tolerance,
        n_samples=5,
        max_prefixes=100,
        random_state=seed,
    ).fit(X, y, sensitive_features=group)
    halves = np.random.RandomState(seed).random((5, len(X))) < 0.5
    decided = model.predict(X)
    for rows in [np.ones(len(X), bool), *halves]:
        assert gap(decided[rows], y[rows], group[rows], odds) <= tolerance + 1e-12
    assert model.bound_ <= model.objective_ <= min(y.mean(), 1 - y.mean()) + 1e-12


@pytest.mark.parametrize("job", ["a=b", "c (d)"])
def test_rules_in_the_words_of_the_table_decide_as_the_list_does(job):
    rng = np.random.default_rng(3)
    n = 400
    frame = pd.DataFrame(
        {
            "in=come": rng.normal(3e4, 8e3, n).round(),
            "job (kind)": rng.choice(["a=b", "c (d)", "e"], n),
            "sex": rng.choice(["F", "M"], n),
        }
    )
    good = (frame["in=come"] > 3.2e4) ^ (frame["job (kind)"] == job)
    frame["y"] = (good ^ (rng.random(n) < 0.05)).astype(int)
    frame.loc[:30, "in=come"] = np.nan
    features = ("in=come", "job (kind)")
    roles = Roles(target="y", positive="1", sensitive_feature="sex", features=features)
    dataset = make_dataset(frame, roles, name="Small")
    encoded = encode(dataset, np.arange(n))
    model = RobustFairCORELS(tolerance=1.0, max_prefixes=200).fit(
        encoded.X, dataset.y, sensitive_features=dataset.sensitive_features
    )
    words = rule_words(model.network_, encoded.encoder)
    assert words[-1] == "else"
    assert any(word.endswith(f" {job}") for word in words)
    assert len(words) == len(model.rules_) + 1 > 2
    decided = np.zeros(n, int)
    free = np.ones(n, bool)
    for text, decision in zip(words, model.network_.decisions, strict=True):
        caught = free & applies(text.removeprefix("else ").removeprefix("if "), frame)
        decided[caught] = decision
        free &= ~caught
    np.testing.assert_array_equal(decided, model.predict(encoded.X))


def applies(text, frame):
    """Which rows of the table a written rule speaks of."""
    if text == "else":
        return np.ones(len(frame), bool)
    column = next(name for name in frame if text.startswith(f"{name} is"))
    what = text.removeprefix(f"{column} is ")
    x = frame[column]
    for words, compare in (("above ", x.gt), ("at most ", x.le)):
        if what.startswith(words):
            number, *missing = what.removeprefix(words).split(" or ")
            return compare(float(number.replace(",", ""))) | (x.isna() & bool(missing))
    level = what.removeprefix("not ")
    is_level = x.isna() if level == "missing" else x == level
    return ~is_level if what.startswith("not ") else is_level


def test_without_a_rule_of_enough_rows_the_list_is_its_default():
    X = np.eye(60)[:, :2]
    y = np.arange(60) % 3 == 0
    model = RobustFairCORELS(min_support=0.2, random_state=0)
    model.fit(X, y, sensitive_features=np.arange(60) % 2)
    assert (model.rules_, model.default_) == ([], 0)
    assert model.objective_ == model.bound_ == y.mean()
    assert not model.predict(X).any()
