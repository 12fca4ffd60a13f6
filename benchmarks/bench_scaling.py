"""How the time of a ROAD sweep grows: with models, rows, features and workers.

Every axis is varied alone, the rest stays at 8 models, 10,000 rows, 12 features and one
worker; few epochs and steps, so that a million rows end. Times are those of training,
best of the rounds, in processes of one thread as the engine's workers are; starting
them and making the table are left out.

    python benchmarks/bench_scaling.py [--epochs 1] [--steps 2] [--most-rows 1000000]
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import SimpleNamespace

import numpy as np
import torch
from bench_sweep import synthetic

from fairdash.sweep import DataSource, SweepSpec, expand, planning, train_stack

USUAL = {"models": 8, "rows": 10_000, "features": 12, "workers": 1}
AXES = {
    "models": (1, 8, 32, 200),
    "rows": (1_000, 10_000, 100_000, 1_000_000),
    "features": (4, 12, 50, 200),
    "workers": (1, 2),
}
WORKERS_MODELS = 32  # enough stacks for two workers
here = SimpleNamespace()


def begin(at, options):
    """Make a worker ready: one thread, data and stacks in place, torch warm."""
    torch.set_num_threads(1)
    here.data, here.subgroups, _ = synthetic(at["rows"], at["features"])
    quick = {"n_adversary_steps": options.steps, "n_ratio_steps": options.steps}
    weights = np.linspace(0, 5, at["models"]).tolist()
    params = {"fairness_weight": weights, "n_epochs": options.epochs, **quick}
    params["batch_size"] = 1024
    spec = SweepSpec(
        data=DataSource(path="in memory", roles=here.data.roles, name="synthetic"),
        methods=({"method": "road", "effort": "paper", "params": params},),
        subgroups=here.subgroups,
    )
    here.stacks = planning.plan(expand(spec, here.data.key))
    small, _, _ = synthetic(200, 4)
    train_stack(here.stacks[0], small)


def train(i):
    """Train one stack; return how many there are."""
    if i is not None:
        train_stack(here.stacks[i], here.data)
    return len(here.stacks)


def measure(at, options):
    """Return the seconds that training all stacks takes."""
    with ProcessPoolExecutor(
        at["workers"],
        mp_context=get_context("spawn"),
        initializer=begin,
        initargs=(at, options),
    ) as pool:
        (n_stacks, *_) = pool.map(train, [None] * 8 * at["workers"])
        list(pool.map(train, range(min(n_stacks, at["workers"]))))  # warm
        best = np.inf
        for _ in range(options.rounds):
            began = time.perf_counter()
            list(pool.map(train, range(n_stacks)))
            best = min(best, time.perf_counter() - began)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--most-rows", type=int, default=1_000_000)
    parser.add_argument("--most-models", type=int, default=200)
    options = parser.parse_args()
    most = {"rows": options.most_rows, "models": options.most_models}
    usual = ", ".join(f"{value:,} {name}" for name, value in USUAL.items())
    print(f"ROAD, {options.epochs} epoch(s), {options.steps} + {options.steps} steps")
    print(f"where not varied: {usual}", flush=True)
    for axis, values in AXES.items():
        print(f"\n{axis:>10s}  seconds  time / first  {axis} / first")
        first = None
        for value in values:
            if value > most.get(axis, value):
                continue
            at = USUAL | {axis: value}
            if axis == "workers":
                at["models"] = min(WORKERS_MODELS, options.most_models)
            seconds = measure(at, options)
            first = first or (seconds, value)
            print(
                f"{value:10,d} {seconds:8.2f} {seconds / first[0]:13.2f} "
                f"{value / first[1]:14.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
