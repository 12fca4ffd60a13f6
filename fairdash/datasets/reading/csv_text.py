"""A CSV file as batches of text, streamed; rows that do not fit are named."""

import csv
import io
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from fairdash.datasets.reading.cells import MISSING
from fairdash.datasets.reading.format import TableFormat, parse
from fairdash.datasets.reading.source import Source

BLOCK, COLUMN_BLOCK = 2 << 20, 2048  # bytes of a batch at least, a column each
CHARACTERS = 1 << 20
PLAIN: dict[str, Any] = {
    "delimiter": ",",
    "quote": '"',
    "encoding": "utf-8",
    "spaces": False,
    "comments": False,
    "skipped": 0,
}


class CsvText:
    """The rows of a CSV file as text.

    Parameters
    ----------
    source : Source
    form : TableFormat
    folder : Path
        For a copy of a file that is not plain: in another encoding, with comments or
        with spaces around its cells.

    Attributes
    ----------
    header : list of str
        Cells of the first row, or made-up names.

    Raises
    ------
    ValueError
        When the file cannot be decoded, or has a row of another width than the first.
    """

    def __init__(self, source: Source, form: TableFormat, folder: Path) -> None:
        self.source, self.form = source, form
        try:
            if form.comments or form.spaces:
                self.source = _write_plain(source, form, folder / "plain.csv")
                self.form = replace(form, **PLAIN)
            elif form.encoding not in ("utf-8", "utf-8-sig"):
                self.source = _recode(source, form, folder / "recoded.csv")
                self.form = replace(form, encoding="utf-8")
            self.header, self._offset = self._read_header()
        except (csv.Error, UnicodeError) as error:
            raise _unreadable(source.name, error) from error
        if not form.header:
            self.header = [f"column {i + 1}" for i in range(len(self.header))]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows from the first; every column is text, empty cells are null."""
        names = [str(position) for position in range(len(self.header))]
        with self._stream() as stream:
            if self._offset == self.source.size:
                return
            last = None
            try:
                for last in arrow_csv.open_csv(
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
                        null_values=MISSING,
                        strings_can_be_null=True,
                    ),
                ):
                    yield last
            except pa.ArrowInvalid as error:
                self._find_ragged()
                raise _unreadable(self.source.name, error) from error
        if last is not None and len(last):
            self._check_end(last.column(last.num_columns - 1)[-1].as_py() or "")

    def _stream(self) -> Any:
        """Return the content after the header as Arrow reads it, without a copy."""
        content = self.source.content
        if isinstance(content, bytes):
            return pa.BufferReader(pa.py_buffer(content).slice(self._offset))
        file = pa.OSFile(str(content))
        file.seek(self._offset)
        return file

    def _read_header(self) -> tuple[list[str], int]:
        """Return the first row and the position of the first case."""
        offset = 3 if self.form.encoding == "utf-8-sig" else 0
        lines: list[str] = []
        with _open_text(self.source, self.form) as text:
            offset += sum(
                len(next(text, "").encode()) for _ in range(self.form.skipped)
            )
            for cells in parse(_recorded(text, lines), self.form):
                read = sum(len(line.encode()) for line in lines)
                if cells:
                    names = [cell.strip() for cell in cells]
                    return names, offset + read * self.form.header
                offset += read
                lines.clear()
        raise ValueError(f"{self.source.name} has no rows; skip fewer lines.")

    def _find_ragged(self) -> None:
        """Raise where a row has another number of cells than the header."""
        try:
            for _ in _rows(self.source, self.form):
                pass
        except (csv.Error, UnicodeError) as error:
            raise _unreadable(self.source.name, error) from error

    def _check_end(self, cell: str) -> None:
        """Raise when the quote of the last cell is never closed."""
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
            raise _unreadable(self.source.name, "its last quote is never closed")


def _rows(source: Source, form: TableFormat) -> Iterator[list[str]]:
    """Yield all rows that are neither blank nor a comment, each as wide as the first.

    Raises
    ------
    ValueError
        Where a row has another number of cells.
    """
    with _open_text(source, form) as text:
        for _ in range(form.skipped):
            next(text, "")
        lines: list[str] = []
        line = form.skipped
        width, number = 0, -form.header
        for cells in parse(_recorded(text, lines), form):
            line += len(lines)
            lines.clear()
            if not cells:
                continue
            width = width or len(cells)
            if len(cells) == width:
                number += 1
                yield cells
            elif not (form.comments and cells[0].startswith("#")):
                first = "header" if form.header else "first row"
                raise ValueError(
                    f"{source.name}: row {number + 1} (line {line}) has {len(cells)} "
                    f"cells but the {first} has {width}; quote cells that hold the "
                    f"delimiter {form.delimiter!r}, or fix the row."
                )


def _write_plain(source: Source, form: TableFormat, path: Path) -> Source:
    """Copy a file without comments and without spaces around delimiters."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(_rows(source, form))
    return replace(source, content=path)


def _recode(source: Source, form: TableFormat, path: Path) -> Source:
    """Copy a file into UTF-8."""
    with (
        _open_text(source, form) as text,
        open(path, "w", encoding="utf-8", newline="") as file,
    ):
        while block := text.read(CHARACTERS):
            file.write(block)
    return replace(source, content=path)


def _open_text(source: Source, form: TableFormat) -> io.TextIOWrapper:
    return io.TextIOWrapper(source.open(), form.encoding, newline="")


def _recorded(text: Iterator[str], lines: list[str]) -> Iterator[str]:
    """Yield lines, and keep them in ``lines`` for who wants to know what was read."""
    for line in text:
        lines.append(line)
        yield line


def _unreadable(name: str, reason: object) -> ValueError:
    return ValueError(
        f"{name} is not a readable CSV file ({reason}); save it again as CSV in UTF-8."
    )
