"""A CSV file as columns of text, and cells of text as typed columns."""

import csv
import io
import os
from codecs import BOM_UTF8
from dataclasses import replace
from typing import Any, BinaryIO, Literal

import pyarrow as pa
from pyarrow import compute
from pyarrow import csv as arrow_csv

from fairdash.datasets.reading import rows
from fairdash.datasets.reading.format import TableFormat, parse
from fairdash.datasets.reading.source import Scratch, Source, check_cell
from fairdash.datasets.table_notes import TableNotes

CellKind = Literal["bool", "int", "float"]
KINDS: tuple[CellKind, ...] = ("bool", "int", "float")  # else text
ARROW = {"bool": pa.bool_(), "int": pa.int64(), "float": pa.float64()}
BLOCK = 2 << 20  # bytes of a block, at least
COLUMN_BLOCK = 2048  # bytes of it for each column, at least
CHARACTERS = 1 << 20  # recoded at once
PROBED = 100  # cells, which show that most columns of text are no numbers
PLAIN: dict[str, Any] = {
    "delimiter": ",",
    "quote": '"',
    "encoding": "utf-8",
    "spaces": False,
    "comments": False,
    "skipped": 0,
}


def typed(cells: Any, form: TableFormat, name: str) -> Any:
    """Return cells of text in the narrowest kind that all of them fit.

    A column is True and False, whole numbers, numbers or text, whichever is the first
    that all its cells fit; text that begins with a zero, such as ``007``, makes text.
    Raises ValueError when a cell is longer than 131,072 characters.
    """
    if cells.null_count == len(cells):
        return pa.nulls(len(cells), pa.float64())
    for kind in KINDS:
        column = _cast(cells, kind, form)
        if column is not None:
            return column
    check_cell(name, compute.max(compute.utf8_length(cells)).as_py())
    return _without_blanks(cells)


def _cast(cells: Any, kind: CellKind, form: TableFormat) -> Any:
    """Return cells of text as a kind, None unless all of them fit."""
    if kind == "bool":
        return _cast_answers(cells)
    if kind == "int" or form.decimal == ".":
        # Cells without separators are cast as they are, which is faster.
        numbers = _parse(cells, kind)
        if numbers is not None:
            return numbers
    plain = _plain(cells, form)
    return None if plain is None else _parse(plain, kind)


def _cast_answers(cells: Any) -> Any:
    """Return cells as True and False, None unless all say one of them."""
    answers = pa.array([*rows.TRUE, *rows.FALSE])
    if not _all(compute.is_in(cells.drop_null(), answers)):
        return None
    is_true = compute.is_in(cells, pa.array(rows.TRUE))
    return compute.if_else(compute.is_valid(cells), is_true, None)


def _parse(cells: Any, kind: CellKind) -> Any:
    """Return plain cells as numbers, None if one is text or a name such as 007."""
    try:
        compute.cast(cells[:PROBED], ARROW[kind])  # all cells of text take long to fail
        numbers = compute.cast(cells, ARROW[kind])
    except pa.ArrowInvalid:
        return None
    zero_first = cells.filter(compute.starts_with(cells, "0"))
    if _matches(zero_first, rows.ZERO_FIRST):
        return None
    if kind == "float":
        is_long = compute.greater(compute.binary_length(cells), rows.WHOLE)
        if _matches(cells.filter(is_long), rows.LONG_WHOLE):
            return None
    return numbers


def _matches(cells: Any, pattern: str) -> bool:
    """Return whether a pattern is found in any cell."""
    if not len(cells):
        return False
    return _any(compute.match_substring_regex(cells, pattern))


def _plain(cells: Any, form: TableFormat) -> Any:
    """Return cells with a decimal point and without separated thousands.

    None if a cell is not written so: 1.234 in a table with decimal commas.
    """
    cells = _without_blanks(compute.utf8_trim_whitespace(cells))
    if form.thousands:
        grouped = f"^[+-]?([0-9]+|[0-9]{{1,3}}([{form.thousands}][0-9]{{3}})+)"
        grouped += f"([{form.decimal}][0-9]*)?$"
        if not _all(compute.match_substring_regex(cells.drop_null(), grouped)):
            return None
        cells = compute.replace_substring(cells, form.thousands, "")
    if form.decimal == ",":
        if _any(compute.match_substring(cells, ".")):
            return None
        cells = compute.replace_substring(cells, ",", ".")
    return cells


def _without_blanks(cells: Any) -> Any:
    """Return cells of text; spaces around nothing, or around "NA", are missing."""
    spaced = compute.or_(compute.starts_with(cells, " "), compute.ends_with(cells, " "))
    if not _any(spaced):
        return cells
    trimmed = compute.utf8_trim_whitespace(cells)
    blank = compute.is_in(trimmed, pa.array(rows.MISSING))
    return compute.if_else(blank, pa.scalar(None, pa.string()), cells)


def _all(flags: Any) -> bool:
    return bool(compute.all(flags, min_count=0).as_py())


