"""ROAD at the paper's settings on Law School and COMPAS, beside the quoted figures.

Needs the public tables: ``FAIRDASH_DATA`` or ``--data`` names the folder with
``law_school_road.parquet`` and ``compas_two_years.parquet``.

    python benchmarks/road_tables.py law [--seeds 5] [--weights 0 1 3] [--taus 0.3 0.7]
    python benchmarks/road_tables.py compas

A seed that ``--out`` holds is not trained again.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from seed_rows import SeedRows

from fairdash.datasets import (
    Roles,
    Subgroups,
    encode,
    make_dataset,
    read_table,
    split,
)
from fairdash.methods import CATALOG
from fairdash.metrics import evaluate

RACES = tuple(f"race{i}" for i in range(1, 9))
BINS = {"widths": {"age": 10.0}, "edges": "paper"}
TABLES = {
    "law": {
        "file": "law_school_road.parquet",
        "roles": lambda frame: Roles(
            target="bar1",
            positive="1",
            sensitive_feature="race7",
            features=tuple(
                column for column in frame if column not in ("lsac_id", "bar1", *RACES)
            ),
        ),
        "subgroups": Subgroups(columns=("gender", "age"), **BINS),
        "scaling": "minmax",
        "n_epochs": 250,
    },
    "compas": {
        "file": "compas_two_years.parquet",
        "roles": lambda frame: Roles(
            target="two_year_recid",
            positive="1",
            sensitive_feature="race",
            groups={"Caucasian": ("Caucasian",), "Other": ()},
            features=(
                "age",
                "sex",
                "juv_fel_count",
                "juv_misd_count",
                "juv_other_count",
                "priors_count",
                "c_charge_degree",
                "c_charge_desc",
            ),
            keep={"propublica_filter": ("1",)},
            missing="exclude",
            min_level_rows=1,
            max_levels=1000,
        ),
        "subgroups": Subgroups(columns=("sex", "age"), **BINS),
        "scaling": "standard",
        "n_epochs": 100,
    },
}


def public(name, folder):
    """Return a table of the paper with its subgroups and scaling."""
    setup = TABLES[name]
    frame = read_table(Path(folder) / setup["file"])
    data = make_dataset(frame, setup["roles"](frame), name=name)
    return data, setup["subgroups"], setup["scaling"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=list(TABLES))
    parser.add_argument("--data", default=os.environ.get("FAIRDASH_DATA"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--weights", type=float, nargs="+", default=[0, 1, 3])
    parser.add_argument("--taus", type=float, nargs="+", default=[0.3, 0.7])
    parser.add_argument("--effort", default="paper", choices=["paper", "fast"])
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--warm-up", type=float, default=0.0, help="share of epochs")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, help="file of all rows")
    options = parser.parse_args()
    if not options.data:
        parser.error("set FAIRDASH_DATA or --data to the folder of the public tables")
    torch.set_num_threads(options.threads)
    setup = TABLES[options.table]
    data, subgroups, _ = public(options.table, options.data)
    labels = subgroups.label(data.frame)
    groups = data.sensitive_features
    settings = CATALOG["road"].settings({}, options.effort)
    if options.effort == "paper":
        settings["n_epochs"] = setup["n_epochs"]
    settings["warm_up"] = options.warm_up
    if options.epochs:
        settings["n_epochs"] = options.epochs
    points = [
        {"fairness_weight": weight, "tau": tau}
        for weight in options.weights
        for tau in (options.taus if weight else options.taus[:1])
    ]
    stored = SeedRows(options.out)
    for seed in stored.missing(options.seeds):
        train, _, test = split(data, seed, fractions=(0.6, 0.2, 0.2))
        X = encode(data, train, scaling=setup["scaling"]).X
        models = (
            CATALOG["road"]
            .estimator(settings, seed)
            .fit_many(points, X[train], data.y[train], sensitive_features=groups[train])
        )
        scores = np.stack([m.predict_proba(X[test])[:, 1] for m in models])
        table = pd.DataFrame(points).assign(
            seed=seed, positive=(scores > 0.5).mean(axis=1)
        )
        for min_size in (20, 50):
            figures = evaluate(
                data.y[test],
                scores,
                sensitive_features=groups[test],
                subgroups=labels.iloc[test],
                min_size=min_size,
            )
            names = {f"worst_{k}_di": f"worst_{k} (n>={min_size})" for k in (1, 3)}
            table = table.join(figures[list(names)].rename(columns=names))
        table["accuracy"] = figures["accuracy"]
        table["di"] = figures["demographic_parity_difference"]
        stored.add(table)
    rows = stored.of(options.seeds)
    table = rows.drop(columns="seed").groupby(["fairness_weight", "tau"])
    print(
        f"{options.table}: {data.n_rows} rows, {options.seeds} splits of 60/20/20, "
        f"{settings}"
    )
    print("mean (sd) over splits, test rows")
    texts = table.agg(lambda v: f"{v.mean():.3f} ({v.std():.3f})")
    columns = ["accuracy", "di", *(c for c in texts if "worst" in c), "positive"]
    print(texts[columns].to_string())


if __name__ == "__main__":
    main()
