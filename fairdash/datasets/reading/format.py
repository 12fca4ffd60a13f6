"""How the text of a table is written: found by looking, or said by the analyst."""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
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
THOUSANDS = {
    "": "no thousands separator",
    ",": "comma",
    ".": "point",
    " ": "space",
    "'": "apostrophe",
}
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
    r"""How a file is written, as found; `read_table` takes another one instead.

    Attributes
    ----------
    kind : str
        Kind of its reader, such as "csv" or "parquet". All below but ``sheet`` and
        ``skipped`` describe a CSV file.
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
        Sheet of an Excel workbook, or file in a ZIP archive.
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
        # In UTF-16 nearly every second byte of a western text is 0.
        pairs = head[: len(head) // 2 * 2]
        high_bytes = {"utf-16-le": pairs[1::2], "utf-16-be": pairs[::2]}
        for encoding, high in high_bytes.items():
            if high.count(0) > 0.8 * len(high):
                return encoding
    for encoding in ("utf-8", "cp1252"):
        if _decodes(source, encoding):
            return encoding
    return "latin-1"


def _decodes(source: Source, encoding: str) -> bool:
    """Return whether an encoding has every byte; ValueError where one is zero."""
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
    """Return how a sample of a CSV file is written: first its lines, then its cells."""
    lines = list(io.StringIO(sample, newline=""))
    if len(sample) >= SAMPLE_CHARACTERS and len(lines) > 1:
        lines.pop()  # cut off by the end of the sample
    separator = SEP_LINE.fullmatch(lines[0])
    n_comments = _leading_comments(lines)
    n_skipped = 1 if separator else n_comments
    lines = lines[n_skipped:]
    if not lines:
        raise ValueError(f"{name} has no rows; choose a file with a table.")
    form = replace(form, skipped=n_skipped, comments=n_comments > 0)
    delimiters = [separator[1]] if separator else [",", ";", "\t", "|"]
    form, n_title = _best_delimiter(form, delimiters, lines)
    form = replace(form, skipped=form.skipped + n_title)
    rows = _sample_rows(form, lines[n_title:], most=None)
    form = replace(form, spaces=_has_spaces(rows))
    rows = [[cell.strip() for cell in row] for row in rows]
    form = replace(form, header=has_header(rows))
    cells_below = [cell for row in rows[form.header :] for cell in row]
    return _sniff_numbers(form, cells_below)


def _best_delimiter(
    form: TableFormat, delimiters: list[str], lines: list[str]
) -> tuple[TableFormat, int]:
    """Return a form with the delimiter that fits most rows, and its lines of title.

    Where two fit equally the one without a title is better, then the one of more
    columns.
    """
    choices = [replace(form, delimiter=delimiter) for delimiter in delimiters]
    titles = {choice.delimiter: _title_lines(choice, lines) for choice in choices}

    def fit(choice: TableFormat) -> tuple[float, bool, int]:
        n_title = titles[choice.delimiter]
        share, width = _fit(choice, lines[n_title:])
        return share, n_title == 0, width

    best = max(choices, key=fit)
    share_of_best, _, _ = fit(best)
    if share_of_best == 0:  # a table of one column has no delimiter
        best = choices[0]
    return best, titles[best.delimiter]


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
    """Return how many first lines are comments; 0 if all lines begin with #."""
    count = 0
    while count < len(lines) and lines[count].startswith("#"):
        count += 1
    return count if count < len(lines) else 0


def _title_lines(form: TableFormat, lines: list[str]) -> int:
    """Return how many lines are a title: text of one cell above rows of several.

    The row that follows them names columns, and as wide are most rows below it.
    """
    rows = [_cells(form, line) for line in lines[:SNIFFED_LINES]]
    n_filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    header = next((i for i, n in enumerate(n_filled) if n > 1), 0)
    if not any(n_filled[:header]) or any(map(NUMBER.fullmatch, rows[header])):
        return 0
    widths = [len(row) for row in rows[header + 1 :] if row]
    n_as_wide = widths.count(len(rows[header]))
    return header if 2 * n_as_wide > len(widths) else 0


