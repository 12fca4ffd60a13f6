"""Workbooks of Excel and LibreOffice: .xlsx, .xls, .xlsb, .ods."""

import datetime
import io
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from fairdash._lazy import LazyModule, load
from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.registry import OpenedFile, Reader
from fairdash.datasets.reading.rows import MISSING
from fairdash.datasets.reading.source import (
    MOST_CHOICES,
    MOST_SHEET_CELLS,
    ZIP,
    ZIP_ERRORS,
    Scratch,
    Source,
    check_columns,
    check_memory,
    check_rows,
    choose,
)
from fairdash.datasets.table_notes import TableNotes

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = LazyModule("pyarrow")

LEAST_BATCH = 256  # rows, and more in a narrow sheet ...
BATCH_CELLS = 1_000_000  # ... up to so many cells
LOOKED_AT = 50  # rows with cells among which the header is looked for
MOST_MANIFEST = 1 << 20  # bytes of the list of parts of an .ods that are looked at
WHOLE = 2**53  # whole numbers up to it are exact

OLD = b"\xd0\xcf\x11\xe0"  # .xls, and workbooks with a password
# what a workbook has that is encrypted: the name of a part, as .xls writes it
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
BEGIN = b"\x09\x08\x10\x00\x00\x06\x05\x00"
FILEPASS = b"\x2f\x00"
AFTER_BEGIN = 20  # bytes of the first record of .xls
ODS_ENCRYPTED = b"encryption-data"
PARTS = {"xl/workbook.xml", "xl/workbook.bin"}
ODS = b"application/vnd.oasis.opendocument.spreadsheet"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"
_SMALLEST = {
    "_rels/.rels": f'<Relationships xmlns="{_LINKS}"><Relationship Id="r0" '
    f'Target="xl/workbook.xml" Type="{_LINK}/officeDocument"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINK}"><sheets>'
    '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_LINKS}"><Relationship '
    f'Id="r1" Target="worksheets/sheet1.xml" Type="{_LINK}/worksheet"/>'
    "</Relationships>",
    "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData><row r="1">'
    '<c r="A1" t="inlineStr"><is><t>town</t></is></c></row><row r="2"><c r="A2">'
    "<v>1</v></c></row></sheetData></worksheet>",
}


