"""Run the experiments of a paper and write the tables of its page.

    python benchmarks/reproduce.py road --data FOLDER [--out build/results]
    python benchmarks/reproduce.py road --tables zhang --seeds 5 --data FOLDER
    python benchmarks/reproduce.py road --data FOLDER --publish

The papers are road, noisy, sensei, logloss and ramp; league is the league table. FOLDER
has the public tables and, in ``raw``, the publishers' files. Every experiment is a
script of this folder that does not run a seed again that ``--out`` holds, so a run may
be cut off, and a later one may take more seeds.

The tables are written to PAPER.md and PAPER.json in ``--out``, to be held against those
of docs/results. Only ``--publish`` writes these: it puts the figures, with the command,
into ``benchmarks/results/PAPER.json``, and from there into the page; tables that were
not asked for stay as they are. The league's figures are published to
``sample_data/league.csv``.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from seed_rows import SeedRows

from fairdash._wording import markdown_table

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE / "noisy_groups")]
RESULTS = HERE / "results"
DOCS_TABLES = HERE.parent / "docs" / "tables.py"
GIVEN_UP = {  # accuracies to give up of ROAD and Zhang
    "loans": (0.005, 0.02),
    "law-quick": (0.05, 0.1),
    "compas-quick": (0.005, 0.02),
}
VARIED = {  # of ROAD's ablations
    "normalisation": "normalisation of r",
    "conditional": "in each group",
    "global": "over all rows",
    "adversary_layers": "adversary g",
    "ratio_layers": "ratio network r",
    "simple": "linear",
    "medium": "32",
    "complex": "64-32-16",
}
NOISE_SHOWN = (0, 0.1, 0.3, 0.5)
SEVEN = ("law-seven", "german-seven", "compas-seven")
TITLES = {
    "adult": "Adult",
    "compas": "COMPAS",
    "compas-quick": "COMPAS, quick",
    "compas-seven": "COMPAS",
    "credit_default": "Credit",
    "german-seven": "German",
    "law": "Law School",
    "law-quick": "Law School, quick",
    "law-seven": "Law School",
    "loans": "Loans, 9,000 rows",
}


class Step(NamedTuple):
    """A script with its arguments, and the most seeds it runs.

    In the arguments {data}, {raw} and {out} stand for folders, {seeds} for a number.
    """

    words: str
    seeds: int


class Table(NamedTuple):
    """A table of a page: its experiments, and what makes it of their files.

    ``make`` takes the folder of the files and the number of seeds of each step.
    """

    steps: tuple[Step, ...]
    make: Callable[..., list[list[str]]]


def number(value, *, sign=False):
    """Return a number of three digits without its leading 0."""
    text = f"{value:{'+' if sign else ''}.3f}"
    return re.sub(r"\b0\.", ".", text).replace("-", "−")


def spread(values):
    """Return mean and standard deviation, which one value does not have."""
    mean = number(values.mean())
    return mean if len(values) < 2 else f"{mean}±{number(values.std())}"


def apart(values):
    """Return a mean difference with its 95 % interval (Student's t)."""
    from scipy.stats import ttest_1samp

    low, high = ttest_1samp(values.dropna(), 0).confidence_interval()
    ends = f"{number(low, sign=True)} to {number(high, sign=True)}"
    return f"{number(values.mean(), sign=True)} ({ends})"


def interval(row, name, **how):
    """Return a figure with the ends of its interval, from columns of a row."""
    ends = (number(row[f"{name}{end}"], **how) for end in ("", "_low", "_high"))
    return "{} ({} to {})".format(*ends)


def road_paper(out, *seeds):
    """Return the table of the ROAD paper's own settings."""
    lines = []
    for name, size, n_seeds in (("law", 20, seeds[0]), ("compas", 50, seeds[1])):
        rows = SeedRows(out / f"road-{name}.csv").of(n_seeds)
        for (weight, tau), part in rows.groupby(["fairness_weight", "tau"]):
            figures = part["accuracy"], part["di"], part[f"worst_1 (n>={size})"]
            setting = [f"{weight:g}", number(tau) if weight else "–"]
            table = f"{TITLES[name]}, n ≥ {size}"
            lines.append([table, *setting, *map(spread, figures)])
    return [["table", "λ", "τ", "accuracy", "gap", "largest local gap"], *lines]


def verdict_rows(out, name, n_seeds):
    """Return what `road_verdict.py` wrote of these seeds."""
    paths = [out / f"{name}-{seed}.parquet" for seed in range(n_seeds)]
    return pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)


