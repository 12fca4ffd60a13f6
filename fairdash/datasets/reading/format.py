"""How the text of a table is written: found by looking, or said by the analyst."""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

from fairdash._lazy import load
from fairdash._validation import check_one_of
from fairdash._wording import plural
from fairdash.datasets.reading.source import Source

DELIMITERS = {
    ",": "comma-separated",
    ";": "semicolon-separated",
    "\t": "tab-separated",
    "|": "bar-separated",
    " ": "space-separated",
}
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with a byte order mark",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "cp1252": "Windows-1252",
    "latin-1": "Latin-1",
}
DECIMALS = {".": "decimal point", ",": "decimal comma"}
THOUSANDS = {"": "no thousands separator", ",": "comma", ".": "point", " ": "space"}
THOUSANDS["'"] = "apostrophe"
QUOTES = ('"', "'")
SAMPLE_CHARACTERS = 200_000
SNIFFED_LINES = 50
BLOCK = 1 << 20
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
NO_TABLE = re.compile(
    r"\s*(<(!doctype|html|table|\?xml)|\{\s*\"|\[\s*[\[{])", re.IGNORECASE
)
SEP_LINE = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)
DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+|\d{1,3}( \d{3})+),\d+")
DECIMAL_POINT = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)\.\d+")
EITHER_COMMA = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")  # decimals or a thousand
EITHER_POINT = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")
GROUPED = {
    ",": re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?"),
    ".": re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?"),
    " ": re.compile(r"[+-]?\d{1,3}( \d{3})+([.,]\d+)?"),
    "'": re.compile(r"[+-]?\d{1,3}('\d{3})+([.,]\d+)?"),
}
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
YEARS = (1900, 2100)
FEWEST_ROWS = 10  # before words that come again below say that there is no header


@dataclass(frozen=True)
class TableFormat:
    r"""What was understood of a file; `read_table` takes another one instead.

    Attributes
    ----------
    kind : str
        Of a reader, such as "csv" or "parquet". All below but ``sheet`` and ``skipped``
        describe a CSV file.
    delimiter, encoding, decimal, thousands : str
        One of `CHOICES`: 1.234,5 has ``","`` and ``"."`` as the last two.
    quote : {'"', "'"}
    header : bool
        Whether the first row names the columns; else they are ``column 1`` and so on.
    skipped : int
        Lines, or rows of a sheet, above the first row: a title.
    comments : bool
        Whether lines that begin with ``#`` and do not make a row are excluded.
    spaces : bool
        Whether spaces after a delimiter belong to it.
    sheet : str, optional
        Of an Excel workbook, or the file in a ZIP archive.
    """

    #: The values of these fields, in words.
    CHOICES: ClassVar[dict[str, dict[str, str]]] = {
        "delimiter": DELIMITERS,
        "encoding": ENCODINGS,
        "decimal": DECIMALS,
        "thousands": THOUSANDS,
    }

    kind: str = "csv"
    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    thousands: str = ""
    quote: str = '"'
    header: bool = True
    skipped: int = 0
    comments: bool = False
    spaces: bool = False
    sheet: str | None = None

    def __post_init__(self) -> None:
        for field, choices in self.CHOICES.items():
            check_one_of(field, getattr(self, field), choices)
        check_one_of("quote", self.quote, QUOTES)
        if self.decimal == self.thousands:
            message = f"`decimal` and `thousands` cannot both be {self.decimal!r}"
            raise ValueError(f"{message}; choose another one of them.")

    def describe(self) -> str:
        """Return how the file was read, such as "Read as comma-separated, UTF-8."."""
        of = "" if self.sheet is None else f" from {self.sheet!r}"
        row = self.skipped + 1
        above = f"{plural(self.skipped, 'row')} above it left out"
        title = f"header in row {row}; {above}" if self.header else above
        if self.kind != "csv":
            registry = load("fairdash.datasets.reading.registry")  # it imports this
            rest = f", {title}" if self.skipped else ""
            return f"Read as {registry.label_of(self.kind)}{of}{rest}."
        parts = {
            f"{DELIMITERS[self.delimiter]}{of}": True,
            "decimal comma": self.decimal == ",",
            f"{THOUSANDS[self.thousands]} between thousands": self.thousands != "",
            ENCODINGS[self.encoding]: True,
            title: self.skipped > 0,
            "no header": not self.header,
        }
        return f"Read as {', '.join(part for part, is_so in parts.items() if is_so)}."


