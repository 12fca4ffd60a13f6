"""ROAD's Figure 3: seven methods of 1994 under equalized odds, on later census rows.

One sweep trains them all: equal numbers of models of each method on the same rows of
1994, several seeds. Told are, on held-out rows of 1994 and on every later year,

- of the models that give up at most so much validation accuracy against the
  unconstrained one, which is a candidate of each method, the one with the smallest gap
  on validation rows;
- the area under the front of accuracy against the gap: its models chosen on validation
  rows, and as in the paper on the rows of the table itself.

Differences from Zhang are paired by seed, with 95 % intervals (Student's t).

    FAIRDASH_DATA=... python benchmarks/drift/seven.py --seeds 5 --home FOLDER

A model that FOLDER holds is not trained again.
"""

import argparse
import os
from pathlib import Path

import pandas as pd
from fronts import hypervolume, least_gap
from road_verdict import SEVEN, Setup, grid, paired, told
from table import AGES, LATER, ODDS, ROLES, rows_of, table

from fairdash.audits import drift, trials
from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import MethodGrid, SweepSpec, model_label, pareto_front

GAP = "equalized_odds_difference"
GIVEN_UP = (0.01, 0.02, 0.05)
REFERENCE = (0.3, 0.6)  # of areas: everyone denied is right in .61 of 2018
SETUP = Setup(weights=(0.1, 0.4, 1.5, 6), taus=(0.1, 0.5), given_up=GIVEN_UP)


def trained(store, seeds, n_rows):
    """Train what is missing; return the run, the data and its models."""
    digest = store.add_table(table(), "adult_acs.parquet")
    grids = [MethodGrid(method="unconstrained")]
    for method in SEVEN:
        points = pd.DataFrame(grid(SETUP, method))
        axes = {name: tuple(points[name].unique().tolist()) for name in points}
        grids.append(MethodGrid(method=method, params={**ODDS, **axes}))
    spec = SweepSpec(
        data={"table": digest, "roles": ROLES, "name": "Adult 1994"},
        methods=tuple(grids),
        seeds=tuple(range(seeds)),
        subgroups=AGES,
        train_rows=n_rows,
    )
    run = submit(store, spec, name="Seven methods")
    data = store.run(run).dataset_id
    return run, data, trials.known_models(store, data, run)


def measured(store, run, data, models, seeds):
    """Return a row per seed, table and model, with its validation figures."""
    rows = store.snapshot(run).table()
    names = [name for name in rows if name not in ("key", "seed")]
    rows["label"] = [
        model_label(row["method"], row) for row in rows[names].to_dict("records")
    ]
    chosen_by = ["validation_accuracy", f"validation_{GAP}", "validation_constant"]
    settings = rows.set_index(["seed", "label"])[["method", *chosen_by]]
    tables = []
    for seed in range(seeds):
        first, *rest = (m for m in models if seed in m.seeds)
        for year in LATER:
            result = drift(
                store,
                [first, *rest],
                data,
                main=first,
                subgroups=AGES,
                seed=seed,
                other=(f"year {year}", rows_of(year)),
            )
            points = result.points.assign(seed=seed)
            if year > LATER[0]:  # the reference is in the first of them
                points = points[points["table"] == f"year {year}"]
            tables.append(points.join(settings, on=["seed", "label"], validate="m:1"))
    return pd.concat(tables, ignore_index=True)


def area(rows, judge):
    """Return the area under a front judged on validation rows or on the table."""
    able = rows[(rows["status"] == "") & (rows["validation_constant"] == 0)]
    front = pareto_front(able, axes=(f"{judge}{GAP}", f"{judge}accuracy"))
    return hypervolume(front, reference=REFERENCE, axes=(GAP, "accuracy"))


def report(found):
    """Print the tables of docs/measured/drift.md."""
    for name, of_table in found.groupby("table", sort=False):
        parts = {
            (method, seed): rows
            for (method, seed), rows in of_table.groupby(["method", "seed"])
        }
        seeds = pd.Series(found["seed"].unique())
        n = len(parts[("road", 0)])
        print(f"\n{name}: {len(seeds)} seeds, {n} models of each method")
        plain = {s: parts["unconstrained", s] for s in seeds}
        free = pd.concat(list(plain.values()))
        print("unconstrained:", told(free["accuracy"]), told(free[GAP]))
        for given_up in GIVEN_UP:
            picks = {
                method: pd.DataFrame(
                    [
                        least_gap(parts[method, s], plain[s], given_up, measure=GAP)
                        for s in seeds
                    ]
                ).set_index("seed")
                for method in SEVEN
            }
            for method, rows in picks.items():
                difference = rows[GAP] - picks["adversarial"][GAP]
                print(
                    f"{given_up:.2f} {method:13s} {told(rows['accuracy'])}, "
                    f"{told(rows[GAP])}; gap minus Zhang {paired(difference)}"
                )
        for judge in ("validation_", ""):
            words = "validation rows" if judge else "the table itself"
            print(f"area, front judged on {words}; models that do not decide")
            areas = {
                m: seeds.map(lambda s, m=m, j=judge: area(parts[m, s], j))
                for m in SEVEN
            }
            for method in SEVEN:
                rows = of_table[of_table["method"] == method]
                print(
                    f"{method:13s} {told(areas[method])}; minus Zhang "
                    f"{paired(areas[method] - areas['adversarial'])}; "
                    f"{(rows['status'] != '').sum()} of {len(rows)}"
                )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=6_000)
    parser.add_argument("--home", type=Path, required=True, help="keeps the models")
    options = parser.parse_args()
    os.environ["FAIRDASH_INLINE"] = "1"
    store = open_store(options.home)
    run, data, models = trained(store, options.seeds, options.rows)
    estimates = measured(store, run, data, models, options.seeds)
    estimates.to_parquet(options.home / "drift_seven.parquet")
    report(estimates)
    store.close()


if __name__ == "__main__":
    main()
