"""SenSeI's training and its search for counterparts against inFairness and autograd.

All train one network (41 - 100 - 1) on the same rows, minibatches of 1,000 and the same
number of inner steps a minibatch, on one thread. The plain loop does the same two
phases with ``torch.nn``, autograd and fused Adam, h(x) computed once a minibatch;
inFairness 0.2.3 (left out where it is not installed) takes all steps in one phase over
all columns. Rounds alternate, so that a machine that drifts drifts for all, and the
quickest round of each is shown. The rows are Adult's training rows with FAIRDASH_DATA,
else synthetic ones of that shape.

    OMP_NUM_THREADS=1 FAIRDASH_DATA=FOLDER python benchmarks/individual/bench_sensei.py
"""

import argparse
import os
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from tables import adult
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

from fairdash.methods import SenSeI
from fairdash.methods.individual.attack import Attack
from fairdash.methods.individual.classifier import OutputDistance
from fairdash.methods.network.stacked import StackedNetwork
from fairdash.metrics import group_directions

ROWS = 36_177
LEVELS = (7, 7, 14, 6)
HIDDEN = 100
BATCH = 1000
FREE_STEPS = 50
FULL_STEPS = 40
FREE_RATE = 10.0
FULL_RATE = 1e-4
RATE = 1e-4
WEIGHT = 5.0
RADIUS = 0.001
MULTIPLIER = 2.0
MULTIPLIER_RATE = 0.01


def synthetic():
    """Return rows of Adult's shape: five numbers, one-hot levels, two groups."""
    rng = np.random.default_rng(0)
    groups = (rng.random((ROWS, 2)) < [0.68, 0.86]).astype(float)
    levels = [np.eye(n)[rng.integers(n, size=ROWS)] for n in LEVELS]
    X = np.hstack([rng.normal(size=(ROWS, 5)), *levels, groups])
    X[:, :5] += 0.3 * groups[:, :1]
    y = X[:, :5].sum(1) + rng.logistic(size=ROWS) > 2
    names = [f"x{i}" for i in range(X.shape[1] - 2)]
    return X.astype(np.float32), (*names, "male", "white"), y.astype(int)


def network(d):
    return torch.nn.Sequential(
        torch.nn.Linear(d, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 1)
    )


def distance_y(there, here):
    """Return d_Y of one logit, which stands for -s/2 and s/2."""
    return 0.25 * (there - here).square()[:, 0]


def ascend(start, rate, steps, value):
    """Return where Adam leads from about one step beside ``start``, never lower."""
    move = (rate * torch.randn_like(start)).requires_grad_()
    adam = torch.optim.Adam([move], lr=rate, maximize=True, fused=True)
    for _ in range(steps):
        (move.grad,) = torch.autograd.grad(value(start + move).sum(), move)
        adam.step()
    with torch.no_grad():
        better = value(start + move) > value(start)
        return torch.where(better[:, None], start + move, start)


def plain_attack(net, x, basis, multiplier):
    """Return worst counterparts: along the free directions, then in all."""
    with torch.no_grad():
        outputs = net(x)
    coefficients = ascend(
        x.new_zeros(len(x), basis.shape[1]),
        FREE_RATE,
        FREE_STEPS,
        lambda c: distance_y(net(x + c @ basis.T), outputs),
    )
    return x + ascend(
        coefficients @ basis.T,
        FULL_RATE,
        FULL_STEPS,
        lambda m: distance_y(net(x + m), outputs) - multiplier * distance_x(m, basis),
    )


def distance_x(move, basis):
    return (move - (move @ basis) @ basis.T).square().sum(1)


def plain_fit(X, y, basis, n_epochs):
    """Train with autograd."""
    net = network(X.shape[1])
    multiplier = MULTIPLIER
    adam = torch.optim.Adam(net.parameters(), RATE, fused=True)
    for _ in range(n_epochs):
        for rows in torch.randperm(len(X)).split(BATCH):
            x = X[rows]
            target = y[rows, None]
            attack = plain_attack(net, x, basis, multiplier)
            adam.zero_grad()
            outputs = net(x)
            pull = distance_y(net(attack), outputs).mean()
            (cross_entropy(outputs, target) + WEIGHT * pull).backward()
            adam.step()
            slack = RADIUS - distance_x(attack - x, basis).mean()
            multiplier = max(0.0, float(multiplier - MULTIPLIER_RATE * WEIGHT * slack))


def library(net, sigma):
    """Return inFairness's SenSeI around a network."""
    from inFairness.distances import MahalanobisDistances, SquaredEuclideanDistance
    from inFairness.fairalgo import SenSeI as LibrarySenSeI

    of_rows = MahalanobisDistances()
    of_outputs = SquaredEuclideanDistance()
    of_rows.fit(sigma)
    of_outputs.fit(num_dims=1)
    loss = torch.nn.BCEWithLogitsLoss(reduction="none")
    steps = FREE_STEPS + FULL_STEPS
    settings = {"rho": WEIGHT, "eps": RADIUS, "auditor_nsteps": steps}
    return LibrarySenSeI(net, of_rows, of_outputs, loss, **settings, auditor_lr=1e-3)


