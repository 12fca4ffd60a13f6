"""Find out how the text of a table is written, from its bytes and its first lines."""

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from fairdash.datasets._format import QUOTES, TableFormat
from fairdash.datasets._read_header import has_header, has_title
from fairdash.datasets._read_source import ZIP, Source

SAMPLE_CHARACTERS = 200_000
SNIFFED_LINES = 50
BLOCK = 1 << 20
NEEDED_SPACES = 3  # cells of a table whose cells are parted by spaces
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
SEP_LINE = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)
DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+|\d{1,3}( \d{3})+),\d+")
GROUPED = {
    ",": re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?"),
    ".": re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?"),
    " ": re.compile(r"[+-]?\d{1,3}( \d{3})+([.,]\d+)?"),
    "'": re.compile(r"[+-]?\d{1,3}('\d{3})+([.,]\d+)?"),
}


def sniff(source: Source) -> TableFormat:
    """Return how a file is written.

    Raises
    ------
    ValueError
        When it is neither text nor a file that is known.
    """
    head = source.head()
    if head.startswith(b"PAR1"):
        return TableFormat(kind="parquet", sheet=source.member)
    if head.startswith(ZIP):
        return TableFormat(kind="excel", sheet=source.sheet or source.member)
    encoding = find_encoding(source)
    with source.open() as file:
        text = io.TextIOWrapper(file, encoding, errors="replace", newline="")
        sample = text.read(SAMPLE_CHARACTERS)
    form = TableFormat(encoding=encoding, sheet=source.member)
    if not sample.strip():
        raise ValueError(f"{source.name} is empty; choose a file with a table.")
    if is_json(sample):
        return replace(form, kind="json")
    if re.match(r"\s*<(!doctype|html|table|\?xml)", sample, re.IGNORECASE):
        message = f"{source.name} is a web page or XML, not a table"
        raise ValueError(f"{message}; save the table as CSV.")
    return _sniff_csv(form, sample)


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


def is_json(sample: str) -> bool:
    """Tell whether a text is JSON lines or an array of JSON records."""
    start = sample.lstrip()
    if start.startswith("["):
        return bool(re.match(r"\[\s*(\{|\])", start))
    if not start.startswith("{"):
        return False
    try:
        json.loads(start.splitlines()[0])
    except json.JSONDecodeError as error:
        # a record over several lines, or one longer than the sample
        return start.startswith(('{"', "{\n", "{\r")) and error.pos > 0
    return True


def _decodes(source: Source, encoding: str) -> bool:
    """Tell whether a whole file is text in an encoding; raise when it is no text."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with source.open() as file:
        while block := file.read(BLOCK):
            if b"\x00" in block:
                raise ValueError(
                    f"{source.name} is a binary file; save the table as CSV, Parquet, "
                    "Excel (.xlsx) or JSON lines."
                )
            try:
                decoder.decode(block, final=len(block) < BLOCK)
            except UnicodeDecodeError:
                return False
    return True


def _sniff_csv(form: TableFormat, sample: str) -> TableFormat:
    lines = list(io.StringIO(sample, newline=""))
    if len(sample) >= SAMPLE_CHARACTERS and len(lines) > 1:
        lines.pop()  # cut off by the end of the sample
    told = SEP_LINE.fullmatch(lines[0])
    marked = _leading_comments(lines)
    form = replace(form, skipped=1 if told else marked, comments=marked > 0)
    lines = lines[form.skipped :]
    delimiters = [told[1]] if told else [",", ";", "\t", "|"]
    choices = [
        replace(form, delimiter=delimiter, quote=quote)
        for quote in QUOTES
        for delimiter in delimiters
    ]
    if not told and _has_title(choices, lines):
        choices = [replace(form, skipped=form.skipped + 1) for form in choices]
        lines = lines[1:]
    best = max(choices, key=lambda choice: _fit(choice, lines))
    if _fit(best, lines)[0] == 0:
        spaced = replace(form, delimiter=" ", spaces=True)
        best = spaced if not told and _all_fit(spaced, lines) else choices[0]
    rows = _sample_rows(best, lines, most=None)
    best = replace(best, spaces=best.spaces or _has_spaces(rows))
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
    """Return how many first lines are comments; a header "#id,x" is none."""
    count = 0
    while count < len(lines) and lines[count].startswith("#"):
        count += 1
    if 0 < count < len(lines):
        last, following = lines[count - 1], lines[count]
        for delimiter in (",", ";", "\t", "|"):
            n = last.count(delimiter)
            if n and n == following.count(delimiter):
                return count - 1
    return count if count < len(lines) else 0


def _has_title(choices: list[TableFormat], lines: list[str]) -> bool:
    """Tell whether a line that is no row stands above a table."""
    if not lines[0].strip() or any(_fit(choice, lines)[0] == 1 for choice in choices):
        return False
    return any(has_title(_sample_rows(choice, lines)) for choice in choices)


def _fit(form: TableFormat, lines: list[str]) -> tuple[float, int, int]:
    """Rate how well a text is cut: lines alike, the likelier quote, many cells."""
    widths = [len(row) for row in _sample_rows(form, lines)]
    width = widths[0] if widths else 1
    alike = (width > 1) * widths.count(width) / max(len(widths), 1)
    cell = f"{form.quote}[^{form.quote}]*{form.quote}"
    header = f"{cell}({re.escape(form.delimiter)}{cell})*"
    all_quoted = bool(re.fullmatch(header, lines[0].strip()))
    return alike, 2 * all_quoted + (form.quote == QUOTES[0]), width


def _all_fit(form: TableFormat, lines: list[str]) -> bool:
    widths = {len(row) for row in _sample_rows(form, lines)}
    return len(widths) == 1 and min(widths) >= NEEDED_SPACES


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
    """Tell whether most cells but the first of a row begin with a space."""
    cells = [cell for row in rows for cell in row[1:] if cell]
    return bool(cells) and sum(c.startswith(" ") for c in cells) > len(cells) / 2


def _sniff_numbers(form: TableFormat, cells: list[str]) -> TableFormat:
    """Find decimal and thousands marks from cells that cannot be read otherwise."""

    def count(pattern: re.Pattern[str]) -> int:
        return sum(bool(pattern.fullmatch(cell)) for cell in cells)

    commas, thousands = count(DECIMAL_COMMA), count(GROUPED[","])
    # 1,234 is a thousand where a comma parts cells, else 1.234
    comma = commas > 0 and (form.delimiter != "," or commas > thousands)
    if comma and count(re.compile(r"[+-]?\d{1,3}(,\d{3})*\.\d+")) > commas:
        comma = False
    decimal = "," if comma else "."
    marks = [mark for mark in (".", ",", " ", "'") if mark != decimal]
    if not comma:
        marks.remove(".") if "." in marks else None
    found = max(marks, key=lambda mark: count(GROUPED[mark]))
    return replace(
        form, decimal=decimal, thousands=found if count(GROUPED[found]) else ""
    )
