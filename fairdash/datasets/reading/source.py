"""The bytes of a table, out of gzip or ZIP, and bounds that are kept while it is read.

The bounds lie far above any table of people. A file of a kilobyte can name a billion
cells, so nothing is believed that a file says of itself, and nothing is read to the end
before it is counted.
"""

import gzip
import io
import lzma
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO

MOST_COLUMNS = 2_000  # each takes a page milliseconds from all sessions
MOST_ROWS = 50_000_000
MOST_CELLS = 200_000_000  # rows times columns, empty ones too
MOST_RECORD_CELLS = 20_000_000  # the same of workbooks and JSON, read cell by cell
MOST_SHEET_ROWS = 1 << 20  # of Excel: a row is numbered, so a gap may have no end
LONGEST_NAME = 1_000  # characters of a column's name
LONGEST_CELL = 131_072  # characters; more is a quote that is never closed
MOST_UNPACKED = 4 << 30  # bytes; a small archive can be made to fill any disk
MOST_TEXT = 1 << 30  # bytes of the texts of a Parquet file, each cell counted
MOST_BESIDE = 128 << 20  # bytes of what of a workbook is kept in memory
MOST_SHOWN, SHOWN_LETTERS = 8, 60  # of them that a message names
MOST_CHOICES = 100  # tables of an archive or sheets of a workbook that are offered
MOST_NESTED = 8  # archives in one another; one that holds itself has no end
MOST_TIMES = 250  # as many bytes as in the archive; tables reach twenty
MOST_TEXT_TIMES = 1_000  # the same of the texts of a Parquet file
UNSUSPECTED = 64 << 20  # bytes that any archive may unpack to
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
WORKBOOK = "xl/workbook.xml"
SHEETS = "xl/worksheets/"  # read row by row; all else of a workbook is kept in memory
CELL, ROW, TAG = re.compile(rb"<c[ >/]"), re.compile(rb"<row[ >/]"), b"<"
# what zipfile raises on a damaged archive, a method it lacks or a password it needs
ZIP_ERRORS = (
    zipfile.BadZipFile,
    RuntimeError,
    EOFError,
    OSError,
    UnicodeDecodeError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
)
HEAD_BYTES = 1024
BLOCK = 1 << 20
TABLES = {
    ".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".test", ".json", ".jsonl",
    ".ndjson", ".parquet", ".xlsx", ".gz",
}  # fmt: skip
NOT_TABLES = {
    b"\xd0\xcf\x11\xe0": "an old Excel file (.xls); save it as .xlsx",
    b"SQLite format 3": "a database; export the table as CSV",
    b"%PDF": "a PDF; export the table as CSV",
    b"ARROW1": "an Arrow file; save the table as Parquet",
    b"BZh": "compressed with bzip2; compress it with gzip",
    b"\xfd7zXZ": "compressed with xz; compress it with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; compress it with gzip",
    b"PK\x05\x06": "an empty ZIP archive; put the table into it",
    b"7z\xbc\xaf": "a 7z archive; make it a ZIP archive",
    b"Rar!": "a RAR archive; make it a ZIP archive",
    b"\x89HDF": "an HDF5 file; save the table as Parquet",
}


def check_columns(name: str, header: Collection[str]) -> None:
    """Raise ValueError when a file has no columns, too many, or one without end."""
    n_columns = len(header)
    longest = max(map(len, header), default=0)
    if longest > LONGEST_NAME:
        raise ValueError(
            f"{name} has a column whose name has {longest:,} characters, more than "
            f"{LONGEST_NAME:,}; rename it."
        )
    if not n_columns:
        raise ValueError(f"{name} has no columns; choose a file with columns.")
    if n_columns > MOST_COLUMNS:
        raise ValueError(
            f"{name} has {n_columns:,} columns, more than {MOST_COLUMNS:,}; keep those "
            "that are needed."
        )


