"""The bytes of a table: from a path or from memory, out of gzip or ZIP."""

import gzip
import io
import lzma
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from fairdash.datasets.reading.limits import (
    MOST_BESIDE,
    MOST_RECORD_CELLS,
    MOST_SHEET_ROWS,
    check_unpacked,
)

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


class SeveralTablesError(ValueError):
    """A workbook or an archive holds several tables and none of them was chosen.

    Attributes
    ----------
    names : tuple of str
        Sheets or files, to choose from with ``sheet``.
    """

    def __init__(self, message: str, names: list[str]) -> None:
        super().__init__(
            f"{message}; choose one with `sheet`: {', '.join(map(repr, names))}."
        )
        self.names = tuple(names)


@dataclass(frozen=True)
class Source:
    """The content of a file, that can be read again and again.

    Attributes
    ----------
    name : str
        What messages call it.
    sheet : str or None
        Sheet to read that is still to be found.
    member : str or None
        File of an archive that this is.
    """

    content: bytes | Path
    name: str
    sheet: str | None = None
    member: str | None = None

    @property
    def size(self) -> int:
        """Number of bytes."""
        if isinstance(self.content, bytes):
            return len(self.content)
        return self.content.stat().st_size

    def open(self) -> BinaryIO:
        """Return the content as a file at its beginning; memory is not copied."""
        if isinstance(self.content, bytes):
            return io.BytesIO(self.content)
        return open(self.content, "rb")

    def head(self, size: int = HEAD_BYTES) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            return file.read(size)


@contextmanager
def unpacked(source: Source, folder: Path | None = None) -> Iterator[Source]:
    """Give the table within a gzip file or a ZIP archive, unpacked on disk.

    Raises
    ------
    ValueError
        When it is empty, damaged, too large, an archive of several tables of which none
        was chosen, or a file of another kind that holds no table that can be read.
    """
    if not source.size:
        raise ValueError(f"{source.name} is empty; choose a file with a table.")
    head = source.head()
    for magic, what in NOT_TABLES.items():
        if head.startswith(magic):
            raise ValueError(f"{source.name} is {what}.")
    if head.startswith((GZIP, ZIP)) and not _is_workbook(source, head):
        with tempfile.TemporaryDirectory(dir=folder) as beside:
            unpack = _gunzip if head.startswith(GZIP) else _unzip
            inner = unpack(source, Path(beside) / "table")
            with unpacked(inner) as table:
                yield table
    else:
        yield source


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
    """Raise ValueError when a sheet has more cells, rows or text than one can have.

    What reads it takes a row at a time, however long that is.
    """
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


def _gunzip(source: Source, path: Path) -> Source:
    try:
        with source.open() as packed, gzip.open(packed) as file:
            _copy(file, path, source)
    except (OSError, EOFError, zlib.error) as error:
        message = f"{source.name} is a damaged gzip file ({error}); compress it again."
        raise ValueError(message) from error
    return Source(path, source.name, source.sheet, source.member)


def _unzip(source: Source, path: Path) -> Source:
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            known = [info.filename for info in archive.infolist() if _is_file(info)]
            member, sheet = _choose(known, source)
            with archive.open(member) as packed:
                _copy(packed, path, source)
    except NotImplementedError as error:
        message = (
            f"{source.name} cannot be unpacked ({error}); compress it with Deflate."
        )
        raise ValueError(message) from error
    except ZIP_ERRORS as error:
        what = f"a damaged ZIP file ({error}); compress it again."
        if "password" in str(error):
            what = "locked; make a ZIP without a password."
        raise ValueError(f"{source.name} is {what}") from error
    return Source(path, f"{source.name}/{member}", sheet, member)


def _is_file(info: zipfile.ZipInfo) -> bool:
    name = PurePosixPath(info.filename).name
    hidden = name.startswith(".") or info.filename.startswith("__MACOSX/")
    return not (info.is_dir() or hidden)


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


def _copy(file: IO[bytes] | gzip.GzipFile, path: Path, source: Source) -> None:
    written = 0
    with open(path, "wb") as out:
        while block := file.read(BLOCK):
            written += len(block)
            check_unpacked(source.name, written, source.size)
            out.write(block)
