"""Forty columns of scores at once: made of Adult, corrected by every method, timed.

Forty attributes of people, as Table 2 of the ramp paper has forty of faces: the values
and upper halves of Adult's columns that 1 to 99 % of the rows have, the most even ones.
Each is predicted by a logistic regression on the columns that it is not made of, by two
folds, so that every score is of a model that did not see the row. Groups are sex.

    FAIRDASH_DATA=FOLDER OMP_NUM_THREADS=1 \
        python benchmarks/post_processing/many_scores.py [--out attributes.parquet]
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from fairdash.postprocessing import (
    RAMP,
    FittedBaselines,
    RampThreshold,
    choose_ramp,
    scores_with_outcomes,
    split_scores,
)

GROUP, N, RAREST = "sex", 40, 0.01
MEASURES = ["accuracy", "demographic_parity_difference"]


def compared(split, gamma):
    """Return accuracy and gap on held-out rows of every method, for one score."""
    learned, fresh = split.calibration, split.test
    if gamma is None:
        ramp = choose_ramp(learned).ramp(learned)
    else:
        ramp = RampThreshold(gamma, "accuracy", score_type=learned.score_type)
        ramp.fit_rows(learned)
    outcome = ramp.report(fresh).outcome.set_index("metric")["value"]
    others = (
        FittedBaselines.fit(learned).table(fresh).rename(columns={"label": "method"})
    )
    own = pd.DataFrame([{"method": RAMP, **outcome[MEASURES]}])
    return pd.concat([others[["method", *MEASURES]], own], ignore_index=True)


def attributes(frame):
    """Return N binary columns, most even first, and the column that each is made of."""
    made, source = {}, {}
    for name in frame.columns.drop(GROUP):
        values = frame[name]
        if pd.api.types.is_numeric_dtype(values):
            parts = {f"above {q:g}": values > values.quantile(q) for q in (0.25, 0.5)}
        else:
            parts = {str(value): values == value for value in values.unique()}
        for label, part in parts.items():
            key = f"{name} {label}"
            made[key], source[key] = part.astype(int), name
    table = pd.DataFrame(made).T.drop_duplicates().T
    share = table.mean()
    kept = share[share.between(RAREST, 1 - RAREST)]
    order = (kept - 0.5).abs().sort_values(kind="stable").index[:N]
    return table[order], {key: source[key] for key in order}


def scored(frame):
    """Return groups, attributes and P(attribute) of every row."""
    table, source = attributes(frame)
    plain = frame.drop(columns=GROUP)
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    columns = {GROUP: frame[GROUP]}
    for i, key in enumerate(table):
        one_hot = pd.get_dummies(plain.drop(columns=source[key]), dtype=np.float32)
        X = StandardScaler().fit_transform(one_hot)
        model = LogisticRegression(max_iter=300)
        p = cross_val_predict(model, X, table[key], cv=folds, method="predict_proba")
        columns |= {f"attribute{i:02d}": table[key], f"p_attribute{i:02d}": p[:, 1]}
    return pd.DataFrame(columns)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("FAIRDASH_DATA"))
    parser.add_argument("--out", type=Path, help="keep the table")
    chosen = parser.parse_args()
    frame = pd.read_parquet(Path(chosen.data) / "adult.parquet")
    frame = frame.drop(columns=["fnlwgt", "education_num", "split"])
    frame = frame.dropna().reset_index(drop=True)
    began = time.process_time()
    table = scored(frame)
    spent = time.process_time() - began
    print(f"{len(table):,} rows, {N} attributes; models in {spent:.0f} s")
    if chosen.out:
        table.to_parquet(chosen.out, index=False)
    pairs = scores_with_outcomes(table, [GROUP])
    for what, gamma in (("gamma .1", 0.1), ("gamma and rate by folds", None)):
        began = time.process_time()
        found = pd.concat(
            [
                compared(split_scores(table, score, [GROUP], outcome), gamma)
                for score, outcome in pairs.items()
            ]
        )
        spent = time.process_time() - began
        print(f"\n{what}: {len(pairs)} scores in {spent:.1f} s")
        summary = found.groupby("method", sort=False)[MEASURES].agg(
            ["mean", "std", "max"]
        )
        print(summary.to_string(float_format="%.3f"))


if __name__ == "__main__":
    main()
