"""Read an uploaded file into a table, or say what is wrong with it."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa

DELIMITERS = (",", ";", "\t", "|")
MISSING = ["", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL"]
SNIFFED_LINES = 50


def read_table(source: str | Path | bytes, *, name: str | None = None) -> pd.DataFrame:
    """Read a CSV, gzip-compressed CSV or Parquet file.

    The kind of file is told from its first bytes. The delimiter of a CSV file (comma,
    semicolon, tab or bar) is found by reading its first lines; text is UTF-8, with or
    without a byte order mark, or else Latin-1. Empty cells, ``?``, ``NA``, ``N/A``,
    ``NaN`` and ``null`` are missing values; ``None`` is a value like any other.

    Parameters
    ----------
    source : str, Path or bytes
        A path, or the content of the file.
    name : str, optional
        What messages call the file; by default the name of the path.

    Returns
    -------
    DataFrame
        With a RangeIndex and text as column names. A column that comes twice with the
        same values keeps both, the second named like ``"age.1"``.

    Raises
    ------
    ValueError
        If the file is empty, has no columns or no rows, cannot be read, has a row with
        too many or too few cells, or two different columns of one name.
    """
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    if name is None:
        name = "The file" if isinstance(source, bytes) else Path(source).name
    if content.startswith(b"\x1f\x8b"):
        content = _decompress(content, name)
    if not content.strip():
        raise ValueError(f"{name} is empty; choose a file with a header and rows.")
    parquet = content.startswith(b"PAR1")
    frame = _read_parquet(content, name) if parquet else _read_csv(content, name)
    if not len(frame):
        raise ValueError(f"{name} has a header but no rows; add rows of data.")
    return frame


def _decompress(content: bytes, name: str) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        message = f"{name} is a damaged gzip file ({error}); compress it again."
        raise ValueError(message) from error


def _read_parquet(content: bytes, name: str) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(io.BytesIO(content)).reset_index(drop=True)
    except (OSError, pa.ArrowException) as error:
        message = f"{name} is a damaged Parquet file ({error}); write it again."
        raise ValueError(message) from error
    if not len(frame.columns):
        raise ValueError(f"{name} has no columns; choose a file with columns.")
    return _name_columns(frame, [str(column) for column in frame.columns], name)


def _read_csv(content: bytes, name: str) -> pd.DataFrame:
    text = _decode(content, name)
    try:
        delimiter = _sniff(text)
        header = _check_rows(text, delimiter, name)
        frame = pd.read_csv(
            io.StringIO(text),
            sep=delimiter,
            header=0,
            names=range(len(header)),
            index_col=False,
            keep_default_na=False,
            na_values=MISSING,
            skipinitialspace=True,
            low_memory=False,
        )
    except (csv.Error, pd.errors.ParserError) as error:
        message = f"{name} is not a readable CSV file ({error}); save it again as CSV."
        raise ValueError(message) from error
    return _name_columns(frame, [cell.strip() for cell in header], name)


def _decode(content: bytes, name: str) -> str:
    if b"\x00" in content:
        kinds = "CSV, gzip-compressed CSV or Parquet"
        raise ValueError(f"{name} is a binary file; save the table as {kinds}.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _sniff(text: str) -> str:
    """Return the delimiter that cuts most first lines into as many cells as line 1."""
    head = text[:200_000].splitlines()[:SNIFFED_LINES]

    def fit(delimiter: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(head, delimiter=delimiter) if row]
        width = widths[0] if widths else 1
        return (width > 1) * widths.count(width) / max(len(widths), 1), width

    return max(DELIMITERS, key=fit)


def _check_rows(text: str, delimiter: str, name: str) -> list[str]:
    """Return the header, or raise where a row has another number of cells."""
    rows = _rows(text, delimiter)
    _, header = next(rows)
    for number, (line, cells) in enumerate(rows, start=1):
        if len(cells) != len(header):
            raise ValueError(
                f"{name}: row {number} (line {line}) has {len(cells)} cells but the "
                f"header has {len(header)}; quote cells that hold the delimiter "
                f"{delimiter!r}, or mend the row."
            )
    return header


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True
    )
    for cells in reader:
        if cells:
            yield reader.line_num, cells


def _name_columns(frame: pd.DataFrame, names: list[str], file: str) -> pd.DataFrame:
    """Name the columns; a repeated name passes only over a copy of the same values."""
    first: dict[str, int] = {}
    unique: list[str] = []
    for position, name in enumerate(names):
        name = name or f"Unnamed: {position}"
        original = first.setdefault(name, position)
        if not frame.iloc[:, position].equals(frame.iloc[:, original]):
            raise ValueError(
                f"{file} has two different columns named {name!r}, at positions "
                f"{original + 1} and {position + 1}; rename one of them."
            )
        copies = sum(other == name for other in names[:position])
        unique.append(f"{name}.{copies}" if copies else name)
    frame.columns = pd.Index(unique)
    return frame
