"""Post-processing of the catalog's base models on real data, like the paper's Table 1.

Adult (sex) and credit default (sex; training rows whose sex and outcome disagree are
dropped with probability one half). Base models learn on 60 % of the rows, thresholds on
20 % that they have not seen, figures are of the remaining 20 %; mean and standard
deviation over seeds.

    OMP_NUM_THREADS=1 python benchmarks/post_processing/post_processing_table.py \
        DATA [--seeds 5]

DATA is a folder with adult.parquet and credit_default.parquet. A seed that ``--out``
holds is not run again.

With --calibration: what multicalibration changes, on adult, compas_two_years and
law_school_lequy. An error of calibration is |mean of p - share of y = 1| in a cell, a
group in a subgroup, of 100 test rows or more; "by chance" is the mean of the largest if
y were drawn with the corrected p.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegressionCV
from sklearn.neighbors import KNeighborsClassifier

from fairdash.datasets import (
    Subgroups,
    encode,
    guess_roles,
    make_dataset,
    read_table,
    split,
)
from fairdash.methods import CATALOG
from fairdash.postprocessing import (
    HardtThreshold,
    RampThreshold,
    RejectOption,
)

sys.path.append(str(Path(__file__).parents[1]))
from seed_rows import SeedRows

ADULT = {"target": "income", "positive": ">50K", "sensitive_feature": "sex"}
CREDIT = {
    "target": "default_payment_next_month",
    "positive": "1",
    "sensitive_feature": "sex",
}
COMPAS = {"target": "two_year_recid", "positive": "1", "sensitive_feature": "race"}
COMPAS["features"] = (
    "sex", "age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count",
    "c_charge_degree",
)  # fmt: skip
LAW = {"target": "pass_bar", "positive": "1", "sensitive_feature": "race"}
CELLS = {  # table, roles, columns of the subgroups
    "adult": (ADULT, ("age", "race")),
    "compas_two_years": (COMPAS, ("age", "sex")),
    "law_school_lequy": (LAW, ("male", "tier")),
}
FEWEST = 100  # test rows of a cell
PENALTIES = (1e-4, 1e-2, 1.0, 1e2, 1e4)
WIDE = {"predictor_layers": (128,)}
BASE_MODELS = {  # those of the paper
    "Random forest": lambda seed: plain("forest", seed),
    "Nearest neighbours": lambda seed: KNeighborsClassifier(10),
    "Network of 128": lambda seed: plain("unconstrained", seed, WIDE),
    "Logistic, C by folds": lambda seed: LogisticRegressionCV(
        Cs=PENALTIES,
        max_iter=1000,
        scoring="neg_log_loss",
        l1_ratios=(0,),
        use_legacy_attributes=False,
    ),
}
METHODS = {
    "ramp": RampThreshold(0.1),
    "Hardt": HardtThreshold(),
    "reject option": RejectOption(),
}


def load(folder, name, roles):
    frame = read_table(folder / f"{name}.parquet")
    left_out = {roles["target"], roles["sensitive_feature"], "split", "id", "ID"}
    features = tuple(column for column in frame.columns if column not in left_out)
    guessed = guess_roles(frame)
    roles = {"features": features, "groups": None, **roles}
    settled = guessed.model_copy(update=roles)
    return make_dataset(frame, settled, name=name)


def plain(key, seed, params=None):
    """Return a classifier of the catalog without a fairness term."""
    method = CATALOG[key]
    return method.estimator(method.settings({}) | (params or {}), seed)


def one_seed(dataset, seed, *, biased):
    parts = split(dataset, seed)
    train = parts.train
    if biased:
        female = dataset.sensitive_features == "2"  # UCI codes women 2
        coin = np.random.default_rng(seed).random(len(train)) < 0.5
        train = train[(female[train] == (dataset.y[train] == 1)) | coin]
    X = encode(dataset, train).X
    groups = dataset.sensitive_features
    y = dataset.y
    fit = parts.validation
    test = parts.test
    for name, base in BASE_MODELS.items():
        model = base(seed).fit(X[train], y[train])
        margins = 2 * model.predict_proba(X).astype(np.float64)[:, 1] - 1
        margins = np.clip(margins, -1, 1)
        decided = {"original": (margins[test] > 0).astype(float)}
        for label, rule in METHODS.items():
            rule.fit(margins[fit], y=y[fit], sensitive_features=groups[fit])
            decided[label] = rule.predict_proba(
                margins[test], sensitive_features=groups[test]
            )
        for label, h in decided.items():
            accuracy = np.where(y[test] == 1, h, 1 - h).mean()
            gap = np.ptp(pd.Series(h).groupby(groups[test]).mean())
            yield {"base": name, "method": label, "accuracy": accuracy, "bias": gap}


def calibrated(dataset, columns, seed):
    """Yield a row per base model, plain and multicalibrated."""
    parts = split(dataset, seed)
    rng = np.random.default_rng(seed)
    X = encode(dataset, parts.train).X
    y = dataset.y
    groups = dataset.sensitive_features
    labels = pd.Series(Subgroups(columns=columns).label(dataset.frame)).astype(str)
    cells = (labels + ", " + pd.Series(groups)).to_numpy()[parts.test]
    about = {"sensitive_features": groups[parts.train]}

    def largest(error):
        means = pd.Series(error).groupby(cells).agg(["mean", "size"])
        return means.loc[means["size"] >= FEWEST, "mean"].abs().max()

    for base in ("logistic", "gradient_boosting"):
        for key in (base, "multicalibration"):
            method = CATALOG[key]
            settings = {} if key == base else {"estimator": base}
            model = method.estimator(method.settings(settings), seed)
            model.fit(X[parts.train], y[parts.train], **about)
            arguments = {"sensitive_features": groups[parts.test]}
            p = model.predict_proba(
                X[parts.test], **(arguments if method.needs_groups else {})
            )[:, 1].astype(float)
            outcome = y[parts.test]
            chance = [largest(p - (rng.random(len(p)) < p)) for _ in range(100)]
            yield {
                "base": base,
                "way": "before" if key == base else "after",
                "largest": largest(p - outcome),
                "chance": np.mean(chance),
                "Brier": ((p - outcome) ** 2).mean(),
                "accuracy": ((p > 0.5) == outcome).mean(),
            }


def calibration_table(folder, seeds):
    """Print a row per table and base model: means over seeds."""
    print("| table | base | largest error | by chance | lower in | Brier | accuracy |")
    print("|---|---|---|---|---|---|---|")
    for name, (roles, columns) in CELLS.items():
        dataset = load(folder, name, roles)
        rows = [
            row | {"seed": seed}
            for seed in range(seeds)
            for row in calibrated(dataset, columns, seed)
        ]
        table = pd.DataFrame(rows).pivot_table(index=["base", "seed"], columns="way")
        for base, of_base in table.groupby("base"):
            words = []
            for measure in ("largest", "Brier", "accuracy"):
                change = of_base[measure, "after"] - of_base[measure, "before"]
                before, after = of_base[measure].mean()[["before", "after"]]
                words.append(f"{before:.3f} → {after:.3f} ({change.mean():+.4f})")
            lower = (of_base["largest", "after"] < of_base["largest", "before"]).sum()
            chance = of_base["chance", "after"].mean()
            words[1:1] = [f"{chance:.3f}", f"{lower} of {len(of_base)}"]
            print(f"| {name} | {base} | {' | '.join(words)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="file of all rows")
    parser.add_argument("--calibration", action="store_true")
    options = parser.parse_args()
    if options.calibration:
        calibration_table(options.data, options.seeds)
        return
    settings = {"adult": (ADULT, False), "credit_default": (CREDIT, True)}
    stored = SeedRows(options.out)
    for name, (roles, biased) in settings.items():
        dataset = load(options.data, name, roles)
        for seed in stored.missing(options.seeds, data=name):
            rows = pd.DataFrame(one_seed(dataset, seed, biased=biased))
            stored.add(rows.assign(data=name, seed=seed))
        rows = stored.of(options.seeds, data=name)
        table = rows.groupby(["base", "method"], sort=False)[["bias", "accuracy"]]
        mean = table.mean()
        spread = table.std()
        print(f"\n### {name}, {options.seeds} seeds\n", flush=True)
        print("| base model | method | bias | accuracy |\n|---|---|---|---|")
        for key in mean.index:
            m = mean.loc[key]
            s = spread.loc[key]
            print(
                f"| {key[0]} | {key[1]} | {m['bias']:.3f} ± {s['bias']:.3f} | "
                f"{m['accuracy']:.3f} ± {s['accuracy']:.3f} |"
            )


if __name__ == "__main__":
    main()