def library_fit(X, y, sigma, n_epochs):
    """Train with inFairness."""
    model = library(network(X.shape[1]), sigma)
    model.train()
    adam = torch.optim.Adam(model.parameters(), RATE, fused=True)
    for _ in range(n_epochs):
        for rows in torch.randperm(len(X)).split(BATCH):
            adam.zero_grad()
            model(X[rows], y[rows, None]).loss.backward()
            adam.step()


def own(metric, names, n_epochs, **settings):
    return SenSeI(
        metric,
        feature_names=names,
        fairness_weight=WEIGHT,
        fair_radius=RADIUS,
        n_subspace_steps=FREE_STEPS,
        subspace_learning_rate=FREE_RATE,
        n_full_steps=FULL_STEPS,
        full_learning_rate=FULL_RATE,
        predictor_layers=(HIDDEN,),
        n_epochs=n_epochs,
        batch_size=BATCH,
        learning_rate=RATE,
        device="cpu",
        random_state=0,
    ).set_params(**settings)


def attacks(trained, x, metric, basis, sigma):
    """Return the search of each for one minibatch of the same trained network."""
    stacked = StackedNetwork(
        (x.shape[1], HIDDEN, 1), 1, seed=0, learning_rate=RATE, device=x.device
    )
    net = network(x.shape[1])
    with torch.no_grad():
        for layer, (weight, bias) in enumerate(
            zip(trained.weights, trained.biases, strict=True)
        ):
            stacked.weights[layer].copy_(torch.as_tensor(weight))
            stacked.biases[layer].copy_(torch.as_tensor(bias))
            net[2 * layer].weight.copy_(torch.as_tensor(weight).T)
            net[2 * layer].bias.copy_(torch.as_tensor(bias).ravel())
    attack = Attack(
        stacked,
        metric,
        n_subspace_steps=FREE_STEPS,
        subspace_learning_rate=FREE_RATE,
        n_full_steps=FULL_STEPS,
        full_learning_rate=FULL_RATE,
        seed=0,
    )
    multiplier = torch.tensor([[MULTIPLIER]])

    @torch.no_grad()
    def search():
        return attack(x, OutputDistance, multiplier)[0][0]

    seconds = {
        "fairdash": search,
        "autograd": lambda: plain_attack(net, x, basis, MULTIPLIER),
    }
    if find_spec("inFairness"):
        auditor = library(net, sigma).auditor
        # its d_Y is four times ours for one logit
        weight = torch.tensor(4 * MULTIPLIER)
        seconds["inFairness"] = lambda: auditor.generate_worst_case_examples(
            net, x, weight
        )

    def value(there):
        with torch.no_grad():
            gain = distance_y(net(there), net(x))
            return float((gain - MULTIPLIER * distance_x(there - x, basis)).mean())

    return seconds, value


def alternate(tasks, rounds):
    """Return the quickest round of each task in seconds, and what each returned."""
    seconds = {name: [] for name in tasks}
    results = {}
    for _ in range(rounds):
        for name, task in tasks.items():
            began = time.perf_counter()
            results[name] = task()
            seconds[name].append(time.perf_counter() - began)
    return {name: min(times) for name, times in seconds.items()}, results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("FAIRDASH_DATA"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=1)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    X, names, y = adult(Path(chosen.data)) if chosen.data else synthetic()
    sample = np.random.default_rng(0).permutation(len(X))[:ROWS]
    X = X[sample]
    y = y[sample]
    male = X[:, names.index("male")]
    metric = group_directions(X, male, names, columns=["male", "white"])
    basis = torch.as_tensor(np.ascontiguousarray(metric.basis, np.float32))
    sigma = torch.as_tensor(metric.sigma.astype(np.float32))
    rows = torch.as_tensor(X)
    target = torch.as_tensor(y.astype(np.float32))
    idle = {"n_subspace_steps": 0, "n_full_steps": 0, "learning_rate": 1e-3}
    plain = own(metric, names, 5, **idle).fit(X, y, sensitive_features=male)

    n = chosen.epochs
    fits = {
        "fairdash": lambda: own(metric, names, n).fit(X, y, sensitive_features=male),
        "autograd": lambda: plain_fit(rows, target, basis, n),
    }
    if find_spec("inFairness"):
        fits["inFairness"] = lambda: library_fit(rows, target, sigma, n)
    searches, value = attacks(plain.network_, rows[:BATCH], metric, basis, sigma)
    training, _ = alternate(fits, chosen.rounds)
    attacking, subgroups = alternate(searches, 5 * chosen.rounds)
    what = "Adult" if chosen.data else "synthetic"
    print(f"{what}, {len(X):,} x {X.shape[1]}, k = {basis.shape[1]}, ", end="")
    print(f"{FREE_STEPS} + {FULL_STEPS} steps a minibatch\n")
    table = pd.DataFrame({"training": training, "search": attacking})
    times = table / table.loc["fairdash"]
    heads = ["s per 1,000 rows and epoch", "of ours", "ms a search", "of ours", "value"]
    print("| | " + " | ".join(heads) + " |\n|---|---|---|---|---|---|")
    for name, (seconds, search) in table.iterrows():
        words = f"{seconds / n / (len(X) / 1000):.4f} | {times.training[name]:.1f}"
        once = f"{1e3 * search:.1f} | {times.search[name]:.1f}"
        print(f"| {name} | {words} | {once} | {value(subgroups[name]):.3g} |")


if __name__ == "__main__":
    main()
