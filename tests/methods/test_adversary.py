"""The adversary that a fit leaves behind: what it guesses of groups."""

import numpy as np
import pytest

from fairdash.methods import FAD, AdversarialDebiasing

FEW = {"n_epochs": 60, "batch_size": 1024, "learning_rate": 0.005, "random_state": 0}


def people(n_groups):
    rng = np.random.default_rng(0)
    s = rng.integers(n_groups, size=400)
    X = rng.normal(size=(400, 3)).astype(np.float32)
    X[:, 0] += 1.5 * s
    y = (X[:, 0] + rng.logistic(size=400) > 1).astype(int)
    return X, y, np.array(["a", "b", "c"])[s], s


@pytest.mark.parametrize("method", [AdversarialDebiasing, FAD])
@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("constraints", ["demographic_parity", "equalized_odds"])
def test_guesses_have_the_loss_that_training_ended_with(method, n_groups, constraints):
    X, y, groups, s = people(n_groups)
    model = method(constraints, fairness_weight=0.0, **FEW)
    model.fit(X, y, sensitive_features=groups)
    guess = model.guess_groups(X, y)
    assert guess.shape == (400, n_groups)
    np.testing.assert_allclose(guess.sum(axis=1), 1)
    loss = -np.log(guess[np.arange(400), s]).mean()
    assert loss == pytest.approx(model.history_["adversary_loss"].iloc[-1], rel=0.02)
    # it has learned something: less than the loss of the shares alone
    shares = np.bincount(s) / len(s)
    assert loss < -(shares * np.log(shares)).sum() - 0.02


def test_each_model_of_a_stack_keeps_its_own_adversary():
    X, y, groups, _ = people(2)
    points = [{"fairness_weight": 0.0}, {"fairness_weight": 3.0}]
    stack = AdversarialDebiasing(**FEW).fit_many(
        points, X, y, sensitive_features=groups
    )
    for point, model in zip(points, stack, strict=True):
        alone = AdversarialDebiasing(**point, **FEW).fit(
            X, y, sensitive_features=groups
        )
        np.testing.assert_allclose(
            model.guess_groups(X), alone.guess_groups(X), atol=1e-6
        )


def test_under_equalized_odds_outcomes_are_asked_for():
    X, y, groups, _ = people(2)
    model = AdversarialDebiasing("equalized_odds", n_epochs=1, random_state=0)
    model.fit(X, y, sensitive_features=groups)
    with pytest.raises(ValueError, match="the adversary reads outcomes: give `y`"):
        model.guess_groups(X)
