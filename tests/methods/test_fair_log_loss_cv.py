"""The penalty of fair log-loss chosen on rows held out."""

import numpy as np
import pytest
from sklearn.base import clone

from fairdash.methods import FairLogLoss, FairLogLossCV


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    s = rng.integers(2, size=400)
    X = rng.normal(size=(400, 30))
    X[:, 0] += s
    y = (X[:, 0] + rng.logistic(size=400) > 0.5).astype(int)
    return X, np.array(["no", "yes"])[y], np.array(["f", "m"])[s]


def test_the_penalty_with_the_smallest_held_out_loss_is_fitted_on_all_rows(data):
    X, y, s = data
    model = FairLogLossCV(alphas=(1e-4, 0.05, 5), cv=3, random_state=0)
    model.fit(X, y, sensitive_features=s)
    assert model.losses_.shape == (3, 3)
    assert model.alpha_ == model.losses_.mean().idxmin() == 0.05
    alone = FairLogLoss(alpha=0.05).fit(X, y, sensitive_features=s)
    np.testing.assert_allclose(
        model.predict_proba(X, sensitive_features=s),
        alone.predict_proba(X, sensitive_features=s),
        atol=1e-9,
    )
    assert set(model.predict(X, sensitive_features=s)) == {"no", "yes"}


def test_the_choice_is_reproducible(data):
    X, y, s = data
    model = FairLogLossCV(alphas=(0.01, 0.1), cv=2, random_state=1)
    first = model.fit(X, y, sensitive_features=s).losses_
    again = clone(model).fit(X, y, sensitive_features=s).losses_
    np.testing.assert_array_equal(first, again)


def test_a_single_fold_is_refused(data):
    X, y, s = data
    with pytest.raises(ValueError, match="`cv` must be a whole number >= 2"):
        FairLogLossCV(cv=1).fit(X, y, sensitive_features=s)
