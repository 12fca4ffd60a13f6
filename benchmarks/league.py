"""Every method beside every other: six public tables, the same splits, one protocol.

Methods train with quick effort (networks in batches of 256, so that few rows make many
steps), for demographic parity where they have a constraint. On every split a method
trains a small grid, at the same initialisation, and the setting is taken by
`fairdash.sweep.select`: the smallest root mean square of local gaps over training and
validation rows, among models that decide and give up at most .03 of the validation
accuracy of the best plain model (network, logistic, boosting); where none does, the
most accurate. Networks train twice more at that setting, from other initialisations.
Tables of more than ROWS rows are cut to as many, drawn from each group and outcome in
proportion; a fifth of them are test rows, a fifth validation rows, and of the others at
most TRAIN are trained on. All figures are of test rows:

* **gap**, **odds**: largest gap of selection rates, and of both error rates;
* **local**: largest local gap, and **floor**, what chance alone makes of it (mean of
  200 models that are fair inside every subgroup);
* **consistency**: share of people whose decision stays when they move to somebody
  else's place along the direction that predicts the group, four times;
* **certificate**: largest gap of a group's selection rate below that of all rows, for
  any true groups within total variation .1 of the recorded ones;
* **certified**: whether `choose_certified` certifies a gap below .1 with a model of the
  grid;
* **seconds**: processor time of one fit.

Methods that decide at random (reductions, soft ideal, Hardt, thresholds, ramp) are
measured by one draw a row, the same for all of them.

    python benchmarks/league.py --data FOLDER --out league.jsonl [--starts 3]
    python benchmarks/league.py --out league.jsonl --page

FOLDER has the public tables and, in ``raw``, the publishers' files. A line of the file
is a table, method, split and initialisation; what it holds is not trained again.
``--page`` writes sample_data/league.csv: means over splits and initialisations with
their standard deviation over splits, and mean ranks over tables and splits, a model
that does not decide being the last in every measure but accuracy. It prints Friedman's
test of the ranks; from the file come docs/results/league.md, by docs/tables.py, and its
figure. Splits that some table or method lacks are left out.
"""

import argparse
import json
import runpy
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from choice import ACS, LAW
from league_page import aggregated, draw
from sklearn.ensemble import HistGradientBoostingClassifier

from fairdash.datasets import (
    PUBLIC,
    Subgroups,
    encode,
    fetch_table,
    make_dataset,
    split,
    training_rows,
)
from fairdash.methods import CATALOG
from fairdash.methods.noisy_groups import tv_certificate
from fairdash.metrics import group_directions, noise_floor, prediction_consistency
from fairdash.postprocessing import RampThreshold
from fairdash.sweep import (
    Part,
    candidate_table,
    choose_certified,
    decides,
    score,
    select,
)

ROWS = 10_000
TRAIN = 2_000
SPLITS = 5
TABLES = ("german", "compas", "law", "adult", "credit", "acs")
GIVEN_UP = 0.03
LIMIT = 0.1
NOISE = 0.1
GAP = "demographic_parity_difference"
ROOT = Path(__file__).parents[1]
MOVES = 4  # of a person along the sensitive direction
WEIGHTS = (1.5, 6.0)
TAUS = (0.1, 0.5)
SHIFT = {"constraints": "demographic_parity"}
STEPS = {"batch_size": 256}  # of networks
PLAIN = ("Network", "Logistic", "Gradient boosting")
TREES, ROUNDS = (
    HistGradientBoostingClassifier(max_iter=50),
    5,
)  # of reductions with trees


class Entry(NamedTuple):
    """A line of the table: a method, what is fixed, and the grid of the rest.

    ``rule`` is the width of a ramp that is put on the scores of ``key``.
    """

    key: str
    grid: tuple[Mapping[str, Any], ...] = ({},)
    fixed: Mapping[str, Any] = {}
    starts: bool = False  # whether an initialisation has a part in it
    rule: float | None = None


def axis(name, *values):
    """Return a grid of one parameter."""
    return tuple({name: value} for value in values)