def _cells(form: TableFormat, line: str) -> list[str]:
    """Return the cells of one line, none if it is blank or a quote is not closed."""
    with suppress(csv.Error, StopIteration):
        return next(iter(parse([line], form)))
    return []


def _fit(form: TableFormat, lines: list[str]) -> tuple[float, int]:
    """Return the share of rows as wide as the first, and that width.

    The share is 0 where the first row has one cell: its delimiter is not there.
    """
    widths = [len(row) for row in _sample_rows(form, lines)]
    width = widths[0] if widths else 1
    if width <= 1:
        return 0.0, width
    return widths.count(width) / len(widths), width


def _sample_rows(
    form: TableFormat, lines: list[str], most: int | None = SNIFFED_LINES
) -> list[list[str]]:
    """Return the rows of some lines, without blank ones and comments."""
    rows = []
    with suppress(csv.Error):  # a quote that is never closed; reading says where
        for row in parse(lines[:most], form):
            if row and not (form.comments and row[0].startswith("#")):
                rows.append(row)
    return rows


def _has_spaces(rows: list[list[str]]) -> bool:
    """Return whether most cells behind a delimiter begin with a space."""
    cells = [cell for row in rows for cell in row[1:] if cell]
    n_spaced = sum(cell.startswith(" ") for cell in cells)
    return n_spaced > len(cells) / 2


def _sniff_numbers(form: TableFormat, cells: list[str]) -> TableFormat:
    """Return a form with the marks of decimals and thousands that its cells show."""
    marked_cells = [cell for cell in cells if not cell.isalnum()]

    def count(pattern: re.Pattern[str]) -> int:
        return sum(bool(pattern.fullmatch(cell)) for cell in marked_cells)

    n_commas = count(DECIMAL_COMMA)
    n_points = count(DECIMAL_POINT)
    if form.delimiter == ",":  # a cell 1,234 is a thousand
        has_comma = n_commas > count(GROUPED[","]) and n_commas >= n_points
    else:
        # Other cells decide what 1,234 is; it is 1.234 where these do not tell.
        n_either_comma = count(EITHER_COMMA)
        n_either_point = count(EITHER_POINT)
        if n_commas > n_either_comma or n_points > n_either_point:
            n_commas -= n_either_comma
            n_points -= n_either_point
        else:
            n_commas = n_either_comma
            n_points = n_either_point
        has_comma = 0 < n_commas >= n_points
    decimal = "," if has_comma else "."
    marks = [" ", "'", "." if has_comma else ","]
    thousands = max(marks, key=lambda mark: count(GROUPED[mark]))
    if not count(GROUPED[thousands]):
        thousands = ""
    return replace(form, decimal=decimal, thousands=thousands)


def has_header(rows: list[list[str]]) -> bool:
    """Tell whether the first row names columns rather than being one more case.

    It is a case when half of its cells above columns of numbers are numbers, other than
    years or 0, 1, 2; or when each of its cells comes again below it, in ten rows or
    more.
    """
    if not rows:
        return True
    first, *below = rows
    same_width = [row for row in below if len(row) == len(first)]
    columns = list(zip(*same_width, strict=True))
    if len(columns) != len(first) or len(below) < 2:
        return True
    cells_with_columns = list(zip(first, columns, strict=True))
    if len(below) >= FEWEST_ROWS and all(
        cell in values for cell, values in cells_with_columns
    ):
        return False
    above_numbers = [
        cell for cell, values in cells_with_columns if _are_numbers(values)
    ]
    numbers = [cell for cell in above_numbers if NUMBER.fullmatch(cell)]
    if not numbers or 2 * len(numbers) < len(above_numbers):
        return True
    return _are_names(numbers)


def _are_numbers(values: Iterable[str]) -> bool:
    """Return whether there are values, all of which are numbers."""
    present = [value for value in values if value]
    return bool(present) and all(map(NUMBER.fullmatch, present))


def _are_names(cells: list[str]) -> bool:
    """Return whether numbers in a first row name columns: 0, 1, 2 or years."""
    if not all(cell.isdigit() for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    is_counting = all(after == before + 1 for before, after in pairwise(numbers))
    return is_counting or all(YEARS[0] <= number <= YEARS[1] for number in numbers)
