"""The plain classifiers are those of scikit-learn; sweeps train them on all seeds."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from toys import ROLES, people_csv

from fairdash.datasets import encode, split
from fairdash.methods import Unconstrained
from fairdash.methods.adversarial.zhang import WideNetwork
from fairdash.methods.classical.linear import LogisticCV
from fairdash.methods.classical.plain import NearestNeighbours, RandomForest
from fairdash.sweep import SweepSpec, expand, plan, run_sweep, train_stack
from fairdash.sweep._train import load_dataset


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


def test_the_wide_network_is_the_unconstrained_one_with_128_units(data):
    X, y, s = data
    few = {"n_epochs": 2, "batch_size": 128, "random_state": 0}
    wide = WideNetwork(**few).fit(X, y, sensitive_features=s)
    plain = Unconstrained(predictor_layers=(128,), **few)
    plain.fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(wide.predict_proba(X), plain.predict_proba(X))


def test_one_row_of_an_outcome_leaves_no_folds(data):
    X, _, s = data
    y = (np.arange(500) == 3).astype(int)
    with pytest.raises(ValueError, match="one row of an outcome"):
        LogisticCV().fit(X, y, sensitive_features=s)


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    file = tmp_path_factory.mktemp("data") / "people.csv"
    file.write_bytes(people_csv())
    methods = [
        {"method": "forest", "params": {"n_estimators": 10}},
        {"method": "neighbours"},
        {"method": "wide_network", "params": {"n_epochs": 2, "batch_size": 128}},
        {"method": "logistic_cv"},
    ]
    return SweepSpec.model_validate(
        {"data": {"path": str(file), "roles": ROLES.model_dump()}, "methods": methods}
    )


def test_all_run_in_a_sweep(spec):
    table = run_sweep(spec)
    assert table["method"].tolist() == [grid.method for grid in spec.methods]
    assert table["test_accuracy"].between(0.4, 1).all()


def test_they_learn_from_training_rows_alone(spec):
    dataset = load_dataset(spec.data)
    train = split(dataset, 0).train
    X = encode(dataset, train).X
    (forest, *_), y = expand(spec, dataset.key), dataset.y
    (found,) = train_stack(plan([forest])[0], dataset, subgroups=spec.subgroups)
    by_hand = RandomForestClassifier(10, max_depth=10, random_state=0)
    expected = by_hand.fit(X[train].astype(float), y[train]).predict_proba(X)[:, 1]
    np.testing.assert_allclose(found.scores, expected, atol=1e-6)
