"""The search for counterparts: its maximum, its steps, its limits."""

import numpy as np
import pytest
import torch

from fairdash.methods.individual.attack import Attack
from fairdash.methods.individual.classifier import OutputDistance, TargetLoss
from fairdash.methods.network.stacked import StackedNetwork
from fairdash.metrics import FairMetric

CPU = torch.device("cpu")
SIZES = [(6, 1), (6, 8, 1), (6, 8, 5, 1)]
SEARCH = {
    "n_subspace_steps": 8, "subspace_learning_rate": 0.5, "n_full_steps": 8,
    "full_learning_rate": 0.05, "seed": 0,
}  # fmt: skip


def stack_of(sizes, n_models=2):
    network = StackedNetwork(sizes, n_models, seed=0, learning_rate=0.01, device=CPU)
    network.parameters.mul_(2).add_(
        0.1 * torch.randn(network.parameters.shape, generator=torch.manual_seed(1))
    )
    return network


def metric_of(d=6, k=2):
    directions = np.random.default_rng(0).normal(size=(d, k))
    return FairMetric.ignoring(range(d), directions)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("kind", ["distance", "loss"])
def test_the_search_takes_the_steps_of_autograd_and_adam(sizes, kind):
    network = stack_of(sizes)
    metric = metric_of()
    X = torch.randn(40, 6, generator=torch.manual_seed(0))
    y = (torch.arange(40) % 2).float()
    multiplier = torch.tensor([[0.5], [2.0]])
    basis = torch.as_tensor(metric.basis).float()
    sigma = torch.as_tensor(metric.sigma).float()
    draws = torch.Generator().manual_seed(SEARCH["seed"])

    def outputs(rows):
        hidden = rows
        for layer, (w, b) in enumerate(
            zip(network.weights, network.biases, strict=True)
        ):
            hidden = hidden @ w.detach() + b.detach()
            if layer < len(network.weights) - 1:
                hidden = hidden.relu()
        return hidden

    def gain(move):
        moved = outputs(X + move)
        if kind == "distance":
            return 0.25 * (moved - outputs(X)).square().sum(-1)
        return torch.nn.functional.binary_cross_entropy_with_logits(
            moved[..., 0], y.expand(2, -1), reduction="none"
        )

    def climb(width, rate, steps, value):
        drawn = torch.randn((40, width), generator=draws) * rate
        move = drawn.expand(2, -1, -1).clone().requires_grad_()
        adam = torch.optim.Adam([move], lr=rate, maximize=True)
        for _ in range(steps):
            adam.zero_grad()
            value(move).sum().backward()
            adam.step()
        better = value(move) > value(torch.zeros_like(move))
        return (move * better[..., None]).detach()

    def penalised(move):
        return gain(move) - multiplier * ((move @ sigma) * move).sum(-1)

    free = climb(basis.shape[1], 0.5, 8, lambda c: gain(c @ basis.T)) @ basis.T
    full = climb(6, 0.05, 8, lambda move: penalised(free + move))

    with torch.no_grad():
        objective = OutputDistance if kind == "distance" else lambda _: TargetLoss(y)
        reached, distance = Attack(network, metric, **SEARCH)(X, objective, multiplier)
    expected = free + full
    # where rounding flips a ReLU the path is another, of a value as high
    same = (reached - X - expected).abs().amax(-1) < 2e-3
    assert same.float().mean() > 0.95
    torch.testing.assert_close(
        distance[same],
        ((expected @ sigma) * expected).sum(-1)[same],
        atol=5e-3,
        rtol=1e-3,
    )
