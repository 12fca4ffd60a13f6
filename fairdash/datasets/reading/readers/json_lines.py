"""JSON lines: an object a line, whose names are the columns."""

import json
from typing import TYPE_CHECKING, Any

from fairdash._lazy import LazyModule, load
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

    from fairdash.datasets.reading import memory
else:
    pa = LazyModule("pyarrow")
    memory = LazyModule("fairdash.datasets.reading.memory")

LONGEST_LINE = 4 << 20  # bytes


def _fits(source: Source, head: bytes) -> bool:
    if not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return False
    with source.open() as file:
        line = file.readline(LONGEST_LINE).removeprefix(b"\xef\xbb\xbf")
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


class JsonLines:
    """The lines of a file of objects; a name that a line lacks is missing there.

    Raises ValueError when a line is no object, a column holds values of several types,
    lists or records, or there are too many rows or columns.
    """

    notes = TableNotes()

    def __init__(self, source: Source) -> None:
        self.source = source
        arrow_json = load("pyarrow.json")
        options = arrow_json.ReadOptions(block_size=LONGEST_LINE)
        try:
            with source.open() as file:
                table = arrow_json.read_json(file, read_options=options)
        except pa.ArrowInvalid as error:
            raise ValueError(
                f"{source.name} is not readable as JSON lines: "
                f"{_reason(str(error))}. Write one object a line, with one type for "
                "each name, or save the table as CSV."
            ) from error
        self.header = list(table.column_names)
        check_columns(source.name, self.header)
        check_rows(source, len(table), len(self.header))
        for name, kind in zip(self.header, table.schema.types, strict=True):
            memory.check_kind(source.name, name, kind)
        check_memory(source, table.nbytes)
        self._columns = [
            memory.plain_column(column.combine_chunks(), name, source.name)
            for name, column in zip(self.header, table.columns, strict=True)
        ]

    def columns(self) -> list[Any]:
        """Return the columns with the types that Arrow finds."""
        return self._columns


def _reason(text: str) -> str:
    """Return what Arrow says, without the names of its functions."""
    return text.partition(": ")[2].partition("\n")[0].rstrip(".") or "it is damaged"


def _read(
    source: Source, form: TableFormat, scratch: Scratch
) -> tuple[OpenedFile, TableFormat]:
    return JsonLines(source), form


READER = Reader(
    kind="jsonl",
    label="JSON lines",
    programs=("JSON lines",),
    suffixes=(".jsonl", ".ndjson"),
    fits=_fits,
    sniff=lambda source: TableFormat(kind="jsonl", sheet=source.member),
    read=_read,
    warm_up=lambda: [b'{"day": "2024-01-31", "age": 31}\n{"day": null, "age": 1.5}\n'],
)
