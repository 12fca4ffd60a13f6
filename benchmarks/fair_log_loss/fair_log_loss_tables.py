"""Test error against violation of every classical method, over random splits.

The table behind Figure 4 of Rezaei et al. (AAAI 2020): 70/30 splits, the penalty chosen
by log loss on a fifth of the training rows, or on five folds of them. Reductions,
covariance, reweighing and Hardt take the penalty of plain logistic regression. A split
that ``--out`` holds is not run again.

Decisions are those at one half. Of a random mixture (reductions, Hardt) they are drawn:
its error is the expected one, and the violation of its decisions the mean over draws.

    FAIRDASH_DATA=FOLDER OMP_NUM_THREADS=1 python \
        benchmarks/fair_log_loss/fair_log_loss_tables.py compas --splits 20 --jobs 2
"""

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import get_tags

from fairdash.datasets import Roles, encode, make_dataset, read_table
from fairdash.methods import FairLogLoss
from fairdash.methods.classical.hardt import HardtLogistic
from fairdash.methods.classical.linear import CovarianceConstraint, Logistic, Reweighing
from fairdash.methods.classical.reductions import (
    GridReductions,
    Reductions,
)

sys.path.append(str(Path(__file__).parents[1]))
from seed_rows import SeedRows

OURS = "fair log-loss"
SHOWN = (  # in docs/results
    "logistic regression",
    OURS,
    "reductions, 0.01",
    "Hardt",
    "reweighing",
)
DRAWS = 20  # of the decisions of a mixture
DECIDED = "violation of decisions"
ALPHAS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
DATA = {
    "compas": (
        "compas_two_years.parquet",
        Roles(
            target="two_year_recid",
            positive="1",
            sensitive_feature="race",
            groups={"Caucasian": ("Caucasian",), "Black": ("African-American",)},
            features=(
                "sex", "age", "age_cat", "juv_fel_count", "juv_misd_count",
                "juv_other_count", "priors_count", "c_charge_degree",
            ),
            keep={"propublica_filter": ("1",)},
            missing="exclude",
        ),
    ),
    "compas-6167": (  # as in the paper: white or not, nine features
        "compas_two_years.parquet",
        Roles(
            target="two_year_recid",
            positive="1",
            sensitive_feature="race",
            groups={"Caucasian": ("Caucasian",), "Not Caucasian": ()},
            features=(
                "sex", "age", "age_cat", "juv_fel_count", "juv_misd_count",
                "juv_other_count", "priors_count", "c_charge_degree", "c_charge_desc",
            ),
            keep={"propublica_filter": ("1",)},
            missing="exclude",
        ),
    ),
    "law": (
        "law_school_lequy.parquet",
        Roles(
            target="pass_bar",
            positive="1",
            sensitive_feature="race",
            groups={"White": ("White",), "Other": ()},
            features=(
                "decile1b", "decile3", "lsat", "ugpa", "zfygpa", "zgpa", "fulltime",
                "fam_inc", "male", "tier",
            ),
            missing="exclude",
        ),
    ),
    "adult": (
        "adult.parquet",
        Roles(
            target="income",
            positive=">50K",
            sensitive_feature="sex",
            features=(
                "age", "workclass", "education", "education_num", "marital_status",
                "occupation", "relationship", "race", "capital_gain",
                "capital_loss", "hours_per_week", "native_country",
            ),
            missing="exclude",
        ),
    ),
}  # fmt: skip


def methods(constraints):
    """Name, estimator, whether it predicts with groups, and folds that tune alpha."""
    yield "logistic regression", Logistic(), False, 1
    yield "fair log-loss", FairLogLoss(constraints), True, 1
    yield "fair log-loss, five folds", FairLogLoss(constraints), True, 5
    yield "reductions, 0.01", Reductions(constraints, tolerance=0.01), False, 0
    yield "grid search", GridReductions(constraints), False, 0
    yield "Hardt", HardtLogistic(constraints), True, 0
    if constraints == "demographic_parity":
        yield "covariance, 0.01", CovarianceConstraint(), False, 0
    yield "reweighing", Reweighing(), False, 0


def probabilities(model, X, groups, needs_groups):
    options = {"sensitive_features": groups} if needs_groups else {}
    return model.predict_proba(X, **options)[:, 1]


def decisions(model, X, groups, needs_groups):
    """Return decisions of rows, a line for each draw; one line where none is drawn."""
    options = {"sensitive_features": groups} if needs_groups else {}
    if not get_tags(model).mixture:
        return model.predict(X, **options)[None]
    draws = range(DRAWS)
    return np.stack([model.predict(X, random_state=k, **options) for k in draws])


