"""A table of any number of rows, with a bias planted where nobody looks.

Thirty columns: an id, a date, an outcome, an ethnicity, sex and age for the subgroups,
eight further categories, sixteen numbers. White applicants and others get the same
decisions, except for women under 30: there, others have odds e^1.5 times lower.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

CHUNK = 250_000
N_CATEGORIES, N_COUNTS, N_SCORES = 8, 12, 4
ETHNICITIES, SHARES = np.array(["White", "Black", "Asian"]), (0.6, 0.25, 0.15)
UNDER, PLANTED = 30, 1.5


def make_files(folder, n_rows):
    """Write table.csv and table.parquet into a folder; return their paths."""
    as_csv, as_parquet = Path(folder) / "table.csv", Path(folder) / "table.parquet"
    rng = np.random.default_rng(0)
    schema = _chunk(rng, 0, 1).schema
    with (
        csv.CSVWriter(as_csv, schema, write_options=_PLAIN) as plain,
        parquet.ParquetWriter(as_parquet, schema) as packed,
    ):
        for start in range(0, n_rows, CHUNK):
            rows = _chunk(rng, start, min(CHUNK, n_rows - start))
            plain.write_table(rows)
            packed.write_table(rows)
    return as_csv, as_parquet


_PLAIN = csv.WriteOptions(quoting_style="none")


def _chunk(rng, start, n):
    """Return some rows as a table of Arrow."""
    ethnicity = rng.choice(len(ETHNICITIES), n, p=SHARES)
    female, age = rng.random(n) < 0.5, rng.integers(18, 80, n)
    counts = rng.integers(0, 10, (N_COUNTS, n))
    scores = rng.normal(size=(N_SCORES, n)).clip(-3, 3).round(1)
    planted = PLANTED * (female & (age < UNDER) & (ethnicity > 0))
    logit = (counts[:4].sum(0) - 18) / 5 + scores[:2].sum(0) - planted
    day = np.datetime64("2024-01-01") + rng.integers(0, 730, n)
    columns = {
        "id": np.arange(start, start + n),
        "applied": day.astype("datetime64[D]").astype(str),
        "ethnicity": ETHNICITIES[ethnicity],
        "sex": np.where(female, "F", "M"),
        "age": age,
    }
    for i in range(N_CATEGORIES):
        columns[f"place{i}"] = np.array([*"abcdefgh"])[rng.integers(0, 8, n)]
    columns |= {f"count{i}": counts[i] for i in range(N_COUNTS)}
    columns |= {f"score{i}": scores[i] for i in range(N_SCORES)}
    columns["approved"] = (logit + rng.logistic(size=n) > 0).astype(np.int64)
    return pa.table(columns)
