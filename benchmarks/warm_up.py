"""What a warm-up of the fairness weight does: models that decide alike, and gaps.

    python benchmarks/warm_up.py [--warm-ups 0 0.5] [--seeds 1] [--sample loans]

ROAD at the quick effort over a grid of λ and τ, on test rows. A model *decides alike*
where fewer than 5 % or more than 95 % of rows are decided 1. At the settings of the
paper: ``python benchmarks/road_tables.py law --warm-up 0.5``.
"""

import argparse
import os
from itertools import product

import numpy as np
import pandas as pd
import torch

from fairdash.datasets import SAMPLES, encode, load_sample, split
from fairdash.methods import CATALOG
from fairdash.metrics import evaluate

WEIGHTS = (1, 2, 4, 6, 9, 14)
TAUS = (0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
ALIKE = 0.05


def train(sample, warm_up, seed):
    """Return one row per setting of a seed."""
    data = load_sample(sample)
    subgroups = SAMPLES[sample].subgroups
    parts = split(data, seed)
    X = encode(data, parts.train).X
    points = [{"fairness_weight": w, "tau": t} for w, t in product(WEIGHTS, TAUS)]
    settings = CATALOG["road"].settings({"warm_up": warm_up})
    models = (
        CATALOG["road"]
        .estimator(settings, seed)
        .fit_many(
            points,
            X[parts.train],
            data.y[parts.train],
            sensitive_features=data.sensitive_features[parts.train],
        )
    )
    scores = np.stack([m.predict_proba(X[parts.test])[:, 1] for m in models])
    figures = evaluate(
        data.y[parts.test],
        scores,
        sensitive_features=data.sensitive_features[parts.test],
        subgroups=subgroups.label(data.frame).iloc[parts.test],
        min_size=subgroups.min_size,
    )
    rate = (scores > 0.5).mean(axis=1)
    nearly_all = (rate < ALIKE) | (rate > 1 - ALIKE)
    table = pd.DataFrame(points).assign(warm_up=warm_up, seed=seed, alike=nearly_all)
    return table.join(figures[["accuracy", "worst_1_di"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", default="loans", choices=list(SAMPLES))
    parser.add_argument("--warm-ups", type=float, nargs="+", default=[0.0, 0.5])
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    tables = {}
    for warm_up in options.warm_ups:
        seeds = range(options.seeds)
        rows = pd.concat([train(options.sample, warm_up, seed) for seed in seeds])
        deciding = rows[~rows["alike"]]
        tables[warm_up] = deciding.set_index(["seed", "fairness_weight", "tau"])
        n_alike = rows["alike"].sum()
        print(f"\nwarm-up {warm_up:g}: {n_alike} of {len(rows)} decide alike")
        for figure in ("accuracy", "worst_1_di"):
            mean = deciding.pivot_table(figure, "fairness_weight", "tau")
            print(f"{figure} of the others\n{mean.round(3).to_string()}")
    joined = pd.concat(tables, axis=1, join="inner")
    print(f"\nmeans of the {len(joined)} settings that decide at every warm-up")
    for figure in ("accuracy", "worst_1_di"):
        means = joined.xs(figure, axis=1, level=1).mean()
        print(f"{figure}: {means.round(3).to_dict()}")


if __name__ == "__main__":
    main()
