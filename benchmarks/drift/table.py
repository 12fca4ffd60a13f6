"""Models of Adult 1994 on later census rows: the tables of docs/measured/drift.md.

Everybody in all four tables works full time and is 20 to 50 years old, since the rows
of 2016 are restricted to them. Models train on 60% of the rows of 1994; the encoding is
theirs. `FAIRDASH_DATA` names the folder with ``adult_acs_drift.parquet``.

    python benchmarks/drift/table.py [--rows 6000] [--measure true_positive_rate]

Columns of predictions on pairs of tables without drift, or with one in a group: how
often a change of a group or of a gap is claimed, of numbers, of one of three classes
and of a ranking. Skewed errors, three groups of which one is a tenth; or weights and
units of three rows, groups of unlike spread, and, but for the ranking, other shares of
groups: these change exposure.

    python benchmarks/drift/table.py --columns 200 [--seed 0]
"""

import argparse
import os
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from fairdash.audits import drift, trials
from fairdash.audits.drifts.columns import changes_by_group, measured_on_both
from fairdash.audits.drifts.study import farthest_groups, gap_changes
from fairdash.audits.drifts.tables import DriftTable
from fairdash.audits.tables.outcomes import OF_CLASS
from fairdash.datasets import Roles, Subgroups
from fairdash.jobs import submit
from fairdash.metrics import MEASURES, catalog
from fairdash.store import open_store
from fairdash.sweep import SweepSpec

ROLES = Roles(
    target="income_gt_50k",
    positive="1",
    sensitive_feature="sex",
    features=(
        "age", "workclass", "education", "marital_status", "occupation", "relationship",
        "race", "hours_per_week", "born_in_us",
    ),
    subgroup_columns=("age", "race"),
)  # fmt: skip
AGES = Subgroups(columns=("age",), widths={"age": 5})
GAP = "equalized_odds_difference"
ODDS = {"constraints": "equalized_odds"}
METHODS = (
    {"method": "unconstrained"},
    {"method": "logistic"},
    {"method": "adversarial", "params": {**ODDS, "fairness_weight": [0.5, 1, 2]}},
    {"method": "road", "params": {**ODDS, "fairness_weight": [0.5, 1, 2], "tau": 0.3}},
)


LATER = (2011, 2016, 2018)
FRAME = pd.DataFrame()  # of tables whose rows are groups and numbers alone


def rows_of(year):
    """Return the rows of a year that are comparable with others."""
    path = Path(os.environ["FAIRDASH_DATA"]) / "adult_acs_drift.parquet"
    frame = pd.read_parquet(path)
    frame = frame[frame["fulltime_20_50"] & (frame["year"].astype(int) == year)]
    return frame.drop(columns="year")


def table():
    """Return the rows of 1994 as an uploaded file."""
    content = BytesIO()
    rows_of(1994).to_parquet(content, index=False)
    return content.getvalue()


def skewed(rng, n, moved, *, new, shares_change=True):
    """Draw a table whose errors are exponential; ``moved`` adds to those of c."""
    group = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    y = rng.lognormal(3, 0.7, n)
    error = 5 * (rng.exponential(size=n) - 1) + new * moved * (group == 2)
    return DriftTable("t", FRAME, y, names(group), names(rng.choice(3, n))), y + error


