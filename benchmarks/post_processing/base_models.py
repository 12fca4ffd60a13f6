"""Remedies on top of LightGBM, with missing values and weights, beside networks.

A tenth of the numbers is taken out at random. LightGBM reads the missing ones and codes
of the categories; networks get them filled in, with a column that says so. Rows of
Adult count as often as the census says (fnlwgt), in training, choice and test; COMPAS
has no weights. Reductions have at most 15 rounds.

Of the models of a method that give up at most so much validation accuracy against the
most accurate plain model, the one with the smallest gap on validation rows is taken;
its accuracy and gap are of test rows, means with standard deviations over seeds. A
method whose every model gives up more in one of the seeds has no figure. Thresholds by
group and the ramp learn on validation rows. A certified choice orders models on
validation rows and tests on test rows that the gap is below the limit.

    export FAIRDASH_DATA=FOLDER
    cd benchmarks/post_processing
    python base_models.py compas --out models.csv
    python base_models.py adult --rows 15000 --out models.csv
    python base_models.py --out models.csv --picture front.png
"""

import argparse
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier

from fairdash.datasets import PUBLIC, draws, encode, fetch_table, make_dataset, split
from fairdash.methods import CATALOG
from fairdash.metrics import Drawn
from fairdash.postprocessing import HardtThreshold, RampThreshold
from fairdash.sweep import Part, candidate_table, choose_certified

GAP = "demographic_parity_difference"
GIVEN_UP = (0.01, 0.03)
TOLERANCES = (0.005, 0.02, 0.05, 0.1)
WEIGHTS = (0.5, 1.5, 4.0, 10.0)
PLAIN = ("Network", "LightGBM", "Gradient boosting")
ROUNDS = 15  # of reductions
VARIANTS = {"adult": "all", "compas": "propublica"}
LIMIT = 0.1  # of the certified choice
NETWORKS = ("unconstrained", "adversarial", "road")


def table_of(name: str, most: int | None):
    """Return a public table with weights, as one with missing numbers."""
    folder = Path(os.environ["FAIRDASH_DATA"]) / "raw"
    frame = fetch_table(name, folder, VARIANTS[name])
    rng = np.random.default_rng(0)
    if most is not None and most < len(frame):
        frame = frame.iloc[rng.permutation(len(frame))[:most]].reset_index(drop=True)
    roles = PUBLIC[name].roles
    if name == "adult":
        roles = replace(roles, sample_weight="fnlwgt")
    for column in frame[list(roles.features)].select_dtypes("number"):
        numbers = frame[column].astype(float)
        frame[column] = numbers.mask(rng.random(len(frame)) < 0.1)
    return make_dataset(frame, roles, name=name)


def raw_features(dataset):
    """Return features as LightGBM reads them: numbers and codes, missing as NaN."""
    features = dataset.frame[list(dataset.roles.features)].copy()
    for column in features.select_dtypes(exclude="number"):
        codes = features[column].astype("category").cat.codes
        features[column] = codes.astype(float).mask(codes < 0)
    return features.to_numpy(dtype=float)


def lightgbm(seed):
    return LGBMClassifier(
        n_estimators=100, num_leaves=15, random_state=seed, n_jobs=1, verbose=-1
    )


def methods(seed):
    """Yield name, method of the catalog and parameters of every model to train."""
    for key in NETWORKS:
        label = "Network" if key == "unconstrained" else CATALOG[key].label
        for weight in WEIGHTS if key != "unconstrained" else (None,):
            params = {} if weight is None else {"fairness_weight": weight}
            yield label, key, CATALOG[key].settings(params, "fast")
    yield "Gradient boosting", "gradient_boosting", {}
    for key in ("reductions", "reweighing", "hardt"):
        points = TOLERANCES if key == "reductions" else (None,)
        for tolerance in points:
            params = {"estimator": lightgbm(seed)}
            if tolerance is not None:
                params |= {"tolerance": tolerance, "max_iter": ROUNDS}
            yield f"{CATALOG[key].label}, LightGBM", key, params