LAMBDAS = axis("fairness_weight", 0.5, 1.5, 4.0, 12.0)
PAIRS = tuple({"fairness_weight": w, "tau": tau} for w in WEIGHTS for tau in TAUS)
WEIGHTS_ONLY = axis("fairness_weight", *WEIGHTS)
TOLERANCES = axis("tolerance", 0.005, 0.02, 0.05)
RADII = axis("fair_radius", 0.01, 0.1)
LEAGUE = {
    "Network": Entry("unconstrained", starts=True),
    "Logistic": Entry("logistic"),
    "Gradient boosting": Entry("gradient_boosting"),
    "Hinge": Entry("hinge"),
    "Zhang": Entry("adversarial", LAMBDAS, SHIFT, starts=True),
    "FAD": Entry("fad", LAMBDAS, SHIFT, starts=True),
    "CUMA": Entry("cuma", WEIGHTS_ONLY, {**SHIFT, "curvature_weight": 0.1}, True),
    "BROAD": Entry("broad", PAIRS, SHIFT, starts=True),
    "ROAD": Entry("road", PAIRS, SHIFT, starts=True),
    "Fair log-loss": Entry("fair_log_loss", fixed=SHIFT),
    "Reductions": Entry("reductions", TOLERANCES, SHIFT),
    "Grid search": Entry("grid_reductions", axis("constraint_weight", 0.2, 0.8), SHIFT),
    "Reweighing": Entry("reweighing"),
    "Covariance": Entry("covariance", axis("covariance_bound", 0.001, 0.01, 0.05)),
    "Hardt": Entry("hardt", fixed=SHIFT),
    "Multicalibration": Entry("multicalibration"),
    "Naive": Entry("noisy_naive", axis("slack", 0.0, 0.05), SHIFT),
    "DRO": Entry("noisy_dro", axis("slack", 0.0, 0.05), SHIFT),
    "Soft": Entry("noisy_soft", axis("slack", 0.0, 0.05), SHIFT),
    "Soft ideal": Entry("noisy_ideal", axis("slack", 0.05), SHIFT),
    "SenSeI": Entry("sensei", WEIGHTS_ONLY, starts=True),
    "SenSR": Entry("sensr", RADII, starts=True),
    "CLP": Entry("clp", LAMBDAS, starts=True),
    "Network, thresholds": Entry("unconstrained", TOLERANCES, starts=True, rule=1e-3),
    "Network, ramp": Entry("unconstrained", TOLERANCES, starts=True, rule=0.1),
    "Boosting, thresholds": Entry("gradient_boosting", TOLERANCES, rule=1e-3),
    "Boosting, ramp": Entry("gradient_boosting", TOLERANCES, rule=0.1),
    "Boosting, reductions": Entry(
        "reductions",
        axis("tolerance", 0.02),
        {**SHIFT, "estimator": TREES, "max_iter": ROUNDS},
    ),
}  # fmt: skip


@cache
def load(name, folder):
    """Return a table cut to ROWS rows, with its subgroups."""
    if name == "law":
        frame = pd.read_parquet(folder / "law_school.parquet")
        roles = LAW
        subgroups = Subgroups(columns=("gender", "fam_inc"))
    elif name == "acs":
        frame = pd.read_parquet(folder / "adult_acs_drift.parquet")
        roles = ACS
        frame = frame[frame["year"].astype(int) == 2018]
        subgroups = Subgroups(columns=("age",), widths={"age": 5.0})
    elif name == "credit":
        frame = pd.read_parquet(folder / "credit_default.parquet")
        roles = PUBLIC[name].roles
        subgroups = PUBLIC[name].subgroups
    else:
        frame = fetch_table(name, folder / "raw")
        roles = PUBLIC[name].roles
        subgroups = PUBLIC[name].subgroups
    if name in ("law", "acs"):
        used = [roles.target, roles.sensitive_feature, *roles.features]
        frame = frame[used].dropna()
    if len(frame) > ROWS:
        cell = [roles.target, roles.sensitive_feature]
        frame = frame.groupby(cell).sample(frac=ROWS / len(frame), random_state=0)
    if name != "german":
        subgroups = subgroups.model_copy(update={"min_size": 50})
    frame = frame.sort_index().reset_index(drop=True)
    return make_dataset(frame, roles, name=name, key=name), subgroups


