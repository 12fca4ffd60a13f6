"""The plain classifiers are those of scikit-learn."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from fairdash.methods.classical.linear import LogisticCV
from fairdash.methods.classical.plain import NearestNeighbours, RandomForest


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    s = rng.integers(2, size=500)
    X = rng.normal(size=(500, 4))
    y = (X[:, 0] + s + rng.logistic(size=500) > 0.5).astype(int)
    return X, y, s


@pytest.mark.parametrize(
    "ours, theirs",
    [
        (
            RandomForest(n_estimators=20, random_state=3),
            RandomForestClassifier(20, max_depth=10, random_state=3),
        ),
        (NearestNeighbours(), KNeighborsClassifier(10)),
    ],
)
def test_they_predict_as_scikit_learn(ours, theirs, data):
    X, y, s = data
    expected = theirs.fit(X, y).predict_proba(X)
    found = ours.fit(X, y, sensitive_features=s).predict_proba(X)
    np.testing.assert_array_equal(found, expected)


def test_the_penalty_has_the_smallest_log_loss_on_the_folds(data):
    X, y, s = data
    model = LogisticCV(cv=4).fit(X, y, sensitive_features=s)

    def loss(C):
        folds = StratifiedKFold(4).split(X, y)
        return np.mean(
            [
                log_loss(
                    y[held],
                    LogisticRegression(C=C, max_iter=1000)
                    .fit(X[kept], y[kept])
                    .predict_proba(X[held]),
                )
                for kept, held in folds
            ]
        )

    assert min((1e-4, 1e-2, 1.0, 1e2, 1e4), key=loss) == model.C_