def sniff_text(source: Source) -> TableFormat:
    """Return how the text of a table is written."""
    encoding = find_encoding(source)
    with source.open() as file:
        text = io.TextIOWrapper(file, encoding, errors="replace", newline="")
        sample = text.read(SAMPLE_CHARACTERS)
    form = TableFormat(encoding=encoding, sheet=source.member)
    if not sample.strip():
        raise ValueError(f"{source.name} is empty; choose a file with a table.")
    if NO_TABLE.match(sample):
        message = f"{source.name} is a web page, XML or JSON, not a table"
        raise ValueError(f"{message}; save the table as CSV or as JSON lines.")
    return _sniff_csv(source.name, form, sample)


def find_encoding(source: Source) -> str:
    """Return the encoding of a text: UTF-16, UTF-8, else Windows-1252 or Latin-1."""
    head = source.head()
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if head.startswith(mark):
            return encoding
    if b"\x00" in head:
        pairs = head[: len(head) // 2 * 2]
        for encoding, zeros in (("utf-16-le", pairs[1::2]), ("utf-16-be", pairs[::2])):
            if zeros.count(0) > 0.8 * len(zeros):
                return encoding
    for encoding in ("utf-8", "cp1252"):
        if _decodes(source, encoding):
            return encoding
    return "latin-1"


def _decodes(source: Source, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    with source.open() as file:
        while block := file.read(BLOCK):
            if b"\x00" in block:
                raise ValueError(
                    f"{source.name} is a binary file; save the table as CSV, Parquet "
                    "or Excel (.xlsx)."
                )
            try:
                decoder.decode(block, final=len(block) < BLOCK)
            except UnicodeDecodeError:
                return False
    return True


def _sniff_csv(name: str, form: TableFormat, sample: str) -> TableFormat:
    lines = list(io.StringIO(sample, newline=""))
    if len(sample) >= SAMPLE_CHARACTERS and len(lines) > 1:
        lines.pop()  # cut off by the end of the sample
    separator = SEP_LINE.fullmatch(lines[0])
    marked = _leading_comments(lines)
    form = replace(form, skipped=1 if separator else marked, comments=marked > 0)
    lines = lines[form.skipped :]
    if not lines:
        raise ValueError(f"{name} has no rows; choose a file with a table.")
    delimiters = [separator[1]] if separator else [",", ";", "\t", "|"]
    choices = [replace(form, delimiter=delimiter) for delimiter in delimiters]
    titles = {each.delimiter: _title_lines(each, lines) for each in choices}

    def fit(choice: TableFormat) -> tuple[float, bool, int]:
        n_title = titles[choice.delimiter]
        share, width = _fit(choice, lines[n_title:])
        return share, n_title == 0, width

    best = max(choices, key=fit)
    if fit(best)[0] == 0:
        best = choices[0]
    n_title = titles[best.delimiter]
    best, lines = replace(best, skipped=best.skipped + n_title), lines[n_title:]
    rows = _sample_rows(best, lines, most=None)
    best = replace(best, spaces=_has_spaces(rows))
    rows = [[cell.strip() for cell in row] for row in rows]
    best = replace(best, header=has_header(rows))
    return _sniff_numbers(best, [c for row in rows[best.header :] for c in row])


def parse(lines: Iterator[str] | list[str], form: TableFormat) -> Iterator[list[str]]:
    """Yield the rows of a text as it is written, blank lines as empty rows."""
    rows = csv.reader(
        lines,
        delimiter=form.delimiter,
        quotechar=form.quote,
        skipinitialspace=form.spaces,
    )
    if form.delimiter != " ":
        return rows
    return (cells[:-1] if cells and not cells[-1] else cells for cells in rows)


def _leading_comments(lines: list[str]) -> int:
    count = 0
    while count < len(lines) and lines[count].startswith("#"):
        count += 1
    return count if count < len(lines) else 0


def _title_lines(form: TableFormat, lines: list[str]) -> int:
    """Return how many lines are a title: text of one cell above rows of several.

    The row that follows them names columns, and as wide are most rows below it.
    """
    rows = [_cells(form, line) for line in lines[:SNIFFED_LINES]]
    n_cells = [sum(bool(cell.strip()) for cell in row) for row in rows]
    place = next((i for i, n in enumerate(n_cells) if n > 1), 0)
    if not any(n_cells[:place]) or any(map(NUMBER.fullmatch, rows[place])):
        return 0
    widths = [len(row) for row in rows[place + 1 :] if row]
    alike = widths.count(len(rows[place]))
    return place if widths and 2 * alike > len(widths) else 0


def _cells(form: TableFormat, line: str) -> list[str]:
    with suppress(csv.Error, StopIteration):
        return next(iter(parse([line], form)))
    return []


def _fit(form: TableFormat, lines: list[str]) -> tuple[float, int]:
    widths = [len(row) for row in _sample_rows(form, lines)]
    width = widths[0] if widths else 1
    return (width > 1) * widths.count(width) / max(len(widths), 1), width


def _sample_rows(
    form: TableFormat, lines: list[str], most: int | None = SNIFFED_LINES
) -> list[list[str]]:
    rows = []
    with suppress(csv.Error):  # a quote that is never closed; reading says where
        for row in parse(lines[:most], form):
            if row and not (form.comments and row[0].startswith("#")):
                rows.append(row)
    return rows


def _has_spaces(rows: list[list[str]]) -> bool:
    cells = [cell for row in rows for cell in row[1:] if cell]
    return bool(cells) and sum(c.startswith(" ") for c in cells) > len(cells) / 2


def _sniff_numbers(form: TableFormat, cells: list[str]) -> TableFormat:
    cells = [cell for cell in cells if not cell.isalnum()]  # others have no mark

    def count(pattern: re.Pattern[str]) -> int:
        return sum(bool(pattern.fullmatch(cell)) for cell in cells)

    commas, points = count(DECIMAL_COMMA), count(DECIMAL_POINT)
    if form.delimiter == ",":  # a cell 1,234 is a thousand
        comma = commas > count(GROUPED[","]) and commas >= points
    else:  # 1,234 goes by other cells; it is 1.234 where these do not tell
        either = count(EITHER_COMMA), count(EITHER_POINT)
        sure = commas - either[0], points - either[1]
        n_commas, n_points = sure if any(sure) else either
        comma = 0 < n_commas >= n_points
    marks = [" ", "'", "." if comma else ","]
    thousands = max(marks, key=lambda mark: count(GROUPED[mark]))
    return replace(
        form,
        decimal="," if comma else ".",
        thousands=thousands if count(GROUPED[thousands]) else "",
    )


def has_header(rows: list[list[str]]) -> bool:
    """Tell whether the first row names columns rather than being one more case.

    It is a case when half of its cells above columns of numbers are numbers, other than
    years or 0, 1, 2; or when each of its cells comes again below it, in ten rows or
    more.
    """
    if not rows:
        return True
    first, *below = rows
    columns = list(zip(*(row for row in below if len(row) == len(first)), strict=True))
    if len(columns) != len(first) or len(below) < 2:
        return True
    again = [cell in values for cell, values in zip(first, columns, strict=True)]
    if all(again) and len(below) >= FEWEST_ROWS:
        return False
    above = [
        cell
        for cell, values in zip(first, columns, strict=True)
        if any(values) and all(NUMBER.fullmatch(value) for value in values if value)
    ]
    numbers = [cell for cell in above if NUMBER.fullmatch(cell)]
    return not numbers or 2 * len(numbers) < len(above) or _are_names(numbers)


def _are_names(cells: list[str]) -> bool:
    if not all(cell.isdigit() for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    rise = all(after == before + 1 for before, after in pairwise(numbers))
    return rise or all(YEARS[0] <= number <= YEARS[1] for number in numbers)