def rules(scores, parts, dataset):
    """Yield name and decisions of thresholds by group learned on validation rows."""
    learn = parts.validation
    groups = dataset.sensitive_features
    about = {"sensitive_features": groups[learn], "y": dataset.y[learn]}
    about["sample_weight"] = dataset.weight_of(learn)
    margins = 2 * scores - 1
    sweep = [("Hardt on validation rows", HardtThreshold())]
    for tolerance in TOLERANCES:
        for name, gamma in (("Thresholds", 0.001), ("Ramp", 0.1)):
            sweep.append((name, RampThreshold(gamma, tolerance=tolerance)))
    for name, rule in sweep:
        rule.fit(margins[learn], **about)
        h = rule.predict_proba(margins, sensitive_features=groups)
        yield f"{name}, LightGBM", h


def measured(dataset, where, h):
    """Return weighted accuracy and gap of probabilities of a positive decision."""
    y = dataset.y[where]
    weight = dataset.weight_of(where)
    item = np.ones(len(where)) if weight is None else weight
    right = np.average(h[where] * y + (1 - h[where]) * (1 - y), weights=item)
    table = pd.DataFrame({"each": item, "yes": item * h[where]})
    sums = table.groupby(np.asarray(dataset.sensitive_features[where])).sum()
    rates = sums["yes"] / sums["each"]
    return float(right), float(rates.max() - rates.min())


def models_of(dataset, seed):
    """Return one row per model of a seed, and its probabilities of a yes."""
    parts = split(dataset, seed)
    raw = raw_features(dataset)
    encoded = encode(dataset, parts.train)
    whole = np.concatenate([encoded.rows(part) for part in encoded.parts()])
    weight = dataset.weight_of(parts.train)
    groups = dataset.sensitive_features
    rows = []
    decisions = []

    def note(name, h, seconds):
        row = {"name": name, "seed": seed, "seconds": seconds}
        for part in ("validation", "test"):
            numbers = measured(dataset, getattr(parts, part), h)
            row |= dict(zip((f"{part}_accuracy", f"{part}_gap"), numbers, strict=True))
        rows.append(row)
        decisions.append(h)

    began = time.perf_counter()
    plain = lightgbm(seed).fit(raw[parts.train], dataset.y[parts.train], weight)
    scores = plain.predict_proba(raw)[:, 1]
    note("LightGBM", (scores > 0.5).astype(float), time.perf_counter() - began)
    for name, key, params in methods(seed):
        X = whole if key in NETWORKS else raw
        model = CATALOG[key].estimator_class()(**params, random_state=seed)
        began = time.perf_counter()
        model.fit(
            X[parts.train],
            dataset.y[parts.train],
            sensitive_features=groups[parts.train],
            sample_weight=weight,
        )
        seconds = time.perf_counter() - began
        arguments = {"sensitive_features": groups} if CATALOG[key].needs_groups else {}
        h = model.predict_proba(X, **arguments)[:, 1]
        if not CATALOG[key].mixture:
            h = (h > 0.5).astype(float)
        note(name, h, seconds)
        print(f"seed {seed}: {name} {seconds:.1f} s {rows[-1]}", flush=True)
    for name, h in rules(scores, parts, dataset):
        note(name, h, 0.0)
    return parts, pd.DataFrame(rows), decisions


def certified(dataset, parts, rows, decisions):
    """Return the certified choice among LightGBM's models, and among networks."""
    _, codes = np.unique(dataset.sensitive_features, return_inverse=True)
    sides = tuple(
        Part(dataset.y[position], codes[position], {}, dataset.weight_of(position))
        for position in (parts.validation, parts.test)
    )
    limits = {GAP: LIMIT}
    lines = []
    families = {
        "LightGBM": rows["name"].str.contains("LightGBM"),
        "networks": rows["name"].isin(["Network", "Zhang", "ROAD"]),
    }
    for family, members in families.items():

        def both(i):
            h = decisions[i]
            content = dataset.content
            drawn = draws.drawn(h[parts.test], content[parts.test])
            return Drawn(h[parts.validation], content[parts.validation]), drawn

        table = candidate_table(np.flatnonzero(members), both, sides, limits=limits)
        model = choose_certified(table, limits=limits).model if len(table) else None
        line = {"family": family, "chosen": "none"}
        if model is not None:
            chosen = rows.iloc[model]
            line = {"family": family, "chosen": chosen["name"]}
            accuracy, gap = measured(dataset, parts.test, decisions[model])
            line |= {"accuracy": accuracy, "gap": gap}
        lines.append(line)
    return pd.DataFrame(lines)


