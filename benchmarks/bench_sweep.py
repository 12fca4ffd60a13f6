"""A sweep of ROAD against the plain loop that trains one model after the other.

Both do the same epochs at the paper's settings in the same run, rounds alternating, on
one thread. The sweep goes through the same calls as the app's (plan, stacks, curves on
validation rows, scores), so its time holds everything but the store; the plain loop is
timed on one model and multiplied.

    python benchmarks/bench_sweep.py [--models 200] [--epochs 2] [--rounds 3]

With ``FAIRDASH_DATA`` or ``--data`` the Law School table is measured as well.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from bench_training import STEPS, plain_fit
from road_tables import TABLES

from fairdash.datasets import (
    Roles,
    Subgroups,
    encode,
    make_dataset,
    read_table,
    split,
)
from fairdash.sweep import DataSource, SweepSpec, expand, plan, train_stack


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


def law(folder):
    setup = TABLES["law"]
    frame = read_table(Path(folder) / setup["file"])
    data = make_dataset(frame, setup["roles"](frame), name="law")
    return data, setup["subgroups"], setup["scaling"]


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


def measure(data, subgroups, scaling, options, batch_size):
    """Return seconds of the whole sweep, once stacked and once model by model."""
    spec = sweep_spec(
        data,
        subgroups,
        n_models=options.models,
        n_epochs=options.epochs,
        batch_size=batch_size,
    )
    stacks = plan(expand(spec, data.key))
    train = split(data, 0).train
    X = torch.tensor(encode(data, train, scaling=scaling).X[train])
    y = torch.tensor(data.y[train]).float()
    s = torch.tensor(data.group[train]).float()
    # the first optimiser loads parts of torch for two seconds
    warm = torch.zeros(2, dtype=torch.long)
    plain_fit(
        X[warm],
        y[warm],
        s[warm],
        fairness_weight=1.0,
        tau=0.3,
        n_epochs=1,
        batch_size=2,
    )
    stacked, plain = [], []
    for _ in range(options.rounds):
        began = time.perf_counter()
        for stack in stacks:
            train_stack(stack, data, scaling=scaling, subgroups=subgroups)
        stacked.append(time.perf_counter() - began)
        began = time.perf_counter()
        plain_fit(
            X,
            y,
            s,
            fairness_weight=1.0,
            tau=0.3,
            n_epochs=options.epochs,
            batch_size=batch_size,
        )
        plain.append((time.perf_counter() - began) * options.models)
    return np.median(stacked), np.median(plain), len(stacks)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--data", default=os.environ.get("FAIRDASH_DATA"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    tables = [("10,000 x 12, 6,000 to train on", synthetic(10_000, 12))]
    if options.data:
        tables.append(("Law School, 1,823 rows", law(options.data)))
    print(
        f"{options.models} models of ROAD, {options.epochs} epochs, {STEPS} + {STEPS} "
        f"steps, {options.threads} thread(s), median of {options.rounds} rounds"
    )
    print("table                            batch stacks  sweep s  plain s   ratio")
    for name, (data, subgroups, scaling) in tables:
        for batch_size in (1024, 128):
            stacked, plain, n_stacks = measure(
                data, subgroups, scaling, options, batch_size
            )
            print(
                f"{name:32s} {batch_size:5d} {n_stacks:6d} {stacked:8.1f} "
                f"{plain:8.1f} {plain / stacked:7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
