"""How good one network for all of λ and τ is, beside models trained one by one.

For every seed, on the same split: ROAD at the paper's settings at every point of a grid
(``--effort-grid``: values of λ and of τ) and at 20 random settings, λ to 5 as in the
paper; the plane once, evaluated at a grid of as many points, λ to the end of its own
range, and at the same 20 settings; and these trained a second time from another start,
since local DI of small subgroups differs between two trainings of one setting too. The
area of a front is that of `effort.py`; time is CPU time of training, that of the plane
against that of the grid.

Needs the public tables but for the sample: ``FAIRDASH_DATA`` or ``--data-home`` names
their folder. All that is trained is kept under ``--keep`` and not trained again.

    python benchmarks/plane.py loans law compas [--seeds 5] [--effort-grid 20 10]

Two cores take about a third less with two processes: one for compas, one for the rest.
"""

import argparse
import hashlib
import json
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from effort import MIN_SIZE, front_areas
from road_tables import TABLES
from scipy.special import expit

from fairdash.datasets import (
    SAMPLES,
    encode,
    load_sample,
    make_dataset,
    read_table,
    split,
)
from fairdash.methods import CATALOG
from fairdash.metrics import local_di
from fairdash.sweep import score

N_RANDOM = 20
PUBLISHED_WEIGHT = 5.0  # largest λ
CLOSE = 0.03  # of local DI
RESTART = 1_000_000  # added to a seed: another start on the same split


def load(name, folder):
    """Return data, subgroups, scaling and the paper's epochs."""
    if name in SAMPLES:
        return load_sample(name), SAMPLES[name].subgroups, "standard", 100
    setup = TABLES[name]
    frame = read_table(Path(folder) / setup["file"])
    data = make_dataset(frame, setup["roles"](frame), name=name)
    subgroups = setup["subgroups"].model_copy(update={"min_size": MIN_SIZE[name]})
    return data, subgroups, setup["scaling"], setup["n_epochs"]


def grid_of(shape, low, high, top):
    """Return every setting of a grid: λ even, τ even in log."""
    weights = np.linspace(0, top, shape[0]).tolist()
    taus = np.geomspace(low, high, shape[1]).tolist()
    return [(weight, min(tau, high)) for weight in weights for tau in taus]


def random_settings(low, high):
    """Return settings that no grid has: λ uniform, τ uniform in log."""
    random = np.random.default_rng(7)
    weights = random.uniform(0, PUBLISHED_WEIGHT, N_RANDOM)
    taus = low * (high / low) ** random.random(N_RANDOM)
    return list(zip(weights.tolist(), taus.tolist(), strict=True))


def trained(keep, method, settings, seed, points, X, data, train, name):
    """Return scores at ``points`` and CPU seconds, from disk if trained before."""
    told = [name, method, settings, seed, points, len(train), X.shape[1]]
    digest = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]
    file = keep / f"{name}-{digest}.npz"
    if not file.exists():
        estimator = CATALOG[method].estimator(settings, seed)
        rows = (X[train], data.y[train])
        known = {"sensitive_features": data.sensitive_features[train]}
        began = time.process_time()
        if method == "road_plane":  # as a sweep does: train once, evaluate all points
            plane = estimator.fit(*rows, **known).plane_
            scores = expit(plane.predictor.logits(X, points))
            seconds = time.process_time() - began
        else:
            names = ("fairness_weight", "tau")
            named = [dict(zip(names, point, strict=True)) for point in points]
            models = estimator.fit_many(named, *rows, **known)
            seconds = time.process_time() - began
            scores = np.stack([model.predict_proba(X)[:, 1] for model in models])
        np.savez(file, scores=scores.astype(np.float32), seconds=seconds)
    kept = np.load(file)
    return kept["scores"], float(kept["seconds"])


def gaps(data, subgroups, seed, scores):
    """Return local DI on test rows, one row per model, NaN where not estimable."""
    test = split(data, seed).test
    labels = subgroups.label(data.frame).iloc[test]
    tables = [
        local_di(
            (mine[test] > 0.5).astype(int),
            sensitive_features=data.sensitive_features[test],
            subgroups=labels,
            min_size=subgroups.min_size,
        )
        for mine in scores
    ]
    return np.stack([table["local_di"].to_numpy(float) for table in tables])


