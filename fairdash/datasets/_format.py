"""How the text of a table is written: found by looking, or said by the analyst."""

from dataclasses import dataclass
from typing import Literal

from fairdash._validation import check_one_of

FileKind = Literal["csv", "excel", "json", "parquet"]
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


@dataclass(frozen=True)
class TableFormat:
    r"""What was understood of a file; `read_table` takes another one instead.

    Attributes
    ----------
    kind : {"csv", "excel", "json", "parquet"}
        All below but ``sheet`` describe a CSV file.
    delimiter : {",", ";", "tab", "|", " "}
        The character between cells, a tab as ``"\t"``.
    encoding : str
        One of ``utf-8``, ``utf-8-sig``, ``utf-16``, ``utf-16-le``, ``utf-16-be``,
        ``cp1252`` and ``latin-1``.
    decimal, thousands : str
        Marks in numbers: 1.234,5 has ``","`` and ``"."``.
    quote : {'"', "'"}
    header : bool
        Whether the first row names the columns; else they are ``column 1`` and so on.
    skipped : int
        Lines above the first row: comments, which begin with ``#``, ``sep=`` and a
        title that is one cell.
    comments : bool
        Whether lines that begin with ``#`` and do not make a row are left out.
    spaces : bool
        Whether spaces after a delimiter belong to it.
    sheet : str, optional
        Of an Excel workbook, or the file in a ZIP archive.
    """

    kind: FileKind = "csv"
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
        check_one_of("delimiter", self.delimiter, DELIMITERS)
        check_one_of("encoding", self.encoding, ENCODINGS)
        check_one_of("decimal", self.decimal, DECIMALS)
        check_one_of("thousands", self.thousands, THOUSANDS)
        check_one_of("quote", self.quote, QUOTES)
        if self.decimal == self.thousands:
            message = f"`decimal` and `thousands` cannot both be {self.decimal!r}"
            raise ValueError(f"{message}; choose another one of them.")

    def describe(self) -> str:
        """Return how the file was read, such as "Read as comma-separated, UTF-8."."""
        return f"Read as {self.words()}."

    def words(self) -> str:
        """Return the format alone: "semicolon-separated, decimal comma, UTF-8"."""
        parts = [
            {
                "excel": "an Excel sheet",
                "json": "JSON records",
                "parquet": "Parquet",
            }.get(self.kind, DELIMITERS[self.delimiter])
        ]
        if self.sheet is not None:
            parts[0] = f"{parts[0]} from {self.sheet!r}"
        if self.kind == "csv":
            if self.decimal == ",":
                parts.append(DECIMALS[self.decimal])
            if self.thousands:
                parts.append(f"{THOUSANDS[self.thousands]} between thousands")
            if self.quote == "'":
                parts.append("single quotes")
            parts.append(ENCODINGS[self.encoding])
            if self.skipped:
                lines = f"{self.skipped} line{'s' * (self.skipped > 1)}"
                parts.append(f"{lines} above the table left out")
            if not self.header:
                parts.append("no header")
        return ", ".join(parts)
