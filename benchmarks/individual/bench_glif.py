"""GLIF at eight weights: trained and joined in a graph once, against one at a time.

Quick effort, on made-up rows of Loans' shape, or Adult's training rows with
FAIRDASH_DATA. Seconds of the processor; the quickest of alternating rounds.

    OMP_NUM_THREADS=1 python benchmarks/individual/bench_glif.py
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
from tables import adult

from fairdash.methods import CATALOG, GLIF
from fairdash.metrics import ignore_columns

WEIGHTS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


def rows(folder):
    """Return features, their names, outcomes and groups."""
    if folder:
        X, names, y = adult(Path(folder))
        return X, names, y, X[:, names.index("male")]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 30)).astype(np.float32)
    X[:, 0] = rng.random(len(X)) < 0.5
    y = (X[:, :3].sum(1) + rng.logistic(size=len(X)) > 0.5).astype(int)
    return X, ("male", *(f"x{i}" for i in range(1, 30))), y, X[:, 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("FAIRDASH_DATA"))
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    X, names, y, groups = rows(chosen.data)
    efforts = CATALOG["glif"].efforts["fast"]
    metric = ignore_columns(["male"], names)
    model = GLIF(metric, feature_names=names, random_state=0, device="cpu", **efforts)
    points = [{"fairness_weight": weight} for weight in WEIGHTS]
    ways = {
        "together": lambda: model.fit_many(points, X, y, sensitive_features=groups),
        "one at a time": lambda: [
            model.fit_many([point], X, y, sensitive_features=groups) for point in points
        ],
    }
    seconds = dict.fromkeys(ways, np.inf)
    for _ in range(chosen.rounds):
        for name, way in ways.items():
            began = time.process_time()
            way()
            seconds[name] = min(seconds[name], time.process_time() - began)
    print(f"{len(X):,} x {X.shape[1]}, {len(WEIGHTS)} weights")
    for name, spent in seconds.items():
        print(f"{name:14s} {spent:6.2f} s, {spent / seconds['together']:.1f}x")


if __name__ == "__main__":
    main()