def zhang(*names):
    """Return what makes the table of ROAD against Zhang on these tables."""
    head = ["table", "given up", "Zhang: accuracy, gap", "ROAD: accuracy, gap"]
    head += ["gap minus Zhang", "accuracy minus Zhang"]

    def make(out, *seeds):
        import road_verdict

        lines = []
        accuracy, _, worst = road_verdict.FIGURES
        for name, n_seeds in zip(names, seeds, strict=True):
            rows = verdict_rows(out, name, n_seeds)
            for given_up in GIVEN_UP[name]:
                taken = road_verdict.chosen(name, rows, given_up)
                cells = [
                    f"{number(table[accuracy].mean())}, {spread(table[worst])}"
                    for table in (taken["adversarial"], taken["road"])
                ]
                change = taken["road"] - taken["adversarial"]
                cells += [apart(change[worst]), apart(change[accuracy])]
                lines.append([TITLES[name], number(given_up), *cells])
        return [head, *lines]

    return make


def seven(out, *seeds):
    """Return the table of the seven methods."""
    import road_verdict

    lines = []
    for method in ("unconstrained", *road_verdict.SEVEN):
        line = [road_verdict.CATALOG[method].label]
        for name, n_seeds in zip(SEVEN, seeds, strict=True):
            rows = verdict_rows(out, name, n_seeds)
            mine = rows[rows["method"] == method]
            figures = mine
            idle = ""
            if method != "unconstrained":
                figures = road_verdict.chosen(name, rows, 0.05)[method]
                idle = f"{road_verdict.idle(mine).sum()}/{len(mine)}"
            accuracy, _, worst = (figures[column] for column in road_verdict.FIGURES)
            line += [f"{number(accuracy.mean())}, {spread(worst)}", idle]
        lines.append(line)
    head = ["method"]
    for name in SEVEN:
        head += [TITLES[name], "idle"]
    return [head, *lines]


def ablation(out, _):
    """Return the table of ROAD's ablations."""
    lines = []
    values = pd.read_csv(out / "ablation.csv").drop_duplicates(["param", "value"])
    for param, rows in values.groupby("param", sort=False):
        for i, row in enumerate(rows.to_dict("records")):
            difference = interval(row, "area_apart", sign=True) if i else ""
            names = VARIED[param], VARIED[row["value"]]
            lines.append([*names, interval(row, "area"), difference])
    return [["varied", "value", "area", "difference"], *lines]


def noisy(out, *seeds):
    """Return the table of the paper on noisy groups."""
    from noisy_groups_tables import PUBLISHED, of_worst_group

    lines = []
    for name, n_seeds in zip(("adult", "credit"), seeds, strict=True):
        rows = pd.read_json(out / f"{name}.jsonl", lines=True)
        rows["noise"] = rows["noise"].fillna(0).round(6)
        rows = rows[(rows["seed"] < n_seeds) & rows["noise"].isin(NOISE_SHOWN)]
        methods = pd.Categorical(rows["method"], rows["method"].unique())
        for (method, noise), part in rows.groupby([methods, "noise"], observed=True):
            data = part["data"].iloc[0]
            exact = "soft" if method == "soft" else "tv"
            published = PUBLISHED.get((data, method, noise or None), ("", ""))
            violation = of_worst_group(part["violations"]).mean()
            figures = number(part["error"].mean()), number(violation, sign=True)
            cells = [
                f"{mine} ({number(theirs, sign=i > 0)})" if theirs != "" else mine
                for i, (mine, theirs) in enumerate(zip(figures, published, strict=True))
            ]
            cells.append(number(part[f"{exact}_worst"].mean(), sign=True))
            lines.append([data, method, number(noise)[:2] if noise else "–", *cells])
    head = ["data", "method", "noise", "error", "violation", "exact worst case"]
    return [head, *lines]


