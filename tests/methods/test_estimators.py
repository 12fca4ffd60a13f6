"""The estimators: stacks, limits, callbacks, bad input."""

import inspect
from functools import partial

import numpy as np
import pytest

from fairdash import methods
from fairdash.methods.params import hidden_layers

FEW = {"n_epochs": 3, "batch_size": 128, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    s = rng.integers(2, size=600)
    X = rng.normal(size=(600, 6)).astype(np.float32)
    X[:, 0] += s
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=600) > 0.5).astype(int)
    return X, y, np.array(["a", "b"])[s]


def weights(model):
    return np.concatenate([w.ravel() for w in model.network_.arrays().values()])


def test_broad_with_a_very_large_tau_is_zhang_exactly(data):
    X, y, s = data
    zhang = methods.AdversarialDebiasing(**FEW).fit(X, y, sensitive_features=s)
    broad = methods.BROAD(tau=1e8, **FEW).fit(X, y, sensitive_features=s)
    np.testing.assert_allclose(weights(broad), weights(zhang), atol=1e-5)
    np.testing.assert_allclose(broad.ratio_, 1, atol=1e-4)


def test_weight_zero_is_the_unconstrained_network(data):
    X, y, s = data
    plain = methods.Unconstrained(**FEW).fit(X, y, sensitive_features=s)
    for cls in (methods.AdversarialDebiasing, methods.ROAD, methods.BROAD):
        free = cls(fairness_weight=0, **FEW).fit(X, y, sensitive_features=s)
        np.testing.assert_allclose(weights(free), weights(plain), atol=1e-6)


@pytest.mark.parametrize("cls", [methods.ROAD, methods.BROAD])
def test_final_weights_and_snapshots_average_to_one_by_group(cls, data):
    X, y, s = data
    model = cls(**{**FEW, "n_epochs": 30}).fit(X, y, sensitive_features=s)
    assert model.ratio_.shape == (600,)
    assert model.ratio_history_["ratio"].shape == (20, 600)
    assert model.ratio_history_["epoch"][[0, -1]].tolist() == [1, 30]
    np.testing.assert_array_equal(model.ratio_history_["ratio"][-1], model.ratio_)
    for group in "ab":
        assert model.ratio_[s == group].mean() == pytest.approx(1, abs=1e-5)
    assert model.ratio_.std() > 0.01


@pytest.mark.parametrize(
    "cls",
    [
        methods.AdversarialDebiasing,
        methods.ROAD,
        methods.BROAD,
        methods.FAD,
        partial(methods.CUMA, curvature_weight=0.0),
    ],
)
def test_the_first_epoch_of_a_warm_up_is_that_without_a_fairness_weight(cls, data):
    X, y, s = data
    few = {**FEW, "n_epochs": 1}
    warm = cls(fairness_weight=5, warm_up=0.5, **few).fit(X, y, sensitive_features=s)
    free = cls(fairness_weight=0, **few).fit(X, y, sensitive_features=s)
    cold = cls(fairness_weight=5, **few).fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(weights(warm), weights(free))
    assert np.abs(weights(warm) - weights(cold)).max() > 0


def test_two_groups_and_more_train_and_predict(data):
    X, y, _ = data
    groups = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.3, 0.9])]
    model = methods.ROAD("equalized_odds", **FEW).fit(X, y, sensitive_features=groups)
    assert model.groups_.tolist() == ["a", "b", "c"]
    assert np.isfinite(model.decision_function(X)).all()
    first = model.history_["adversary_loss"][0]
    assert first == pytest.approx(np.log(3), abs=0.15)


class Recorder:
    """A callback that notes what it sees and stops when told."""

    def __init__(self, stop_after=None):
        self.stop_after, self.events, self.views = stop_after, [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
        if context.task_name != "epoch":
            return False
        view = fitted_estimator.stack_
        assert context.parent.task_name == "stack"
        assert context.parent.max_subtasks == view.n_epochs
        logits = view.logits(X)
        assert logits.shape == (len(view.points), len(X))
        np.testing.assert_allclose(
            logits[0], fitted_estimator.decision_function(X), atol=1e-5
        )
        self.views.append((list(view.points), view.epoch, view.ratios() is not None))
        return view.epoch == self.stop_after


def test_a_callback_sees_every_epoch_and_can_stop(data):
    X, y, s = data
    recorder = Recorder(stop_after=2)
    model = methods.ROAD(**FEW).set_callbacks(recorder)
    model.fit(X, y, sensitive_features=s)
    assert recorder.views == [([0], 1, True), ([0], 2, True)]
    assert recorder.events == ["setup", "teardown"]
    assert model.history_["epoch"].tolist() == [1, 2]
    assert model.ratio_history_["epoch"][-1] == 2


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("constraints", "parity", "`constraints` must be one of"),
        ("fairness_weight", -1, "`fairness_weight` must be a finite number >= 0"),
        ("warm_up", 1.0, r"`warm_up` must be a number in \[0, 1\)"),
        ("tau", 0, "`tau` must be a finite number > 0"),
        ("n_epochs", 2.5, "`n_epochs` must be a whole number"),
        ("adversary_layers", (8, 0), "`adversary_layers` must be a whole number"),
        ("s", ["a"] * 600, "needs at least two groups"),
        ("s", ["a", None] * 300, "missing values in 300 rows, first row 1"),
        ("s", ["a", "b"], "inconsistent numbers of samples"),
        ("y", [1] * 600, "y has 1 class"),
    ],
)
def test_bad_parameters_and_bad_data_are_named(name, value, message, data):
    arguments = {**FEW, **dict(zip("Xys", data, strict=True)), name: value}
    X, y, s = (arguments.pop(part) for part in "Xys")
    with pytest.raises(ValueError, match=message):
        methods.ROAD(**arguments).fit(X, y, sensitive_features=s)


def test_the_catalog_describes_the_estimators():
    for method in methods.CATALOG.values():
        cls = method.estimator_class()
        defaults = {
            name: parameter.default
            for name, parameter in inspect.signature(cls).parameters.items()
        }
        for param in method.params:
            assert param.name in defaults, f"{method.key}: {param.name}"
            usual = defaults[param.name]
            if param.name.endswith("_layers"):
                assert hidden_layers(usual) == hidden_layers(param.default)
            else:
                assert usual == param.default
        assert method.stackable() == getattr(cls, "_stackable", ())
        for effort in method.efforts:
            settings = method.settings({}, effort)
            assert set(settings) == {param.name for param in method.params}
            method.estimator(settings, 0)
