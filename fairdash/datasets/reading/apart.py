"""Foreign tables read in the box: the same table, with limits, and nothing else."""

import codecs
import gzip
import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import pandas as pd

from fairdash import box
from fairdash.datasets.reading.convert import TableFile, convert_table
from fairdash.datasets.reading.format import ENCODINGS, TableFormat
from fairdash.datasets.reading.parquet import load_table
from fairdash.datasets.reading.source import (
    MOST_NESTED,
    MOST_UNPACKED,
    SeveralTablesError,
)

TASK = f"{__name__}:open_files"
N_SCRATCH = MOST_NESTED + 2  # archives in one another, and a copy as plain text
LEAST_SECONDS, MOST_SECONDS = 60, 900  # of a processor
SECONDS_A_MEGABYTE = 10
MEMORY = 4 << 30


def convert_apart(
    content: bytes,
    path: Path,
    watch: box.Watch = lambda seconds, waiting: None,
    *,
    name: str,
    sheet: str | None = None,
    table_format: TableFormat | None = None,
    owner: str = "",
    memory: int = MEMORY,
) -> TableFile:
    """Do what `convert_table` does, in the box.

    Parameters
    ----------
    content : bytes
        Of the file, which ``name`` is the name of.
    path : Path
        Where the table is written.
    watch, owner
        See `fairdash.box.run`.
    memory : int
        Bytes that the process may take.

    Raises
    ------
    ValueError
        As `convert_table` does, or when the process came to one of its limits.
    """
    request = {"name": name, "sheet": sheet, "format": _packed(table_format)}
    with _files(content, path.parent) as files, open(path, "w+b") as out:
        files = [files[0], out, *files[1:]]
        answer = _ask(request, files, watch, owner, memory)
    return TableFile(TableFormat(**answer.pop("table_format")), **answer)


def read_apart(
    content: bytes, folder: Path, *, name: str, owner: str = ""
) -> pd.DataFrame:
    """Do what `read_table` does, in the box; ``folder`` is for temporary files."""
    with TemporaryFile(dir=folder) as out, _files(content, folder) as files:
        request = {"name": name, "sheet": None, "format": None}
        _ask(request, [files[0], out, *files[1:]], owner=owner)
        return load_table(out)


def _packed(form: TableFormat | None) -> dict[str, Any] | None:
    return None if form is None else asdict(form)


@contextmanager
def _files(content: bytes, folder: Path) -> Iterator[list[BinaryIO]]:
    """Give a file of the content, and further empty ones."""
    with ExitStack() as stack:
        files = [
            stack.enter_context(TemporaryFile(dir=folder)) for _ in range(N_SCRATCH + 1)
        ]
        files[0].write(content)
        files[0].flush()
        yield list(files)


def _ask(
    request: dict[str, Any],
    files: Sequence[BinaryIO],
    watch: box.Watch = lambda seconds, waiting: None,
    owner: str = "",
    memory: int = MEMORY,
) -> dict[str, Any]:
    megabytes = files[0].seek(0, 2) / 1e6
    seconds = min(LEAST_SECONDS + int(SECONDS_A_MEGABYTE * megabytes), MOST_SECONDS)
    limits = box.Limits(memory=memory, seconds=seconds, written=MOST_UNPACKED)
    message = json.dumps(request).encode()
    try:
        content = box.run(TASK, message, files, owner=owner, limits=limits, watch=watch)
    except box.Ended as error:
        raise ValueError(
            f"{request['name']} was not read: {error}. Keep the columns and rows that "
            "are needed, and save the table anew."
        ) from None
    answer = json.loads(content)
    if "choices" in answer:
        raise SeveralTablesError(answer["found"], answer["choices"])
    return answer


@cache
def warm_up() -> None:
    """Read a table of each kind, since libraries load modules when they need them."""
    frame = pd.DataFrame({"day": pd.to_datetime(["2024-01-31"]), "town": ["Köln"]})
    workbook, archive, columns = io.BytesIO(), io.BytesIO(), io.BytesIO()
    frame.to_excel(workbook, index=False)
    frame.to_parquet(columns)
    text = "day,town\n2024-01-31,Köln\n"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("table.csv", f"# 2024\n{text}")
    for encoding in ENCODINGS:
        codecs.lookup(encoding)
    tables = [
        text.encode(),
        *(file.getvalue() for file in (workbook, archive, columns)),
        gzip.compress(text.encode()),
    ]
    for table in tables:
        convert_table(table, io.BytesIO())


def open_files(files: Sequence[BinaryIO]) -> box.Handler:
    """Return what reads the first of these files, in the box.

    The second is the table to write, the rest for scratch.
    """

    def handle(message: bytes) -> bytes:
        request = json.loads(message)
        try:
            table = convert_table(
                files[0],
                files[1],
                name=request["name"],
                sheet=request["sheet"],
                table_format=request["format"] and TableFormat(**request["format"]),
                scratch=iter(files[2:]).__next__,
            )
            answer = asdict(table)
        except SeveralTablesError as error:
            answer = {"found": error.found, "choices": error.names}
        return json.dumps(answer).encode()

    return handle
