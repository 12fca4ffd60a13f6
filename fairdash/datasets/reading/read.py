"""Read a file of any kind into a table, or say what is wrong with it."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, BinaryIO, NamedTuple

import pandas as pd
import pyarrow as pa

from fairdash.datasets.reading.csv_text import CsvText, Sink, read_cells
from fairdash.datasets.reading.format import TableFormat, sniff
from fairdash.datasets.reading.parquet import ParquetRows, ParquetSink, load_table
from fairdash.datasets.reading.records import ExcelSheet, JsonRecords, Records
from fairdash.datasets.reading.source import (
    MOST_CELLS,
    MOST_RECORD_CELLS,
    Scratch,
    Source,
    check_columns,
    check_rows,
    unpack,
)


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

    ``source`` is a path, or the content of the file.
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

    Raises ValueError when there is no such file, or it is another one.
    """
    if not isinstance(source, bytes) and not Path(source).is_file():
        raise ValueError(f"There is no file {str(source)!r}.")
    reading = find_reading(digest, source, table_format)
    if reading is None:
        found = table_digest(source)
        message = f"{name} is not the table asked for: its sha256 is {found[:12]}…"
        raise ValueError(f"{message}, not {digest[:12]}…; give the original file.")
    return reading


def read_table(
    source: str | Path | bytes,
    *,
    name: str | None = None,
    sheet: str | None = None,
    table_format: TableFormat | None = None,
    compact: bool = False,
    digest: str | None = None,
) -> pd.DataFrame:
    """Read a CSV, Excel, JSON or Parquet file, plain or in gzip or ZIP.

    The kind of file is told from its content. Of a CSV file the delimiter (comma,
    semicolon, tab, bar, or spaces where every row has as many cells), the encoding
    (UTF-8, UTF-16, else Windows-1252), the decimal and the thousands mark, comment
    lines at its head and whether its first row is a header are found by reading its
    beginning; `sniff_table` says what was understood. A column holds whole numbers,
    numbers or True and False when all its cells do, else text; ``007`` is text. Empty
    cells, ``?``, ``NA``, ``N/A``, ``NaN`` and ``null`` are missing values; ``None`` is
    a value like any other.

    Parameters
    ----------
    name : str, optional
        What messages call the file; by default the name of the path.
    sheet : str, optional
        Sheet of an Excel workbook or file in a ZIP archive; needed when there are
        several.
    table_format : TableFormat, optional
        How a CSV file is written, where it was not understood.
    compact : bool, default=False
        Whether a table of a million rows or more takes as little memory as holds its
        values, see `load_table`.
    digest : str, optional
        `table_digest` of the table that this must be; it also says whether ``sheet``
        and ``table_format`` were chosen for it, or found.

    Returns
    -------
    DataFrame
        With a RangeIndex and text as column names. A column that comes twice with the
        same values keeps both, the second named like ``"age.1"``.

    Raises
    ------
    ValueError
        If the file is empty, has no columns or no rows, or more of either than
        `limits` allow, cannot be read, has a row with too many or too few cells, or two
        different columns of one name; or if it is not the table of ``digest``.
    """
    if digest is not None:
        called = _source(source, name, None).name
        sheet, table_format = check_reading(digest, source, table_format, called)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        convert_table(source, path, name=name, sheet=sheet, table_format=table_format)
        return load_table(path, compact=compact)


@dataclass(frozen=True)
class TableFile:
    """A table written as Parquet.

    ``table_format`` says how the original file was read.
    """

    table_format: TableFormat
    n_rows: int
    n_columns: int


def convert_table(
    source: str | Path | bytes | BinaryIO,
    path: Path | BinaryIO,
    *,
    name: str | None = None,
    sheet: str | None = None,
    table_format: TableFormat | None = None,
    scratch: Scratch | None = None,
) -> TableFile:
    """Write a file of any kind as Parquet, with a few batches of rows in memory.

    `load_table` then gives what `read_table` gives.

    ``scratch`` returns new files for what is unpacked, by default temporary ones. Other
    arguments and errors are those of `read_table`.
    """
    with (
        ExitStack() as files,
        open(path, "wb") if isinstance(path, Path) else nullcontext(path) as file,
        ParquetSink(file) as sink,
    ):
        scratch = scratch or _temporary(files)
        return _read(_source(source, name, sheet), table_format, sink, scratch)


