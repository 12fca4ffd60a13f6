"""The table within a packed file: gzip, Zstandard and ZIP, within bounds."""

import gzip
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import IO, BinaryIO

from fairdash._lazy import load
from fairdash.datasets.reading.registry import reader_of, suffixes
from fairdash.datasets.reading.source import (
    BLOCK,
    GZIP,
    MOST_NESTED,
    MOST_TIMES,
    MOST_UNPACKED,
    UNSUSPECTED,
    ZIP,
    ZIP_ERRORS,
    Scratch,
    Source,
    choose,
)

ZSTD = b"\x28\xb5\x2f\xfd"
PACKED = (".gz", ".zst", ".zip")  # endings of names
NOT_TABLES = (
    b"SQLite format 3",
    b"%PDF",
    b"FEA1",
    b"BZh",
    b"\xfd7zXZ",
    b"PK\x05\x06",
    b"7z\xbc\xaf",
    b"Rar!",
    b"\x89HDF",
)


def upload_suffixes() -> tuple[str, ...]:
    """Return the endings of names that are read, plain or packed: "csv", "gz"."""
    return tuple(ending.removeprefix(".") for ending in (*suffixes(), *PACKED))


def unpack(source: Source, scratch: Scratch, depth: int = 0) -> Source:
    """Return the table within a packed file, unpacked on disk.

    ``scratch`` returns a new file that goes when it is closed, ``depth`` is in how many
    others the file was found.
    """
    if not source.size:
        raise ValueError(f"{source.name} is empty; choose a file with a table.")
    head = source.head()
    if head.startswith(NOT_TABLES):
        raise ValueError(
            f"{source.name} is of a kind that is not read. Save the table as CSV, "
            "Excel (.xlsx) or Parquet, plain or in gzip, ZIP or Zstandard."
        )
    packers = {GZIP: _gunzip, ZSTD: _decompress, ZIP: _unzip}
    unpack_one = next((f for mark, f in packers.items() if head.startswith(mark)), None)
    if unpack_one is None or reader_of(source).kind != "csv":
        return source  # a workbook is a ZIP archive too
    if depth == MOST_NESTED:
        raise ValueError(
            f"{source.name} is an archive in more than {MOST_NESTED} others; save "
            "the table anew, unpacked."
        )
    return unpack(unpack_one(source, scratch()), scratch, depth + 1)


def _gunzip(source: Source, out: BinaryIO) -> Source:
    try:
        with source.open() as packed, gzip.open(packed) as file:
            _copy(file, out, source)
    except (OSError, EOFError, zlib.error) as error:
        message = f"{source.name} is a damaged gzip file; compress it again."
        raise ValueError(message) from error
    return Source(out, source.name, source.sheet, source.member)


def _decompress(source: Source, out: BinaryIO) -> Source:
    pa = load("pyarrow")
    try:
        with (
            source.open() as packed,
            pa.CompressedInputStream(pa.PythonFile(packed, "r"), "zstd") as file,
        ):
            _copy(file, out, source)
    except (OSError, pa.ArrowException) as error:
        message = f"{source.name} is a damaged Zstandard file; compress it again."
        raise ValueError(message) from error
    return Source(out, source.name, source.sheet, source.member)


def _unzip(source: Source, out: BinaryIO) -> Source:
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            members = [info.filename for info in archive.infolist() if _is_file(info)]
            if not members:
                raise ValueError(f"{source.name} holds no file; put the table into it.")
            endings = {*suffixes(), *PACKED}
            tables = [m for m in members if PurePosixPath(m).suffix.lower() in endings]
            tables = tables or members
            sheet: str | None = None
            if source.sheet in members:
                member = str(source.sheet)
            elif len(tables) == 1:
                member = tables[0]
                sheet = source.sheet  # it may be a sheet of that workbook
            else:
                member = choose(tables, source, "tables")
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


def _copy(file: IO[bytes] | gzip.GzipFile, out: BinaryIO, source: Source) -> None:
    """Write the unpacked bytes; ValueError when they are too many for their file."""
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
