"""Models of Adult 1994 on later census rows: the tables of docs/measured/drift.md.

Everybody in all four tables works full time and is 20 to 50 years old, since the rows
of 2016 are restricted to them. Models train on 60% of the rows of 1994; the encoding is
theirs. `FAIRDASH_DATA` names the folder with ``adult_acs_drift.parquet``.

    python benchmarks/drift/table.py [--rows 6000] [--measure true_positive_rate]
"""

import argparse
import os
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from fairdash.audits import drift, trials
from fairdash.datasets import Roles, Subgroups
from fairdash.jobs import submit
from fairdash.metrics import MEASURES
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=6_000)
    parser.add_argument("--measure", default="true_positive_rate", choices=MEASURES)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    os.environ["FAIRDASH_INLINE"] = "1"
    with TemporaryDirectory() as home:
        store = open_store(home)
        digest = store.add_table(table(), "adult_acs.parquet")
        spec = SweepSpec(
            data={"table": digest, "roles": ROLES, "name": "Adult 1994"},
            methods=METHODS,
            seeds=(given.seed,),
            subgroups=AGES,
            train_rows=given.rows,
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
                measure=given.measure,
                seed=given.seed,
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
