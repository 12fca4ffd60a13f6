"""The penalty of fair log-loss chosen on rows held out."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from fairdash.methods import CATALOG, FairLogLoss, FairLogLossCV

ALPHAS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    s = rng.integers(2, size=300)
    X = rng.normal(size=(300, 20))
    X[:, 0] += s
    y = (X[:, 0] + rng.logistic(size=300) > 0.5).astype(int)
    return X, np.array(["no", "yes"])[y], np.array(["f", "m"])[s]


@pytest.mark.parametrize("group_feature", ["excluded", "included"])
def test_the_penalty_of_least_loss_on_the_folds_is_fitted_on_all_rows(
    data, group_feature
):
    X, y, s = data
    own = {"constraints": "equalized_odds", "group_feature": group_feature}
    model = FairLogLossCV(cv=3, random_state=0, **own).fit(X, y, sensitive_features=s)
    cells = np.char.add(y, s)

    def loss(alpha):
        found = []
        # groups stand before outcomes in the order that shuffling sees
        order = np.unique(np.char.add(s, y), return_inverse=True)[1]
        for kept, held in StratifiedKFold(3, shuffle=True, random_state=0).split(
            X, order
        ):
            one = FairLogLoss(alpha=alpha, **own)
            one.fit(X[kept], y[kept], sensitive_features=s[kept])
            p = one.predict_proba(X[held], sensitive_features=s[held])[:, 1]
            found.append(log_loss(y[held] == "yes", p.clip(1e-7, 1 - 1e-7)))
        return np.mean(found)

    assert len(np.unique(cells)) == 4
    by_hand = [loss(alpha) for alpha in ALPHAS]
    np.testing.assert_allclose(model.losses_.mean(), by_hand, atol=1e-8)
    assert model.alpha_ == model.alpha == ALPHAS[int(np.argmin(by_hand))]
    assert model.alpha_ not in (ALPHAS[0], ALPHAS[-1])
    alone = FairLogLoss(alpha=model.alpha_, **own).fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    np.testing.assert_array_equal(
        model.predict_proba(X, sensitive_features=s),
        alone.predict_proba(X, sensitive_features=s),
    )


def test_rows_alone_in_their_cell_are_never_held_out(data):
    X, y, s = data
    s = s.copy()
    s[:3] = "rare"  # three rows: two of one outcome, one of the other
    y = y.copy()
    y[:3] = ["yes", "yes", "no"]
    model = FairLogLossCV("equalized_odds", random_state=0)
    _, cells = np.unique(np.char.add(s, y), return_inverse=True)
    held = np.concatenate(model._folds(cells))
    assert sorted(held) == [0, 1, *range(3, 300)]
    assert len(model.fit(X, y, sensitive_features=s).losses_) == 5
    with pytest.raises(ValueError, match="one row only; cross-validation needs two"):
        FairLogLossCV().fit(
            np.arange(4.0)[:, None], [0, 1, 0, 1], sensitive_features=[0, 0, 1, 1]
        )


def test_it_is_of_the_catalog_and_its_penalty_is_no_parameter():
    method = CATALOG["fair_log_loss_cv"]
    assert "alpha" not in {one.name for one in method.params}
    assert method.stackable() == ()
    with pytest.raises(ValueError, match="has no parameter `alpha`"):
        method.check_names({"alpha": 0.1})


def test_the_folds_are_solved_as_the_model_is(data):
    X, y, s = data
    model = FairLogLossCV(cv=2, max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning) as told:
        model.fit(X, y, sensitive_features=s)
    assert len(told) > 1  # of fits on folds, beside that on all rows
