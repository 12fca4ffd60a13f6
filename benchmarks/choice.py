"""Which rows, and which criterion, choose the model that is fair on the population.

Tables of 9,000 rows are drawn from a population that stays at hand: 120,000 fresh rows
of a sample's generator, or the half of a public table that no model sees. On each
Zhang and ROAD train twelve models beside the plain one. Of a method's models that give
up at most so much validation accuracy, each rule takes the one of the smallest
criterion:

* **validation**: the largest local gap on validation rows;
* **both**: the same over training and validation rows;
* **rms validation**, **rms**: the row-weighted root mean square of the local gaps, over
  validation rows, and over training and validation rows;
* **less noise**: its square less the expected squares of the gaps' errors (Lum, Zhang
  and Bower 2022), over training and validation rows;
* **best**: the smallest true largest local gap, which no rule can know.

Told is the true largest local gap of the chosen model, paired by table with the rule
*validation* (95 %, Student's t over tables), and what accuracy it costs. With ``limit``
the most accurate model on validation rows is taken whose gap over all rows is within
.05: on validation rows, and on training and validation rows.

    python benchmarks/choice.py loans adult --tables 20 --data FOLDER --out RESULTS
    python benchmarks/choice.py loans adult --stored --out RESULTS

A table that RESULTS holds is not trained again. FOLDER has the public tables. Last
comes the table of docs/measured/sweeps.md: the rule before against the rule now.
"""

import argparse
import runpy
import time
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy.stats import t as student
from scipy.stats import ttest_1samp
from sklearn.model_selection import KFold

from fairdash.datasets import (
    PUBLIC,
    SAMPLES,
    Roles,
    Subgroups,
    encode,
    fetch_table,
    make_dataset,
    split,
)
from fairdash.methods import CATALOG
from fairdash.metrics import decision_status

HERE = Path(__file__).parent
MAKERS = HERE.parent / "sample_data" / "make_samples.py"
ROWS = 9_000
FRESH = 120_000
FIRST_SEED = 1_000  # those below served to find the rule
N_MODELS = 12
TAUS = (0.05, 0.3, 1.0)
WEIGHTS = {"loans": (1.5, 25.0)}  # smallest and largest λ of a population
USUAL_WEIGHTS = (0.5, 25.0)
PARTS = ("train", "validation", "test", "truth")
MIN_SIZE = 50
FOLDS = 3
GIVEN_UP = (0.01, 0.02, 0.05)
LIMIT = 0.05
RULES = ("validation", "both", "rms validation", "rms", "less noise", "best")
LAW = Roles(
    target="bar1",
    positive="P",
    sensitive_feature="race1",
    groups={"White": ("white",), "Not white": ()},
    features=(
        "lsat", "ugpa", "zfygpa", "zgpa", "fulltime", "fam_inc", "age", "gender",
    ),
    missing="exclude",
)  # fmt: skip
ACS = Roles(
    target="income_gt_50k",
    positive="1",
    sensitive_feature="sex",
    features=(
        "age", "workclass", "education", "marital_status", "occupation", "relationship",
        "race", "hours_per_week", "born_in_us",
    ),
    missing="exclude",
)  # fmt: skip


