"""Logistic regression at the guessed roles, beside the figures of another program.

FAIRDASH_DATA=folder python benchmarks/data/data_checks.py

For each public table: accuracy and DI (largest minus smallest rate of positive
decisions) of logistic regression without the sensitive feature, mean and standard
deviation over ten splits of 70 % and 30 %, at the roles the table gets by itself and,
where these differ, at the roles of the reference. The reference (`checks.csv`) is one
split of a logistic regression outside fairdash, the column without the sensitive
feature.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from fairdash.datasets import (
    Roles,
    check_table,
    encode,
    guess_roles,
    make_dataset,
    read_table,
    split,
)
from fairdash.metrics import demographic_parity_difference

SEEDS = range(10)
# file, row of the reference, what the reference does otherwise
TABLES = [
    (
        "adult.parquet",
        "adult 70/30 (sex)",
        {"sensitive_feature": "sex", "groups": None},
    ),
    ("compas_two_years.parquet", "compas 7214 (race: Caucasian vs rest)", {"keep": {}}),
    (
        "compas_two_years.parquet",
        "compas 7214 (race: Caucasian vs rest)",
        {"keep": {}, "without": ("c_charge_desc",)},
    ),
    ("law_school.parquet", "law 22407 pass_bar (white)", {}),
    ("law_school_lequy.parquet", "law 20798 first-attempt (White)", {}),
    ("german_credit.parquet", "german (sex)", {}),
    ("credit_default.parquet", "credit_default (sex)", {}),
]


def measure(frame: pd.DataFrame, roles: Roles) -> dict[str, object]:
    """Return rows, base rate, accuracy and DI over the splits."""
    dataset = make_dataset(frame, roles, name="table")
    accuracy = []
    gap = []
    for seed in SEEDS:
        parts = split(dataset, seed, fractions=(0.6, 0.1, 0.3))
        train = np.sort(np.concatenate([parts.train, parts.validation]))
        X = encode(dataset, train).X
        model = LogisticRegression(max_iter=1000).fit(X[train], dataset.y[train])
        decided = model.predict(X[parts.test])
        accuracy.append((decided == dataset.y[parts.test]).mean())
        groups = dataset.sensitive_features[parts.test]
        gap.append(demographic_parity_difference(decided, sensitive_features=groups))
    return {
        "rows": dataset.n_rows,
        "base rate": round(float(dataset.y.mean()), 4),
        "accuracy": f"{np.mean(accuracy):.4f} ± {np.std(accuracy):.4f}",
        "DI": f"{np.mean(gap):.4f} ± {np.std(gap):.4f}",
    }


def other_roles(roles: Roles, changes: dict[str, object]) -> Roles:
    """Return roles with changes; what was sensitive becomes a feature."""
    features = set(roles.features) | {roles.sensitive_feature}
    features -= set(changes.get("without", ()))
    changes = {name: value for name, value in changes.items() if name != "without"}
    sensitive = changes.get("sensitive_feature", roles.sensitive_feature)
    rows_kept = {
        "features": tuple(sorted(features - {sensitive})),
        "subgroup_columns": (),
    }
    return Roles.model_validate({**roles.model_dump(), **changes, **rows_kept})


def main() -> None:
    folder = Path(os.environ["FAIRDASH_DATA"])
    reference = pd.read_csv(folder / "checks.csv").set_index("table")
    rows = []
    for file, name, changes in TABLES:
        frame = read_table(folder / file)
        roles = guess_roles(frame)
        wanted = reference.loc[name]
        if file not in {row["table"] for row in rows}:
            counts = check_table(frame, roles)["severity"].value_counts().to_dict()
            guessed = {"roles": "guessed", **measure(frame, roles), "findings": counts}
            rows.append({"table": file, **guessed})
        if changes:
            edited = measure(frame, other_roles(roles, changes))
            without = "".join(
                f", without {name}" for name in changes.get("without", ())
            )
            kind = f"as the reference{without}"
            rows.append({"table": file, "roles": kind, **edited})
        rows[-1] |= {
            "reference accuracy": wanted["acc_noS"],
            "reference DI": wanted["DI_noS"],
        }
    print(pd.DataFrame(rows).to_string(index=False, na_rep=""))


if __name__ == "__main__":
    main()