class WorkbookSheet:
    """A sheet of a workbook.

    The first row with a cell names the columns; of a title above it, rows of one cell,
    `skipped` says how many rows are left out. Raises ValueError when the workbook is
    damaged or locked, has several sheets of which none was chosen, or a row has cells
    beyond the header.
    """

    notes = TableNotes()

    def __init__(self, source: Source) -> None:
        self.source = source
        self._rows, self.sheet = self._open()
        head = list(islice(self._filled(), LOOKED_AT))
        if not head:
            message = f"{source.name} is empty: no sheet has a cell"
            raise ValueError(f"{message}; choose a file with a table.")
        place = header_place([cells for _, cells in head])
        self.skipped, header = head[place]
        self.header = [_text(cell) or "" for cell in header]
        while self.header and not self.header[-1]:
            self.header.pop()
        if not place:
            self.skipped = 0  # empty rows are no title

    def described(self, form: TableFormat) -> TableFormat:
        """Return how the sheet was read."""
        return replace(form, sheet=self.sheet, skipped=self.skipped)

    def columns(self) -> list[Any]:
        """Return the columns as text: 1, 1.5, True, 2024-01-31."""
        rows = self._cells()
        width = len(self.header)
        batch_rows = max(LEAST_BATCH, BATCH_CELLS // width)
        n_rows = 0
        n_bytes = 0
        parts = [[pa.nulls(0, pa.string()) for _ in range(width)]]
        while part := list(islice(rows, batch_rows)):
            n_rows += len(part)
            check_rows(self.source, n_rows, width, MOST_SHEET_CELLS)
            columns = zip(*part, strict=True)
            texts = [pa.array(map(_cell, column), pa.string()) for column in columns]
            n_bytes += sum(column.nbytes for column in texts)
            check_memory(self.source, n_bytes)  # a text is shared by all its cells
            parts.append(texts)
        return [pa.chunked_array(column) for column in zip(*parts, strict=True)]

    def _cells(self) -> Iterator[tuple[Any, ...]]:
        width = len(self.header)
        below = (row for row in self._filled() if row[0] >= self.skipped)
        for number, (_, row) in enumerate(islice(below, 1, None), start=1):
            beyond = [cell for cell in row[width:] if cell != ""]
            if beyond:
                raise ValueError(
                    f"{self.source.name}: row {number} has the cell {beyond[0]!r} "
                    f"beyond the {width} columns of the header. Name its column, or "
                    "empty the cell."
                )
            yield (*row[:width], *[""] * (width - len(row)))

    def _filled(self) -> Iterator[tuple[int, list[Any]]]:
        """Yield the rows that have a cell, with their numbers from 0."""
        for number, row in enumerate(self._rows.iter_rows()):
            if any(cell != "" for cell in row):
                yield number, row

    def _open(self) -> tuple[Any, str]:
        calamine = load("python_calamine")
        name = self.source.name
        with self.source.open() as file, _undamaged(self.source, calamine):
            book = calamine.load_workbook(file)
            chosen = self._choose(book)
            rows = book.get_sheet_by_name(chosen)
        if rows.width:
            check_columns(name, [""] * rows.width)
        return rows, chosen

    def _choose(self, book: Any) -> str:
        """Return the sheet that was named, or the only one that has a cell."""
        # a sheet that is a chart alone has no cells, and in .xlsb cannot be read
        kind = load("python_calamine").SheetTypeEnum.WorkSheet
        names = [sheet.name for sheet in book.sheets_metadata if sheet.typ == kind]
        if self.source.sheet in names:
            return str(self.source.sheet)
        if 1 < len(names) <= MOST_CHOICES:  # one after the other: a sheet may be large
            names = [sheet for sheet in names if _has_cells(book, sheet)]
        if not names:
            message = f"{self.source.name} is empty: no sheet has a cell"
            raise ValueError(f"{message}; choose a file with a table.")
        return choose(names, self.source, "sheets")


def _has_cells(book: Any, sheet: str) -> bool:
    rows = book.get_sheet_by_name(sheet)
    return bool(rows.height and rows.width)


def header_place(rows: Sequence[Sequence[Any]]) -> int:
    """Return the place of the row that names the columns: after a title, if any.

    A title is rows of one cell above a row of several texts.
    """
    n_cells = [sum(cell not in ("", None) for cell in row) for row in rows]
    place = next((i for i, n in enumerate(n_cells) if n > 1), 0)
    names = [cell for cell in rows[place] if cell not in ("", None)]
    return place if all(isinstance(name, str) for name in names) else 0


@contextmanager
def _undamaged(source: Source, calamine: Any) -> Iterator[None]:
    try:
        yield
    except (calamine.CalamineError, OSError) as error:
        if isinstance(error, calamine.PasswordError) or _is_locked(source):
            message = f"{source.name} is locked with a password"
            raise ValueError(f"{message}; save it without one.") from error
        message = f"{source.name} is a damaged workbook"
        raise ValueError(f"{message}; save it again as .xlsx.") from error


def _is_locked(source: Source) -> bool:
    """Return whether a workbook that cannot be read is encrypted.

    For a file without a name the library only says that its kind is unknown.
    """
    with source.open() as file:
        content = file.read()
    if content.startswith(OLD):
        begin = content.find(BEGIN)
        after = content[begin + AFTER_BEGIN :][: len(FILEPASS)]
        return ENCRYPTED in content or (begin >= 0 and after == FILEPASS)
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        with archive.open("META-INF/manifest.xml") as manifest:
            return ODS_ENCRYPTED in manifest.read(MOST_MANIFEST)
    except (*ZIP_ERRORS, KeyError):
        return False


def _cell(value: Any) -> str | None:
    text = _text(value)
    return None if text in MISSING else text


def _text(value: Any) -> str | None:
    if isinstance(value, float) and value.is_integer() and abs(value) < WHOLE:
        return str(int(value))  # a sheet holds no other numbers
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ")
    return str(value).strip() if isinstance(value, str) else str(value)


def _fits(source: Source, head: bytes) -> bool:
    if head.startswith(OLD):
        return True
    if not head.startswith(ZIP):
        return False
    with source.open() as file:
        try:
            archive = zipfile.ZipFile(file)
            names = archive.namelist()
            if PARTS & set(names):
                return True
            if "mimetype" not in names:
                return False
            with archive.open("mimetype") as kind:
                return kind.read(len(ODS)) == ODS
        except ZIP_ERRORS:
            return False


def _read(
    source: Source, form: TableFormat, scratch: Scratch
) -> tuple[OpenedFile, TableFormat]:
    sheet = WorkbookSheet(source)
    return sheet, sheet.described(form)


def _small_files() -> list[bytes]:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _SMALLEST.items():
            archive.writestr(name, content)
    return [buffer.getvalue()]


READER = Reader(
    kind="excel",
    label="Excel",
    programs=("Excel", "LibreOffice"),
    suffixes=(".xlsx", ".xls", ".xlsb", ".xlsm", ".ods"),
    fits=_fits,
    sniff=lambda source: TableFormat(kind="excel", sheet=source.sheet or source.member),
    read=_read,
    finds="the sheet, if only one has cells",
    takes="`sheet=`",
    has_sheets=True,
    has_types=False,
    library="python_calamine",
    warm_up=_small_files,
)