class Trial:
    """A table on one split, from one initialisation: rows, moved people, fits."""

    def __init__(self, data, subgroups, seed, start):
        self.data, self.subgroups, self.seed, self.start = data, subgroups, seed, start
        self.parts = split(data, seed)
        encoded = encode(data, self.parts.train)
        self.X, self.names = encoded.X, list(encoded.feature_names)
        self.groups = data.sensitive_features
        self.train = train = training_rows(data, seed, TRAIN)
        test = self.parts.test
        metric = group_directions(self.X[train], self.groups[train], self.names)
        rng = np.random.default_rng([seed, 1])
        self.drawn = rng.random(data.n_rows)
        self.moved = []
        for _ in range(MOVES):
            moves = self.X[rng.permutation(test)] - self.X[test]
            along = moves @ metric.basis @ metric.basis.T
            self.moved.append((self.X[test] + along).astype(np.float32))
        self.fits = {}

    def fitted(self, key, fixed, points):
        """Return the models of a grid, and the processor time of each."""
        name = str((key, fixed, points))
        if name not in self.fits:
            entry = CATALOG[key]
            train = self.train
            named = {param.name for param in entry.params}
            steps = STEPS if "n_epochs" in named else {}
            named_values = {
                name: value for name, value in fixed.items() if name in named
            }
            settings = entry.settings({**steps, **named_values})
            estimator = entry.estimator(settings, 1000 * self.start + self.seed)
            estimator.set_params(**{k: v for k, v in fixed.items() if k not in named})
            if entry.needs_names:
                estimator.set_params(feature_names=self.names)
            about = {"sensitive_features": self.groups[train]}
            rows = self.X[train], self.data.y[train]
            began = time.process_time()
            if hasattr(estimator, "fit_many"):
                models = estimator.fit_many(points, *rows, **about)
            else:
                models = [
                    clone_of(estimator, point).fit(*rows, **about) for point in points
                ]
            seconds = (time.process_time() - began) / len(models)
            self.fits[name] = models, seconds
        return self.fits[name]

    def scores(self, key, model, X, groups):
        """Return the chance of a positive outcome of rows."""
        routed = {"sensitive_features": groups} if CATALOG[key].needs_groups else {}
        return model.predict_proba(X, **routed)[:, 1]

    def decided(self, entry, points):
        """Yield decisions of all rows, and of the moved people, by setting; seconds."""
        test = self.parts.test
        if entry.rule is None:
            models, seconds = self.fitted(entry.key, entry.fixed, points)
            rules = [None] * len(models)
        else:
            (model,), seconds = self.fitted(entry.key, entry.fixed, ({},))
            models = [model] * len(points)
            rules = [self.rule(entry, model, point) for point in points]
        for model, rule in zip(models, rules, strict=True):
            sides = []
            for X, rows in ((self.X, slice(None)), *((m, test) for m in self.moved)):
                h = self.scores(entry.key, model, X, self.groups[rows])
                level = self.drawn[rows] if CATALOG[entry.key].mixture else 0.5
                if rule is not None:
                    about = {"sensitive_features": self.groups[rows]}
                    h = rule.predict_proba(2 * h - 1, **about)
                    level = self.drawn[rows]
                sides.append((h > level).astype(np.int8))
            yield sides[0], [sides[0][test], *sides[1:]], seconds

    def rule(self, entry, model, point):
        """Return a ramp that learned on validation rows."""
        learn = self.parts.validation
        h = self.scores(entry.key, model, self.X[learn], self.groups[learn])
        about = {"sensitive_features": self.groups[learn], "y": self.data.y[learn]}
        return RampThreshold(entry.rule, **point).fit(2 * h - 1, **about)

    def row(self, label, least, points=None):
        """Return the line of a method; without ``points`` it chooses among its grid."""
        entry = LEAGUE[label]
        grid = entry.grid if points is None else points
        sides = list(self.decided(entry, grid))
        decisions = np.stack([side[0] for side in sides])
        rows = score(self.data, self.seed, decisions.astype(float), self.subgroups)
        rows["place"] = range(len(rows))
        chosen = select(rows, best="worst_1_di", limits={"accuracy": least})
        if chosen is None:
            able = rows[decides(rows, "validation")]
            best = (rows if able.empty else able)["validation_accuracy"].idxmax()
            chosen = rows.loc[best]
        place = int(chosen["place"])
        test, y = self.parts.test, self.data.y[self.parts.test]
        yes = decisions[place][test]
        groups = self.groups[test]
        floor = noise_floor(
            yes,
            sensitive_features=groups,
            subgroups=self.subgroups.label(self.data.frame).iloc[test],
            min_size=self.subgroups.min_size,
            n_permutations=200,
        )
        bound = tv_certificate(y, yes, groups, NOISE, **SHIFT)["worst_violation"].max()
        return {
            "setting": grid[place],
            "n_settings": len(grid),
            "n_test": len(test),
            "validation_accuracy": chosen["validation_accuracy"],
            "decides": bool(decides(rows, "test")[place]),
            "accuracy": chosen["test_accuracy"],
            "gap": chosen[f"test_{GAP}"],
            "odds": chosen["test_equalized_odds_difference"],
            "local": chosen["test_worst_1_di"],
            "floor": floor.mean,
            "n_subgroups": int(chosen["test_n_estimable"]),
            "consistency": prediction_consistency(np.stack(sides[place][1])),
            "certificate": bound,
            "certified": self.certified(decisions),
            "seconds": sides[place][2],
        }

    def certified(self, decisions):
        """Tell whether a gap below LIMIT is certified for a model of a grid."""
        rows = self.parts.validation, self.parts.test
        sides = tuple(Part(self.data.y[r], self.data.group[r], {}) for r in rows)
        limits = {GAP: LIMIT}
        table = candidate_table(
            range(len(decisions)),
            lambda model: tuple(decisions[model][r] for r in rows),
            sides,
            limits=limits,
        )
        if table.empty:
            return False
        return choose_certified(table, limits=limits).model is not None


