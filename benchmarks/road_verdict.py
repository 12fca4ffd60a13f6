"""ROAD's worst subgroup against Zhang's at equal accuracy, over twenty seeds.

On every seed the methods train equal numbers of models: Zhang as many values of λ as
BROAD and ROAD have pairs of λ and τ. Among the models that give up at most so much
validation accuracy against the unconstrained one, which is a candidate of each method,
the one with the smallest Worst-1-DI on validation rows is taken. Told are its figures
on test rows, with the paired difference from Zhang and its 95 % interval (Student's t
over seeds); the area under each method's front, chosen on validation rows and measured
on test rows; how many models do not decide; and how validation rows rank the settings
beside test rows. On the planted sample also: how much of the largest 5 % of r lies in
the planted region, beside the region's share of all rows.

    python benchmarks/road_verdict.py loans law law-quick --seeds 20 --out FOLDER
    python benchmarks/road_verdict.py law-seven german-seven --seeds 10 --out FOLDER

A seed that FOLDER holds is not trained again. The public tables are downloaded, unless
``--originals`` names the folder of the publishers' files.
"""

import argparse
import time
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from fronts import front_area, least_gap, rank_agreement
from scipy.stats import ttest_1samp

from fairdash.datasets import PUBLIC, SAMPLES, encode, fetch, load_sample, split
from fairdash.methods import CATALOG
from fairdash.sweep import (
    SweepResult,
    decides,
    score,
)

METHODS = ("adversarial", "broad", "road")
WORST = "worst_1_di"
PARITY = "demographic_parity_difference"
FIGURES = ["test_accuracy", f"test_{PARITY}", f"test_{WORST}"]
SEVEN = (*METHODS, "fad", "cuma", "fair_log_loss", "rule_list")  # of ROAD's Figure 2


class Setup(NamedTuple):
    """A grid, how it is trained, and the accuracies to give up."""

    weights: tuple[float, ...]
    taus: tuple[float, ...]
    given_up: tuple[float, ...]
    effort: str = "paper"
    changes: dict[str, int] = {}  # noqa: RUF012
    scaling: str = "standard"
    methods: tuple[str, ...] = METHODS


TABLES = {
    "loans": Setup(
        weights=(0.5, 1.5, 4, 10),
        taus=(0.05, 0.3, 1.0),
        given_up=(0.005, 0.01, 0.02),
        effort="fast",
    ),
    "law": Setup(
        weights=(0.25, 1),
        taus=(0.1, 0.5),
        given_up=(0.02, 0.05, 0.1, 0.15),
        methods=("adversarial", "road"),
        changes={"n_epochs": 250, "n_adversary_steps": 10},
        scaling="minmax",
    ),
    "law-quick": Setup(
        weights=(0.1, 0.25, 0.5, 1, 2, 4),
        taus=(0.05, 0.2, 0.5, 1.0),
        given_up=(0.02, 0.05, 0.1, 0.15),
        effort="fast",
        scaling="minmax",
        methods=("adversarial", "road"),
    ),
    "compas": Setup(
        weights=(1, 4),
        taus=(0.1, 0.5),
        given_up=(0.005, 0.01, 0.02),
        methods=("adversarial", "road"),
        changes={"n_epochs": 100, "n_adversary_steps": 10},
    ),
}
TABLES["compas-quick"] = TABLES["compas"]._replace(effort="fast", changes={})
TABLES |= {
    f"{table}-seven": Setup(
        weights=(0.1, 0.4, 1.5, 6),
        taus=(0.1, 0.5),
        given_up=(0.02, 0.05, 0.1),
        effort="fast",
        scaling=scaling,
        methods=SEVEN,
    )
    for table, scaling in (
        ("law", "minmax"),
        ("german", "minmax"),
        ("compas", "standard"),
    )
}


def grid(setup, method):
    """Return as many points for every method."""
    if method == "unconstrained":
        return [{}]
    number = len(setup.weights) * len(setup.taus)
    if method in ("adversarial", "fad"):
        ends = min(setup.weights), max(setup.weights)
        many = np.geomspace(*ends, number).tolist()
        return [{"fairness_weight": weight} for weight in many]
    if method == "cuma":
        pairs = product(setup.weights, (0.1, 1.0))
        return [{"fairness_weight": w, "curvature_weight": c} for w, c in pairs]
    if method == "fair_log_loss":  # no trade-off to set: its ridge penalty
        return [{"alpha": a} for a in np.geomspace(0.001, 0.5, number).tolist()]
    if method == "rule_list":
        return [{"tolerance": e} for e in np.linspace(0.02, 0.3, number).tolist()]
    return [{"fairness_weight": w, "tau": x} for w in setup.weights for x in setup.taus]


def load(name, originals):
    """Return a data set and its subgroups."""
    if name in SAMPLES:
        return load_sample(name), SAMPLES[name].subgroups
    name = name.split("-")[0]
    subgroups = PUBLIC[name].subgroups
    if name == "german":  # of 200 validation rows no band of ages has fifty
        subgroups = subgroups.model_copy(update={"min_size": 20})
    return fetch(name, data_home=originals), subgroups


