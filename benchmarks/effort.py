"""What the quick effort keeps of the paper's schedule: fronts and times of ROAD.

"bfloat16" is the quick effort whose products of matrices round their factors to
bfloat16; weights and sums stay float32.

For every seed the same grid is trained at both efforts on the same split. A front's
worth is the area it dominates between Worst-1-DI 0 and 0.5 above an accuracy of 45 %,
among models whose DI is at most 0.05: once as the paper draws it, over test rows, and
once for the models on the front of the validation rows, measured on test rows.

Needs the public tables: ``FAIRDASH_DATA`` or ``--data`` names their folder.

    python benchmarks/effort.py law [--seeds 5] [--fast n_epochs=80 n_ratio_steps=3]
    python benchmarks/effort.py compas --efforts fast bfloat16 --seeds 2
"""

import argparse
import os
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from fronts import hypervolume
from road_tables import TABLES

from fairdash.datasets import encode, make_dataset, read_table, split
from fairdash.methods import CATALOG
from fairdash.sweep import pareto_front, score

PARITY = "demographic_parity_difference"
REFERENCE = (0.5, 0.45)
MIN_SIZE = {"law": 20, "compas": 50}  # of a subgroup, as in the paper's reading


def front_areas(rows):
    """Return the area of the front over test rows, and of the front chosen before."""
    test = hypervolume(rows, reference=REFERENCE, limits={f"test_{PARITY}": 0.05})
    chosen = pareto_front(
        rows,
        axes=("validation_worst_1_di", "validation_accuracy"),
        limits={f"validation_{PARITY}": 0.05},
    )
    return test, hypervolume(chosen, reference=REFERENCE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=list(TABLES))
    parser.add_argument("--data", default=os.environ.get("FAIRDASH_DATA"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--weights", type=int, default=6, help="values of λ, 0 to 5")
    parser.add_argument("--taus", type=float, nargs="+", default=[0.05, 0.2, 0.5, 1])
    parser.add_argument("--fast", nargs="*", default=[], help="settings to try")
    parser.add_argument(
        "--efforts",
        nargs=2,
        default=["paper", "fast"],
        choices=["paper", "fast", "bfloat16"],
        help="the second is compared with the first",
    )
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if not options.data:
        parser.error("set FAIRDASH_DATA or --data to the folder of the public tables")
    torch.set_num_threads(options.threads)
    setup = TABLES[options.table]
    frame = read_table(Path(options.data) / setup["file"])
    data = make_dataset(frame, setup["roles"](frame), name=options.table)
    changes = {"min_size": MIN_SIZE[options.table]}
    subgroups = setup["subgroups"].model_copy(update=changes)
    road = CATALOG["road"]
    values = {key: float(v) for key, v in (pair.split("=") for pair in options.fast)}
    ints = {param.name for param in road.params if param.kind == "int"}
    values = {key: int(v) if key in ints else v for key, v in values.items()}
    settings = {
        "paper": {**road.settings({}, "paper"), "n_epochs": setup["n_epochs"]},
        "fast": road.settings(values, "fast"),
    }
    settings["bfloat16"] = settings["fast"]
    points = [
        {"fairness_weight": float(weight), "tau": tau}
        for weight in np.linspace(0, 5, options.weights)
        for tau in options.taus
    ]
    print(f"{options.table}: {data.n_rows:,} rows, {len(points)} settings", flush=True)
    print("seed effort    test area  chosen area  CPU s", flush=True)
    records = []
    for seed in range(options.seeds):
        train = split(data, seed).train
        X = encode(data, train, scaling=setup["scaling"]).X
        for effort in options.efforts:
            began = time.process_time()
            with products("bf16" if effort == "bfloat16" else "ieee"):
                models = road.estimator(settings[effort], seed).fit_many(
                    points,
                    X[train],
                    data.y[train],
                    sensitive_features=data.sensitive_features[train],
                )
            seconds = time.process_time() - began
            scores = np.stack([model.predict_proba(X)[:, 1] for model in models])
            test, areas = front_areas(score(data, seed, scores, subgroups))
            print(
                f"{seed:4d} {effort:8s}  {test:9.4f}  {areas:11.4f}  {seconds:7.1f}",
                flush=True,
            )
            records.append((seed, effort, test, areas, seconds))
    names = ["seed", "effort", "test", "kept", "seconds"]
    report(pd.DataFrame(records, columns=names), *options.efforts)


@contextmanager
def products(precision):
    """Round the factors of products of matrices to "bf16", or not: "ieee"."""
    matmul = torch.backends.mkldnn.matmul
    before = matmul.fp32_precision
    matmul.fp32_precision = precision
    yield
    matmul.fp32_precision = before


def report(records, first, second):
    """Print second over first: of the means, and the spread of the paired ratios."""
    wide = records.set_index(["effort", "seed"])
    for name, words in (
        ("test", "area over test rows"),
        ("kept", "area chosen on validation rows"),
        ("seconds", "time"),
    ):
        ratios = (wide.loc[second, name] / wide.loc[first, name]).round(3).tolist()
        ratio = wide.loc[second, name].mean() / wide.loc[first, name].mean()
        print(f"{words}: {second} / {first} = {ratio:.3f}; by seed {ratios}")


if __name__ == "__main__":
    main()