def sensei(schedule):
    """Return what makes the table of a schedule of the SenSeI paper."""
    figures = {
        "balanced_accuracy": "balanced accuracy",
        "s_con": "S-Con",
        "gr_con": "GR-Con",
        "gap_rms_g": "Gap RMS gender",
        "gap_rms_r": "Gap RMS race",
    }

    def make(out, n_seeds):
        rows = SeedRows(out / f"sensei-{schedule}.csv").of(n_seeds)
        return [["method", *figures.values()]] + [
            [method, *(spread(part[figure]) for figure in figures)]
            for method, part in rows.groupby("method", sort=False)
        ]

    return make


def logloss(out, *seeds):
    """Return the table of the paper on fair log-loss: a column per method."""
    figures = ["error", "expected violation", "violation of decisions"]
    short = {"demographic_parity": "DP", "equalized_odds": "EO"}
    titles = {
        "compas": "COMPAS, 5,278 rows",
        "law": "Law School, 20,798 rows",
        "adult": "Adult, 45,222 rows",
        "compas-6167": "COMPAS, 6,167 rows, group a feature",
    }
    lines = []
    times = {}
    for (name, title), n_seeds in zip(titles.items(), seeds, strict=True):
        rows = SeedRows(out / f"logloss-{name}.csv").of(n_seeds)
        for constraint, part in rows.groupby("constraint", sort=False):
            by_method = dict(list(part.groupby("method", sort=False)))
            cells = [
                ", ".join(spread(mine[figure]) for figure in figures)
                for mine in by_method.values()
            ]
            lines.append([f"{title}, {short[constraint]}", *cells])
            times[name, constraint] = [
                f"{mine['seconds'].mean():.2g}" for mine in by_method.values()
            ]
    largest = times["adult", "demographic_parity"]
    head = ["table, constraint", *by_method]
    return [head, *lines, ["Seconds, Adult, DP", *largest]]


def ramp(out, n_seeds):
    """Return the table of the paper on randomised thresholds."""
    rows = SeedRows(out / "ramp.csv").of(n_seeds)
    methods = list(dict.fromkeys(rows["method"]))
    lines = []
    for (data, base), part in rows.groupby(["data", "base"], sort=False):
        cells = []
        for method in methods:
            mine = part[part["method"] == method]
            cells.append(f"{spread(mine['bias'])}, {spread(mine['accuracy'])}")
        lines.append([TITLES[data], base, *cells])
    head = [f"{method}: gap, accuracy" for method in methods]
    return [["data", "base model", *head], *lines]


def verdict(name, seeds):
    """Return the step of a table of `road_verdict.py`."""
    words = f"road_verdict.py {name} --originals {{raw}} --out {{out}}"
    return Step(f"{words} --seeds {{seeds}}", seeds)


def road_settings(name, seeds):
    """Return the step of a table at the settings of the ROAD paper."""
    words = f"road_tables.py {name} --data {{data}} --out {{out}}/road-{name}.csv"
    return Step(f"{words} --seeds {{seeds}}", seeds)


def log_loss(name, seeds, more=""):
    """Return the step of a table of the paper on fair log-loss."""
    words = f"fair_log_loss/fair_log_loss_tables.py {name} {more} --jobs 1 --shown"
    return Step(f"{words} --splits {{seeds}} --out {{out}}/logloss-{name}.csv", seeds)


def wrong_groups(name, seeds):
    """Return the step of a table of the paper on noisy groups."""
    words = f"noisy_groups/noisy_groups_tables.py run --data {name}"
    return Step(f"{words} --splits {{seeds}} --out {{out}}/{name}.jsonl", seeds)


def individual(schedule, seeds, more=""):
    """Return the step of a table of the SenSeI paper."""
    words = f"individual/tables.py --data {{data}} {more} --restarts {{seeds}} --jobs 1"
    return Step(f"{words} --out {{out}}/sensei-{schedule}.csv", seeds)


