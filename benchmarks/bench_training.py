"""One epoch of ROAD: a stack of models against one model at a time.

The baseline is the plain loop as one would write it well: ``torch.nn`` layers,
autograd, fused Adam, vectorised weights, nothing logged. Both do the same mathematics
(Algorithm 1 with ten adversary and ten ratio steps) on the same rows. Rounds alternate
between them, so that a machine that drifts drifts for both.

    python benchmarks/bench_training.py [--threads 1] [--rows 6000] [--features 12]
    python benchmarks/bench_training.py --shares 100
    python benchmarks/bench_training.py --compiled
    python benchmarks/bench_training.py --one-hot FOLDER [--shares 32]

``--shares`` says instead which operations take the processor's time of a stack of so
many models, and how long its products take when their factors are bfloat16.
``--compiled`` says how long `torch.compile` takes for the losses of the plain loop's
inner steps, with their gradients, and how much faster its epochs are then; and what the
weights of rows that a stack keeps take in single and in half precision.
``--one-hot`` says what a stack on COMPAS, in FOLDER, gains by sums over the few entries
of rare columns in place of products, and what the ten steps of a minibatch gain by
these entries being sought once; with ``--shares`` what its time goes to. Times are of
the processor, rounds alternate.
"""

import argparse
import time
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from road_tables import public
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy
from torch.profiler import ProfilerActivity, profile

from fairdash.datasets import encode, split
from fairdash.methods import ROAD
from fairdash.methods.network.training import N_SNAPSHOTS

STEPS = 10
RATE = 1e-4
SHAPES = (  # models, rows, inner, columns: a large product, and those of stacks
    (1, 1024, 1024, 1024),
    (8, 1024, 13, 64),
    (8, 1024, 64, 32),
    (64, 128, 13, 64),
    (64, 128, 64, 32),
    (8, 1024, 318, 64),
)
PARTS = {  # names of operations, by what they are for
    "products of matrices": ("mm", "addmm", "bmm", "baddbmm"),
    "steps of the optimiser": ("_fused_adam_",),
    "sums over entries of rare columns": (
        "embedding_bag",
        "_embedding_bag",
        "_embedding_bag_forward_only",
    ),
    "choosing rows": ("index", "index_select", "gather", "nonzero"),
    "copies": ("copy_", "cat", "clone", "stack"),
    "sums and largest values": ("sum", "amax", "mean"),
    "rectified units": (
        "relu_",
        "relu",
        "clamp_min_",
        "clamp_min",
        "threshold_backward",
    ),
}


