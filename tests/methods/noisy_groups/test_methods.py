"""The methods: their constraint, their choice of iterate, stacks, noise, bad input."""

import numpy as np
import pytest
from sklearn.metrics import hinge_loss

from fairdash.methods import (
    NoisyGroupsDRO,
    NoisyGroupsIdeal,
    NoisyGroupsNaive,
    NoisyGroupsSoft,
)
from fairdash.methods.noisy_groups import (
    best_candidate,
    soft_certificate,
    tv_certificate,
)
from fairdash.methods.noisy_groups.estimators import NoisyGroupsUnconstrained

FEW = {"max_iter": 150, "learning_rate": 0.05, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    groups = rng.choice(["a", "b", "c"], p=[0.6, 0.25, 0.15], size=3000)
    X = rng.normal(size=(3000, 6)).astype(np.float32)
    X[:, 0] += groups == "b"
    X[:, 1] -= groups == "c"
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=3000) > 0.5).astype(int)
    return X, y, groups


@pytest.mark.parametrize("constraints", ["equalized_odds", "demographic_parity"])
def test_naive_training_keeps_the_constraint_that_plain_training_breaks(
    constraints, data
):
    X, y, groups = data
    longer = {"max_iter": 500, "random_state": 0}
    plain = NoisyGroupsUnconstrained(**longer).fit(X, y, sensitive_features=groups)
    model = NoisyGroupsNaive(constraints, **longer)
    model.fit(X, y, sensitive_features=groups)
    assert not model.constant_

    def worst(model):
        decided = model.predict(X)
        table = tv_certificate(
            y, decided, groups, 0, constraints=constraints, slack=0.05
        )
        return table["violation"].max()

    assert worst(plain) > 0.05
    assert worst(model) < 0.6 * worst(plain)
    assert worst(model) == pytest.approx(model.violation_, abs=1e-5)


def test_plain_training_reaches_the_smallest_hinge_loss(data):
    X, y, groups = data
    model = NoisyGroupsUnconstrained(learning_rate=0.05, max_iter=1500)
    model.fit(X, y, sensitive_features=groups)
    rng = np.random.default_rng(0)
    best = hinge_loss(y, model.decision_function(X))
    for _ in range(30):
        w = model.coef_[0] + 0.3 * rng.normal(size=6)
        b = model.intercept_[0] + 0.3 * rng.normal()
        assert hinge_loss(y, X @ w + b) > best - 2e-3


def test_the_violation_that_chose_the_iterate_is_the_certificate_of_its_decisions(data):
    X, y, groups = data
    model = NoisyGroupsSoft("equalized_odds", **FEW)
    model.fit(X, y, sensitive_features=groups)
    decided = model.predict(X)
    odds = {"constraints": "equalized_odds"}
    table = soft_certificate(
        y, decided, groups, model.noise_, slack=model.slack, **odds
    )
    worst = table["worst_violation"].max()
    assert worst == pytest.approx(model.violation_, abs=1e-5)


def test_a_mixture_decides_by_the_share_of_its_models(data):
    X, y, groups = data
    model = NoisyGroupsIdeal(n_rounds=4, n_responses=3, learning_rate=0.05)
    model.fit(X, y, sensitive_features=groups)
    decided = X @ model.coefs_.T + model.intercepts_ > 0
    assert decided.shape[1] == 12
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], decided.mean(axis=1))
    stored = type(model.network_).from_arrays(model.network_.arrays())
    np.testing.assert_allclose(stored.positive(X), decided.mean(axis=1))


def test_random_draws_pass_what_the_exact_certificate_fails(data):
    X, y, groups = data
    model = NoisyGroupsDRO(tv_radius=0.15, slack=0.1, **FEW)
    model.fit(X, y, sensitive_features=groups)
    table = tv_certificate(y, model.predict(X), groups, 0.15, slack=0.1)
    assert not model.constant_
    assert model.feasible_
    assert table["worst_violation"].max() > 0.05


def test_models_are_chosen_by_error_among_those_that_keep_the_constraint():
    assert best_candidate([0.2, 0.1, 0.3], [-0.01, 0.0, -0.5]) == 1
    assert best_candidate([0.1, 0.2, 0.3], [0.5, 0.05, 0.0]) == 1


@pytest.mark.parametrize(
    "cls, params, message",
    [
        (NoisyGroupsDRO, {"tv_radius": 1.2}, r"`tv_radius` must be in \[0, 1\]"),
        (NoisyGroupsDRO, {"tv_radius": {"a": 0.1}}, "no entry for the group 'b'"),
        (NoisyGroupsSoft, {"noise_level": 0.7}, "must be below 1 - 1/3"),
        (NoisyGroupsSoft, {"noise_level": 0.4}, "`noise_level` can be at most 0.29"),
        (
            NoisyGroupsSoft,
            {"group_given_noisy": np.full((3, 3), 0.3)},
            "`group_given_noisy` must sum to 1, got 0.9",
        ),
        (NoisyGroupsIdeal, {"n_rounds": 0}, "`n_rounds` must be a whole number"),
    ],
)
def test_bad_parameters_name_the_parameter(cls, params, message, data):
    X, y, groups = data
    with pytest.raises(ValueError, match=message):
        cls(**params).fit(X, y, sensitive_features=groups)


def test_a_group_without_positives_is_named(data):
    X, y, groups = data
    with pytest.raises(ValueError, match="Group c has no rows with outcome 1"):
        NoisyGroupsNaive().fit(X, y * (groups != "c"), sensitive_features=groups)
    NoisyGroupsNaive("demographic_parity", **FEW).fit(
        X, y * (groups != "c"), sensitive_features=groups
    )
