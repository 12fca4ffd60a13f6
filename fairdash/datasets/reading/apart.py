"""Foreign tables read in the box: the same table, with limits, and nothing else."""

import codecs
import gzip
import io
import json
import zipfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO
from zoneinfo import ZoneInfo, available_timezones

import pyarrow as pa

from fairdash import box
from fairdash.datasets.reading import registry, source
from fairdash.datasets.reading.convert import TableFile, convert_table
from fairdash.datasets.reading.format import ENCODINGS, TableFormat

TASK = f"{__name__}:open_files"
N_SCRATCH = source.MOST_NESTED + 2  # archives in one another, and a copy as plain text
LEAST_SECONDS = 60  # of a processor
MOST_SECONDS = 900
SECONDS_A_MEGABYTE = 10
MEMORY = 4 << 30
_zones: list[ZoneInfo] = []  # held, since a box can open no file to read one


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
        Bytes of the file that is called ``name``.
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
    seconds = min(
        LEAST_SECONDS + int(SECONDS_A_MEGABYTE * len(content) / 1e6), MOST_SECONDS
    )
    limits = box.Limits(memory=memory, seconds=seconds, written=source.MOST_UNPACKED)
    form = None if table_format is None else asdict(table_format)
    message = json.dumps({"name": name, "sheet": sheet, "table_format": form}).encode()
    with ExitStack() as stack:
        files: list[BinaryIO] = [
            stack.enter_context(TemporaryFile(dir=path.parent))
            for _ in range(N_SCRATCH + 1)
        ]
        files[0].write(content)
        files[0].flush()
        files.insert(1, stack.enter_context(open(path, "w+b")))
        try:
            answer = json.loads(
                box.run(TASK, message, files, owner=owner, limits=limits, watch=watch)
            )
        except box.Ended as error:
            raise ValueError(
                f"{name} was not read: {error}. Keep the columns and rows that are "
                "needed, and save the table anew."
            ) from None
    if "choices" in answer:
        raise source.SeveralTablesError(answer["place"], answer["choices"])
    return TableFile(TableFormat(**answer.pop("table_format")), **answer)


@cache
def warm_up() -> None:
    """Read small files of each kind, as libraries load modules when they need them."""
    _zones.extend(map(ZoneInfo, sorted(available_timezones())))
    for encoding in ENCODINGS:
        codecs.lookup(encoding)
    archive = io.BytesIO()
    text = "day,town\n2024-01-31,Köln\n"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("table.csv", text)
    packed = pa.compress(text.encode(), "zstd", asbytes=True)
    tables = [archive.getvalue(), gzip.compress(text.encode()), packed]
    for table in (*registry.small_files(), *tables):
        convert_table(table, io.BytesIO())


def open_files(files: Sequence[BinaryIO]) -> box.Handler:
    """Return what reads the first of these files, in the box.

    The second is the table to write, the rest for scratch.
    """

    def handle(message: bytes) -> bytes:
        request = json.loads(message)
        form = request.pop("table_format")
        request["table_format"] = form and TableFormat(**form)
        scratch = iter(files[2:]).__next__
        try:
            answer = asdict(convert_table(*files[:2], **request, scratch=scratch))
        except source.SeveralTablesError as error:
            answer = {"place": error.place, "choices": error.names}
        return json.dumps(answer).encode()

    return handle
