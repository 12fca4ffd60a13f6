"""Run the experiments of a paper and write the tables of its page in docs/results.

    python benchmarks/reproduce.py road --data FOLDER [--out build/results]

The papers are road, noisy, sensei, logloss and ramp. FOLDER has the public tables and,
in ``raw``, the publishers' files. Every experiment is a script of this folder; what
``--out`` holds is not run again, so a run may be cut off. The figures go to
``benchmarks/results/PAPER.json`` and from there to the page.
"""

import argparse
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE / "noisy_groups")]
RESULTS = HERE / "results"
VERDICTS = {  # accuracies to give up
    "loans": (0.005, 0.02),
    "law-quick": (0.05, 0.1),
    "compas-quick": (0.005, 0.02),
}
SEVEN = {"law-seven": 10, "german-seven": 5, "compas-seven": 5}
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
    "loans": "Loans",
}


# The experiments: name of what a script writes, the script and its arguments, in which
# {data}, {raw}, {out} and {file} stand for folders and for that name in the folder.
STEPS = {
    "road": {
        "road-law.csv": "road_tables.py law --data {data} --out {file}",
        "road-compas.csv": "road_tables.py compas --data {data} --out {file}",
        "verdicts.done": "road_verdict.py loans law-quick compas-quick --seeds 20 "
        "--originals {raw} --out {out}",
        "seven-law.done": "road_verdict.py law-seven --seeds 10 --originals {raw} "
        "--out {out}",
        "seven.done": "road_verdict.py german-seven compas-seven --seeds 5 "
        "--originals {raw} --out {out}",
        "ablation.csv": "ablation.py normalisation capacity --seeds 5 "
        "--home {out}/home --out {file}",
    },
    "noisy": {
        f"{name}.jsonl": f"noisy_groups/noisy_groups_tables.py run --data {name} "
        "--splits 10 --out {file}"
        for name in ("adult", "credit")
    },
    "sensei": {
        "sensei-short.csv": "individual/tables.py --data {data} --out {file}",
        "sensei-published.csv": "individual/tables.py --data {data} --schedule sensei "
        "--ridge .05 --weights 40 --restarts 4 --out {file}",
    },
    "logloss": {
        f"logloss-{name}.csv": "fair_log_loss/fair_log_loss_tables.py "
        f"{name} --splits {splits} --jobs 1 --out {{file}}"
        for name, splits in {"compas": 20, "law": 20, "adult": 20}.items()
    }
    | {
        "logloss-compas-6167.csv": "fair_log_loss/fair_log_loss_tables.py compas-6167 "
        "--with-group --splits 5 --jobs 1 --out {file}",
    },
    "ramp": {
        "ramp.csv": "post_processing/post_processing_table.py {data} --seeds 5 "
        "--out {file}",
    },
}


def number(value, *, sign=False):
    """Return a number of three digits without its leading 0."""
    text = f"{value:{'+' if sign else ''}.3f}"
    return text.replace("0.", ".", 1).replace("-", "−")


def spread(values):
    """Return mean and standard deviation."""
    return f"{number(values.mean())} ({number(values.std())})"


def apart(values):
    """Return a mean difference with its 95 % interval (Student's t)."""
    from scipy.stats import ttest_1samp

    low, high = ttest_1samp(values.dropna(), 0).confidence_interval()
    ends = f"{number(low, sign=True)} to {number(high, sign=True)}"
    return f"{number(values.mean(), sign=True)} ({ends})"


def road(out):
    """Return the tables of the ROAD paper."""
    import road_verdict

    paper = []
    for name, size in (("law", 20), ("compas", 50)):
        rows = pd.read_csv(out / f"road-{name}.csv")
        for (weight, tau), part in rows.groupby(["fairness_weight", "tau"]):
            figures = part["accuracy"], part["di"], part[f"worst_1 (n>={size})"]
            setting = [f"{weight:g}", number(tau) if weight else "–"]
            paper.append([TITLES[name], *setting, *map(spread, figures)])
    zhang = []
    for name, given_up in VERDICTS.items():
        rows = _seeds(out, name, 20)
        for most in given_up:
            taken = road_verdict.chosen(name, rows, most)
            accuracy, _, worst = road_verdict.FIGURES
            cells = [
                ", ".join(spread(taken[method][figure]) for figure in (accuracy, worst))
                for method in ("adversarial", "road")
            ]
            change = taken["road"] - taken["adversarial"]
            row = [TITLES[name], number(most), *cells]
            zhang.append([*row, apart(change[worst]), apart(change[accuracy])])
    seven = []
    for method in ("unconstrained", *road_verdict.SEVEN):
        row = [road_verdict.CATALOG[method].label]
        for name, n_seeds in SEVEN.items():
            rows = _seeds(out, name, n_seeds)
            mine = rows[rows["method"] == method]
            figures = mine
            if method != "unconstrained":
                figures = road_verdict.chosen(name, rows, 0.05)[method]
            accuracy, _, worst = (figures[one] for one in road_verdict.FIGURES)
            idle = f"{road_verdict.idle(mine).sum()}/{len(mine)}"
            row += [f"{number(accuracy.mean())}, {spread(worst)}", idle]
        seven.append(row)
    found = pd.read_csv(out / "ablation.csv").drop_duplicates(["param", "value"])
    ablation = [
        [
            row["param"],
            str(row["value"]),
            _interval(row, "area"),
            _interval(row, "area_apart", sign=True),
        ]
        for row in found.to_dict("records")
    ]
    figures = ["accuracy", "gap", "largest local gap"]
    names = [f"{name}" for name in ("Law School", "German", "COMPAS")]
    return {
        "paper": [["table", "λ", "τ", *figures], *paper],
        "zhang": [
            ["table", "given up", "Zhang: accuracy, gap", "ROAD: accuracy, gap",
             "gap minus Zhang", "accuracy minus Zhang"],
            *zhang,
        ],
        "seven": [["method", *[x for n in names for x in (n, "idle")]], *seven],
        "ablation": [["varied", "value", "area", "difference"], *ablation],
    }  # fmt: skip


