"""The stacked network against torch's own layers, autograd and Adam."""

import numpy as np
import pytest
import torch

from fairdash.methods import Network
from fairdash.methods.network import products
from fairdash.methods.network.products import product
from fairdash.methods.network.stacked import StackedNetwork

SIZES = (5, 7, 4, 3)
SHAPES = [SIZES, (5, 7, 1), (1, 6, 4, 1), (1, 1)]


def make(n_models=3, sizes=SIZES):
    cpu = torch.device("cpu")
    return StackedNetwork(sizes, n_models, seed=0, learning_rate=0.01, device=cpu)


def as_torch(network):
    layers = []
    for weight, bias in zip(network.weights, network.biases, strict=True):
        layer = torch.nn.Linear(*weight.shape)
        layer.weight.data = torch.tensor(weight.T)
        layer.bias.data = torch.tensor(bias)
        layers += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


@pytest.mark.parametrize("sizes", SHAPES, ids=str)
@pytest.mark.parametrize("shared", [True, False])
def test_training_equals_autograd_and_torch_adam(shared, sizes):
    stack = make(sizes=sizes)
    alone = [as_torch(network) for network in stack.networks()]
    optimisers = [torch.optim.Adam(net.parameters(), lr=0.01) for net in alone]
    generator = torch.Generator().manual_seed(0)
    for n_rows in (20, 6, 20):
        shape = (n_rows, sizes[0]) if shared else (3, n_rows, sizes[0])
        inputs = torch.randn(shape, generator=generator)
        target = torch.randn((3, n_rows, sizes[-1]), generator=generator)
        out = stack.forward(inputs)
        with torch.no_grad():
            difference = out - target
            through = stack.input_gradient(2 * difference)
            stack.backward(2 * difference)
            stack.step()
        for i, (net, optimiser) in enumerate(zip(alone, optimisers, strict=True)):
            x = (inputs if shared else inputs[i]).clone().requires_grad_()
            optimiser.zero_grad()
            (net(x) - target[i]).square().sum().backward()
            torch.testing.assert_close(through[i], x.grad, rtol=1e-4, atol=1e-5)
            optimiser.step()
    for network, net in zip(stack.networks(), alone, strict=True):
        for ours, theirs in zip(network.weights, net[::2], strict=True):
            np.testing.assert_allclose(ours, theirs.weight.detach().T, atol=2e-6)


def test_predict_equals_forward_and_the_numpy_network():
    stack = make(2)
    inputs = torch.randn(50, 5)
    expected = stack.forward(inputs).clone()
    torch.testing.assert_close(stack.predict(inputs), expected)
    for i, network in enumerate(stack.networks()):
        again = Network.from_arrays(network.arrays())
        np.testing.assert_allclose(
            again.logits(inputs.numpy()), expected[i, :, 0], atol=1e-6
        )


def laid_out(shape, transposed, generator):
    """Return a stack of matrices, each of which may lie in memory column by column."""
    n_models, n_rows, n_columns = shape
    if transposed:
        return torch.randn(n_models, n_columns, n_rows, generator=generator).mT
    return torch.randn(shape, generator=generator)


@pytest.mark.parametrize("left_transposed", [False, True])
@pytest.mark.parametrize("right_transposed", [False, True])
@pytest.mark.parametrize(
    "sizes", [(1, 32, 512), (1, 41, 37), (1, 300, 64), (90, 9, 1), (3, 41, 7)]
)
@pytest.mark.parametrize("added", [None, (1, 1), (1, -1)])
@pytest.mark.parametrize("processor", ["this one", "one that is not steady"])
def test_a_product_alone_has_the_bits_it_has_in_a_stack(
    left_transposed, right_transposed, sizes, added, processor, monkeypatch
):
    if processor != "this one":
        monkeypatch.setattr(products, "is_steady", lambda: False)
    (n, k, m), generator = sizes, torch.Generator().manual_seed(1)
    left_matrix = laid_out((3, n, k), left_transposed, generator)
    right = laid_out((3, k, m), right_transposed, generator)
    plus = None
    if added:
        wide = m if added[1] == -1 else 1
        plus = torch.randn(3, 1, wide, generator=generator)
    together = product(left_matrix, right, plus=plus)
    exact = left_matrix.double() @ right.double() + (0 if plus is None else plus)
    torch.testing.assert_close(together.double(), exact, rtol=1e-5, atol=1e-4)
    for i in range(3):
        row = None if plus is None else plus[i : i + 1]
        out = torch.empty(1, n, m)
        alone = product(left_matrix[i : i + 1], right[i : i + 1], plus=row)
        assert torch.equal(alone, together[i : i + 1])
        product(left_matrix[i : i + 1], right[i : i + 1], plus=row, out=out)
        assert torch.equal(out, together[i : i + 1])


@pytest.mark.parametrize("sizes", [(3, 1), (4, 8, 5, 3)])
def test_a_trained_network_alone_is_a_stack_of_one(sizes):
    stack = StackedNetwork(
        sizes, 2, seed=0, learning_rate=0.1, device=torch.device("cpu")
    )
    network = stack.networks()[1]
    X = np.random.default_rng(0).normal(size=(20, sizes[0])).astype(np.float32)
    alone = StackedNetwork.of(network).predict(torch.as_tensor(X))
    np.testing.assert_array_equal(alone[0], stack.predict(torch.as_tensor(X))[1])
    np.testing.assert_allclose(network.outputs(X), alone[0], atol=1e-5)
    hidden = X.astype(float)
    for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
        hidden = np.maximum(hidden @ weight + bias, 0)
    np.testing.assert_allclose(network.hidden(X), hidden)