def clone_of(estimator, point):
    """Return an unfitted copy at another setting."""
    return type(estimator)(**{**estimator.get_params(deep=False), **point})


def lines_of(path):
    """Return the lines that are there, by table, method, split and start."""
    text = path.read_text().splitlines() if path.exists() else []
    records = [json.loads(line) for line in text]
    return {(e["table"], e["method"], e["seed"], e["start"]): e for e in records}


def compute(folder, path, tables, starts, labels):
    """Train what the file lacks: first start first, then split by split."""
    torch.set_num_threads(1)
    path.parent.mkdir(parents=True, exist_ok=True)
    done = lines_of(path)
    for start in range(starts):
        used = [name for name in labels if LEAGUE[name].starts or start == 0]
        for seed in range(SPLITS):
            for table in tables:
                places = {name: (table, name, seed, start) for name in used}
                if all(place in done for place in places.values()):
                    continue
                trial = Trial(*load(table, folder), seed, start)
                for label, place in places.items():
                    if place in done:
                        continue
                    first = done.get((table, label, seed, 0))
                    least = 0.0
                    if label not in PLAIN:
                        plain = [done[table, name, seed, 0] for name in PLAIN]
                        least = max(item["validation_accuracy"] for item in plain)
                        least -= GIVEN_UP
                    points = (first["setting"],) if first else None
                    began = time.monotonic()
                    row = trial.row(label, least, points)
                    names = {"table": table, "method": label, "seed": seed}
                    done[place] = {**names, "start": start, **row}
                    with path.open("a") as file:
                        file.write(json.dumps(done[place], default=float) + "\n")
                    took = time.monotonic() - began
                    print(*place, f"{took:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the public tables")
    parser.add_argument("--out", type=Path, required=True, help="file of lines")
    parser.add_argument("--tables", nargs="*", default=TABLES, choices=TABLES)
    parser.add_argument("--methods", nargs="*", default=list(LEAGUE), choices=LEAGUE)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--page", action="store_true", help="write file and page")
    options = parser.parse_args()
    if options.data is not None:
        compute(
            options.data, options.out, options.tables, options.starts, options.methods
        )
    if options.page:
        lines = list(lines_of(options.out).values())
        table = aggregated(lines, TABLES, len(LEAGUE))
        table.to_csv(ROOT / "sample_data" / "league.csv", index=False)
        draw(table, ROOT / "docs" / "pictures" / "league.png")
        runpy.run_path(str(ROOT / "docs" / "tables.py"), run_name="__main__")


if __name__ == "__main__":
    main()
