"""The identity of a table: the sha256 of its file, and of how it is read if chosen."""

from hashlib import file_digest, sha256
from pathlib import Path
from typing import NamedTuple

from fairdash.datasets.reading.format import TableFormat


class Reading(NamedTuple):
    """What `read_table` was told of a file beside its content."""

    sheet: str | None = None
    table_format: TableFormat | None = None


def table_digest(
    source: str | Path | bytes,
    sheet: str | None = None,
    table_format: TableFormat | None = None,
) -> str:
    """Return the sha256 of a file, and of how it is read where that was chosen."""
    if isinstance(source, bytes):
        digest = sha256(source).hexdigest()
    else:
        with open(source, "rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
    if sheet is None and table_format is None:
        return digest
    return sha256(f"{digest} {sheet!r} {table_format!r}".encode()).hexdigest()


def find_reading(
    digest: str, source: str | Path | bytes, table_format: TableFormat | None
) -> Reading | None:
    """Return how a file was read to make the table of a digest, None if it was not.

    Parameters
    ----------
    digest : str
        Of `table_digest`.
    source : str, Path or bytes
        A path, or the content of the file.
    table_format : TableFormat, optional
        How the table was read.
    """
    sheet = table_format.sheet if table_format else None
    ways = (
        Reading(),
        Reading(sheet),
        Reading(None, table_format),
        Reading(sheet, table_format),
    )
    return next((way for way in ways if digest == table_digest(source, *way)), None)


def check_reading(
    digest: str, source: str | Path | bytes, table_format: TableFormat | None, name: str
) -> Reading:
    """Return how a file was read to make the table of a digest.

    Raises
    ------
    ValueError
        When there is no such file, or it is another one.
    """
    if not isinstance(source, bytes) and not Path(source).is_file():
        raise ValueError(f"There is no file {str(source)!r}.")
    reading = find_reading(digest, source, table_format)
    if reading is None:
        found = table_digest(source)
        message = f"{name} is not the table asked for: its sha256 is {found[:12]}…"
        raise ValueError(f"{message}, not {digest[:12]}…; give the original file.")
    return reading