def _any(flags: Any) -> bool:
    return bool(compute.any(flags, min_count=0).as_py())


class CsvText:
    """The rows of a CSV file as text.

    ``scratch`` is for a copy of a file that is not plain: in another encoding, with
    comments or with spaces around its cells. Raises ValueError when the file cannot be
    decoded, or has a row of another width than the first.
    """

    notes = TableNotes()

    def __init__(self, source: Source, form: TableFormat, scratch: Scratch) -> None:
        self.source = source
        self.form = form
        try:
            if form.comments or form.spaces:
                self.source = _write_plain(source, form, scratch())
                self.form = replace(form, **PLAIN)
            elif form.encoding not in ("utf-8", "utf-8-sig"):
                self.source = _recode(source, form, scratch())
                self.form = replace(form, encoding="utf-8")
            self.header, self._offset = self._read_header()
        except (csv.Error, UnicodeError) as error:
            raise rows.unreadable(source, form, error) from error
        if not form.header:
            self.header = [f"column {i + 1}" for i in range(len(self.header))]

    def columns(self) -> list[Any]:
        """Return the columns as text; empty cells are null."""
        names = [str(position) for position in range(len(self.header))]
        if self._offset == self.source.size:
            return [pa.nulls(0, pa.string()) for _ in names]
        try:
            with self._stream() as stream:
                table = arrow_csv.read_csv(
                    stream,
                    read_options=arrow_csv.ReadOptions(
                        column_names=names,
                        block_size=max(BLOCK, COLUMN_BLOCK * len(names)),
                    ),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=self.form.delimiter,
                        quote_char=self.form.quote,
                        newlines_in_values=True,
                    ),
                    convert_options=arrow_csv.ConvertOptions(
                        column_types=dict.fromkeys(names, pa.string()),
                        null_values=rows.MISSING,
                        strings_can_be_null=True,
                    ),
                )
        except pa.ArrowInvalid as error:
            self._find_ragged()
            raise rows.unreadable(self.source, self.form, rows.MISFIT) from error
        columns = table.columns
        if len(table):
            self._check_end(columns[-1][-1].as_py() or "")
        return list(columns)

    def _stream(self) -> Any:
        content = self.source.content
        if isinstance(content, bytes):
            return pa.BufferReader(pa.py_buffer(content).slice(self._offset))
        file = self.source.open()
        file.seek(self._offset)
        return file

    def _read_header(self) -> tuple[list[str], int]:
        """Return the cells of the first row, and the byte where the rows begin."""
        offset = 0
        # A mark may be there whichever encoding was chosen.
        if self.source.head(len(BOM_UTF8)) == BOM_UTF8:
            offset = len(BOM_UTF8)
        lines: list[str] = []
        with rows.open_text(self.source, self.form) as text:
            for _ in range(self.form.skipped):
                offset += len(next(text, "").encode())
            for cells in parse(rows.recorded(text, lines), self.form):
                n_bytes = sum(len(line.encode()) for line in lines)
                if cells:
                    names = [cell.strip() for cell in cells]
                    start = offset + n_bytes if self.form.header else offset
                    return names, start
                offset += n_bytes
                lines.clear()
        raise ValueError(f"{self.source.name} has no rows; skip fewer lines.")

    def _find_ragged(self) -> None:
        """Raise the error that names the row of another width, if there is one."""
        try:
            for _ in rows.csv_rows(self.source, self.form):
                pass
        except (csv.Error, UnicodeError) as error:
            raise rows.unreadable(self.source, self.form, error) from error

    def _check_end(self, cell: str) -> None:
        """Raise ValueError where the last cell begins with a quote that is not closed.

        Arrow reads such a file to its end without an error.
        """
        quote = self.form.quote
        with self.source.open() as file:
            file.seek(-min(self.source.size, 4 * (len(cell) + 4)), os.SEEK_END)
            tail = file.read().decode(errors="ignore")
        before = tail.rstrip(quote)
        if not cell.strip(quote) and before.endswith((self.form.delimiter, "\n")):
            is_open = (len(tail) - len(before)) % 2 == 1
        else:
            is_open = tail.endswith(quote + cell.replace(quote, 2 * quote))
        if is_open:
            reason = "its last quote is never closed"
            raise rows.unreadable(self.source, self.form, reason)


def _write_plain(source: Source, form: TableFormat, out: BinaryIO) -> Source:
    """Write the rows to ``out`` in the plain form that Arrow reads."""
    text = io.TextIOWrapper(out, encoding="utf-8", newline="")
    csv.writer(text, lineterminator="\n").writerows(rows.csv_rows(source, form))
    text.detach()
    return replace(source, content=out)


def _recode(source: Source, form: TableFormat, out: BinaryIO) -> Source:
    """Write the text to ``out`` as UTF-8, which Arrow reads."""
    copy = io.TextIOWrapper(out, encoding="utf-8", newline="")
    with rows.open_text(source, form) as text:
        while block := text.read(CHARACTERS):
            copy.write(block)
    copy.detach()
    return replace(source, content=out)
