"""Overviews made in the box: another process spends the time, and bears the risk."""

import json
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pandas as pd
import pyarrow as pa

from fairdash import box
from fairdash.datasets.overviews.overview import Overview, overview_of, read_overview
from fairdash.datasets.reading.parquet import load_table, write_table
from fairdash.datasets.table_notes import TableNotes

TASK = f"{__name__}:open_table"
SECONDS = 300  # of a processor
MEMORY = 4 << 30
MOST_BYTES = 32 << 20  # 2,000 names of 1,000 letters take 6 MB


def overview_apart(
    path: Path,
    file: str,
    watch: box.Watch = lambda seconds, waiting: None,
    *,
    owner: str = "",
) -> Overview | None:
    """Return what `overview_of` says of a table that was read, made in the box.

    Parameters
    ----------
    path : Path
        Of the table, as `fairdash.datasets.reading.convert_apart` wrote it.
    file : str
        Name of the file that it was read from.
    watch, owner
        See `fairdash.box.run`.

    Returns
    -------
    Overview or None
        None where the process came to one of its limits, or answered with something
        else: the table can be used all the same.
    """
    limits = box.Limits(memory=MEMORY, seconds=SECONDS)
    message = json.dumps({"file": file}).encode()
    try:
        with (
            open(path, "rb") as table,
            box.Child(TASK, [table], limits, owner=owner, single=True) as child,
        ):
            content = child.ask(message, watch, most_bytes=MOST_BYTES)
    except (box.Ended, box.Refused):
        return None
    return read_overview(bytes(content), file)


@cache
def warm_up() -> None:
    """Look at a small table, as libraries load modules when they need them."""
    frame = _people()
    file = BytesIO()
    names = list(map(str, frame))
    write_table([pa.array(frame[name]) for name in names], names, file, TableNotes())
    file.seek(0)
    overview_of(load_table(file), "people.csv")


def _people() -> pd.DataFrame:
    """Return a table with a column of each kind that a guess or a check looks at."""
    numbers = range(200)
    return pd.DataFrame(
        {
            "sex": ["woman", "man"] * 100,
            "age": [20 + number % 60 for number in numbers],
            "hired": [number % 3 == 0 for number in numbers],
            "town": ["Köln", "köln ", "?", "Bonn"] * 50,
            "income": [f"{number},{number % 10}" for number in numbers],
            "band": ["20-29", "30-39"] * 100,
            "started": ["2024-01-31", "2024-02-01"] * 100,
            "seen": pd.to_datetime(["2024-01-31", "2024-02-01"] * 100),
            "black": [number % 2 for number in numbers],
            "white": [1 - number % 2 for number in numbers],
            "weight": [1 + number / 7 for number in numbers],
            "person id": [number // 2 for number in numbers],
            "score": [number / 200 for number in numbers],
            "remark": [f"some words of the person {number}" for number in numbers],
        }
    )


def open_table(files: Sequence[BinaryIO]) -> box.Handler:
    """Return what looks at the first of these files, in the box."""

    def handle(message: bytes) -> bytes:
        request = json.loads(message)
        overview = overview_of(load_table(files[0]), request["file"])
        return overview.model_dump_json().encode()

    return handle
