"""The bytes of a table, out of gzip or ZIP, and the bounds of a table.

A small file can name a billion cells. Reading it may cost the box its memory and time;
the bounds here are for the table that leaves the box.
"""

import io
import os
import zipfile
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path
from struct import error as StructError
from tempfile import TemporaryFile
from typing import Any, BinaryIO

MOST_COLUMNS = 2_000  # each takes a page milliseconds from all sessions
MOST_ROWS = 50_000_000
MOST_CELLS = 200_000_000  # rows times columns, empty ones too
MOST_SHEET_CELLS = 20_000_000  # the same of workbooks, read cell by cell
LONGEST_NAME = 1_000  # characters of a column's name
LONGEST_CELL = 131_072  # characters; more is a quote that is never closed
MOST_UNPACKED = 4 << 30  # bytes; a small archive can be made to fill any disk
MOST_MEMORY = 2 << 30  # bytes of a table once it is read, as pages hold it
MOST_NAMED = 8  # tables in a message
NAMED_LETTERS = 60  # of each of them
MOST_CHOICES = 100  # tables of an archive or sheets of a workbook that are offered
MOST_NESTED = 8  # archives in one another; one that holds itself has no end
MOST_TIMES = 250  # bytes unpacked for one packed; tables reach twenty
UNSUSPECTED = 64 << 20  # bytes that any file may unpack to
# bytes in memory for one of the file; columns of yes and no reach 64 as Parquet
MOST_MEMORY_TIMES = 100
UNSUSPECTED_MEMORY = 16 << 20  # bytes that any table may take in memory
GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
# what zipfile raises on a damaged archive, a method it lacks or a password it needs
ZIP_ERRORS = (
    zipfile.BadZipFile, RuntimeError, EOFError, OSError, UnicodeDecodeError,
    StructError, zlib.error, LZMAError,
)  # fmt: skip
HEAD_BYTES = 1024
BLOCK = 1 << 20


def check_columns(name: str, header: Collection[str]) -> None:
    """Raise ValueError when a file has no columns, too many, or one without end."""
    longest = max(map(len, header), default=0)
    if longest > LONGEST_NAME:
        raise ValueError(
            f"{name} has a column whose name has {longest:,} characters, more than "
            f"{LONGEST_NAME:,}; rename it."
        )
    if not 0 < len(header) <= MOST_COLUMNS:
        raise ValueError(
            f"{name} has {len(header):,} columns, none or more than {MOST_COLUMNS:,}; "
            "keep those that are needed."
        )


def check_rows(
    source: "Source", n_rows: int, n_columns: int, most_cells: int = MOST_CELLS
) -> None:
    """Raise ValueError when a file has too many rows for its columns."""
    most = min(MOST_ROWS, most_cells // n_columns)
    if n_rows > most:
        raise ValueError(
            f"{source.name} holds {n_rows:,} rows of {n_columns:,} columns; more than "
            f"{most:,} of them are not read. Keep the columns and rows that are needed."
        )


def check_memory(source: "Source", n_bytes: int) -> None:
    """Raise ValueError when a table takes too much memory, of a page or for its file.

    ``n_bytes`` are those of its columns as pages hold them.
    """
    name = source.name
    needed = "the columns and rows that are needed"
    if n_bytes > MOST_MEMORY:
        raise ValueError(
            f"{name} takes more than {MOST_MEMORY >> 30} GiB of memory once it is "
            f"read. Keep {needed}."
        )
    if n_bytes > max(UNSUSPECTED_MEMORY, MOST_MEMORY_TIMES * source.size):
        raise ValueError(
            f"{name} takes more than {UNSUSPECTED_MEMORY >> 20} MiB of memory once it "
            f"is read, and more than {MOST_MEMORY_TIMES} times its {source.size:,} "
            f"bytes. Keep {needed}, or save it without compression."
        )


def check_cell(column: str, longest: Any) -> None:
    """Raise ValueError when the longest cell of a column is no cell."""
    if longest is not None and longest > LONGEST_CELL:
        raise ValueError(
            f"The column {column!r} has a cell of {longest:,} characters; close its "
            "quote, or exclude the column."
        )


class SeveralTablesError(ValueError):
    """A workbook or an archive holds several tables and none of them was chosen.

    ``names`` are the first sheets or files, to choose from with ``sheet``; ``place``
    says where.
    """

    def __init__(self, place: str, names: Sequence[str]) -> None:
        self.place = place
        self.names = tuple(names[:MOST_CHOICES])
        named = [repr(name[:NAMED_LETTERS]) for name in names[:MOST_NAMED]]
        more = " …" if len(names) > len(named) else ""
        super().__init__(f"{place}; choose one with `sheet`: {', '.join(named)}{more}.")


Scratch = Callable[[], BinaryIO]


class _View(io.RawIOBase):
    """A file read at a position of its own, so that views do not move one another."""

    def __init__(self, file: BinaryIO) -> None:
        self._descriptor = file.fileno()
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_bytes = os.preadv(self._descriptor, [buffer], self._at)
        self._at += n_bytes
        return n_bytes

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        size = os.fstat(self._descriptor).st_size
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at}.get(whence, size)
        return self._at


@dataclass(frozen=True)
class Source:
    """The content of a file, that can be read again and again.

    ``name`` is what messages call it, ``sheet`` is still to be found, and ``member`` is
    the file of an archive that this is.
    """

    content: bytes | Path | BinaryIO
    name: str
    sheet: str | None = None
    member: str | None = None

    @property
    def size(self) -> int:
        """Number of bytes."""
        if isinstance(self.content, bytes):
            return len(self.content)
        if isinstance(self.content, Path):
            return self.content.stat().st_size
        return os.fstat(self.content.fileno()).st_size

    def open(self) -> BinaryIO:
        """Return the content as a file at its beginning; memory is not copied."""
        if isinstance(self.content, bytes):
            return io.BytesIO(self.content)
        if isinstance(self.content, Path):
            return open(self.content, "rb")
        return io.BufferedReader(_View(self.content))

    def head(self, size: int = HEAD_BYTES) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            return file.read(size)


def choose(names: Sequence[str], source: Source, what: str) -> str:
    """Return the sheet or file that a source names, or the only one there is."""
    if source.sheet in names:
        return str(source.sheet)
    if len(names) == 1 and source.sheet is None:
        return names[0]
    but = "" if source.sheet is None else f", none of them {source.sheet!r}"
    raise SeveralTablesError(f"{source.name} holds {len(names)} {what}{but}", names)


def temporary(files: ExitStack) -> Scratch:
    """Return what makes files that are gone with a stack of contexts."""
    return lambda: files.enter_context(TemporaryFile())


def as_source(
    source: str | Path | bytes | BinaryIO, name: str | None, sheet: str | None
) -> Source:
    """Return a file as a source, by the name that messages call it."""
    if isinstance(source, str | Path):
        return Source(Path(source), name or Path(source).name, sheet)
    return Source(source, name or "The file", sheet)
