"""Gradients of FAD and CUMA against autograd on a graph built by hand."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from fairdash.methods import CUMA, FAD
from fairdash.methods.adversarial.fad import WIDTHS, group_mmd
from fairdash.methods.network import Batch, Groups, group_cross_entropy


@pytest.fixture
def double_precision():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def layers(network):
    """Return copies of a network's weights and biases that autograd follows."""
    parts = zip(network.weights, network.biases, strict=True)
    return [[torch.tensor(p, requires_grad=True) for p in pair] for pair in parts]


def forward(parts, x):
    """Return the last hidden layer and the outputs."""
    for weight, bias in parts[:-1]:
        x = torch.relu(x @ weight + bias)
    weight, bias = parts[-1]
    return x, x @ weight + bias


def mmd(values, groups):
    """Return the biased estimate by its definition, from three means."""

    def mean_kernel(one, other):
        square = cdist(one[:, None], other[:, None], "sqeuclidean")
        return sum(np.exp(-square / (2 * width**2)).mean() for width in WIDTHS)

    problems = []
    names = np.unique(groups)
    for place, a in enumerate(names):
        for b in names[place + 1 :]:
            x = values[groups == a]
            z = values[groups == b]
            distance = mean_kernel(x, x) + mean_kernel(z, z) - 2 * mean_kernel(x, z)
            problems.append(distance)
    return np.mean(problems)


@pytest.mark.parametrize("n_groups", [2, 3])
def test_the_gap_is_the_biased_estimate_and_its_slope_a_finite_difference(
    n_groups, double_precision
):
    rng = np.random.default_rng(n_groups)
    values = rng.gamma(1.0, 3.0, (2, 30))
    codes = rng.integers(n_groups, size=30)
    groups = Groups(torch.tensor(codes), n_groups + 1)  # one is not in this batch
    gap, slope = group_mmd(torch.tensor(values), groups)
    for model in (0, 1):
        assert float(gap[model]) == pytest.approx(mmd(values[model], codes))
        for row in (0, 7):
            moved = values[model].copy()
            moved[row] += 1e-5
            numeric = (mmd(moved, codes) - mmd(values[model], codes)) / 1e-5
            assert float(slope[model, row]) == pytest.approx(numeric, abs=1e-5)


def curvature(parts, X, y):
    """Return C(x) on autograd's graph; where a row moves to is held fast."""

    def slope(x):
        x = x.clone().requires_grad_()
        loss = binary_cross_entropy_with_logits(
            forward(parts, x)[1][:, 0], y, reduction="sum"
        )
        return torch.autograd.grad(loss, x, create_graph=True)[0]

    slope_here = slope(X)
    signs = slope_here.detach().sign()
    moved = X + signs / signs.norm(dim=1, keepdim=True).clamp(min=1)
    return (slope(moved) - slope_here).norm(dim=1)


SETTINGS = [(0.7, 30.0), (3.0, 100.0)]


@pytest.mark.parametrize("method", [FAD, CUMA])
@pytest.mark.parametrize(
    "constraints, n_groups", [("demographic_parity", 2), ("equalized_odds", 3)]
)
def test_the_predictors_gradient_is_that_of_the_loss(
    method, constraints, n_groups, double_precision
):
    rng = np.random.default_rng(n_groups)
    X = torch.tensor(rng.normal(size=(40, 5)))
    y = rng.integers(2, size=40)
    y = torch.tensor(y)
    s = torch.tensor(rng.integers(n_groups, size=40))
    batch = Batch(X, y.double(), Groups(s, n_groups))
    models = [method(constraints, fairness_weight=weight) for weight, _ in SETTINGS]
    for model, (_, curved) in zip(models, SETTINGS, strict=True):
        model.curvature_weight = curved
    cpu = torch.device("cpu")
    trainer = method._trainer_class(models, batch, seeds=[1, 2], device=cpu)
    f = trainer.predictor.networks()
    g = trainer.adversary.networks()
    with torch.no_grad():
        logits = trainer.predictor.forward(X)[..., 0]
        inputs = trainer._adversary_inputs(logits, batch)
        _, slope = group_cross_entropy(trainer.adversary.forward(inputs), batch.groups)
        trainer.fit_predictor(logits, slope, None, batch)
    for i, (weight, curved) in enumerate(SETTINGS):
        predictor = layers(f[i])
        adversary = layers(g[i])
        hidden, output = forward(predictor, X)
        if constraints == "equalized_odds":
            hidden = torch.cat([hidden, y[:, None]], dim=1)
        _, guess = forward(adversary, hidden)
        loss = binary_cross_entropy_with_logits(output[:, 0], y.double())
        if n_groups == 2:
            guessed = binary_cross_entropy_with_logits(guess[:, 0], s.double())
        else:
            guessed = cross_entropy(guess, s)
        loss = loss - weight * guessed
        if method is CUMA:
            C = curvature(predictor, X, y.double())
            gap = mmd(C.detach().numpy(), s.numpy())
            assert float(trainer.curvature_gap[i]) == pytest.approx(gap)
            _, of_values = group_mmd(C.detach()[None], batch.groups)
            assert curved * of_values.abs().max() > 1e-3  # it has a say
            loss = loss + curved * (of_values[0] * C).sum()
        loss.backward()
        written = zip(
            trainer.predictor._weight_gradients,
            trainer.predictor._bias_gradients,
            strict=True,
        )
        for (w, b), (of_w, of_b) in zip(predictor, written, strict=True):
            np.testing.assert_allclose(of_w[i], w.grad, atol=1e-10)
            np.testing.assert_allclose(of_b[i, 0], b.grad, atol=1e-10)


def test_without_the_new_term_it_is_fad_and_with_it_curvatures_come_closer():
    rng = np.random.default_rng(0)
    s = rng.integers(2, size=400)
    X = rng.normal(size=(400, 4)) * (1 + 2 * s[:, None])
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    how = {"random_state": 0, "n_epochs": 30, "batch_size": 128}
    points = [{"curvature_weight": weight} for weight in (0.0, 10.0)]
    plain, matched = CUMA(**how).fit_many(points, X, y, sensitive_features=s)
    fad = FAD(**how).fit(X, y, sensitive_features=s)
    np.testing.assert_allclose(plain.predict_proba(X), fad.predict_proba(X), atol=1e-3)
    last = [model.history_["curvature_gap"].iloc[-1] for model in (plain, matched)]
    assert last[1] < 0.8 * last[0]
