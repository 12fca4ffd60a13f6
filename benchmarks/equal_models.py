"""What a method gains against itself when it gets more models by `equal_models`.

Zhang with few values of λ gets as many models as with many, on the same splits, in
three ways: ``finer`` puts values between those of the grid, as `equal_models` does,
``starts`` trains every value from further initial weights, ``dealt`` deals those starts
out over the values of the finer grid. A front over single runs is worth the area it
dominates, Worst-1-DI below .5 and accuracy above .45 at DI within .05: of the models on
the front of validation rows measured on test rows, and of the front over test rows.

    python benchmarks/equal_models.py law --splits 20 [--few 3] [--starts 8]

The public tables are downloaded, unless ``--originals`` names the folder of the
publishers' files.
"""

import argparse

import numpy as np
import pandas as pd
import torch
from road_verdict import TABLES, area, load, paired, told

from fairdash.datasets import encode, split
from fairdash.methods import CATALOG
from fairdash.sweep import score
from fairdash.sweep._front import hypervolume

LIMITS = {"test_demographic_parity_difference": 0.05}
ENDS = (0.1, 5.0)  # of λ
STEP = 1_000_000  # between random states of two starts of a split


def train(name, data, subgroups, seed, *, few, starts):
    """Return rows of all models: λ and start, those of the three ways together."""
    method = CATALOG["adversarial"]
    rows = split(data, seed).train
    X = encode(data, rows, scaling=TABLES[name].scaling).X
    coarse, fine = (np.geomspace(*ENDS, n).tolist() for n in (few, few * starts))
    tables = []
    for start in range(starts):
        ways = [("starts", weight) for weight in coarse]
        ways += [("dealt", weight) for weight in fine[start::starts]]
        ways += [("finer", weight) for weight in fine if not start]
        points = [{"fairness_weight": weight} for _, weight in ways]
        models = method.estimator(
            method.settings({}, "fast"), seed + STEP * start
        ).fit_many(
            points,
            X[rows],
            data.y[rows],
            sensitive_features=data.sensitive_features[rows],
        )
        scores = np.stack([model.predict_proba(X)[:, 1] for model in models])
        table = pd.DataFrame(ways, columns=["way", "fairness_weight"])
        tables.append(
            table.assign(start=start).join(score(data, seed, scores, subgroups))
        )
    return pd.concat(tables, ignore_index=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=list(TABLES))
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--few", type=int, default=3, help="values of the coarse grid")
    parser.add_argument("--starts", type=int, default=8)
    parser.add_argument("--originals", help="folder of the publishers' files")
    options = parser.parse_args()
    torch.set_num_threads(1)
    data, subgroups = load(options.table, options.originals)
    found = []
    for seed in range(options.splits):
        rows = train(
            options.table,
            data,
            subgroups,
            seed,
            few=options.few,
            starts=options.starts,
        )
        for way, mine in rows.groupby("way"):
            over_test = hypervolume(mine, reference=(0.5, 0.45), limits=LIMITS)
            found.append((seed, way, area(mine), over_test))
    table = pd.DataFrame(found, columns=["seed", "way", "chosen", "over test rows"])
    print(
        f"{options.table}, Zhang, {options.splits} splits, "
        f"{options.few * options.starts} models each way"
    )
    for column in ("chosen", "over test rows"):
        wide = table.pivot_table(index="seed", columns="way", values=column)
        print(f"area {column}: " + ", ".join(f"{w} {told(wide[w])}" for w in wide))
        for way, other in (
            ("starts", "finer"),
            ("dealt", "finer"),
            ("starts", "dealt"),
        ):
            print(f"  {way} - {other}: {paired(wide[way] - wide[other])}")


if __name__ == "__main__":
    main()