ABLATION = Step(
    "ablation.py normalisation capacity --seeds {seeds} --home {out}/home "
    "--out {out}/ablation.csv",
    5,
)
RAMP = Step(
    "post_processing/post_processing_table.py {data} --seeds {seeds} "
    "--out {out}/ramp.csv",
    5,
)
PUBLISHED = "--schedule sensei --ridge .05 --weights 40"
PAPERS = {  # the tables of a page, in its order
    "road": {
        "paper": Table(
            (road_settings("law", 5), road_settings("compas", 5)), road_paper
        ),
        "loans": Table((verdict("loans", 20),), zhang("loans")),
        "zhang": Table(
            (verdict("law-quick", 20), verdict("compas-quick", 20)),
            zhang("law-quick", "compas-quick"),
        ),
        "seven": Table(tuple(map(verdict, SEVEN, (10, 5, 5))), seven),
        "ablation": Table((ABLATION,), ablation),
    },
    "noisy": {
        "adult and credit": Table(
            (wrong_groups("adult", 10), wrong_groups("credit", 10)), noisy
        )
    },
    "sensei": {
        "published": Table(
            (individual("published", 4, PUBLISHED),), sensei("published")
        ),
        "short": Table((individual("short", 10),), sensei("short")),
    },
    "logloss": {
        "figure 4": Table(
            (
                log_loss("compas", 20),
                log_loss("law", 20),
                log_loss("adult", 20),
                log_loss("compas-6167", 5, "--with-group"),
            ),
            logloss,
        )
    },
    "ramp": {"table 1": Table((RAMP,), ramp)},
}


def run(step, n_seeds, places):
    """Run a script for the seeds that its files do not hold yet."""
    script, *arguments = step.words.format(**places, seeds=n_seeds).split()
    print(f"{script} {' '.join(arguments)}", flush=True)
    environment = {"FAIRDASH_DATA": str(places["data"]), "OMP_NUM_THREADS": "1"}
    path = HERE / script
    subprocess.run(
        [sys.executable, path, *arguments],
        check=True,
        env=os.environ | environment,
        cwd=path.parent,
    )


def once(rows):
    """Return a table whose first cell is empty where it is that of the row above."""
    firsts = [None, *(row[0] for row in rows)]
    return [
        ["" if first == row[0] else row[0], *row[1:]]
        for first, row in zip(firsts, rows, strict=False)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paper", choices=[*PAPERS, "league"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("build/results"))
    parser.add_argument("--tables", nargs="+", help="of the page; all")
    parser.add_argument("--seeds", type=int, help="at most so many of an experiment")
    parser.add_argument(
        "--publish", action="store_true", help="write the published page"
    )
    options = parser.parse_args()
    tables = PAPERS.get(options.paper, {})
    names = options.tables or list(tables)
    if unknown := set(names) - set(tables):
        parser.error(f"no table {', '.join(unknown)}; there are {', '.join(tables)}")
    out = options.out.resolve()
    data = options.data.resolve()
    out.mkdir(parents=True, exist_ok=True)
    places = {"data": data, "raw": data / "raw", "out": out}
    if options.paper == "league":
        published = ("--page",) if options.publish else ()
        for words in ("--data {data}", *published):
            run(Step(f"league.py --out {{out}}/league.jsonl {words}", 0), 0, places)
        return
    path = (RESULTS if options.publish else out) / f"{options.paper}.json"
    stored = json.loads(path.read_text()) if path.exists() else {}
    for name in names:
        table = tables[name]
        seeds = [min(step.seeds, options.seeds or step.seeds) for step in table.steps]
        for step, n_seeds in zip(table.steps, seeds, strict=True):
            run(step, n_seeds, places)
        command = f"{options.paper} --tables {shlex.quote(name)}"
        if options.seeds:
            command += f" --seeds {options.seeds}"
        rows = once(table.make(out, *seeds))
        stored[name] = {"command": command, "rows": rows}
        path.write_text(json.dumps(stored, ensure_ascii=False, indent=1) + "\n")
    if options.publish:
        # apart, for a table here may have added methods of its own to the catalog
        subprocess.run([sys.executable, DOCS_TABLES], check=True)
    else:
        parts = [f"{markdown_table(stored[name]['rows'])}\n" for name in names]
        page = out / f"{options.paper}.md"
        page.write_text("\n".join(parts))
        print(f"{page}: not published; --publish writes {path.name} and the page")


if __name__ == "__main__":
    main()