def best_alpha(model, X, y, s, needs_groups, n_folds, seed):
    """Return the penalty of least mean log loss on a fifth of the rows, or on folds."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    parts = list(folds.split(X, 2 * np.unique(s, return_inverse=True)[1] + y))[:n_folds]
    losses = [losses_of(model, X, y, s, needs_groups, *part) for part in parts]
    return ALPHAS[int(np.mean(losses, axis=0).argmin())]


def losses_of(model, X, y, s, needs_groups, fit, held):
    models = model.fit_many(
        [{"alpha": a} for a in ALPHAS], X[fit], y[fit], sensitive_features=s[fit]
    )
    return [
        log_loss(
            y[held],
            np.clip(probabilities(m, X[held], s[held], needs_groups), 1e-7, 1 - 1e-7),
        )
        for m in models
    ]


def one_split(dataset, seed, with_group, shown):
    """Return one row per constraint and method, of all or of ``SHOWN``."""
    train, test = train_test_split(
        np.arange(dataset.n_rows), test_size=0.3, random_state=seed
    )
    X = encode(dataset, np.sort(train)).X
    y = dataset.y
    s = dataset.sensitive_features
    if with_group:  # of all methods alike, as in the paper
        X = np.column_stack([X, s[:, None] == np.unique(s)[1:]])
    rows = []
    results = {}
    plain = None
    for constraints in ("demographic_parity", "equalized_odds"):
        for name, model, needs, n_folds in methods(constraints):
            if shown and name not in SHOWN:
                continue
            if name in results and "constraints" not in model.get_params():
                violated = violation(
                    y[test],
                    results[name]["p"],
                    results[name]["decided"],
                    s[test],
                    constraints,
                )
                rows.append(results[name]["row"] | violated)
                continue
            alpha = plain
            if n_folds:
                arguments = X[train], y[train], s[train], needs
                alpha = best_alpha(model, *arguments, n_folds, seed)
            plain = alpha if plain is None else plain
            began = time.perf_counter()
            if "alpha" in model.get_params():
                model.set_params(alpha=alpha)
            model.fit(X[train], y[train], sensitive_features=s[train])
            seconds = time.perf_counter() - began
            p = probabilities(model, X[test], s[test], needs)
            decided = decisions(model, X[test], s[test], needs)
            mixture = get_tags(model).mixture
            wrong = np.abs((p if mixture else decided[0]) - y[test])
            row = {
                "method": name,
                "error": np.mean(wrong),
                "expected error": np.mean(np.abs(p - y[test])),
                "alpha": alpha,
                "seconds": seconds,
            }
            results[name] = {"row": row, "p": p, "decided": decided}
            violated = violation(y[test], p, decided, s[test], constraints)
            rows.append(row | violated)
    return pd.DataFrame(rows).assign(seed=seed)


def violation(y, p, decided, s, constraints):
    """Return how far mean probabilities and decisions of the groups are apart.

    Of equalized odds the differences of both outcomes are added, as in the paper.
    """
    parts = {"demographic_parity": [y >= 0], "equalized_odds": [y == 1, y == 0]}
    rows = parts.get(constraints, [y == 1])

    def apart(values):
        return sum(np.ptp([values[r & (s == g)].mean() for g in set(s)]) for r in rows)

    return {
        "constraint": constraints,
        "expected violation": apart(p),
        DECIDED: np.mean([apart(decision) for decision in decided]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", choices=DATA)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--with-group", action="store_true", help="as a feature")
    parser.add_argument("--shown", action="store_true", help="methods of the page only")
    parser.add_argument("--out", type=Path, help="file of all rows")
    options = parser.parse_args()
    name, roles = DATA[options.data]
    path = Path(os.environ["FAIRDASH_DATA"]) / name
    dataset = make_dataset(read_table(path), roles, name=options.data)
    print(f"{options.data}: {dataset.n_rows:,} rows, groups {dataset.group_names}")
    stored = SeedRows(options.out)
    splits = Parallel(n_jobs=options.jobs, return_as="generator")(
        delayed(one_split)(dataset, seed, options.with_group, options.shown)
        for seed in stored.missing(options.splits)
    )
    for rows in splits:
        stored.add(rows)
    rows = stored.of(options.splits)
    numbers = ["error", "expected error", "expected violation", DECIDED]
    rows = rows[["constraint", "method", *numbers, "alpha", "seconds"]]
    table = rows.groupby(["constraint", "method"], sort=False)
    mean = table.mean()
    deviation = table.std()
    frame = pd.DataFrame(
        {
            column: [
                f"{m:.4f} ± {d:.4f}"
                for m, d in zip(mean[column], deviation[column], strict=True)
            ]
            for column in mean
            if column != "seconds"
        },
        index=mean.index,
    )
    frame["seconds"] = mean["seconds"].round(2)
    for constraint, part in frame.groupby(level=0, sort=False):
        print(f"\n{constraint}, {options.splits} splits, mean ± standard deviation\n")
        columns = ["method", *part.columns]
        print("| " + " | ".join(columns) + " |")
        print("|---" * len(columns) + "|")
        for (_, method), row in part.iterrows():
            print("| " + " | ".join([method, *map(str, row)]) + " |")
    print_paired(stored.of(options.splits))


def print_paired(rows):
    """Print error and violation of fair log-loss less those of others, by split."""
    for constraint, part in rows.groupby("constraint", sort=False):
        print(f"\n{constraint}, fair log-loss less another, paired, 95 %")
        for method in [name for name in part["method"].unique() if name != OURS]:
            words = []
            for measure in ("error", "expected violation", DECIDED):
                values = part.pivot_table(measure, "seed", "method")
                change = (values[OURS] - values[method]).dropna()
                mean = change.mean()
                freedom = len(change) - 1
                low, high = stats.t.interval(0.95, freedom, mean, change.sem())
                words.append(f"{measure} {mean:+.3f} ({low:+.3f} to {high:+.3f})")
            print(f"{method}: {', '.join(words)}")


if __name__ == "__main__":
    main()
