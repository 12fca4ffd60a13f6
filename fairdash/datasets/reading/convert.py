"""A file of any kind written as Parquet."""

from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fairdash.datasets.reading.csv_text import typed
from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.memory import Memory
from fairdash.datasets.reading.parquet import write_table
from fairdash.datasets.reading.registry import (
    OpenedFile,
    open_rows,
    reader_named,
    sniff,
)
from fairdash.datasets.reading.rows import renamed, unique_names
from fairdash.datasets.reading.source import (
    Scratch,
    as_source,
    check_columns,
    check_rows,
    temporary,
)
from fairdash.datasets.reading.unpack import unpack
from fairdash.datasets.table_notes import TableNotes


@dataclass(frozen=True)
class TableFile:
    """A table written as Parquet.

    ``table_format`` says how the original file was read.
    """

    table_format: TableFormat
    n_rows: int
    n_columns: int


def convert_table(
    source: str | Path | bytes | BinaryIO,
    path: Path | BinaryIO,
    *,
    name: str | None = None,
    sheet: str | None = None,
    table_format: TableFormat | None = None,
    scratch: Scratch | None = None,
) -> TableFile:
    """Write a file of any kind as Parquet; `load_table` gives what `read_table` gives.

    ``scratch`` returns new files for what is unpacked, by default temporary ones. Other
    arguments and errors are those of `read_table`.
    """
    original = as_source(source, name, sheet)
    with ExitStack() as files:
        scratch = scratch or temporary(files)
        file = unpack(original, scratch)
        form = table_format or sniff(file)
        if file.sheet is not None and not reader_named(form.kind).has_sheets:
            message = f"{original.name} has no sheets or files to choose from"
            raise ValueError(f"{message}; do not give `sheet`.")
        rows, form, reader = open_rows(file, form, scratch)
        check_columns(original.name, rows.header)
        names = unique_names(rows.header)
        columns = rows.columns()
        n_rows = len(columns[0])
        check_rows(original, n_rows, len(names))
        if not n_rows:
            message = f"{original.name} has a header but no rows; add rows of data."
            raise ValueError(message)
        memory = Memory(original)
        for place, column_name in enumerate(names):  # one by one: the text goes
            if not reader.has_types:
                columns[place] = typed(columns[place], form, column_name)
            memory.add(column_name, columns[place])
        notes = _notes(rows, names)
        with open(path, "wb") if isinstance(path, Path) else nullcontext(path) as out:
            write_table(columns, names, out, notes)
    return TableFile(form, n_rows, len(names))


def _notes(rows: OpenedFile, names: list[str]) -> TableNotes:
    noted = rows.notes
    named = {**noted.renamed, **renamed(rows.header, names)}
    return noted.model_copy(update={"renamed": named})
