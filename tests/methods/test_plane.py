"""The conditioned network against autograd; planes against their own points."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from fairdash.methods import ROAD, AdversarialPlane, Plane, ROADPlane, SettingRange
from fairdash.methods._groups import Groups
from fairdash.methods._plane_network import MODULATOR_WIDTH, ConditionedNetwork
from fairdash.methods._training import Batch

RANGE = SettingRange(5.0, (0.05, 1.0))
FEW = {"n_epochs": 3, "batch_size": 128, "n_settings": 4, "random_state": 0}
PLANES = [AdversarialPlane, ROADPlane]


@pytest.fixture
def double_precision():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def conditioned(sizes, n_models=4):
    """Return a network whose scales and shifts are no longer zero, and settings."""
    settings = RANGE.draw(n_models, np.random.default_rng(0))
    network = ConditionedNetwork(
        sizes,
        n_models,
        range=RANGE,
        points=settings.tolist(),
        seed=1,
        device=torch.device("cpu"),
    )
    generator = torch.Generator().manual_seed(2)
    for last in (network.weights[-1], network.biases[-1]):
        last.copy_(0.3 * torch.randn(last.shape, generator=generator))
    network.condition(RANGE.features(settings))
    return network, settings


def as_written(parameters, sizes, features, inputs):
    """The docstring of `PlaneNetwork`, in torch, so that autograd can follow."""
    n_units = sum(sizes[1:])
    layers, start = [], 0
    for shape in [
        *pairwise(sizes),
        (RANGE.n_features, MODULATOR_WIDTH),
        (MODULATOR_WIDTH, 2 * n_units),
    ]:
        end = start + shape[0] * shape[1]
        weight = parameters[start:end].view(shape)
        layers.append((weight, parameters[end : end + shape[1]]))
        start = end + shape[1]
    *main, (first, first_bias), (last, last_bias) = layers
    m = torch.relu(features @ first + first_bias) @ last + last_bias
    hidden, unit = inputs, 0
    for i, (weight, bias) in enumerate(main):
        mine = slice(unit, unit + weight.shape[1])
        scale, shift = m[:, None, :n_units][..., mine], m[:, None, n_units:][..., mine]
        hidden = (hidden @ weight + bias) * (1 + scale) + shift
        hidden = hidden if i == len(main) - 1 else torch.relu(hidden)
        unit = mine.stop
    return hidden


@pytest.mark.parametrize(
    "sizes, shared",
    [((6, 7, 4, 1), True), ((90, 7, 4, 1), True), ((1, 7, 4, 3), False)],
    ids=["few inputs", "many inputs", "inputs of each setting"],
)
def test_passes_at_several_settings_equal_autograd(sizes, shared, double_precision):
    network, settings = conditioned(sizes)
    generator = torch.Generator().manual_seed(0)
    shape = (20, sizes[0]) if shared else (len(settings), 20, sizes[0])
    inputs = torch.randn(shape, generator=generator)
    parameters = network.parameters.clone().requires_grad_()
    leaf = inputs.clone().requires_grad_()
    features = torch.as_tensor(RANGE.features(settings))
    expected = as_written(parameters, sizes, features, leaf)
    slope = torch.randn(expected.shape, generator=generator)
    (expected * slope).sum().backward()
    torch.testing.assert_close(network.forward(inputs), expected.detach())
    network.backward(slope)
    torch.testing.assert_close(network.gradient, parameters.grad)
    if not shared:
        torch.testing.assert_close(network.input_gradient(slope), leaf.grad)


@pytest.mark.parametrize("d", [6, 90])
def test_the_folded_network_equals_the_conditioned_one(d):
    network, settings = conditioned((d, 7, 4, 1))
    X = np.random.default_rng(1).normal(size=(30, d)).astype(np.float32)
    expected = network.forward(torch.as_tensor(X))[..., 0].numpy()
    plane = network.plane()
    np.testing.assert_allclose(plane.logits(X, settings), expected, atol=2e-6)
    for setting, row in zip(settings, expected, strict=True):
        np.testing.assert_allclose(plane.fold(setting).logits(X), row, atol=2e-6)
    predicted = network.predict(torch.as_tensor(X))[..., 0].numpy()
    np.testing.assert_allclose(predicted, expected, atol=2e-6)


def test_all_settings_begin_as_one_network():
    network = ConditionedNetwork(
        (5, 4, 1), 3, range=RANGE, points=[], seed=0, device=torch.device("cpu")
    )
    network.condition(RANGE.features(RANGE.draw(3, np.random.default_rng(0))))
    out = network.forward(torch.randn(10, 5))
    torch.testing.assert_close(out[0], out[1])
    torch.testing.assert_close(out[0], out[2])


def test_settings_are_drawn_from_every_part_of_both_axes():
    drawn = RANGE.draw(10, np.random.default_rng(3))
    assert sorted((drawn[:, 0] / 0.5).astype(int)) == list(range(10))
    share = np.log(drawn[:, 1] / 0.05) / np.log(20)
    assert sorted((share * 10).astype(int)) == list(range(10))
    features = RANGE.features(np.array([[0, 0.05], [5, 1]]))
    np.testing.assert_allclose(features, [[-1] * 4, [1] * 4], atol=1e-12)


@pytest.fixture
def game(double_precision):
    """A trainer of a small plane, and a minibatch for it."""
    rng = np.random.default_rng(0)
    s = torch.as_tensor(rng.integers(2, size=50))
    batch = Batch(
        torch.as_tensor(rng.normal(size=(50, 4))),
        torch.as_tensor(rng.integers(2, size=50)).double(),
        Groups(s, 2),
    )
    model = ROADPlane(predictor_layers=(3,), adversary_layers=(3,), n_settings=3)
    trainer = model._trainer_class(
        [model], batch, seeds=[1, 2, 3], device=torch.device("cpu")
    )
    return trainer, batch


def test_a_dead_opponent_is_drawn_anew_and_others_play_on(game):
    trainer, batch = game
    trainer.step(batch)
    before = trainer.ratio.parameters.clone()
    trainer.adversary.weights[0].zero_()
    trainer.adversary.biases[0].fill_(-1)  # no unit of its one layer is active
    dead = trainer.adversary.parameters.clone()
    trainer.step(batch)
    assert trainer.adversary.is_dead()  # when it played last
    assert (trainer.adversary.weights[0] != 0).all()
    moved = trainer.ratio.parameters - before
    assert 0 < moved.abs().max() < 0.1  # by steps of Adam, not drawn anew
    trainer.step(batch)
    assert not trainer.adversary.is_dead()
    assert (trainer.adversary.parameters != dead).any()


def test_the_predictor_minimises_the_loss_over_one_plus_lambda(game):
    trainer, batch = game
    taken = {}
    backward = trainer.predictor.backward
    trainer.predictor.backward = lambda g: (taken.update(slope=g), backward(g))
    trainer.step(batch)
    lam, tau = trainer.fairness_weight, trainer.tau
    assert lam.shape == tau.shape == (3, 1)
    logits = trainer.predictor.forward(batch.X)  # after its step: only the shape counts
    assert taken["slope"].shape == logits.shape
    importance = 1 / (1 + lam)
    torch.testing.assert_close(trainer.importance, importance)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    s = rng.integers(2, size=600)
    X = rng.normal(size=(600, 6)).astype(np.float32)
    X[:, 0] += s
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=600) > 0.5).astype(int)
    return X, y, np.array(["a", "b"])[s]


@pytest.mark.parametrize("cls", PLANES)
def test_a_point_does_not_depend_on_the_points_beside_it(cls, data):
    X, y, s = data
    points = [{"fairness_weight": lam} for lam in (0, 1.3, 5)]
    if cls is ROADPlane:
        points = [
            {**p, "tau": tau} for p, tau in zip(points, (0.05, 0.2, 1.0), strict=True)
        ]
    together = cls(**FEW).fit_many(points, X, y, sensitive_features=s)
    for point, model in zip(points, together, strict=True):
        alone = cls(**FEW, **point).fit(X, y, sensitive_features=s)
        np.testing.assert_array_equal(
            model.decision_function(X), alone.decision_function(X)
        )
        setting = list(point.values())
        np.testing.assert_array_equal(
            alone.plane_.predictor.logits(X, [setting])[0], alone.decision_function(X)
        )
        again = Plane.from_arrays(alone.plane_.arrays())
        ratio = again.weights(setting, X, y, sensitive_features=s)
        if cls is ROADPlane:
            np.testing.assert_allclose(ratio, model.ratio_, rtol=1e-5)
        else:
            assert ratio is model.ratio_ is None
    other = cls(**{**FEW, "random_state": 1}).fit(X, y, sensitive_features=s)
    assert np.abs(other.decision_function(X) - together[1].decision_function(X)).max()


@pytest.mark.parametrize("normalisation", ["conditional", "global"])
@pytest.mark.parametrize("constraints", ["demographic_parity", "equalized_odds"])
def test_weights_in_numpy_equal_those_of_training(normalisation, constraints, data):
    X, y, s = data
    groups = np.where((s == "a") & (X[:, 2] > 0), "c", s)
    for sensitive in (s, groups):
        model = ROADPlane(constraints, normalisation=normalisation, **FEW)
        model.fit(X, y, sensitive_features=sensitive)
        ratio = model.plane_.weights((1.0, 0.3), X, y, sensitive_features=sensitive)
        np.testing.assert_allclose(ratio, model.ratio_, rtol=1e-4)
        assert ratio.mean() == pytest.approx(1, abs=1e-5)


def test_one_training_shows_the_trade_off_of_many(data):
    X, y, s = data
    settings = {**FEW, "n_epochs": 50, "n_settings": 16, "max_fairness_weight": 5}
    settings |= {"learning_rate": 2e-3, "adversary_learning_rate": 4e-3}
    points = [{"fairness_weight": lam, "tau": 1.0} for lam in (0, 1, 5)]
    models = ROADPlane(**settings).fit_many(points, X, y, sensitive_features=s)
    exact = ROAD(fairness_weight=0, n_epochs=60, random_state=0)
    exact.fit(X, y, sensitive_features=s)
    gaps = []
    for model in models:
        score = model.decision_function(X)
        gaps.append(abs(score[s == "a"].mean() - score[s == "b"].mean()) / score.std())
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.5 * gaps[0]
    agreement = np.mean(models[0].predict(X) == exact.predict(X))
    assert agreement > 0.9


@pytest.mark.parametrize(
    "params, message",
    [
        ({"tau": 2.0}, "`tau` must be between 0.05 and 1, the range of the plane"),
        ({"fairness_weight": 21}, "`fairness_weight` must be between 0 and 20"),
        ({"min_tau": 1.0}, "`min_tau` must be below `max_tau`, got 1 and 1"),
        ({"max_fairness_weight": 0}, "`max_fairness_weight` must be"),
        ({"n_settings": 0}, "`n_settings` must be a whole number >= 1"),
        ({"predictor_layers": "simple"}, "`predictor_layers` of a plane needs a hid"),
        ({"adversary_learning_rate": 0}, "`adversary_learning_rate` must be"),
    ],
)
def test_bad_parameters_name_the_parameter(params, message, data):
    X, y, s = data
    with pytest.raises(ValueError, match=message):
        ROADPlane(**params).fit(X, y, sensitive_features=s)


def test_a_setting_of_another_shape_is_refused():
    with pytest.raises(ValueError, match="A setting of this plane is"):
        SettingRange(5.0).check([1.0, 0.3])
