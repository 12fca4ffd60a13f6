"""The rows of a CSV file as Python reads them, and what its cells mean."""

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator

from fairdash.datasets.reading.format import BLOCK, ENCODINGS, TableFormat, parse
from fairdash.datasets.reading.source import Source

MISSING = ["", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL"]
TRUE = ["True", "TRUE", "true"]
FALSE = ["False", "FALSE", "false"]
WHOLE = 18  # digits that always fit 64 bits
MISFIT = "its cells and quotes do not fit together"
CSV_ERRORS = {  # what the csv module says, and what it means
    "field larger than": "a cell is too long, so a quote is never closed",
    "line contains NUL": "it holds a zero byte",
}
# These are names, not numbers: 007 and 0x1F ...
ZERO_FIRST = "^0[0-9xX]"
# ... and whole numbers that a float would round.
LONG_WHOLE = "^[+-]?[0-9]{19,}$"


def csv_rows(source: Source, form: TableFormat) -> Iterator[list[str]]:
    """Yield rows neither blank nor comments; ValueError unless as wide as the first."""
    with open_text(source, form) as text:
        for _ in range(form.skipped):
            next(text, "")
        lines: list[str] = []
        line = form.skipped
        width = 0
        number = -1 if form.header else 0  # a header is no row
        for cells in parse(recorded(text, lines), form):
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
                    f"cells but the {first} has {width}. Quote cells that hold the "
                    f"delimiter {form.delimiter!r}, or fix the row."
                )


def open_text(source: Source, form: TableFormat) -> io.TextIOWrapper:
    """Return the text of a file, without a byte order mark if it has one."""
    encoding = "utf-8-sig" if form.encoding == "utf-8" else form.encoding
    return io.TextIOWrapper(source.open(), encoding, newline="")


def recorded(text: Iterator[str], lines: list[str]) -> Iterator[str]:
    """Yield lines, and keep them in ``lines`` for who wants to know what was read."""
    for line in text:
        lines.append(line)
        yield line


def unreadable(source: Source, form: TableFormat, error: object) -> ValueError:
    """Return the error of a file that is no CSV file, or a damaged one.

    ``error`` is a reason in our words, or what the decoder or the csv module raised.
    """
    if isinstance(error, UnicodeError):
        return _undecodable(source, form)
    reason = error
    if isinstance(error, csv.Error):
        reasons = [words for mark, words in CSV_ERRORS.items() if mark in str(error)]
        reason = (reasons or [MISFIT])[0]
    return ValueError(
        f"{source.name} is not a readable CSV file ({reason}); save it again as CSV in "
        "UTF-8."
    )


def _undecodable(source: Source, form: TableFormat) -> ValueError:
    """Return the error of a byte that the encoding of a file does not have."""
    encoding = ENCODINGS[form.encoding]
    common = [ENCODINGS[name] for name in ("utf-8", "cp1252", "utf-16")]
    choices = " or ".join(name for name in common if name != encoding)
    line, byte = _first_undecodable(source, form.encoding)
    return ValueError(
        f"{source.name}: line {line:,} holds the byte 0x{byte:02X}, which is not "
        f"{encoding}. Choose another encoding, such as {choices}, or save the file "
        "again as CSV in UTF-8."
    )


def _first_undecodable(source: Source, encoding: str) -> tuple[int, int]:
    """Return line and value of the first byte that an encoding does not have."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with source.open() as file:
        while True:
            block = file.read(BLOCK)
            try:
                line += decoder.decode(block, final=not block).count("\n")
            except UnicodeDecodeError as error:
                line += error.object[: error.start].count(b"\n")
                return line, error.object[error.start]
            if not block:
                return line, 0  # nothing is wrong with the bytes


def unique_names(header: list[str]) -> list[str]:
    """Return a name for every column: ``Unnamed: 0``, ``age``, ``age.1``."""
    names: dict[str, None] = {}  # a set that keeps the order
    in_header = set(header)
    copies = Counter[str]()
    for position, written in enumerate(header):
        name = written or f"Unnamed: {position}"
        unique = name
        # A made-up name must not be one that another column has in the header.
        while unique in names or (copies[name] and unique in in_header):
            copies[name] += 1
            unique = f"{name}.{copies[name]}"
        names[unique] = None
    return list(names)


def renamed(header: list[str], names: list[str]) -> dict[str, str]:
    """Return the columns that got another name, each with its name in the header."""
    pairs = zip(names, header, strict=True)
    return {name: written for name, written in pairs if written and name != written}