def _seeds(out, name, n_seeds):
    paths = [out / f"{name}-{seed}.parquet" for seed in range(n_seeds)]
    return pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)


def _interval(row, name, **how):
    ends = (number(row[f"{name}{end}"], **how) for end in ("", "_low", "_high"))
    return "{} ({} to {})".format(*ends)


def noisy(out):
    """Return the table of the paper on noisy groups."""
    from noisy_groups_tables import table

    names = "adult", "credit"
    files = [pd.read_json(out / f"{name}.jsonl", lines=True) for name in names]
    found = table(pd.concat(files))
    head = ["data", "method", "noise", "error", "published error", "max violation",
            "published violation", "TV exact"]  # fmt: skip
    return {"adult and credit": [head, *found[head].astype(str).to_numpy().tolist()]}


def sensei(out):
    """Return the tables of the SenSeI paper."""
    figures = {
        "balanced_accuracy": "balanced accuracy",
        "s_con": "S-Con",
        "gr_con": "GR-Con",
        "gap_rms_g": "Gap RMS gender",
        "gap_rms_r": "Gap RMS race",
    }
    tables = {}
    for name in ("published", "short"):
        rows = pd.read_csv(out / f"sensei-{name}.csv")
        by_method = rows.groupby("method", sort=False)
        tables[name] = [["method", *figures.values()]] + [
            [method, *(spread(part[figure]) for figure in figures)]
            for method, part in by_method
        ]
    return tables


def logloss(out):
    """Return the tables of the paper on fair log-loss."""
    shown = ("logistic regression", "fair log-loss", "reductions, 0.01", "reweighing",
             "Hardt")  # fmt: skip
    figures = ["error", "expected violation", "rounded violation"]
    short = {"demographic_parity": "DP", "equalized_odds": "EO"}
    lines = []
    for name, title in {
        "compas": "COMPAS, 5,278 rows",
        "compas-6167": "COMPAS, 6,167 rows, group a feature",
        "law": "Law School, 20,798 rows",
        "adult": "Adult, 45,222 rows",
    }.items():
        rows = pd.read_csv(out / f"logloss-{name}.csv")
        by = rows[rows["method"].isin(shown)].groupby(
            ["constraint", "method"], sort=False
        )
        for (constraint, method), part in by:
            cells = [spread(part[figure]) for figure in figures]
            lines.append([f"{title}, {short[constraint]}", method, *cells])
    head = ["table, constraint", "method", "error", "violation", "rounded violation"]
    return {"figure 4": [head, *lines]}


def ramp(out):
    """Return the table of the paper on randomised thresholds."""
    rows = pd.read_csv(out / "ramp.csv")
    methods = list(dict.fromkeys(rows["method"]))
    lines = []
    for (data, base), part in rows.groupby(["data", "base"], sort=False):
        cells = []
        for method in methods:
            mine = part[part["method"] == method]
            cells.append(f"{spread(mine['bias'])}, {spread(mine['accuracy'])}")
        lines.append([TITLES[data], base, *cells])
    head = [f"{method}: gap, accuracy" for method in methods]
    return {"table 1": [["data", "base model", *head], *lines]}


PAPERS = {
    "road": road,
    "noisy": noisy,
    "sensei": sensei,
    "logloss": logloss,
    "ramp": ramp,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paper", choices=list(PAPERS))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("build/results"))
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    data = options.data.resolve()
    places = {"data": data, "raw": data / "raw", "out": out}
    environment = {**os.environ, "FAIRDASH_DATA": str(data), "OMP_NUM_THREADS": "1"}
    for name, words in STEPS[options.paper].items():
        file, part = out / name, out / f"{name}.part"
        appended = file.suffix == ".jsonl"  # such a script goes on where it stopped
        if file.exists() and not appended:
            continue
        script, *arguments = words.split()
        given = {**places, "file": file if appended else part}
        arguments = [argument.format(**given) for argument in arguments]
        print(f"{script} {' '.join(arguments)}", flush=True)
        path = HERE / script
        subprocess.run(
            [sys.executable, path, *arguments],
            check=True,
            env=environment,
            cwd=path.parent,
        )
        if part.exists():
            part.rename(file)
        elif not appended:
            file.touch()
    tables = PAPERS[options.paper](out)
    text = json.dumps(tables, ensure_ascii=False, indent=1)
    (RESULTS / f"{options.paper}.json").write_text(text + "\n")
    runpy.run_path(str(HERE.parent / "docs" / "tables.py"), run_name="__main__")


if __name__ == "__main__":
    main()