def mlp(*sizes):
    layers = []
    for n_in, n_out in pairwise(sizes):
        layers += [torch.nn.Linear(n_in, n_out), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def plain_fit(
    X, y, s, *, fairness_weight, tau, n_epochs, batch_size, wrap=lambda loss: loss
):
    """Train one ROAD model with autograd; ``wrap`` takes the inner steps' losses."""
    d = X.shape[1]
    f = mlp(d, 64, 32, 1)
    g = mlp(1, 64, 32, 16, 1)
    r = mlp(d + 1, 64, 32, 1)
    adam = [torch.optim.Adam(net.parameters(), RATE, fused=True) for net in (f, g, r)]

    def log_ratio(inputs, outside, size, group):
        h = r(inputs)
        total = torch.logsumexp(h + outside, 0) - size
        return h - total[group[:, 0].long(), None]

    @wrap
    def adversary_loss(seen, group):
        return cross_entropy(g(seen), group)

    @wrap
    def ratio_loss(loss_s, *rows):
        log_r = log_ratio(*rows)
        return (log_r.exp() * (loss_s + tau * log_r)).mean()

    for _ in range(n_epochs):
        for rows in torch.randperm(len(X)).split(batch_size):
            x = X[rows]
            target = y[rows, None]
            group = s[rows, None]
            logits = f(x)
            seen = logits.detach()
            for _ in range(STEPS):
                adam[1].zero_grad()
                adversary_loss(seen, group).backward()
                adam[1].step()
            with torch.no_grad():
                loss_s = cross_entropy(g(seen), group, reduction="none")
            inputs = torch.cat([x, group], 1)
            outside = torch.where(group == torch.tensor([[0.0, 1.0]]), 0.0, -torch.inf)
            size = (outside == 0).sum(0).log()

            weighed = inputs, outside, size, group
            for _ in range(STEPS):
                adam[2].zero_grad()
                ratio_loss(loss_s, *weighed).backward()
                adam[2].step()
            with torch.no_grad():
                ratio = log_ratio(*weighed).exp()
            adam[0].zero_grad()
            loss_s = cross_entropy(g(logits), group, reduction="none")
            loss = (
                cross_entropy(logits, target)
                - fairness_weight * (ratio * loss_s).mean()
            )
            loss.backward()
            adam[0].step()
    return f


def stack(n_models, batch_size, n_epochs=1):
    """Return ROAD and the settings of as many models."""
    road = ROAD(
        n_adversary_steps=STEPS,
        n_ratio_steps=STEPS,
        n_epochs=n_epochs,
        batch_size=batch_size,
        learning_rate=RATE,
        device="cpu",
        random_state=0,
    )
    steps = [i / n_models for i in range(n_models)]
    return road, [{"fairness_weight": 5 * i, "tau": 0.1 + i} for i in steps]


def flops_per_row(d):
    """Multiply-adds of one training step, times two, per row of the batch."""

    def macs(*sizes):
        products = [a * b for a, b in pairwise(sizes)]
        forward = sum(products)
        backward = 2 * sum(products) - products[0]
        return forward, forward + backward

    f = macs(d, 64, 32, 1)
    g = macs(1, 64, 32, 16, 1)
    r = macs(d + 1, 64, 32, 1)
    steps = f[1] + STEPS * (g[1] + r[1])
    return 2 * (steps + 3 * g[0] + r[0])  # last passes of g and r, g's input gradient


def sgemm_rate():
    """Return the machine's own single-precision rate in FLOP/s, best of several."""
    a = torch.randn(1024, 1024)
    b = torch.randn(1024, 1024)
    best = np.inf
    for _ in range(20):
        start = time.perf_counter()
        torch.mm(a, b)
        best = min(best, time.perf_counter() - start)
    return 2 * 1024**3 / best


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def rounded_rates():
    """Print how many times as fast products are whose factors are bfloat16."""
    matmul = torch.backends.mkldnn.matmul
    for shape in SHAPES:
        n_models, n_rows, n_inner, n_columns = shape
        a = torch.randn(n_models, n_rows, n_inner)
        b = torch.randn(n_models, n_inner, n_columns)
        best = {}
        for precision in ("ieee", "bf16"):
            matmul.fp32_precision = precision
            torch.bmm(a, b)
            times = [seconds(lambda a=a, b=b: torch.bmm(a, b)) for _ in range(100)]
            best[precision] = min(times)
        matmul.fp32_precision = "ieee"
        print(f"{shape}: {best['ieee'] / best['bf16']:.2f}")


def shares(road, points, rows):
    """Print the share of the time that each kind of operation takes.

    What no operation takes is Python's and torch's own: choosing and calling them.
    Times are of the processor, so that others on the machine change little.
    """
    X, y, groups = rows

    def fit():
        began = time.process_time()
        road.fit_many(points, X, y, sensitive_features=groups)
        return time.process_time() - began

    fit()
    matmul = torch.backends.mkldnn.matmul
    times = {}
    for precision in ("ieee", "bf16"):
        matmul.fp32_precision = precision
        times[precision] = min(fit() for _ in range(2))
    matmul.fp32_precision = "ieee"
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        whole = seconds(fit)
    kinds = {name: part for part, names in PARTS.items() for name in names}
    spent = dict.fromkeys([*PARTS, "other operations"], 0.0)
    calls = 0
    for event in seen.key_averages():
        kind = kinds.get(event.key.removeprefix("aten::"), "other operations")
        spent[kind] += event.self_cpu_time_total / 1e6
        calls += event.count
    spent["between operations"] = max(0.0, whole - sum(spent.values()))
    plain = times["ieee"]
    rounded = times["bf16"]
    print(f"{plain:.2f} s, {calls:,} operations", flush=True)
    for part, taken in spent.items():
        print(f"  {part:34s} {taken / sum(spent.values()):5.0%}")
    print(f"  bfloat16 factors: {rounded:.2f} s, {plain / rounded:.2f} times as fast")


def compiled_losses(rows, n_rounds):
    """Print what compiling the inner losses takes, and what it gives.

    A fit compiles its own losses, of which torch keeps the code: the second is quicker.
    """
    for batch_size in (1024, 128):

        def fit(n_epochs, wrap=lambda loss: loss, batch_size=batch_size):
            how = {"fairness_weight": 1.0, "tau": 0.3, "n_epochs": n_epochs}
            return seconds(
                lambda: plain_fit(*rows, batch_size=batch_size, wrap=wrap, **how)
            )

        torch.compiler.reset()
        first = fit(1, torch.compile)
        ratios = []
        later = []
        for _ in range(n_rounds):
            torch.compiler.reset()
            start = fit(1, torch.compile)
            seconds_each = (fit(9, torch.compile) - fit(1, torch.compile)) / 8
            plain = fit(8) / 8
            later.append(start - seconds_each)
            ratios.append(plain / seconds_each)
        low, middle, high = np.quantile(ratios, [0.0, 0.5, 1.0])
        print(
            f"batch {batch_size}: first fit {first:.1f} s, start-up later "
            f"{np.median(later):.1f} s; an epoch {middle:.2f} times as fast "
            f"({low:.2f} to {high:.2f}), plain {plain:.3f} s",
            flush=True,
        )


def compas(folder):
    """Return features, outcomes and groups of COMPAS's training rows."""
    data, _, scaling = public("compas", folder)
    train = split(data, 0).train
    X = encode(data, train, scaling=scaling).X[train]
    return X, data.y[train], data.sensitive_features[train]


def one_hot(rows, n_rounds, n_models=16):
    """Print how much longer a stack takes on COMPAS without what it does for it."""
    from fairdash.methods.network import sparse, stacked

    X, y, groups = rows

    def fit(batch_size):
        road, points = stack(n_models, batch_size)
        began = time.process_time()
        road.fit_many(points, X, y, sensitive_features=groups)
        return time.process_time() - began

    class Anew(sparse.SparseRows):
        """Rows whose entries are sought at every step."""

        @property
        def _by_row(self):
            return sparse.Bags(self._rest, self.n_models)

        @property
        def _by_column(self):
            return sparse.Bags(self._rest.T, self.n_models)

    ways = {
        "sums of entries": {},
        "products alone": {"WORTH": X.shape[1] + 1},
        "entries sought at every step": {"SparseRows": Anew},
    }
    for batch_size in (1024, 128):
        times = {way: [] for way in ways}
        fit(batch_size)
        for _ in range(n_rounds):
            for way, changes in ways.items():
                with ExitStack() as stack_of:
                    for module in (sparse, stacked):
                        for name, value in changes.items():
                            if hasattr(module, name):
                                changed = mock.patch.object(module, name, value)
                                stack_of.enter_context(changed)
                    times[way].append(fit(batch_size))
        ours = np.array(times["sums of entries"])
        print(f"{len(X):,} x {X.shape[1]}, batch {batch_size}: {np.median(ours):.2f} s")
        for way in list(ways)[1:]:
            ratio = np.array(times[way]) / ours
            print(f"  {way}: {np.median(ratio):.2f} times as long", ratio.round(2))


def kept_weights(n_rows, n_models=100):
    """Print what snapshots of a stack's weights of rows take in both precisions."""
    weights = torch.rand(N_SNAPSHOTS, n_models, n_rows).mul(3).numpy()
    for kind in (np.float32, np.float16):
        took = min(seconds(lambda kind=kind: weights.astype(kind)) for _ in range(5))
        error = np.abs(weights.astype(kind) - weights).max()
        size = weights.astype(kind).nbytes / 2**20
        print(
            f"{kind.__name__}: {size:.0f} MB, kept in {took:.2f} s, off by {error:.1g}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--features", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--one-hot", type=Path, help="folder of the public tables")
    parser.add_argument("--shares", type=int, help="models of the stack")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.one_hot and not options.shares:
        one_hot(compas(options.one_hot), options.rounds)
        return
    rng = np.random.default_rng(0)
    n = options.rows
    d = options.features
    s = rng.integers(2, size=n)
    X = rng.normal(size=(n, d)).astype(np.float32)
    X[:, 0] += s
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=n) > 0).astype(int)
    tensors = torch.tensor(X), torch.tensor(y).float(), torch.tensor(s).float()

    print(f"{n} rows, {d} features, {STEPS} + {STEPS} steps, threads {options.threads}")
    if options.compiled:
        compiled_losses(tensors, options.rounds)
        kept_weights(n)
        return
    if options.shares:
        for batch_size in (1024, 128):
            print(f"batch {batch_size}, {options.shares} models, an epoch")
            table = compas(options.one_hot) if options.one_hot else (X, y, s)
            shares(*stack(options.shares, batch_size), table)
        rounded_rates()
        return
    print("batch models   plain  stacked  (s, model, epoch)   ratio  share of sgemm")
    for batch_size in (1024, 128):
        for n_models in (1, 8, 64):
            n_epochs = max(1, 8 // n_models)
            road, points = stack(n_models, batch_size, n_epochs)
            plain = []
            stacked = []
            rates = []
            for _ in range(options.rounds):
                rates.append(sgemm_rate())
                stacked.append(
                    seconds(lambda: road.fit_many(points, X, y, sensitive_features=s))
                    / (n_models * n_epochs)
                )
                plain.append(
                    seconds(
                        lambda: plain_fit(
                            *tensors,
                            fairness_weight=1.0,
                            tau=0.3,
                            n_epochs=2,
                            batch_size=batch_size,
                        )
                    )
                    / 2
                )
            ratio = np.median(np.array(plain) / np.array(stacked))
            rate = n * flops_per_row(d) / np.median(stacked)
            print(
                f"{batch_size:5d} {n_models:6d}  {np.median(plain):.4f}  "
                f"{np.median(stacked):.4f} {'':18s} {ratio:5.2f}  "
                f"{rate / np.median(rates):.0%}"
            )


if __name__ == "__main__":
    main()
