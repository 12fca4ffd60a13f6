"""A sweep of ROAD against the plain loop that trains one model after the other.

Both do the same epochs at the paper's settings in the same run, rounds alternating, on
the same cores. The sweep goes through the same calls as the app's (plan, stacks, curves
on validation rows, scores) in one process a core, as the engine's workers do, so its
time holds everything but the store. The plain loop is timed on few models and
multiplied; it has the cores once as threads of one process, as torch uses them by
itself, and once as processes that train a model each, which is its best.

    python benchmarks/bench_sweep.py [--models 200] [--epochs 2] [--cores 2]

With ``FAIRDASH_DATA`` or ``--data`` Law School and COMPAS are measured as well, COMPAS
with a column for every level of a category, as in the paper.
"""

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
import torch
from bench_training import STEPS, plain_fit
from road_tables import public

from fairdash.datasets import (
    Roles,
    Subgroups,
    encode,
    make_dataset,
    split,
)
from fairdash.sweep import DataSource, SweepSpec, expand, planning, train_stack


def synthetic(n_rows, n_features):
    """Return rows of ``n_features`` numbers whose group shows in the first."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    group = rng.integers(2, size=n_rows)
    X[:, 0] += group
    y = X[:, 0] + X[:, 1] + rng.logistic(size=n_rows) > 0
    names = [f"x{i}" for i in range(n_features)]
    frame = pd.DataFrame(X, columns=names).assign(group=group, y=y.astype(int))
    frame["part"] = rng.choice(list("abcdef"), n_rows)
    roles = Roles(
        target="y", positive="1", sensitive_feature="group", features=tuple(names)
    )
    data = make_dataset(frame, roles, name="synthetic")
    return data, Subgroups(columns=("part",)), "standard"


def sweep_spec(data, subgroups, *, n_models, n_epochs, batch_size):
    n_taus = 10 if n_models % 10 == 0 else 1
    params = {
        "fairness_weight": np.linspace(0, 5, n_models // n_taus).tolist(),
        "tau": np.linspace(0.1, 1, n_taus).tolist(),
        "n_epochs": n_epochs,
        "batch_size": batch_size,
    }
    return SweepSpec(
        data=DataSource(path="in memory", roles=data.roles, name=data.name),
        methods=({"method": "road", "effort": "paper", "params": params},),
        subgroups=subgroups,
    )


class Bench:
    """The work of one process: stacks of the sweep, or models of the plain loop."""

    here = None  # of a worker process

    def __init__(self, table, options, batch_size):
        self.data, self.subgroups, self.scaling = table
        self.epochs, self.batch_size = options.epochs, batch_size
        spec = sweep_spec(
            self.data,
            self.subgroups,
            n_models=options.models,
            n_epochs=options.epochs,
            batch_size=batch_size,
        )
        self.stacks = planning.plan(expand(spec, self.data.key))
        train = split(self.data, 0).train
        X = torch.tensor(encode(self.data, train, scaling=self.scaling).X[train])
        y = torch.tensor(self.data.y[train]).float()
        self.rows = X, y, torch.tensor(self.data.group[train]).float()

    def plain(self, rows=slice(None), n_epochs=None):
        """Train one model by the plain loop."""
        settings = {"fairness_weight": 1.0, "tau": 0.3, "batch_size": self.batch_size}
        part = [values[rows] for values in self.rows]
        plain_fit(*part, n_epochs=n_epochs or self.epochs, **settings)

    def stacked(self, i):
        """Train one stack of the sweep."""
        train_stack(self.stacks[i], self.data, scaling=self.scaling)


def begin(table, options, batch_size):
    """Make a worker ready: one thread, data in place, torch's slow first step done."""
    torch.set_num_threads(1)
    Bench.here = Bench(table, options, batch_size)
    Bench.here.plain(slice(2), n_epochs=1)


def train_one(i):
    Bench.here.stacked(i)


def train_plain(_):
    Bench.here.plain()


def measure(table, options, batch_size):
    """Return the seconds of the whole sweep by round, by way of training it."""
    bench = Bench(table, options, batch_size)
    torch.set_num_threads(options.cores)
    bench.plain(slice(2), n_epochs=1)
    times = {"stacked": [], "threads": [], "processes": []}
    with ProcessPoolExecutor(
        options.cores,
        mp_context=get_context("spawn"),
        initializer=begin,
        initargs=(table, options, batch_size),
    ) as pool:
        list(pool.map(train_plain, range(options.cores)))  # all are up
        for _ in range(options.rounds):
            began = time.perf_counter()
            list(pool.map(train_one, range(len(bench.stacks))))
            times["stacked"].append(time.perf_counter() - began)
            began = time.perf_counter()
            bench.plain()
            times["threads"].append((time.perf_counter() - began) * options.models)
            began = time.perf_counter()
            list(pool.map(train_plain, range(options.cores)))
            share = options.models / options.cores
            times["processes"].append((time.perf_counter() - began) * share)
    return {name: np.array(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--data", default=os.environ.get("FAIRDASH_DATA"))
    parser.add_argument("--batches", type=int, nargs="+", default=(1024, 128))
    parser.add_argument("--tables", nargs="+", default=("made up", "law", "compas"))
    options = parser.parse_args()
    tables = {"made up": synthetic(10_000, 12)}
    if options.data:
        tables |= {name: public(name, options.data) for name in ("law", "compas")}
    tables = {name: tables[name] for name in options.tables if name in tables}
    print(
        f"{options.models} models of ROAD, {options.epochs} epochs, {STEPS} + {STEPS} "
        f"steps, {options.cores} core(s), median of {options.rounds} rounds"
    )
    print("                                      seconds          plain / sweep")
    print("table                          batch  sweep  threads processes  (ratios)")
    for name, table in tables.items():
        data, _, scaling = table
        train = split(data, 0).train
        width = len(encode(data, train, scaling=scaling).feature_names)
        words = f"{name}, {len(train):,} x {width}"
        for batch_size in options.batches:
            times = measure(table, options, batch_size)
            sweep, threads, processes = (np.median(t) for t in times.values())
            print(
                f"{words:30s} {batch_size:5d} {sweep:6.1f} {threads:8.1f} "
                f"{processes:9.1f}  {threads / sweep:5.2f} {processes / sweep:5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