def compare(name, seed, options):
    """Return areas, seconds and differences of local DI of one split."""
    data, subgroups, scaling, n_epochs = load(name, options.data_home)
    train = split(data, seed).train
    X = encode(data, train, scaling=scaling).X
    plane = CATALOG["road_plane"].settings(options.set, "plane")
    low, high = plane["min_tau"], plane["max_tau"]
    grid = grid_of(options.effort_grid, low, high, PUBLISHED_WEIGHT)
    own = grid_of(options.effort_grid, low, high, plane["max_fairness_weight"])
    random = random_settings(low, high)
    paper = {**CATALOG["road"].settings({}, "paper"), "n_epochs": n_epochs}
    same = (X, data, train, name)
    exact, seconds = trained(options.keep, "road", paper, seed, grid, *same)
    asked, _ = trained(options.keep, "road", paper, seed, random, *same)
    again, _ = trained(options.keep, "road", paper, seed + RESTART, random, *same)
    ours, plane_seconds = trained(
        options.keep, "road_plane", plane, seed, own + random, *same
    )
    record = {"data": name, "seed": seed, "n_models": len(grid)}
    record |= {"paper_s": seconds, "plane_s": plane_seconds}
    for key, scores in (("paper", exact), ("plane", ours[: len(own)])):
        test, chosen = front_areas(score(data, seed, scores, subgroups))
        record |= {f"{key}_area": test, f"{key}_chosen": chosen}
    reference = gaps(data, subgroups, seed, asked)
    found = {"plane": ours[len(own) :], "again": again}
    return record, {
        key: np.abs(gaps(data, subgroups, seed, scores) - reference).ravel()
        for key, scores in found.items()
    }


def report(name, records, differences):
    """Print ratios of one data set, of means and seed by seed."""
    table = pd.DataFrame(records)
    print(f"\n{name}: {len(table)} seeds, {table['n_models'][0]} settings of the grid")
    for words, ours, theirs in (
        ("front over test rows", "plane_area", "paper_area"),
        ("front chosen on validation rows", "plane_chosen", "paper_chosen"),
        ("CPU time", "plane_s", "paper_s"),
    ):
        means = table[ours].mean(), table[theirs].mean()
        ratio = means[0] / means[1] if means[1] else np.nan
        by_seed = (table[ours] / table[theirs].replace(0, np.nan)).round(3).tolist()
        print(
            f"  {words}: plane {means[0]:.4g}, paper {means[1]:.4g}, "
            f"ratio {ratio:.3f}; by seed {by_seed}"
        )
    for key, words in (("plane", "plane"), ("again", "trained again")):
        all_seeds = np.concatenate([found[key] for found in differences])
        apart = all_seeds[np.isfinite(all_seeds)]
        print(
            f"  local DI, {words} - exact, {N_RANDOM} random settings: "
            f"mean {apart.mean():.3f}, median {np.median(apart):.3f}, "
            f"max {apart.max():.3f}, within {CLOSE}: {np.mean(apart <= CLOSE):.0%} "
            f"of {len(apart)}",
            flush=True,
        )


def setting(text):
    """Return name and value of ``name=value``, a parameter of the plane."""
    name, value = text.split("=")
    kinds = {param.name: param.kind for param in CATALOG["road_plane"].params}
    if name not in kinds:
        raise argparse.ArgumentTypeError(f"no parameter {name}; it has {list(kinds)}")
    return name, {"int": int, "float": float}.get(kinds[name], str)(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="+", choices=[*TABLES, "loans"])
    parser.add_argument("--data-home", default=os.environ.get("FAIRDASH_DATA", "."))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--effort-grid", type=int, nargs=2, default=(20, 10))
    parser.add_argument("--set", type=setting, nargs="*", default=[])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("plane_benchmark"))
    options = parser.parse_args()
    options.set = dict(options.set)
    options.keep.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    for name in options.data:
        records, differences = [], []
        for seed in range(options.seeds):
            record, found = compare(name, seed, options)
            records.append(record)
            differences.append(found)
            print(json.dumps(record), flush=True)
        report(name, records, differences)


if __name__ == "__main__":
    main()
