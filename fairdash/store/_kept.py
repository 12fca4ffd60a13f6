"""Everything that stands on the disk for somebody, to be looked through and removed."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import sqlalchemy as sa

from fairdash.store._database import DATASETS, RUN_TRIALS, RUNS, TABLES, Database


@dataclass(frozen=True)
class Kept:
    """A data set with its table and models, or a file that no data set is of.

    Attributes
    ----------
    kind : {"data set", "file"}
        A file holds scores or groups that a question needed.
    id : str
        What `Store.remove` takes.
    name : str
    n_rows, n_columns : int
        Of the table.
    n_runs : int
    n_bytes : int
        On the disk. A table of two data sets counts for each.
    created : float
        When it was added, in seconds since 1970.
    """

    kind: Literal["data set", "file"]
    id: str
    name: str
    n_rows: int
    n_columns: int
    n_runs: int
    n_bytes: int
    created: float


def kept(database: Database) -> list[Kept]:
    """Return all that is kept, newest first."""
    with database.reading() as connection:
        tables = {row.sha256: row for row in connection.execute(sa.select(TABLES))}
        datasets = connection.execute(sa.select(DATASETS)).all()
        runs = connection.execute(sa.select(RUNS.c.id, RUNS.c.dataset_id)).all()
        trained = sa.select(RUNS.c.dataset_id, RUN_TRIALS.c.key).distinct()
        trained = trained.join(RUN_TRIALS, RUN_TRIALS.c.run_id == RUNS.c.id)
        models = connection.execute(trained).all()
    n_runs, model_bytes = defaultdict[str, int](int), defaultdict[str, int](int)
    for run in runs:
        n_runs[run.dataset_id] += 1
    for model in models:
        folder = database.home / "artifacts" / model.key[:2] / model.key
        model_bytes[model.dataset_id] += _bytes(folder)
    table_bytes = {
        digest: _bytes(database.home / "tables" / digest[:2] / digest)
        for digest in tables
    }
    found = [
        Kept(
            "data set",
            data.id,
            data.name,
            tables[data.table_sha256].n_rows,
            tables[data.table_sha256].n_columns,
            n_runs[data.id],
            table_bytes[data.table_sha256] + model_bytes[data.id],
            data.created,
        )
        for data in datasets
    ]
    of_data = {data.table_sha256 for data in datasets}
    found += [
        Kept(
            "file",
            digest,
            table.name,
            table.n_rows,
            table.n_columns,
            0,
            table_bytes[digest],
            table.created,
        )
        for digest, table in tables.items()
        if digest not in of_data
    ]
    return sorted(found, key=lambda one: one.created, reverse=True)


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*"))
