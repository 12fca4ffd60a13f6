"""Excel sheets and JSON records as batches of text, as CSV files are read."""

import datetime
import json
import re
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import pyarrow as pa

from fairdash._lazy import load
from fairdash.datasets.reading.rows import MISSING
from fairdash.datasets.reading.source import (
    MOST_CELLS,
    MOST_RECORD_CELLS,
    ZIP_ERRORS,
    SeveralTablesError,
    Source,
    check_columns,
    check_rows,
)

MOST_BATCH, LEAST_BATCH, BATCH_CELLS = 50_000, 256, 1_000_000
MOST_SHEET_ROWS = 1 << 20  # of Excel: a row is numbered, so a gap may have no end
LONGEST_WHOLE = 19  # digits; longer ones are names, see `cells`
# what openpyxl raises on a workbook whose parts do not fit together
WORKBOOK_ERRORS = (
    ArithmeticError, AttributeError, LookupError, SyntaxError, TypeError, ValueError,
)  # fmt: skip
SPACES = re.compile(r"\s*")
MARK = "\ufeff"  # of the order of bytes


class Records(ABC):
    """Rows of Python values as text: True, 1.5, 2024-01-31; nothing where empty."""

    header: list[str]

    def batches(self) -> Iterator[Any]:
        """Yield the rows from the first on; every column is text."""
        rows = self._rows()
        n_rows = max(LEAST_BATCH, BATCH_CELLS // len(self.header))
        while part := list(islice(rows, min(MOST_BATCH, n_rows))):
            columns = zip(*part, strict=True)
            arrays = [pa.array(_cells(column), pa.string()) for column in columns]
            names = [str(position) for position in range(len(self.header))]
            yield pa.RecordBatch.from_arrays(arrays, names)

    @abstractmethod
    def _rows(self) -> Iterator[tuple[Any, ...]]: ...


class ExcelSheet(Records):
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

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        width = len(self.header)
        for number, row in enumerate(islice(self._filled_rows(), 1, None), start=1):
            beyond = [cell for cell in row[width:] if cell is not None]
            if beyond:
                raise ValueError(
                    f"{self.source.name}: row {number} has the cell {beyond[0]!r} "
                    f"beyond the {width} columns of the header; name its column, or "
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
            sheet = filled[self._choose(list(filled))]
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

    def _choose(self, names: list[str]) -> str:
        if self.sheet in names:
            return str(self.sheet)
        if len(names) == 1 and self.sheet is None:
            return names[0]
        but = "" if self.sheet is None else f", none of them {self.sheet!r}"
        sheets = f"{len(names)} sheet{'s' * (len(names) > 1)}"
        raise SeveralTablesError(f"{self.source.name} has {sheets}{but}", names)


def _filled(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a sheet that have a cell with a value."""
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


class JsonRecords(Records):
    """Records one a line, or in one array; their keys are the columns.

    Raises ValueError when the file is no JSON, a record is none, or a cell holds a list
    or a record.
    """

    def __init__(self, source: Source, encoding: str) -> None:
        self.source, self.encoding = source, encoding
        keys: dict[str, None] = {}
        n_rows = 0
        for record in self._records():
            keys.update(dict.fromkeys(record))
            n_rows += 1
        self.header = list(keys)
        check_columns(source.name, keys)
        check_rows(source, n_rows, len(keys), MOST_RECORD_CELLS)

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        for record in self._records():
            yield tuple(record.get(key) for key in self.header)

    def _records(self) -> Iterator[dict[str, Any]]:
        for number, record in enumerate(self._values(), start=1):
            if not isinstance(record, dict):
                raise ValueError(
                    f"{self.source.name}: row {number} is no record such as "
                    '{"age": 31} but a ' + f"{type(record).__name__}; fix it."
                )
            for key, cell in record.items():
                if isinstance(cell, list | dict):
                    raise ValueError(
                        f"{self.source.name}: row {number} holds a list or record "
                        f"in {key!r}; give each of its values a column of its own."
                    )
            yield record

    def _values(self) -> Iterator[Any]:
        """Yield the values of a text, with or without an array around them."""
        with self.source.open() as file:
            text = file.read().decode(self.encoding).removeprefix(MARK)
        decoder = json.JSONDecoder(object_pairs_hook=_record, parse_int=_whole)
        at, number = _skip(text, 0), 0
        in_array = text.startswith("[", at)
        at += in_array
        while True:
            at = _skip(text, at, "," if in_array and number else "")
            if in_array and text.startswith("]", at):
                if text[at + 1 :].strip():
                    raise ValueError(
                        f"{self.source.name} goes on after its array, which ends with "
                        f"row {number}; put all records in one array."
                    )
                return
            if at == len(text) and not in_array:
                return
            try:
                value, at = decoder.raw_decode(text, at)
            except (json.JSONDecodeError, RecursionError) as error:
                nested = isinstance(error, RecursionError)
                reason = "lists in lists without end" if nested else str(error)
                raise ValueError(
                    f"{self.source.name} is no valid JSON after row {number} "
                    f"({reason}); write one record a line."
                ) from error
            number += 1
            yield value


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a record, or raise where a key comes twice."""
    record = dict(pairs)
    if len(record) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"A record has {twice!r} twice; rename one of them.")
    return record


def _skip(text: str, at: int, mark: str = "") -> int:
    """Return the position after spaces and, once, a mark."""
    at = _after_spaces(text, at)
    if mark and text.startswith(mark, at):
        at = _after_spaces(text, at + 1)
    return at


def _after_spaces(text: str, at: int) -> int:
    return SPACES.match(text, at).end()  # type: ignore[union-attr]  # always matches


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= LONGEST_WHOLE else digits


def _cells(values: Iterable[Any]) -> list[str | None]:
    return [None if value is None else _cell(value) for value in values]


def _cell(value: Any) -> str | None:
    """Return how a CSV file would have a value, or None where it is missing."""
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ")
    text = str(value)
    return None if text in MISSING else text
