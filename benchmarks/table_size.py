"""Why the same λ buys less on a larger table: by its rows, or by the steps they bring.

Zhang and ROAD (τ = .3) train on Loans, quick effort, at the same λ:

* ``small``, ``large``: 9,000 and 30,000 rows, the usual 40 epochs of batches of 512;
* ``large, steps of small``: 12 epochs;
* ``small, steps of large``: 133 epochs;
* ``large, larger batches``: 40 epochs of batches of 1,706, so as many steps as small.

Told are the true largest local gap and the accuracy on 60,000 fresh rows, and the same
gap on training rows: means over seeds with 95 % intervals.

    python benchmarks/table_size.py --seeds 8 --out FOLDER

A seed that FOLDER holds is not trained again.
"""

import argparse
import runpy
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy.stats import ttest_1samp

from fairdash.datasets import SAMPLES, encode, make_dataset, split
from fairdash.methods import CATALOG
from fairdash.metrics import evaluate

MAKERS = Path(__file__).parent.parent / "sample_data" / "make_samples.py"
SMALL = 9_000
LARGE = 30_000
FRESH = 60_000
FIRST_SEED = 2_000
WEIGHTS = (1.5, 5.0, 15.0)
WAYS = {
    "small": (SMALL, {}),
    "large": (LARGE, {}),
    "large, steps of small": (LARGE, {"n_epochs": 12}),
    "small, steps of large": (SMALL, {"n_epochs": 133}),
    "large, larger batches": (LARGE, {"batch_size": 1706}),
}
METHODS = {
    "unconstrained": [{}],
    "adversarial": [{"fairness_weight": w} for w in WEIGHTS],
    "road": [{"fairness_weight": w, "tau": 0.3} for w in WEIGHTS],
}


def train(seed):
    """Return one row per way and model of one seed."""
    maker = runpy.run_path(str(MAKERS))["loans"]
    frame, _ = maker(np.random.default_rng(seed), LARGE + FRESH)
    sample = SAMPLES["loans"]
    results = []
    data = make_dataset(frame, sample.roles, name="loans", key="loans")
    labels = sample.subgroups.label(data.frame)
    fresh = np.arange(LARGE, len(frame))
    for way, (n_rows, changes) in WAYS.items():
        dataset = make_dataset(
            frame.iloc[:n_rows], sample.roles, name="loans", key="loans"
        )
        rows = split(dataset, seed).train
        X = encode(data, rows).X
        for key, points in METHODS.items():
            method = CATALOG[key]
            models = method.estimator(method.settings(changes, "fast"), seed).fit_many(
                points,
                X[rows],
                data.y[rows],
                sensitive_features=data.sensitive_features[rows],
            )
            scores = np.stack([model.predict_proba(X)[:, 1] for model in models])
            table = pd.DataFrame(points, index=range(len(points)))
            for part, rows_of_part in (("train", rows), ("true", fresh)):
                figures = evaluate(
                    data.y[rows_of_part],
                    scores[:, rows_of_part],
                    sensitive_features=data.sensitive_features[rows_of_part],
                    subgroups=labels.iloc[rows_of_part],
                )
                table[f"{part} gap"] = figures["worst_1_di"]
                table[f"{part} accuracy"] = figures["accuracy"]
            results.append(table.assign(way=way, method=key, seed=seed))
    return pd.concat(results, ignore_index=True)


def interval(values):
    """Return a mean with its 95 % interval."""
    if len(values) < 2:
        return f"{values.mean():.3f}"
    low, high = ttest_1samp(values, 0).confidence_interval()
    return f"{values.mean():.3f} ({low:.3f} to {high:.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    parts = []
    for seed in range(FIRST_SEED, FIRST_SEED + options.seeds):
        path = options.out / f"size-{seed}.parquet"
        if not path.exists():
            began = time.process_time()
            train(seed).to_parquet(path)
            print(f"seed {seed}: {time.process_time() - began:.0f} s", flush=True)
        parts.append(pd.read_parquet(path))
    rows = pd.concat(parts, ignore_index=True).fillna({"fairness_weight": 0})
    by = ["method", "fairness_weight", "way"]
    columns = ["true gap", "true accuracy", "train gap"]
    print(rows.groupby(by)[columns].agg(interval).to_string())
    print("true gap minus that of `large`, paired")
    wide = rows.pivot_table(
        index=["method", "fairness_weight", "seed"], columns="way", values="true gap"
    )
    differences = wide.sub(wide["large"], axis=0).drop(columns="large")
    print(differences.groupby(level=[0, 1]).agg(interval).to_string())
    print("the same, mean of all λ")
    weighted = wide[wide.index.get_level_values("fairness_weight") > 0]
    by_seed = weighted.groupby(["method", "seed"]).mean()
    by_seed = by_seed.sub(by_seed["large"], axis=0).assign(large=by_seed["large"])
    print(by_seed.groupby("method").agg(interval).to_string())


if __name__ == "__main__":
    main()