def sniff_table(
    source: str | Path | bytes | BinaryIO,
    *,
    name: str | None = None,
    sheet: str | None = None,
    scratch: Scratch | None = None,
) -> TableFormat:
    """Return how `read_table` would read a file, from its beginning.

    Raises ValueError if it is empty or of a kind that holds no table that can be read.
    """
    with ExitStack() as files:
        scratch = scratch or _temporary(files)
        return sniff(unpack(_source(source, name, sheet), scratch))


def _temporary(files: ExitStack) -> Scratch:
    return lambda: files.enter_context(TemporaryFile())


def _source(
    source: str | Path | bytes | BinaryIO, name: str | None, sheet: str | None
) -> Source:
    if isinstance(source, str | Path):
        return Source(Path(source), name or Path(source).name, sheet)
    return Source(source, name or "The file", sheet)


def _read(
    original: Source, table_format: TableFormat | None, sink: Sink, scratch: Scratch
) -> TableFile:
    file = unpack(original, scratch)
    form = table_format or sniff(file)
    if file.sheet is not None and form.kind != "excel":
        message = f"{original.name} has no sheets or files to choose from"
        raise ValueError(f"{message}; do not give `sheet`.")
    rows, form = _open(file, form, scratch)
    check_columns(original.name, rows.header)
    most = MOST_RECORD_CELLS if isinstance(rows, Records) else MOST_CELLS
    names = unique_names(rows.header)
    copies = Copies(rows.header, original.name)

    def batches() -> Iterator[Any]:
        n_rows = 0
        for batch in rows.batches():
            n_rows += len(batch)
            check_rows(original.name, n_rows, len(names), most)
            yield copies.compare(batch)

    if isinstance(rows, ParquetRows):
        n_rows = _copy(batches, names, sink)
    else:
        n_rows = read_cells(batches, names, form, sink)
    if not n_rows:
        message = f"{original.name} has a header but no rows; add rows of data."
        raise ValueError(message)
    copies.check()
    return TableFile(form, n_rows, len(names))


def _open(
    file: Source, form: TableFormat, scratch: Scratch
) -> tuple[CsvText | ExcelSheet | JsonRecords | ParquetRows, TableFormat]:
    match form.kind:
        case "parquet":
            return ParquetRows(file), form
        case "excel":
            sheet = ExcelSheet(file)
            return sheet, replace(form, sheet=sheet.sheet)
        case "json":
            return JsonRecords(file, form.encoding), form
    return CsvText(file, form, scratch), form


def _copy(batches: Callable[[], Iterator[Any]], names: list[str], sink: Sink) -> int:
    n_rows = 0
    for batch in batches():
        if not n_rows:
            sink.begin(pa.schema(list(zip(names, batch.schema.types, strict=True))))
        n_rows += len(batch)
        sink.write(batch.rename_columns(names))
    return n_rows


def unique_names(header: list[str]) -> list[str]:
    """Return a name for every column: ``Unnamed: 0``, ``age``, ``age.1``."""
    names: dict[str, None] = {}
    taken, copies = set(header), Counter[str]()
    for position, name in enumerate(header):
        name = unique = name or f"Unnamed: {position}"
        while unique in names or (copies[name] and unique in taken):
            copies[name] += 1
            unique = f"{name}.{copies[name]}"
        names[unique] = None
    return list(names)


class Copies:
    """Columns of one name, which must hold the same values."""

    def __init__(self, header: list[str], file: str) -> None:
        self._header, self._file = header, file
        first: dict[str, int] = {}
        for position, name in enumerate(header):
            first.setdefault(name, position)
        self._pairs = [
            (first[name], position)
            for position, name in enumerate(header)
            if name and first[name] < position
        ]
        self._different: set[tuple[int, int]] = set()

    def compare(self, batch: Any) -> Any:
        """Look at the next rows and return them."""
        for one, two in self._pairs:
            if not batch.column(one).equals(batch.column(two)):
                self._different.add((one, two))
        return batch

    def check(self) -> None:
        """Raise ValueError when two columns of one name were different."""
        for one, two in sorted(self._different):
            raise ValueError(
                f"{self._file} has two different columns named {self._header[one]!r}, "
                f"at positions {one + 1} and {two + 1}; rename one of them."
            )
