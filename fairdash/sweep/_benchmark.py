"""A benchmark: methods × tables × seeds, and its results as one long table."""

import hashlib
from pathlib import Path

import pandas as pd

from fairdash._parsing import check_entries, parsed
from fairdash.datasets import Dataset, split
from fairdash.sweep._seeds import DRAWN
from fairdash.sweep._spec import SweepSpec


def benchmark_specs(source: Path) -> list[SweepSpec]:
    """Return the sweep of each table of a benchmark; none of another configuration.

    A benchmark is a sweep whose ``tables`` are a list of what ``data`` is. Raises
    ValueError as `SweepSpec.from_yaml` does.
    """
    content = parsed(source.read_bytes(), "YAML")
    if not isinstance(content, dict) or "tables" not in content:
        return []
    tables = content.pop("tables")
    if not isinstance(tables, list) or not tables or "data" in content:
        raise ValueError("`tables` must be a list of data, in place of `data`.")
    check_entries("tables", tables)
    return [
        SweepSpec.of_content({**content, "data": data}, source.parent)
        for data in tables
    ]


def split_digest(dataset: Dataset, seed: int) -> str:
    """Return the sha256 of a split: number and rows of each part, 64-bit integers."""
    digest = hashlib.sha256()
    for rows in split(dataset, seed):
        digest.update(len(rows).to_bytes(8, "little"))
        digest.update(dataset.row_number[rows].astype("<i8").tobytes())
    return digest.hexdigest()


def long_table(dataset: Dataset, name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each model and measure, of the table of finished trials.

    Columns: table, table_digest (sha256 of table and roles), split_digest, key, method,
    seed, parameters, measure ("test_accuracy", "test_accuracy_low" and so on), value.
    Nothing in it depends on when or how fast it was made.
    """
    measured = [c for c in rows if str(c).startswith(("validation_", "test_"))]
    models = [c for c in rows if c not in (*measured, "seconds", DRAWN)]
    table = rows.melt(models, measured, var_name="measure")
    digests = {seed: split_digest(dataset, seed) for seed in rows["seed"].unique()}
    table.insert(0, "table", name)
    table.insert(1, "table_digest", dataset.key)
    table.insert(2, "split_digest", table["seed"].map(digests))
    return table