def clustered(rng, n, moved, *, new, shares_change=True):
    """Draw weighted rows in units of three that share a part of their error."""
    person = np.repeat(np.arange(n // 3), 3)
    otherwise = new and shares_change
    shares = [0.3, 0.3, 0.4] if otherwise else [0.6, 0.3, 0.1]
    group = rng.choice(3, n // 3, p=shares)[person]
    spread = np.array([2.0, 4.0, 8.0])[group]
    shared = rng.normal(size=n // 3)[person]
    error = spread * (shared + rng.normal(size=n)) + new * moved * (group == 2)
    y = 50 + 10 * rng.normal(size=n) + 5 * group
    about = {"weight": rng.lognormal(0, 0.5, n), "unit": person}
    labels = names(group), names(rng.choice(3, n))
    return DriftTable("t", FRAME, y, *labels, **about), y + error


def names(codes):
    return pd.Categorical.from_codes(codes, ["a", "b", "c"])


def of_kind(kind, tables, predicted):
    """Return tables, predictions and measures of a kind; a class is the middle one."""
    if kind == "numbers":
        return tables, predicted, list(catalog.NUMBER_MEASURES)
    if kind == "ranking":
        return tables, predicted, list(catalog.RANKING_MEASURES)
    low, high = np.quantile(tables[0].y, [1 / 3, 2 / 3])
    middle = [((part > low) & (part <= high)).astype(np.int8) for part in predicted]
    y = [((t.y > low) & (t.y <= high)).astype(np.int8) for t in tables]
    tables = [replace(t, y=part) for t, part in zip(tables, y, strict=True)]
    return tables, middle, list(OF_CLASS)


def simulated(draw, kind, repetitions, seed, moved, sizes):
    """Return the share of pairs with a claim: any, of c, of a or b, of gaps."""
    claims = []
    for repetition in range(repetitions):
        rng = np.random.default_rng([seed, repetition])
        how = {"shares_change": kind != "ranking"}
        sides = [draw(rng, n, moved, new=k, **how) for k, n in enumerate(sizes)]
        tables, predicted = zip(*sides, strict=True)
        tables, predicted, measures = of_kind(kind, tables, predicted)
        estimates = {m: measured_on_both(tables, predicted, m, 50) for m in measures}
        times = 9 if kind == "classes" else 3
        rows = changes_by_group(estimates, ["a", "b", "c"], times=times)
        first = estimates[measures[0]]
        pair = farthest_groups("t", first[0])
        gaps = gap_changes(tables, first, pair, times=times)
        moves = (gaps["ci_low"] > 0) | (gaps["ci_high"] < 0)
        gap = (moves & gaps["estimable"]).any()
        clear = rows[rows["clear"]]["group"]
        any_group = len(clear) > 0
        of_c = (clear == "c").any()
        of_others = (clear != "c").any()
        claims.append([any_group or gap, of_c, of_others, gap])
    return np.mean(claims, axis=0)


def simulate(repetitions, seed):
    for kind in ("numbers", "classes", "ranking"):
        for draw, sizes in ((skewed, (1500, 600)), (clustered, (3000, 900))):
            for moved in (0.0, 4.0):
                shares = simulated(draw, kind, repetitions, seed, moved, sizes)
                words = "any {:.3f}, of c {:.3f}, of a or b {:.3f}, of a gap {:.3f}"
                text = f"{kind}, {draw.__name__}, c moved by {moved:g}: "
                print(text + words.format(*shares), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=6_000)
    parser.add_argument("--measure", default="true_positive_rate", choices=MEASURES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--columns", type=int, help="pairs of tables to simulate")
    options = parser.parse_args()
    if options.columns:
        simulate(options.columns, options.seed)
        return
    os.environ["FAIRDASH_INLINE"] = "1"
    with TemporaryDirectory() as home:
        store = open_store(home)
        digest = store.add_table(table(), "adult_acs.parquet")
        spec = SweepSpec(
            data={"table": digest, "roles": ROLES, "name": "Adult 1994"},
            methods=METHODS,
            seeds=(options.seed,),
            subgroups=AGES,
            train_rows=options.rows,
        )
        run = submit(store, spec, name="Drift")
        data = store.run(run).dataset_id
        models = trials.known_models(store, data, run)
        for year in LATER:
            result = drift(
                store,
                models,
                data,
                main=models[0],
                subgroups=AGES,
                measure=options.measure,
                seed=options.seed,
                other=(f"year {year}", rows_of(year)),
            )
            print(f"\n{year}: {result.details()}")
            print(result.shifts[["column", "shift", "unseen", "change"]].head())
            columns = ["table", "label", "accuracy", GAP, "gap", "gap_low", "gap_high"]
            print(result.points[columns].to_string(float_format="%.3f"))
            print(result.changes.to_string(float_format="%.3f"))
        store.close()


if __name__ == "__main__":
    main()
