"""The bytes of a table, out of gzip or ZIP, and the bounds of a table.

A small file can name a billion cells. Reading it may cost the box its memory and time;
the bounds here are for the table that leaves the box.
"""

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from struct import error as StructError
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO

MOST_COLUMNS = 2_000  # each takes a page milliseconds from all sessions
MOST_ROWS = 50_000_000
MOST_CELLS = 200_000_000  # rows times columns, empty ones too
MOST_SHEET_CELLS = 20_000_000  # the same of workbooks, read cell by cell
LONGEST_NAME = 1_000  # characters of a column's name
LONGEST_CELL = 131_072  # characters; more is a quote that is never closed
MOST_UNPACKED = 4 << 30  # bytes; a small archive can be made to fill any disk
MOST_MEMORY = 2 << 30  # bytes of a table once it is read, as pages hold it
MOST_SHOWN, SHOWN_LETTERS = 8, 60  # of the tables that a message names
MOST_CHOICES = 100  # tables of an archive or sheets of a workbook that are offered
MOST_NESTED = 8  # archives in one another; one that holds itself has no end
MOST_TIMES = 250  # bytes unpacked for one packed; tables reach twenty
UNSUSPECTED = 64 << 20  # bytes that any file may unpack to
# bytes in memory for one of the file; columns of yes and no reach 64 as Parquet
MOST_MEMORY_TIMES = 100
UNSUSPECTED_MEMORY = 16 << 20  # bytes that any table may take in memory
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
WORKBOOK = "xl/workbook.xml"
# what zipfile raises on a damaged archive, a method it lacks or a password it needs
ZIP_ERRORS = (
    zipfile.BadZipFile, RuntimeError, EOFError, OSError, UnicodeDecodeError,
    StructError, zlib.error, LZMAError,
)  # fmt: skip
HEAD_BYTES = 1024
BLOCK = 1 << 20
TABLES = {
    ".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".test", ".parquet", ".xlsx",
    ".gz",
}  # fmt: skip
NOT_TABLES = (
    b"\xd0\xcf\x11\xe0",
    b"SQLite format 3",
    b"%PDF",
    b"ARROW1",
    b"BZh",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",
    b"PK\x05\x06",
    b"7z\xbc\xaf",
    b"Rar!",
    b"\x89HDF",
)


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
    name, what = source.name, "the columns and rows that are needed"
    if n_bytes > MOST_MEMORY:
        raise ValueError(
            f"{name} takes more than {MOST_MEMORY >> 30} GiB of memory once it is "
            f"read. Keep {what}."
        )
    if n_bytes > max(UNSUSPECTED_MEMORY, MOST_MEMORY_TIMES * source.size):
        raise ValueError(
            f"{name} takes more than {UNSUSPECTED_MEMORY >> 20} MiB of memory once it "
            f"is read, and more than {MOST_MEMORY_TIMES} times its {source.size:,} "
            f"bytes. Keep {what}, or save it without compression."
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
        self.place, self.names = place, tuple(names[:MOST_CHOICES])
        shown = [repr(name[:SHOWN_LETTERS]) for name in names[:MOST_SHOWN]]
        more = " …" if len(names) > len(shown) else ""
        super().__init__(f"{place}; choose one with `sheet`: {', '.join(shown)}{more}.")


Scratch = Callable[[], BinaryIO]


class _View(io.RawIOBase):
    def __init__(self, file: BinaryIO) -> None:
        self._descriptor, self._at = file.fileno(), 0

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


def unpack(source: Source, scratch: Scratch, depth: int = 0) -> Source:
    """Return the table within a gzip file or a ZIP archive, unpacked on disk.

    ``scratch`` returns a new file that goes when it is closed, ``depth`` is in how many
    others the file was found.
    """
    if not source.size:
        raise ValueError(f"{source.name} is empty; choose a file with a table.")
    head = source.head()
    if head.startswith(NOT_TABLES):
        raise ValueError(
            f"{source.name} is of a kind that is not read. Save the table as CSV, "
            "Excel (.xlsx) or Parquet, plain or in gzip or ZIP."
        )
    if head.startswith((GZIP, ZIP)) and not _is_workbook(source, head):
        if depth == MOST_NESTED:
            raise ValueError(
                f"{source.name} is an archive in more than {MOST_NESTED} others; save "
                "the table anew, unpacked."
            )
        inner = (_gunzip if head.startswith(GZIP) else _unzip)(source, scratch())
        return unpack(inner, scratch, depth + 1)
    return source


def _is_workbook(source: Source, head: bytes) -> bool:
    if not head.startswith(ZIP):
        return False
    with source.open() as file:
        try:
            return WORKBOOK in zipfile.ZipFile(file).namelist()
        except ZIP_ERRORS:
            return False


def _gunzip(source: Source, out: BinaryIO) -> Source:
    try:
        with source.open() as packed, gzip.open(packed) as file:
            _copy(file, out, source)
    except (OSError, EOFError, zlib.error) as error:
        message = f"{source.name} is a damaged gzip file; compress it again."
        raise ValueError(message) from error
    return Source(out, source.name, source.sheet, source.member)


def _unzip(source: Source, out: BinaryIO) -> Source:
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            members = [info.filename for info in archive.infolist() if _is_file(info)]
            if not members:
                raise ValueError(f"{source.name} holds no file; put the table into it.")
            tables = [m for m in members if PurePosixPath(m).suffix.lower() in TABLES]
            tables = tables or members
            if source.sheet in members:
                member, sheet = str(source.sheet), None
            elif len(tables) == 1:
                member, sheet = tables[0], source.sheet
            else:
                member, sheet = choose(tables, source, "tables"), None
            with archive.open(member) as packed:
                _copy(packed, out, source)
    except (KeyError, NotImplementedError, *ZIP_ERRORS) as error:
        raise ValueError(
            f"{source.name} is a damaged or locked ZIP file; compress it again with "
            "Deflate and without a password."
        ) from error
    return Source(out, f"{source.name}/{member}", sheet, member)


def _is_file(info: zipfile.ZipInfo) -> bool:
    name = PurePosixPath(info.filename).name  # without one zipfile asks in vain
    hidden = not name or name.startswith(".") or info.filename.startswith("__MACOSX/")
    return not (hidden or info.is_dir())


def choose(names: Sequence[str], source: Source, what: str) -> str:
    """Return the sheet or file that a source names, or the only one there is."""
    if source.sheet in names:
        return str(source.sheet)
    if len(names) == 1 and source.sheet is None:
        return names[0]
    but = "" if source.sheet is None else f", none of them {source.sheet!r}"
    raise SeveralTablesError(f"{source.name} holds {len(names)} {what}{but}", names)


def _copy(file: IO[bytes] | gzip.GzipFile, out: BinaryIO, source: Source) -> None:
    written = 0
    most = min(MOST_UNPACKED, max(UNSUSPECTED, MOST_TIMES * source.size))
    while block := file.read(BLOCK):
        written += len(block)
        if written > most:
            raise ValueError(
                f"{source.name} unpacks to more than {MOST_UNPACKED >> 30} GiB or to "
                f"{MOST_TIMES} times its size; save the table anew, unpacked."
            )
        out.write(block)
    out.flush()


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
