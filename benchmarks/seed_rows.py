"""Rows of an experiment, seed after seed, in a file that a later run goes on with."""

from pathlib import Path

import pandas as pd


class SeedRows:
    """Rows with a column ``seed``; without a path they stay in memory.

    Attributes
    ----------
    path : Path or None
        CSV file, written anew after each seed.
    frame : DataFrame
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        exists = path is not None and path.exists()
        self.frame = pd.read_csv(path) if exists else pd.DataFrame(columns=["seed"])

    def of(self, n_seeds: int, **labels: str) -> pd.DataFrame:
        """Return the rows of the first seeds, and of these values of other columns."""
        rows = self.frame[self.frame["seed"] < n_seeds]
        for column, value in labels.items():
            rows = rows[rows[column] == value] if column in rows else rows[:0]
        return rows.reset_index(drop=True)

    def missing(self, n_seeds: int, **labels: str) -> list[int]:
        """Return those of the first seeds that have no rows yet."""
        have = set(self.of(n_seeds, **labels)["seed"])
        return [seed for seed in range(n_seeds) if seed not in have]

    def add(self, rows: pd.DataFrame) -> None:
        """Add the rows of a seed, and write the file."""
        parts = [self.frame, rows] if len(self.frame) else [rows]
        self.frame = pd.concat(parts, ignore_index=True)
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.frame.to_csv(self.path, index=False)
