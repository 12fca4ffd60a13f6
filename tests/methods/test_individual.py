"""SenSeI, SenSR and CLP: losses, weights, bad input."""

import numpy as np
import pandas as pd
import pytest
import torch

from fairdash.methods import CLP, SenSeI, SenSR, Unconstrained
from fairdash.methods.network import Batch, Groups
from fairdash.methods.network.training import _minibatches
from fairdash.metrics import FairMetric, ignore_columns

FEW = {"n_epochs": 3, "batch_size": 128, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    s = rng.integers(2, size=600)
    X = rng.normal(size=(600, 6)).astype(np.float32)
    X[:, 0] += 1.5 * s
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=600) > 0.5).astype(int)
    return X, y, np.array(["a", "b"])[s]


def metric_of(d=6, k=2):
    directions = np.random.default_rng(0).normal(size=(d, k))
    return FairMetric.ignoring(range(d), directions)


def test_weight_zero_is_the_unconstrained_network(data):
    X, y, s = data
    plain = Unconstrained(**FEW).fit(X, y, sensitive_features=s)
    for cls in (SenSeI, CLP):
        free = cls(fairness_weight=0, **FEW).fit(X, y, sensitive_features=s)
        for ours, theirs in zip(
            free.network_.weights, plain.network_.weights, strict=True
        ):
            np.testing.assert_allclose(ours, theirs, atol=2e-6)


def test_training_makes_free_moves_matter_less_as_the_weight_grows(data):
    X, y, s = data
    names = [f"x{i}" for i in range(6)]
    settings = {
        "metric": "columns",
        "columns": "x0",
        "feature_names": names,
        "predictor_layers": (16,),
        "n_epochs": 60,
        "batch_size": 128,
        "random_state": 0,
    }
    points = [{"fairness_weight": w} for w in (0, 1, 20)]
    models = SenSeI(**settings).fit_many(points, X, y, sensitive_features=s)
    flipped = X.copy()
    flipped[:, 0] = -flipped[:, 0]
    same = [(m.predict(X) == m.predict(flipped)).mean() for m in models]
    assert same[0] < 0.8 < same[1] < same[2]
    assert same[2] > 0.97
    metric = ignore_columns(["x0"], names)
    first = [m.network_.weights[0] for m in models]
    seen = [np.linalg.norm(metric.basis.T @ weights) for weights in first]
    assert seen[0] > seen[1] > seen[2]
    assert (
        models[2].history_["fair_loss"].iloc[-1]
        < 0.1 * (models[0].history_["fair_loss"].iloc[-1])
    )


@pytest.mark.parametrize(
    "model",
    [
        SenSR("columns", columns=["x0"], fair_radius=0.0),
        CLP("columns", columns=["x0"], fairness_weight=20.0),
    ],
)
def test_what_does_not_count_changes_no_decision(model, data):
    X, y, s = data
    flipped = X.copy()
    flipped[:, 0] = 3 - flipped[:, 0]
    model.set_params(**{**FEW, "n_epochs": 60}).fit(X, y, sensitive_features=s)
    assert (model.predict(X) == model.predict(flipped)).mean() > 0.95


def test_the_multiplier_follows_the_radius(data, monkeypatch):
    X, y, s = data
    monkeypatch.setattr("fairdash.methods.individual.sensei.FIRST_MULTIPLIER", 0.0)
    monkeypatch.setattr("fairdash.methods.individual.sensei.MULTIPLIER_RATE", 0.5)
    points = [{"fair_radius": r} for r in (0.0, 10.0)]
    tight, loose = SenSeI(**FEW).fit_many(points, X, y, sensitive_features=s)
    assert tight.history_["multiplier"].iloc[-1] > 0.1
    assert loose.history_["multiplier"].iloc[-1] == 0


def test_balanced_minibatches_hold_as_many_rows_of_each_class():
    y = torch.tensor([0.0] * 90 + [1.0] * 10)
    groups = Groups(torch.zeros(100, dtype=torch.long), 2)
    rows = Batch(torch.arange(100.0)[:, None], y, groups)
    generator = torch.Generator().manual_seed(0)
    batches = list(_minibatches(rows, 20, generator, True, None))
    assert [len(batch) for batch in batches] == [20] * 5
    assert all(batch.y.mean() == 0.5 for batch in batches)
    seen = torch.cat([batch.X[batch.y == 1, 0] for batch in batches])
    assert (seen.unique(return_counts=True)[1] == 5).all()
    (batch,) = _minibatches(rows, 100, generator, True, np.arange(100) % 2)
    assert (batch.X % 2 == 1).all()
    assert batch.y.mean() == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize(
    "model, message",
    [
        (SenSeI("columns"), "There is no sensitive direction"),
        (SenSeI("both", columns="race"), "'race' is not a feature of the model"),
        (SenSeI(metric_of(5)), "`metric` is of the 5 columns 0, 1, 2, ..., X has 6"),
        (SenSeI(feature_names=["a"]), "`feature_names` has 1 names for 6 columns"),
        (SenSR(fair_radius=-1), "`fair_radius` must be a finite number >= 0"),
    ],
)
def test_bad_parameters_name_the_way_out(model, message, data):
    X, y, s = data
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sensitive_features=s)


def test_a_metric_of_other_columns_than_the_table_is_refused(data):
    X, y, group = data
    table = pd.DataFrame(X, columns=list("abcdef"))
    metric = ignore_columns(["a"], list("abcdef"))
    swapped = table[list("bacdef")]
    with pytest.raises(ValueError, match=r"columns a, b, c, \.\.\., X has 6, b, a, c"):
        SenSeI(metric, **FEW).fit(swapped, y, sensitive_features=group)
    fitted = SenSeI(metric, **FEW).fit(table, y, sensitive_features=group)
    assert fitted.fair_metric_ is metric


def test_counterparts_of_sensr_ask_for_outcomes(data):
    X, y, s = data
    model = SenSR(**FEW).fit(X, y, sensitive_features=s)
    with pytest.raises(ValueError, match="depend on outcomes: give `y`"):
        model.counterparts(X)
    found = model.counterparts(X, y)
    assert found.shape == X.shape
    np.testing.assert_array_equal(found, model.counterparts(X, y))


def test_counterparts_of_clp_are_drawn_by_the_seed(data):
    X, y, s = data
    model = CLP(**FEW).fit(X, y, sensitive_features=s)
    found = model.counterparts(X)
    np.testing.assert_array_equal(found, model.counterparts(X))
    assert not np.array_equal(found, model.counterparts(X, random_state=1))
    basis = model.fair_metric_.basis
    apart = found - X
    np.testing.assert_allclose(apart, apart @ basis @ basis.T, atol=1e-5)
