"""A file of any kind written as Parquet, with a few batches of rows in memory."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from fairdash.datasets.reading.csv_text import CsvText, Sink, read_cells
from fairdash.datasets.reading.excel import ExcelSheet
from fairdash.datasets.reading.format import TableFormat, sniff
from fairdash.datasets.reading.parquet import ParquetRows, ParquetSink
from fairdash.datasets.reading.rows import unique_names
from fairdash.datasets.reading.source import (
    MOST_CELLS,
    MOST_SHEET_CELLS,
    Scratch,
    Source,
    as_source,
    check_columns,
    check_rows,
    temporary,
    unpack,
)


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
    """Write a file of any kind as Parquet, with a few batches of rows in memory.

    `load_table` then gives what `read_table` gives.

    ``scratch`` returns new files for what is unpacked, by default temporary ones. Other
    arguments and errors are those of `read_table`.
    """
    with (
        ExitStack() as files,
        open(path, "wb") if isinstance(path, Path) else nullcontext(path) as file,
        ParquetSink(file) as sink,
    ):
        scratch = scratch or temporary(files)
        return _read(as_source(source, name, sheet), table_format, sink, scratch)


def _read(
    original: Source, table_format: TableFormat | None, sink: Sink, scratch: Scratch
) -> TableFile:
    file = unpack(original, scratch)
    form = table_format or sniff(file)
    if file.sheet is not None and form.kind != "excel":
        message = f"{original.name} has no sheets or files to choose from"
        raise ValueError(f"{message}; do not give `sheet`.")
    rows, form = _open(file, form, scratch)
    check_columns(original.name, rows.header)
    most = MOST_SHEET_CELLS if isinstance(rows, ExcelSheet) else MOST_CELLS
    names = unique_names(rows.header)

    def batches() -> Iterator[Any]:
        n_rows = 0
        for batch in rows.batches():
            n_rows += len(batch)
            check_rows(original, n_rows, len(names), most)
            yield batch

    if isinstance(rows, ParquetRows):
        n_rows = _copy(batches, names, sink)
    else:
        n_rows = read_cells(batches, names, form, sink)
    if not n_rows:
        message = f"{original.name} has a header but no rows; add rows of data."
        raise ValueError(message)
    return TableFile(form, n_rows, len(names))


def _open(
    file: Source, form: TableFormat, scratch: Scratch
) -> tuple[CsvText | ExcelSheet | ParquetRows, TableFormat]:
    if form.kind == "parquet":
        return ParquetRows(file), form
    if form.kind == "excel":
        sheet = ExcelSheet(file)
        return sheet, replace(form, sheet=sheet.sheet)
    return CsvText(file, form, scratch), form


def _copy(batches: Callable[[], Iterator[Any]], names: list[str], sink: Sink) -> int:
    n_rows = 0
    for batch in batches():
        if not n_rows:
            sink.begin(pa.schema(list(zip(names, batch.schema.types, strict=True))))
        n_rows += len(batch)
        sink.write(batch.rename_columns(names))
    return n_rows
