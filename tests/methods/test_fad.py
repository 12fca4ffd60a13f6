"""FAD's gradients against autograd on a graph built by hand."""

import numpy as np
import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from fairdash.methods import FAD
from fairdash.methods.adversarial.fad import FadTrainer
from fairdash.methods.network import Batch, Groups, group_cross_entropy


@pytest.fixture
def double_precision():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def layers(network):
    """Return copies of a network's weights and biases that autograd follows."""
    parts = zip(network.weights, network.biases, strict=True)
    return [[torch.tensor(p, requires_grad=True) for p in both] for both in parts]


def forward(parts, x):
    """Return the last hidden layer and the outputs."""
    for weight, bias in parts[:-1]:
        x = torch.relu(x @ weight + bias)
    weight, bias = parts[-1]
    return x, x @ weight + bias


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("constraints", ["demographic_parity", "equalized_odds"])
def test_the_predictors_gradient_is_that_of_the_loss(
    constraints, n_groups, double_precision
):
    rng = np.random.default_rng(0)
    X, y = (
        torch.tensor(rng.normal(size=(40, 5))),
        torch.tensor(rng.integers(2, size=40)),
    )
    s = torch.tensor(rng.integers(n_groups, size=40))
    batch = Batch(X, y.double(), Groups(s, n_groups))
    weights = [0.7, 3.0]
    models = [FAD(constraints, fairness_weight=weight) for weight in weights]
    cpu = torch.device("cpu")
    trainer = FadTrainer(models, batch, seeds=[1, 2], device=cpu)
    f, g = trainer.predictor.networks(), trainer.adversary.networks()
    with torch.no_grad():
        logits = trainer.predictor.forward(X)[..., 0]
        inputs = trainer._adversary_inputs(logits, batch)
        _, slope = group_cross_entropy(trainer.adversary.forward(inputs), batch.groups)
        trainer.fit_predictor(logits, slope, None, batch)
    for i, weight in enumerate(weights):
        predictor, adversary = layers(f[i]), layers(g[i])
        hidden, output = forward(predictor, X)
        if constraints == "equalized_odds":
            hidden = torch.cat([hidden, y[:, None]], dim=1)
        _, guess = forward(adversary, hidden)
        loss = binary_cross_entropy_with_logits(output[:, 0], y.double())
        if n_groups == 2:
            guessed = binary_cross_entropy_with_logits(guess[:, 0], s.double())
        else:
            guessed = cross_entropy(guess, s)
        (loss - weight * guessed).backward()
        written = zip(
            trainer.predictor._weight_gradients,
            trainer.predictor._bias_gradients,
            strict=True,
        )
        for (w, b), (of_w, of_b) in zip(predictor, written, strict=True):
            np.testing.assert_allclose(of_w[i], w.grad, atol=1e-12)
            np.testing.assert_allclose(of_b[i, 0], b.grad, atol=1e-12)


def test_a_linear_predictor_has_no_hidden_layer_to_read():
    X, y = np.eye(8), np.arange(8) % 2
    with pytest.raises(ValueError, match="`predictor_layers` has no hidden layer"):
        FAD(predictor_layers="simple").fit(X, y, sensitive_features=y[::-1])