def chosen_table(rows):
    """Return accuracy and gap of the model that each method's rule takes."""
    plain = rows[rows["name"].isin(PLAIN)]
    best = plain.groupby("seed")["validation_accuracy"].max()
    lines = []
    for name, of_name in rows.groupby("name", sort=False):
        line = {"method": name, "seconds a model": round(of_name["seconds"].mean(), 2)}
        for loss in GIVEN_UP:
            able = of_name[
                of_name["validation_accuracy"] >= of_name["seed"].map(best) - loss
            ]
            able = able.reset_index(drop=True)
            taken = able.loc[able.groupby("seed")["validation_gap"].idxmin()]
            if len(taken) == rows["seed"].nunique():
                columns = [taken["test_gap"], taken["test_accuracy"]]
                words = [
                    f"{values.mean():.3f} ± {values.std():.3f}" for values in columns
                ]
                line[f"gap at {loss}"], line[f"accuracy at {loss}"] = words
        lines.append(line)
    return pd.DataFrame(lines).fillna("–")


def markdown(table):
    """Return a table as Markdown."""
    lines = [list(table), ["---"] * table.shape[1], *table.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def report(everything, picture):
    """Print a table for each data set, and draw all fronts."""
    for name, rows in everything[everything["family"].isna()].groupby("data"):
        print(f"\n{name}, {rows['seed'].nunique()} seeds")
        print(markdown(chosen_table(rows)))
    choices = everything.dropna(subset=["family"])
    result = choices.assign(certified=choices["chosen"] != "none")
    print(result.groupby(["data", "family"])[["certified", "accuracy", "gap"]].mean())
    if picture:
        draw(everything[everything["family"].isna()], picture)


def draw(rows, picture):
    """Draw accuracy against the gap on test rows, each mark a setting's mean."""
    from playwright.sync_api import sync_playwright
    from plotly.subplots import make_subplots

    names = [*PLAIN, "Zhang", "ROAD", "Reductions, LightGBM", "Thresholds, LightGBM"]
    colours = ["#000000", "#666666", "#aaaaaa", "#e69f00", "#d55e00", "#0072b2"]
    figure = make_subplots(1, 2, subplot_titles=["Adult", "COMPAS"])
    for place, data in enumerate(("adult", "compas"), 1):
        for name, colour in zip(names, [*colours, "#009e73"], strict=True):
            of_name = rows[(rows["data"] == data) & (rows["name"] == name)]
            setting = of_name.groupby("seed").cumcount()
            mean = of_name.groupby(setting)[["test_gap", "test_accuracy"]].mean()
            mean = mean.sort_values("test_gap")
            figure.add_scatter(
                x=mean["test_gap"],
                y=mean["test_accuracy"],
                name=name,
                mode="lines+markers",
                line_color=colour,
                showlegend=place == 1,
                row=1,
                col=place,
            )
    figure.update_xaxes(
        title_text="Gap in positive rates, test rows", rangemode="tozero"
    )
    figure.update_yaxes(title_text="Accuracy, test rows", col=1)
    margin = {"l": 60, "r": 20, "t": 40, "b": 50}
    figure.update_layout(template="plotly_white", width=1100, height=400, margin=margin)
    page_html = figure.to_html(include_plotlyjs=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1120, "height": 420})
        page.set_default_timeout(300_000)  # of a busy machine
        page.set_content(page_html)
        page.wait_for_selector(".main-svg")
        page.screenshot(path=picture)
        browser.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", help="adult, compas, or none")
    parser.add_argument("--rows", type=int, help="the most rows, drawn at random")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, required=True, help="CSV file that grows")
    parser.add_argument("--picture", help="PNG file to draw")
    options = parser.parse_args()
    for name in options.data:
        dataset = table_of(name, options.rows)
        for seed in range(options.seeds):
            done = pd.read_csv(options.out) if options.out.exists() else None
            if done is not None and ((done.data == name) & (done.seed == seed)).any():
                continue
            parts, rows, decisions = models_of(dataset, seed)
            choice = certified(dataset, parts, rows, decisions).assign(seed=seed)
            new = pd.concat([rows, choice]).assign(data=name)
            pd.concat([done, new]).to_csv(options.out, index=False)
    report(pd.read_csv(options.out), options.picture)


if __name__ == "__main__":
    main()
