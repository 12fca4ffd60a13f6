"""A benchmark: methods × tables × seeds, and its results as one long table."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from fairdash._validation import parsed
from fairdash.datasets import Dataset, split
from fairdash.sweep._spec import SweepSpec
from fairdash.sweep.planning import RESULTS_VERSION

_KEYS = ["table", "table_digest", "split_digest", "method", "params", "seed"]
_COLUMNS = [*_KEYS, "part", "measure", "value", "low", "high", "version"]


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
    contents = ({**content, "data": data} for data in tables)
    specs = [SweepSpec.of_content(each, source.parent) for each in contents]
    names = [spec.data.name for spec in specs]
    if len(set(names)) < len(names):
        raise ValueError(f"Two tables have one name; give each a `name`: {names}.")
    return specs


def split_digest(dataset: Dataset, seed: int) -> str:
    """Return the sha256 of a split: number and rows of each part, 64-bit integers."""
    digest = hashlib.sha256()
    for rows in split(dataset, seed):
        digest.update(len(rows).to_bytes(8, "little"))
        digest.update(dataset.row_number[rows].astype("<i8").tobytes())
    return digest.hexdigest()


def long_table(dataset: Dataset, name: str, trials: Iterable[Any]) -> pd.DataFrame:
    """Return the results of a table: a row for each model, part and measure.

    Nothing in it depends on when or how fast it was made. ``trials`` have a method, a
    seed, params and a row: metrics by name, "test_accuracy" and its ends
    "test_accuracy_low" and "_high".

    Returns
    -------
    DataFrame: table, table_digest (sha256 of table and roles), split_digest, method,
    params (JSON), seed, part ("validation" or "test"), measure, value, low, high
    (missing without an interval), version (of results)
    """
    rows = []
    for trial in trials:
        params = json.dumps(dict(trial.params), sort_keys=True)
        digests = name, dataset.key, split_digest(dataset, trial.seed)
        model = (*digests, trial.method, params, trial.seed)
        metrics = trial.row or {}
        for metric, value in metrics.items():
            if not metric.endswith(("_low", "_high")):
                ends = metrics.get(f"{metric}_low"), metrics.get(f"{metric}_high")
                part, _, measure = metric.partition("_")
                rows.append((*model, part, measure, value, *ends, RESULTS_VERSION))
    table = pd.DataFrame(rows, columns=_COLUMNS)
    return table.sort_values([*_KEYS, "part", "measure"], ignore_index=True)