def train(name, data, subgroups, seed):
    """Return one row per model of one seed."""
    setup = TABLES[name]
    rows = split(data, seed).train
    X = encode(data, rows, scaling=setup.scaling).X
    groups = data.sensitive_features
    planted = SAMPLES[name].planted_rows(data.frame)[rows] if name in SAMPLES else None
    tables = []
    for key in ("unconstrained", *setup.methods):
        method = CATALOG[key]
        points = grid(setup, key)
        names = {param.name for param in method.params}
        changes = {k: v for k, v in setup.changes.items() if k in names}
        prototype = method.estimator(method.settings(changes, setup.effort), seed)
        models = prototype.fit_many(
            points,
            X[rows],
            data.y[rows],
            sensitive_features=groups[rows],
        )
        table = pd.DataFrame(points, index=range(len(points)))
        seen = {"sensitive_features": groups} if method.needs_groups else {}
        scores = np.stack([model.predict_proba(X, **seen)[:, 1] for model in models])
        table = table.join(score(data, seed, scores, subgroups))
        if method.gives_weights and planted is not None:
            tops = [m.ratio_ >= np.quantile(m.ratio_, 0.95) for m in models]
            table["top_in_planted"] = [planted[top].mean() for top in tops]
            table["mean_in_planted"] = [m.ratio_[planted].mean() for m in models]
            table["planted_share"] = planted.mean()
        tables.append(table.assign(method=key, seed=seed))
    return pd.concat(tables, ignore_index=True)


def told(values, digits=3):
    """Return mean, standard deviation over seeds."""
    return f"{values.mean():.{digits}f} ({values.std():.{digits}f})"


def paired(values):
    """Return a mean difference with its 95 % interval, of how many seeds."""
    values = values.dropna()
    mean = values.mean()
    low, high = ttest_1samp(values, 0).confidence_interval()
    ends = f"{low:+.3f} to {high:+.3f}"
    return f"{mean:+.3f} [{ends}] sd {values.std():.3f} n {len(values)}"


def by_method(name, rows):
    """Return the rows of the plain model by seed, and those of (method, seed)."""
    by_seed = dict(list(rows.groupby("seed")))
    plain = {s: r[r["method"] == "unconstrained"] for s, r in by_seed.items()}
    mine = {
        (method, s): r[r["method"] == method]
        for s, r in by_seed.items()
        for method in TABLES[name].methods
    }
    return plain, mine


def chosen(name, rows, given_up):
    """Return what is taken by method: one row per seed, its figures on test rows."""
    plain, mine = by_method(name, rows)
    return {
        method: pd.DataFrame(
            {s: least_gap(mine[method, s], plain[s], given_up) for s in plain}
        )
        .T[FIGURES]
        .astype(float)
        for method in TABLES[name].methods
    }


def idle(rows):
    """Tell which models do not decide."""
    return ~(decides(rows, "validation") & decides(rows, "test"))


def report(name, rows):
    """Print what was found on a table."""
    setup = TABLES[name]
    plain, mine = by_method(name, rows)
    seeds = pd.Series(list(plain), index=list(plain))
    number = len(mine["road", seeds.iloc[0]])
    print(f"\n{name}: {len(seeds)} seeds, {number} models of each method")
    free = pd.concat(list(plain.values()))
    print("unconstrained: " + ", ".join(told(free[column]) for column in FIGURES))
    print("given up  method       accuracy  DI  Worst-1-DI (sd)  minus Zhang, paired")
    for given_up in setup.given_up:
        taken = chosen(name, rows, given_up)
        for method, table in taken.items():
            difference = table - taken["adversarial"]
            print(
                f"{given_up:8.3f}  {method:11s}  "
                + ", ".join(told(table[column]) for column in FIGURES)
                + f"  {paired(difference[FIGURES[2]])}"
                + f"  accuracy {paired(difference[FIGURES[0]])}"
            )
    print("area under the front, chosen on validation rows; models that do not decide")
    areas = {
        method: seeds.map(lambda s, method=method: front_area(mine[method, s]))
        for method in setup.methods
    }
    for method in setup.methods:
        everything = pd.concat([mine[method, s] for s in seeds])
        n_idle = idle(everything).sum()
        ranked = rank_agreement(SweepResult.of(everything).rows, WORST)
        print(
            f"{method:11s}  {told(areas[method])}  {n_idle} of {len(everything)}; "
            f"minus Zhang {paired(areas[method] - areas['adversarial'])}; "
            f"rank correlation {ranked[0]:+.2f} [{ranked[1]:+.2f} to {ranked[2]:+.2f}]"
        )
    if "top_in_planted" in rows:
        weighted = rows[rows["top_in_planted"].notna() & (rows["fairness_weight"] >= 1)]
        columns = ["planted_share", "top_in_planted", "mean_in_planted"]
        print("largest 5 % of r in the planted region, λ >= 1 (mean over seeds)")
        print(weighted.groupby(["method", "tau"])[columns].mean().round(3).to_string())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+", choices=list(TABLES))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--originals", help="folder of the publishers' files")
    parser.add_argument("--out", type=Path, required=True, help="folder of all rows")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.tables:
        read_data = partial(load, name, options.originals)
        known_rows = None
        parts = []
        for seed in range(options.seeds):
            path = options.out / f"{name}-{seed}.parquet"
            if not path.exists():
                known_rows = known_rows or read_data()
                began = time.process_time()
                train(name, *known_rows, seed).to_parquet(path)
                seconds = time.process_time() - began
                print(f"{name} seed {seed}: {seconds:.0f} s of CPU", flush=True)
            parts.append(pd.read_parquet(path))
        report(name, pd.concat(parts, ignore_index=True))


if __name__ == "__main__":
    main()
