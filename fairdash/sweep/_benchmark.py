"""A benchmark: methods × tables × seeds, and its results as one long table."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairdash._validation import parsed
from fairdash.datasets import Dataset, split
from fairdash.sweep._spec import SweepSpec
from fairdash.sweep.planning import RESULTS_VERSION

_KEYS = ["table", "table_digest", "split_digest", "method", "params", "seed"]
_COLUMNS = [*_KEYS, "part", "measure", "value", "low", "high", "version"]
_PARTS = ("validation", "test")


def benchmark_specs(source: Path) -> list[SweepSpec] | None:
    """Return the sweep of each table of a benchmark, None for any other configuration.

    A benchmark is a sweep whose ``tables`` are a list of what ``data`` is. Raises
    ValueError as `SweepSpec.from_yaml` does.
    """
    content = parsed(source.read_bytes(), "YAML")
    if not isinstance(content, dict) or "tables" not in content:
        return None
    tables = content.pop("tables")
    if not isinstance(tables, list) or not tables or "data" in content:
        raise ValueError("`tables` must be a list of data, in place of `data`.")
    specs = [
        SweepSpec.of_content({**content, "data": data}, source.parent)
        for data in tables
    ]
    names = [spec.data.name for spec in specs]
    if len(set(names)) < len(names):
        raise ValueError(f"Two tables have one name; give each a `name`: {names}.")
    return specs


def split_digest(dataset: Dataset, seed: int) -> str:
    """Return the sha256 of a split: the rows of each part, as 64-bit integers."""
    digest = hashlib.sha256()
    for rows in split(dataset, seed):
        digest.update(len(rows).to_bytes(8, "little"))
        digest.update(dataset.row_number[rows].astype("<i8").tobytes())
    return digest.hexdigest()


def long_table(
    dataset: Dataset,
    name: str,
    trials: Iterable[tuple[str, int, Mapping[str, Any], Mapping[str, Any]]],
) -> pd.DataFrame:
    """Return the results of a table: a row for each model, part and measure.

    Nothing in it depends on when or how fast it was made.

    Parameters
    ----------
    trials : iterable of (method, seed, parameters, metrics)
        Metrics by name, such as "test_accuracy" and its ends "test_accuracy_low".

    Returns
    -------
    DataFrame: table, table_digest (sha256 of table and roles), split_digest, method,
    params (JSON), seed, part ("validation" or "test"), measure, value, low, high
    (missing without an interval), version (of results)
    """
    digests: dict[int, str] = {}
    rows = []
    for method, seed, params, metrics in trials:
        if seed not in digests:
            digests[seed] = split_digest(dataset, seed)
        shown = json.dumps(dict(params), sort_keys=True)
        model = (name, dataset.key, digests[seed], method, shown, seed)
        for metric, value in metrics.items():
            part, _, measure = metric.partition("_")
            if part not in _PARTS or measure.endswith(("_low", "_high")):
                continue
            ends = (metrics.get(f"{metric}_{end}", np.nan) for end in ("low", "high"))
            rows.append((*model, part, measure, value, *ends, RESULTS_VERSION))
    table = pd.DataFrame(rows, columns=_COLUMNS)
    return table.sort_values([*_KEYS, "part", "measure"], ignore_index=True)
