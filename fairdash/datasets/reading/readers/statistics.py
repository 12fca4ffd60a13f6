"""Files of statistics programs: SPSS (.sav), Stata (.dta) and SAS (.sas7bdat)."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pandas as pd

from fairdash._lazy import LazyModule, load
from fairdash._validation import value_label
from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.registry import OpenedFile, Reader
from fairdash.datasets.reading.source import (
    Scratch,
    Source,
    check_columns,
    check_memory,
    check_rows,
)
from fairdash.datasets.table_notes import TableNotes

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = LazyModule("pyarrow")

LEAST_LABELLED = 0.5  # share of the values of a column that have a label

SPSS = (b"$FL2", b"$FL3")
STATA = b"<stata_dta>"
OLD_STATA = range(105, 116)  # first byte of earlier versions, before a byte order
SAS = b"\0" * 12 + b"\xc2\xea\x81\x60"


def program_of(head: bytes) -> str | None:
    """Return which program wrote a file by its first bytes: sav, dta or sas7bdat."""
    if head.startswith(SPSS):
        return "sav"
    old = len(head) > 4 and head[0] in OLD_STATA and head[1] in (1, 2)
    if head.startswith(STATA) or (old and head[2] == 1 and head[3] == 0):
        return "dta"
    return "sas7bdat" if head.startswith(SAS) else None


class StatisticsFile:
    """The rows of a file of SPSS, Stata or SAS; labelled values are their labels.

    Raises ValueError when the file is damaged, or has too many rows or columns.
    """

    notes = TableNotes()

    def __init__(self, source: Source) -> None:
        self.source = source
        facts = self._parsed(metadataonly=True)[1]
        self.header = list(facts.column_names)
        check_columns(source.name, self.header)
        if facts.number_rows is not None:  # which old files do not say
            check_rows(source, facts.number_rows, len(self.header))

    def columns(self) -> list[Any]:
        """Return the columns: dates as moments, labelled values as words."""
        frame, facts = self._parsed(dates_as_pandas_datetime=True)
        check_memory(self.source, int(frame.memory_usage(index=False).sum()))
        return [
            _column(frame[name], facts.variable_value_labels.get(name, {}))
            for name in self.header
        ]

    def _parsed(self, **options: Any) -> tuple[pd.DataFrame, Any]:
        pyreadstat = load("pyreadstat")
        reader = getattr(pyreadstat, f"read_{program_of(self.source.head())}")
        try:
            with self.source.open() as file:
                return reader(file, **options)
        except (pyreadstat.ReadstatError, UnicodeDecodeError) as error:
            raise ValueError(
                f"{self.source.name} is a damaged file of SPSS, Stata or SAS "
                f"({error}). Save it again, or as CSV."
            ) from error


def _column(column: "pd.Series[Any]", labels: dict[Any, str]) -> Any:
    """Return a column of Arrow, with words for values where most of them have one.

    Where only some codes are labelled, such as 98 "Refused", the numbers stay.
    """
    values = column.dropna().unique()
    labelled = [value for value in values if value in labels]
    if labels and len(labelled) >= LEAST_LABELLED * len(values):
        words = {value: labels.get(value, value_label(value)) for value in values}
        column = column.map(words)
    if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
        texts = [None if pd.isna(v) or v == "" else value_label(v) for v in column]
        return pa.array(texts, pa.string())
    return pa.Array.from_pandas(column)


def _read(
    source: Source, form: TableFormat, scratch: Scratch
) -> tuple[OpenedFile, TableFormat]:
    return StatisticsFile(source), form


def _small_files() -> list[bytes]:
    pyreadstat = load("pyreadstat")
    frame = pd.DataFrame({"day": pd.to_datetime(["2024-01-31"]), "town": ["Köln"]})
    files = []
    with TemporaryDirectory() as folder:
        for program in ("sav", "dta"):
            path = Path(folder) / f"table.{program}"
            getattr(pyreadstat, f"write_{program}")(frame, path)
            files.append(path.read_bytes())
    return files


READER = Reader(
    kind="statistics",
    label="a file of SPSS, Stata or SAS",
    programs=("SPSS", "Stata", "SAS"),
    suffixes=(".sav", ".zsav", ".dta", ".sas7bdat"),
    fits=lambda source, head: program_of(head) is not None,
    sniff=lambda source: TableFormat(kind="statistics", sheet=source.member),
    read=_read,
    finds="labelled values become words, where most have a label",
    library="pyreadstat",
    warm_up=_small_files,
)
