"""CSV files that are made to make a reader look for what is not there."""

import csv
import io

from crafted.case import LIMIT, Case

MANY = 20_000
LARGE = 15_000_000  # bytes
WIDE = r"0 columns, none or more than 2,000"
ENDLESS = "not a readable CSV file|a cell of"
BINARY = "is a binary file"


def text(*rows):
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue().encode()


def filled(head, line, tail=b"", size=LARGE):
    """Return a text of one line again and again, with another end."""
    return head + line * (size // len(line)) + tail


def ragged_end():
    return filled(b"age,sex\n", b"31,w\n", b"31,w,x\n")


HOSTILE_CELLS = {
    "thousands": b'"' + b"1,000" * 20_000 + b',x"',
    "digits": b"1" * 100_000 + b",x",
    "blanks": b" " * 100_000 + b"x",
}


def hostile(cell):
    """Return a table in which a sniffer looks at a hostile cell again and again."""
    quoted = cell if cell.startswith(b'"') else b'"' + cell.replace(b'"', b'""') + b'"'
    return b"age;sex\n" + (b"1,5;" + quoted + b"\n") * 40


ANY = r"read \(\d+, \d+\)|"
TEXTS = {
    "equal.csv": Case(
        "20,000 columns of one name", lambda: text(["x"] * MANY, ["1"] * MANY), WIDE
    ),
    "endless_line.csv": Case(
        "a line of 15 MB, one cell", lambda: b"x" * LARGE, ENDLESS
    ),
    "endless_quote.csv": Case(
        "a quote that is never closed",
        lambda: filled(b'age,sex\n31,"', b"w\n31,"),
        ENDLESS,
    ),
    "ragged_end.csv": Case(
        "15 MB of rows and, at their end, one too long",
        ragged_end,
        "row 3000001 .line 3000002. has 3 cells",
        heavy=True,
    ),
    "late_nul.csv": Case(
        "a zero at the end of 15 MB",
        lambda: filled(b"age,sex\n", b"31,w\n", b"31,\x00\n"),
        BINARY,
    ),
    "mixed.csv": Case(
        "lines in UTF-8, Windows-1252 and UTF-16",
        lambda: (
            "a,b\nß,1\n".encode()
            + "ß,2\n".encode("cp1252")
            + "ß,3\n".encode("utf-16-le")
        ),
        BINARY,
    ),
    **{
        f"hostile_{name}.csv": Case(
            f"cells of 100,000 {name} for the patterns that numbers are found by",
            lambda cell=cell: hostile(cell),
            ANY + ENDLESS + "|cells but the|" + LIMIT,
        )
        for name, cell in HOSTILE_CELLS.items()
    },
}