def population(name, seed, folder):
    """Return a data set whose first rows are the table, and its subgroups."""
    rng = np.random.default_rng(seed)
    if name in SAMPLES:
        maker = runpy.run_path(str(MAKERS))["TABLES"][name][1]
        frame, _ = maker(rng, ROWS + FRESH)
        sample = SAMPLES[name]
        data = make_dataset(frame, sample.roles, name=name, key=name)
        return data, sample.subgroups, ROWS
    if name == "law":
        frame = pd.read_parquet(folder / "law_school.parquet")
        roles = LAW
        frame = frame[[roles.target, roles.sensitive_feature, *roles.features]].dropna()
        subgroups = Subgroups(columns=("gender", "fam_inc"))
    elif name == "acs":
        frame = pd.read_parquet(folder / "adult_acs_drift.parquet")
        roles = ACS
        frame = frame[frame["year"].astype(int) == 2018]
        frame = frame[[roles.target, roles.sensitive_feature, *roles.features]].dropna()
        subgroups = Subgroups(columns=("age",), widths={"age": 5.0})
    else:
        frame = fetch_table(name, folder / "raw")
        roles = PUBLIC[name].roles
        subgroups = PUBLIC[name].subgroups
    frame = frame.sample(frac=1, random_state=seed).reset_index(drop=True)
    n_rows = min(ROWS, len(frame) // 2)
    frame = pd.concat([frame[:n_rows], frame[len(frame) // 2 :]], ignore_index=True)
    return make_dataset(frame, roles, name=name, key=name), subgroups, n_rows


def points(name, method):
    """Return the settings of a method."""
    low, high = WEIGHTS.get(name, USUAL_WEIGHTS)
    if method == "unconstrained":
        return [{}]
    if method == "adversarial":
        weights = np.geomspace(low, high, N_MODELS)
        return [{"fairness_weight": float(w)} for w in weights]
    weights = np.geomspace(low, high, N_MODELS // len(TAUS))
    return [{"fairness_weight": float(w), "tau": t} for w in weights for t in TAUS]


class Counts:
    """Counts of rows of a table by subgroup, group and outcome."""

    def __init__(self, data, subgroups):
        labels = subgroups.label(data.frame).cat
        n_groups = data.group.max() + 1
        self.shape = len(labels.categories), n_groups, 2
        place = (labels.codes.to_numpy() * n_groups + data.group) * 2 + data.y
        self.place = np.where(labels.codes < 0, -1, place)

    def of(self, rows, counted=None):
        """Return how many of some rows count, by default all."""
        place = self.place[rows] if counted is None else self.place[rows][counted[rows]]
        n = np.bincount(place[place >= 0], minlength=np.prod(self.shape))
        return n.reshape(self.shape)


def table_of(name, seed, folder):
    """Return a table's data set, its subgroups, and its rows by part."""
    data, subgroups, n_rows = population(name, seed, folder)
    frame = data.frame.iloc[:n_rows].reset_index(drop=True)
    dataset = split(make_dataset(frame, data.roles, name=name, key=name), seed)
    parts = dict(zip(PARTS, (*dataset, np.arange(n_rows, data.n_rows)), strict=True))
    return data, subgroups, parts


def decisions(name, method, data, rows, seed):
    """Return by model the method and what it decides of every row."""
    X = encode(data, rows).X
    for key in ("unconstrained", method):
        entry = CATALOG[key]
        models = entry.estimator(entry.settings({}, "fast"), seed).fit_many(
            points(name, key),
            X[rows],
            data.y[rows],
            sensitive_features=data.sensitive_features[rows],
        )
        for model in models:
            yield key, model.predict_proba(X)[:, 1] > 0.5


def train(name, seed, folder, method):
    """Return counts of decisions of all models, by part, subgroup, group and outcome.

    Arrays ``rows`` (part, subgroup, group, outcome), ``decided`` (model, ...), and by
    model ``method`` and ``decides``, whether it does on validation rows.
    """
    data, subgroups, parts = table_of(name, seed, folder)
    counts = Counts(data, subgroups)
    seen = parts["validation"]
    decided = []
    names = []
    able = []
    for key, yes in decisions(name, method, data, parts["train"], seed):
        decided.append([counts.of(rows, yes) for rows in parts.values()])
        names.append(key)
        status = decision_status(data.y[seen], yes[seen].astype(int))["status"]
        able.append(not status.iloc[0])
    return {
        "rows": np.stack([counts.of(rows) for rows in parts.values()]),
        "decided": np.array(decided),
        "method": np.array(names),
        "decides": np.array(able),
    }


def train_folds(name, seed, folder, method):
    """Return counts of training and validation rows, each by models without it.

    Arrays ``rows`` (subgroup, group, outcome) and ``decided`` (model, ...).
    """
    data, subgroups, parts = table_of(name, seed, folder)
    counts = Counts(data, subgroups)
    decided = 0
    rows = np.concatenate([parts["train"], parts["validation"]])
    for rest, fold in KFold(FOLDS, shuffle=True, random_state=seed).split(rows):
        by_model = decisions(name, method, data, rows[rest], seed)
        decided = decided + np.array(
            [counts.of(rows[fold], yes) for _, yes in by_model]
        )
    return {"rows": counts.of(rows), "decided": decided}


def gaps(found, *parts):
    """Return local gaps (model, subgroup), NaN where not estimable, and rows."""
    parts_index = [PARTS.index(part) for part in parts]
    n = found["rows"][parts_index].sum(axis=(0, -1))
    rates = found["decided"][:, parts_index].sum(axis=(1, -1)) / np.where(n, n, np.nan)
    few = MIN_SIZE
    if parts == ("truth",):  # as many as in the table's training and validation rows
        table = found["rows"][:2].sum()
        few = MIN_SIZE * n.sum() / table
    estimable = (n.sum(axis=1) >= few) & ((n > 0).sum(axis=1) > 1)
    gap = np.nanmax(rates, axis=-1) - np.nanmin(rates, axis=-1)
    return np.where(estimable, gap, np.nan), np.where(estimable, n.sum(axis=1), 0)


def overall(found, *parts):
    """Return the gap between groups over all rows, by model."""
    parts_index = [PARTS.index(part) for part in parts]
    n = found["rows"][parts_index].sum(axis=(0, 1, -1))
    return np.ptp(found["decided"][:, parts_index].sum(axis=(1, 2, -1)) / n, axis=-1)


def accuracy(found, part):
    """Return the accuracy of every model."""
    n = found["rows"][PARTS.index(part)]
    yes = found["decided"][:, PARTS.index(part)]
    right = yes[..., 1].sum(axis=(1, 2)) + (n - yes)[..., 0].sum(axis=(1, 2))
    return right / n.sum()


def root_mean_square(found, *parts):
    """Return the row-weighted root mean square of local gaps, by model."""
    gap, n = gaps(found, *parts)
    return np.sqrt((np.nan_to_num(gap) ** 2 * n).sum(axis=1) / n.sum())


def less_noise(found, *parts):
    """Return the mean square of local gaps less that of their errors, by model."""
    parts_index = [PARTS.index(part) for part in parts]
    n = found["rows"][parts_index].sum(axis=(0, -1))
    positives = found["decided"][:, parts_index].sum(axis=(1, -1))
    smooth = (positives + 1) / (n + 2)
    errors = np.where(n, smooth * (1 - smooth) / np.maximum(n, 1), 0.0)
    rates = positives / np.where(n, n, np.nan)
    ends = [
        np.nan_to_num(rates, nan=-1.0).argmax(axis=-1),
        np.nan_to_num(rates, nan=2.0).argmin(axis=-1),
    ]
    noise = sum(np.take_along_axis(errors, e[..., None], -1)[..., 0] for e in ends)
    gap, size = gaps(found, *parts)
    squares = np.where(np.isnan(gap), 0.0, gap**2 - noise)
    return (squares * size).sum(axis=1) / size.sum()


def choices(found):
    """Return what each rule takes: one row per accuracy given up and rule."""
    parts_used = ("train", "validation")
    truth = np.nanmax(gaps(found, "truth")[0], axis=1)
    criteria = {
        "validation": np.nanmax(gaps(found, "validation")[0], axis=1),
        "both": np.nanmax(gaps(found, *parts_used)[0], axis=1),
        "rms validation": root_mean_square(found, "validation"),
        "rms": root_mean_square(found, *parts_used),
        "less noise": less_noise(found, *parts_used),
        "best": truth,
    }
    seen = accuracy(found, "validation")
    real = accuracy(found, "truth")
    whole = overall(found, "truth")
    plain = found["method"] == "unconstrained"
    rows = []

    def take(given_up, rule, model):
        rows.append((given_up, rule, truth[model], real[model], whole[model]))

    for given_up in GIVEN_UP:
        able = found["decides"] & (seen >= seen[plain] - given_up)
        for rule, value in criteria.items():
            models = np.flatnonzero(able) if able.any() else np.flatnonzero(plain)
            take(given_up, rule, models[value[models].argmin()])
    for rule, parts in (("validation", ("validation",)), ("both", parts_used)):
        able = np.flatnonzero(found["decides"] & (overall(found, *parts) <= LIMIT))
        if len(able):
            take(np.nan, rule, able[seen[able].argmax()])
    return pd.DataFrame(rows, columns=["given_up", "rule", "gap", "accuracy", "whole"])


def paired(values):
    """Return a mean difference with its 95 % interval."""
    low, high = ttest_1samp(values, 0).confidence_interval()
    return f"{values.mean():+.3f} ({low:+.3f} to {high:+.3f})"


def outcome_gaps(n, decided):
    """Return by model the gaps of true positive rates and of odds over all rows."""
    rates = decided.sum(axis=-3) / n.sum(axis=-3)  # (model, group, outcome)
    gap = np.ptp(rates, axis=-2)
    return {"opportunity gap": gap[:, 1], "odds gap": gap.max(axis=-1)}


def chosen_in_folds(found, folds):
    """Return true gaps of what folds choose and of what validation rows choose.

    Of gaps that need outcomes; models for a row of ``folds`` were trained without it.
    """
    part = PARTS.index("validation")
    plain = found["method"] == "unconstrained"
    on_validation = outcome_gaps(found["rows"][part], found["decided"][:, part])
    in_folds = outcome_gaps(folds["rows"], folds["decided"])
    true = outcome_gaps(found["rows"][-1], found["decided"][:, -1])
    seen = accuracy(found, "validation")
    real = accuracy(found, "truth")
    rows = []
    for given_up in GIVEN_UP:
        able = np.flatnonzero(found["decides"] & (seen >= seen[plain] - given_up))
        if not len(able):
            able = np.flatnonzero(plain)
        for measure, truth in true.items():
            by_rule = {"validation": on_validation, "folds": in_folds, "best": true}
            for rule, values in by_rule.items():
                model = able[values[measure][able].argmin()]
                rows.append((measure, given_up, rule, truth[model], real[model]))
    columns = ["measure", "given_up", "rule", "gap", "accuracy"]
    return pd.DataFrame(rows, columns=columns)


def report_folds(name, every):
    """Print the true gaps of what folds choose beside what validation rows choose."""
    print(f"\n{name}, {FOLDS} folds: {every['table'].nunique()} tables")
    print("measure, given up: validation; folds, best minus it; accuracy likewise")
    for (measure, given_up), rows in every.groupby(["measure", "given_up"]):
        gaps = by_rule(rows, "gap")
        right = by_rule(rows, "accuracy")
        before = gaps["validation"]
        print(
            f"{measure}, {given_up:g}: {before.mean():.3f}; "
            f"{paired(gaps['folds'] - before)}, {paired(gaps['best'] - before)}; "
            f"{paired(right['folds'] - right['validation'])}"
        )


def report(name, method, every):
    """Print the true gaps of what the rules take."""
    print(f"\n{name}, {method}: {every['table'].nunique()} tables")
    print("given up  rule            true gap  minus validation  accuracy likewise")
    limited = every["given_up"].isna()
    for given_up, rows in every[~limited].groupby("given_up"):
        wide = {figure: by_rule(rows, figure) for figure in ("gap", "accuracy")}
        for rule in RULES:
            difference = wide["gap"][rule] - wide["gap"]["validation"]
            cost = wide["accuracy"][rule] - wide["accuracy"]["validation"]
            print(
                f"{given_up:8.3f}  {rule:14s}  "
                f"{wide['gap'][rule].mean():.3f}  {paired(difference)}  {paired(cost)}"
            )
    print(f"most accurate within {LIMIT}: true gap over all rows, share over, accuracy")
    for rule, rows in every[limited].groupby("rule"):
        over = (rows["whole"] > LIMIT).mean()
        print(
            f"{rule:10s}  {rows['whole'].mean():.3f}  {over:.2f}  "
            f"{rows['accuracy'].mean():.4f}  of {len(rows)}"
        )


def by_rule(every, figure):
    """Return a figure of the chosen models: one row per table, one column per rule."""
    return every.set_index(["table", "rule"])[figure].unstack("rule")  # noqa: PD010


def differences(every):
    """Return the differences by table that populations are held to each other in."""
    gaps = by_rule(every, "gap")
    right = by_rule(every, "accuracy")
    return {
        "gap before": gaps["validation"],
        "now minus": gaps["rms"] - gaps["validation"],
        "less noise minus now": gaps["less noise"] - gaps["rms"],
        "best minus": gaps["best"] - gaps["validation"],
        "accuracy, now minus": right["rms"] - right["validation"],
    }


def stratified(by_population):
    """Return the mean of populations' means with its 95 % interval (Welch)."""
    k = len(by_population)
    mean = np.mean([values.mean() for values in by_population])
    parts = np.array([values.var() / len(values) / k**2 for values in by_population])
    free = np.array([len(values) - 1 for values in by_population])
    half = np.sqrt(parts.sum()) * student.ppf(
        0.975, parts.sum() ** 2 / (parts**2 / free).sum()
    )
    return f"{mean:+.3f} ({mean - half:+.3f} to {mean + half:+.3f})"


def compare(found):
    """Print populations side by side, by accuracy given up, and all alike.

    ``found`` has what `differences` returns by (population, method, given up).
    """
    names = tuple(next(iter(found.values())))
    print(f"\n|population|method|given up|tables|{'|'.join(names)}|\n{'|---' * 9}|")
    for (name, method, given_up), values in found.items():
        before, *estimates = (values[column] for column in names)
        cells = [name, method, f"{given_up:g}", len(before), f"{before.mean():.3f}"]
        print(f"|{'|'.join(map(str, [*cells, *map(paired, estimates)]))}|")
    for method, given_up in dict.fromkeys(key[1:] for key in found):
        same_settings = [v for key, v in found.items() if key[1:] == (method, given_up)]
        if len(same_settings) < 2:
            continue
        n = sum(len(v[names[0]]) for v in same_settings)
        before = [v[names[0]] for v in same_settings]
        cells = ["all alike", method, f"{given_up:g}", n]
        cells.append(f"{np.mean([values.mean() for values in before]):.3f}")
        estimates = [
            stratified([values[name] for values in same_settings]) for name in names[1:]
        ]
        print(f"|{'|'.join(map(str, [*cells, *estimates]))}|")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("populations", nargs="+")
    parser.add_argument("--methods", nargs="+", default=["adversarial", "road"])
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--folds", action="store_true", help="gaps that need outcomes")
    parser.add_argument("--stored", action="store_true", help="train none")
    parser.add_argument("--data", type=Path, help="folder of the public tables")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    every_cell = list(product(options.methods, options.populations))
    kinds = {"": train} | ({"folds-": train_folds} if options.folds else {})

    def place(name, method, table, kind=""):
        return options.out / f"choice-{name}-{method}-{kind}{table}.npz"

    # a table of each population in turn: a run that is cut off has as many of all
    for table, cell, kind in product(range(options.tables), every_cell, kinds):
        method, name = cell
        path = place(name, method, table, kind)
        if options.stored or path.exists():
            continue
        began = time.process_time()
        counts = kinds[kind](name, FIRST_SEED + table, options.data, method)
        np.savez_compressed(path, **counts)
        seconds = time.process_time() - began
        print(f"{name} {method} {kind}{table}: {seconds:.0f} s", flush=True)
    results = {}
    for method, name in every_cell:
        parts = []
        folds = []
        for table in range(options.tables):
            path = place(name, method, table)
            in_folds = place(name, method, table, "folds-")
            if not path.exists():
                continue
            counts = dict(np.load(path))
            parts.append(choices(counts).assign(table=table))
            if options.folds and in_folds.exists():
                taken = chosen_in_folds(counts, dict(np.load(in_folds)))
                folds.append(taken.assign(table=table))
        if not parts:
            continue
        everything = pd.concat(parts, ignore_index=True)
        report(name, method, everything)
        if folds:
            report_folds(name, pd.concat(folds, ignore_index=True))
        for given_up, rows in everything.groupby("given_up"):
            results[name, CATALOG[method].label, given_up] = differences(rows)
    compare(results)


if __name__ == "__main__":
    main()