def check_rows(
    name: str, n_rows: int, n_columns: int, most_cells: int = MOST_CELLS
) -> None:
    """Raise ValueError when a file has too many rows for its columns."""
    most = min(MOST_ROWS, most_cells // n_columns)
    if n_rows > most:
        way = "keep the columns and rows that are needed"
        if most_cells < MOST_CELLS:
            way += ", or save the table as CSV"
        raise ValueError(
            f"{name} has more than {most:,} rows of {n_columns:,} columns, the most "
            f"that are read; {way}."
        )


def check_unpacked(name: str, unpacked: int, packed: int) -> None:
    """Raise ValueError when an archive unpacks to more than a table can be."""
    if unpacked > MOST_UNPACKED:
        raise ValueError(
            f"{name} unpacks to more than {MOST_UNPACKED >> 30} GiB; keep the columns "
            "and rows that are needed."
        )
    if unpacked > UNSUSPECTED and unpacked > MOST_TIMES * packed:
        raise ValueError(
            f"{name} unpacks to more than {MOST_TIMES} times its size, as no table "
            "does; save the table anew, unpacked."
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

    ``names`` are the first sheets or files, to choose from with ``sheet``; ``found``
    says where.
    """

    def __init__(self, found: str, names: Sequence[str]) -> None:
        offered = tuple(names[:MOST_CHOICES])
        if len(names) > len(offered):
            found += f" (the first {len(offered)} are listed)"
        shown = [name[:SHOWN_LETTERS] for name in offered[:MOST_SHOWN]]
        more = " …" if len(names) > len(shown) else ""
        super().__init__(
            f"{found}; choose one with `sheet`: {', '.join(map(repr, shown))}{more}."
        )
        self.found, self.names = found, offered


Scratch = Callable[[], BinaryIO]


class _View(io.RawIOBase):
    """A file from its beginning, whoever else reads it."""

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
    for magic, what in NOT_TABLES.items():
        if head.startswith(magic):
            raise ValueError(f"{source.name} is {what}.")
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
            sizes = {i.filename: i.file_size for i in zipfile.ZipFile(file).infolist()}
        except ZIP_ERRORS:
            return False
    if WORKBOOK not in sizes:
        return False
    beside = sum(n for name, n in sizes.items() if not name.startswith(SHEETS))
    if beside > MOST_BESIDE:
        raise ValueError(
            f"{source.name} unpacks to more than {MOST_BESIDE >> 20} MiB of texts; "
            "save the table as CSV."
        )
    check_unpacked(source.name, sum(sizes.values()), source.size)
    with source.open() as file, zipfile.ZipFile(file) as archive:
        for name in sizes:
            if name.startswith(SHEETS):
                _check_sheet(archive, name, source.name)
    return True


def _check_sheet(archive: zipfile.ZipFile, sheet: str, name: str) -> None:
    """Raise ValueError when a sheet has more cells, rows or text than one can have."""
    n_cells = n_rows = 0
    try:
        with archive.open(sheet) as file:
            while block := file.read(BLOCK):
                n_cells += len(CELL.findall(block))
                n_rows += len(ROW.findall(block))
                endless = len(block) == BLOCK and TAG not in block
                if n_cells > MOST_RECORD_CELLS or n_rows > MOST_SHEET_ROWS or endless:
                    raise ValueError(
                        f"{name} has a sheet of more than {MOST_SHEET_ROWS:,} rows or "
                        f"{MOST_RECORD_CELLS:,} cells, or a cell of more than "
                        f"{BLOCK:,} characters; save the table as CSV."
                    )
    except ZIP_ERRORS:
        return  # reading says so, if it is the sheet that is asked for


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
            known = [info.filename for info in archive.infolist() if _is_file(info)]
            member, sheet = _choose(known, source)
            with archive.open(member) as packed:
                _copy(packed, out, source)
    except NotImplementedError as error:
        message = f"{source.name} cannot be unpacked; compress it with Deflate."
        raise ValueError(message) from error
    except (KeyError, *ZIP_ERRORS) as error:
        what = "a damaged ZIP file; compress it again."
        if "password" in str(error):
            what = "locked; make a ZIP without a password."
        raise ValueError(f"{source.name} is {what}") from error
    return Source(out, f"{source.name}/{member}", sheet, member)


def _is_file(info: zipfile.ZipInfo) -> bool:
    name = PurePosixPath(info.filename).name  # without one zipfile asks in vain
    hidden = not name or name.startswith(".") or info.filename.startswith("__MACOSX/")
    return not (hidden or info.is_dir())


def _choose(members: list[str], source: Source) -> tuple[str, str | None]:
    """Return the file to read, and the sheet within it if that is still to be found."""
    if not members:
        raise ValueError(f"{source.name} holds no file; put the table into it.")
    if source.sheet in members:
        return str(source.sheet), None
    tables = [m for m in members if PurePosixPath(m).suffix.lower() in TABLES]
    tables = tables or members
    if len(tables) == 1:
        return tables[0], source.sheet
    but = "" if source.sheet is None else f", none of them {source.sheet!r}"
    raise SeveralTablesError(f"{source.name} holds {len(tables)} tables{but}", tables)


def _copy(file: IO[bytes] | gzip.GzipFile, out: BinaryIO, source: Source) -> None:
    written = 0
    while block := file.read(BLOCK):
        written += len(block)
        check_unpacked(source.name, written, source.size)
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
