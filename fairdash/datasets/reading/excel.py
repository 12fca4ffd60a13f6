"""Excel sheets as columns of text, as CSV files are read."""

import datetime
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import pyarrow as pa

from fairdash._lazy import load
from fairdash.datasets.reading.rows import MISSING
from fairdash.datasets.reading.source import (
    MOST_CELLS,
    MOST_SHEET_CELLS,
    ZIP_ERRORS,
    SeveralTablesError,
    Source,
    check_memory,
    check_rows,
    choose,
)

LEAST_BATCH, BATCH_CELLS = 256, 1_000_000
MOST_SHEET_ROWS = 1 << 20  # of Excel: a row is numbered, so a gap may have no end
# what openpyxl raises on a workbook whose parts do not fit together
WORKBOOK_ERRORS = (
    ArithmeticError, AttributeError, LookupError, SyntaxError, TypeError, ValueError,
)  # fmt: skip


class ExcelSheet:
    """A sheet of a workbook; its first row that is not empty names the columns.

    Raises ValueError when the workbook is damaged, has several sheets of which none was
    chosen, or a row has cells beyond the header.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.sheet = source.sheet
        header = next(self._filled_rows())
        self.header = ["" if cell is None else str(cell).strip() for cell in header]
        while self.header and not self.header[-1]:
            self.header.pop()

    def columns(self) -> list[Any]:
        """Return the columns as text: True, 1.5, 2024-01-31."""
        rows, width = self._rows(), len(self.header)
        n_rows = n_bytes = 0
        parts = [[pa.nulls(0, pa.string()) for _ in range(width)]]
        while part := list(islice(rows, max(LEAST_BATCH, BATCH_CELLS // width))):
            n_rows += len(part)
            check_rows(self.source, n_rows, width, MOST_SHEET_CELLS)
            columns = zip(*part, strict=True)
            texts = [pa.array(map(_cell, column), pa.string()) for column in columns]
            n_bytes += sum(column.nbytes for column in texts)
            check_memory(self.source, n_bytes)  # a text is shared by all its cells
            parts.append(texts)
        return [pa.chunked_array(column) for column in zip(*parts, strict=True)]

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        width = len(self.header)
        for number, row in enumerate(islice(self._filled_rows(), 1, None), start=1):
            beyond = [cell for cell in row[width:] if cell is not None]
            if beyond:
                raise ValueError(
                    f"{self.source.name}: row {number} has the cell {beyond[0]!r} "
                    f"beyond the {width} columns of the header. Name its column, or "
                    "empty the cell."
                )
            yield (*row[:width], *[None] * (width - len(row)))

    def _filled_rows(self) -> Iterator[tuple[Any, ...]]:
        load_workbook = load("openpyxl").load_workbook  # only workbooks need it

        name = self.source.name
        with self.source.open() as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions excluded
            with _undamaged(name):
                book = load_workbook(file, read_only=True, data_only=True)
                filled = {s.title: s for s in book.worksheets if any(_filled(s))}
            if not filled:
                message = f"{name} is empty: no sheet has a cell"
                raise ValueError(f"{message}; choose a file with a table.")
            sheet = filled[choose(list(filled), self.source, "sheets")]
            n_cells = 0
            with _undamaged(name):
                for row in _filled(sheet):
                    n_cells += len(row)  # up to its last cell, even if that is empty
                    yield row
                    if n_cells > MOST_CELLS:
                        break
            if n_cells > MOST_CELLS:
                raise ValueError(
                    f"{name} spans more than {MOST_CELLS:,} cells, most of them empty; "
                    "delete the columns that are not needed."
                )


def _filled(sheet: Any) -> Iterator[tuple[Any, ...]]:
    sheet.reset_dimensions()  # what the file says of its size is often wrong
    for row in sheet.iter_rows(max_row=MOST_SHEET_ROWS, values_only=True):
        if any(cell is not None for cell in row):
            yield row


@contextmanager
def _undamaged(name: str) -> Iterator[None]:
    try:
        yield
    except SeveralTablesError:
        raise
    except (*ZIP_ERRORS, *WORKBOOK_ERRORS) as error:
        message = f"{name} is a damaged Excel file"
        raise ValueError(f"{message}; save it again as .xlsx.") from error


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ")
    text = str(value)
    return None if text in MISSING else text
