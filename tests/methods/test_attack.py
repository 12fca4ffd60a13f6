"""The search for counterparts: its maximum, its steps, its limits."""

import numpy as np
import pytest
import torch

from fairdash.methods.individual.attack import Attack
from fairdash.methods.individual.classifier import OutputDistance, TargetLoss
from fairdash.methods.network.stacked import StackedNetwork
from fairdash.metrics import FairMetric, explore

CPU = torch.device("cpu")
SIZES = [(6, 1), (6, 8, 1), (6, 8, 5, 1)]
SEARCH = {
    "n_subspace_steps": 8,
    "subspace_learning_rate": 0.5,
    "n_full_steps": 8,
    "full_learning_rate": 0.05,
    "seed": 0,
}


def stack_of(sizes, n_models=2):
    network = StackedNetwork(sizes, n_models, seed=0, learning_rate=0.01, device=CPU)
    network.parameters.mul_(2).add_(
        0.1 * torch.randn(network.parameters.shape, generator=torch.manual_seed(1))
    )
    return network


def metric_of(d=6, k=2):
    directions = np.random.default_rng(0).normal(size=(d, k))
    return FairMetric.ignoring(range(d), directions, range(k))


def learned_metric():
    rng = np.random.default_rng(0)
    X, other = rng.normal(size=(2, 300, 6))
    d = ((X - other) ** 2).mean(1)
    return explore(X, other, rng.random(300) < 2 / (1 + np.exp(d)), range(6))


@pytest.mark.parametrize("sizes", [(3, 8, 1)], ids=str)
@pytest.mark.parametrize("rate", [0.5, 10.0])
@torch.no_grad()
def test_far_moves_that_a_learned_metric_calls_free_are_undone(sizes, rate):
    """Each costs next to nothing, but not hundreds of units of it."""
    names, free = ["a", "b", "c"], np.eye(3)[:, :2]
    sigma = np.diag([9e-4, 5e-4, 1])
    metric = FairMetric(names, free, names[:2], (np.nan,) * 2, sigma)
    network, X = stack_of(sizes), torch.randn(50, 3, generator=torch.manual_seed(0))
    here, multiplier = network.forward(X).clone(), torch.tensor([[0.5], [20.0]])
    for objective in (OutputDistance(here), TargetLoss((torch.arange(50) % 2).float())):
        search = {**SEARCH, "n_subspace_steps": 40, "subspace_learning_rate": rate}
        others, distance = Attack(network, metric, **search)(
            X, lambda _, objective=objective: objective, multiplier
        )
        reached = objective.value(network.forward(others))
        gain = reached - multiplier * distance - objective.value(here)
        assert (gain > -1e-4 * (1 + reached)).all()


@torch.no_grad()
def test_a_linear_model_is_attacked_along_the_steepest_direction():
    network = stack_of((6, 1), n_models=1)
    metric = metric_of(k=1)
    w = network.networks()[0].weights[0][:, 0].astype(float)
    X = torch.zeros(200, 6)
    search = {**SEARCH, "n_subspace_steps": 0, "n_full_steps": 60}
    multiplier = torch.full((1, 1), float(w @ metric.sigma @ w) / 4 * 1.0001)
    others, distance = Attack(network, metric, **search)(X, OutputDistance, multiplier)
    moved = others[0].double().numpy()
    steepest = metric.sigma @ w / np.linalg.norm(metric.sigma @ w)
    kept = distance[0].numpy() > 0
    along = np.abs(moved[kept] @ steepest) ** 2
    assert (along <= distance[0].numpy()[kept] + 1e-4).all()


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("metric", [metric_of(), learned_metric()], ids=["free", "psd"])
@pytest.mark.parametrize("kind", ["distance", "loss"])
def test_the_search_takes_the_steps_of_autograd_and_adam(sizes, metric, kind):
    network = stack_of(sizes)
    X = torch.randn(40, 6, generator=torch.manual_seed(0))
    y = (torch.arange(40) % max(2, sizes[-1])).float()
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
        there = outputs(X + move)
        if kind == "distance":
            share = 0.25 if sizes[-1] == 1 else 1 / sizes[-1]
            return share * (there - outputs(X)).square().sum(-1)
        if sizes[-1] == 1:
            targets = y.expand(2, -1)
            logits = there[..., 0]
            return torch.nn.functional.binary_cross_entropy_with_logits(
                logits, targets, reduction="none"
            )
        return torch.nn.functional.cross_entropy(
            there.transpose(1, 2), y.long().expand(2, -1), reduction="none"
        )

    def climb(width, rate, steps, value):
        drawn = torch.randn((40, width), generator=draws) * rate
        move = drawn.expand(2, -1, -1).clone().requires_grad_()
        adam = torch.optim.Adam([move], lr=rate, maximize=True)
        for _ in range(steps):
            adam.zero_grad()
            value(move).sum().backward()
            adam.step()
        kept = value(move) > value(torch.zeros_like(move))
        return (move * kept[..., None]).detach()

    def penalised(move):
        return gain(move) - multiplier * ((move @ sigma) * move).sum(-1)

    free = torch.zeros(2, 40, 6)
    if basis.shape[1]:
        free = climb(basis.shape[1], 0.5, 8, lambda c: gain(c @ basis.T)) @ basis.T
    full = climb(6, 0.05, 8, lambda move: penalised(free + move))

    with torch.no_grad():
        objective = OutputDistance if kind == "distance" else lambda _: TargetLoss(y)
        found, distance = Attack(network, metric, **SEARCH)(X, objective, multiplier)
    expected = free + full
    # where rounding flips a ReLU the path is another, of a value as high
    same = (found - X - expected).abs().amax(-1) < 2e-3
    assert same.float().mean() > 0.95
    torch.testing.assert_close(
        distance[same],
        ((expected @ sigma) * expected).sum(-1)[same],
        atol=5e-3,
        rtol=1e-3,
    )
