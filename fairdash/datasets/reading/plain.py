"""CSV files read without PyArrow: slower, with the same values."""

import csv
import re
from contextlib import ExitStack
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from fairdash._lazy import load
from fairdash.datasets.reading.format import TableFormat, sniff
from fairdash.datasets.reading.rows import (
    FALSE,
    LONG_WHOLE,
    MISSING,
    TRUE,
    WHOLE,
    ZERO_FIRST,
    csv_rows,
    unique_names,
    unreadable,
)
from fairdash.datasets.reading.source import (
    Source,
    check_cell,
    check_columns,
    check_rows,
    temporary,
    unpack,
)

_INTEGER = re.compile(rf"-?[0-9]{{1,{WHOLE}}}")


def read_plain(source: Source, table_format: TableFormat | None) -> pd.DataFrame:
    """Return the table of a CSV file; ImportError for files of another kind."""
    with ExitStack() as files:
        file = unpack(source, lambda: temporary(files)())
        form = table_format or sniff(file)
        if form.kind != "csv":
            load("pyarrow")  # raises: it names the extra
        try:
            rows = list(csv_rows(file, form))
        except (csv.Error, UnicodeError) as error:
            raise unreadable(source.name, error) from error
    if not rows:
        raise ValueError(f"{source.name} has no rows; skip fewer lines.")
    header = [cell.strip() for cell in rows[0]]
    if not form.header:
        header = [f"column {i + 1}" for i in range(len(header))]
    check_columns(source.name, header)
    cells = list(islice(rows, int(form.header), None))
    if not cells:
        message = f"{source.name} has a header but no rows; add rows of data."
        raise ValueError(message)
    check_rows(source, len(cells), len(header))
    names = unique_names(header)
    columns = zip(names, zip(*cells, strict=True), strict=True)
    return pd.DataFrame({name: _typed(column, form, name) for name, column in columns})


def _typed(cells: tuple[str, ...], form: TableFormat, name: str) -> "pd.Series[Any]":
    """Return cells in the narrowest kind that all fit, see `read_table`."""
    values = [None if cell in MISSING or _blank(cell) else cell for cell in cells]
    distinct = {cell for cell in values if cell is not None}
    known = None in values
    if distinct <= {*TRUE, *FALSE} and distinct:
        flags = [None if cell is None else cell in TRUE for cell in values]
        return pd.Series(flags, dtype=object if known else bool)
    for kind in (int, float):
        try:
            numbers = {cell: _number(cell, kind, form) for cell in distinct}
        except ValueError:
            continue
        column = [np.nan if cell is None else numbers[cell] for cell in values]
        return pd.Series(column, dtype=float if known or not distinct else kind)
    check_cell(name, max(map(len, distinct)))
    return pd.Series(values, dtype="str")


def _blank(cell: str) -> bool:
    return " " in (cell[:1], cell[-1:]) and cell.strip() in MISSING


def _number(cell: str, kind: type[int] | type[float], form: TableFormat) -> float:
    """Return a cell as a number; ValueError where it is none, or a name like 007."""
    try:
        if kind is int or form.decimal == ".":
            return _parsed(cell, kind)
    except ValueError:
        pass
    text = cell.strip()
    if mark := form.thousands:
        grouped = rf"[+-]?([0-9]+|[0-9]{{1,3}}([{mark}][0-9]{{3}})+)"
        if not re.fullmatch(grouped + rf"([{form.decimal}][0-9]*)?", text):
            raise ValueError(cell)
        text = text.replace(mark, "")
    if form.decimal == ",":
        if "." in text:
            raise ValueError(cell)
        text = text.replace(",", ".")
    return _parsed(text, kind)


def _parsed(text: str, kind: type[int] | type[float]) -> float:
    if re.match(ZERO_FIRST, text) or "_" in text:
        raise ValueError(text)
    if kind is int and not _INTEGER.fullmatch(text):
        raise ValueError(text)
    if len(text) > WHOLE and re.match(LONG_WHOLE, text):
        raise ValueError(text)
    return kind(text)
