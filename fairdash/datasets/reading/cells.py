"""From cells of text to columns of numbers, of True and False, or of text."""

from collections.abc import Callable, Iterator
from typing import Any, Literal, Protocol

import pyarrow as pa
from pyarrow import compute

from fairdash.datasets.reading.limits import check_cell

MISSING = ["", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL"]
TRUE, FALSE = ["True", "TRUE", "true"], ["False", "FALSE", "false"]
WHOLE = 18  # digits that always fit 64 bits
# names, not numbers: 007, 0x1F, and whole numbers that a float would round
ZERO_FIRST, LONG_WHOLE = "^0[0-9xX]", "^[+-]?[0-9]{19,}$"

CellKind = Literal["empty", "bool", "int", "float", "text"]
WIDER: dict[CellKind, tuple[CellKind, ...]] = {
    "empty": ("bool", "int", "float", "text"),
    "bool": ("bool", "text"),
    "int": ("int", "float", "text"),
    "float": ("float", "text"),
    "text": ("text",),
}
ARROW = {
    "empty": pa.float64(),
    "bool": pa.bool_(),
    "int": pa.int64(),
    "float": pa.float64(),
    "text": pa.string(),
}


class Sink(Protocol):
    """Where batches of columns go."""

    def begin(self, schema: Any) -> None:
        """Take a table with these columns; what came before is void."""

    def write(self, batch: Any) -> None:
        """Take the next rows."""


class Marks(Protocol):
    """How numbers are written."""

    @property
    def decimal(self) -> str:
        """Mark before decimals."""

    @property
    def thousands(self) -> str:
        """Mark between thousands, or nothing."""


def read_cells(
    batches: Callable[[], Iterator[Any]],
    names: list[str],
    marks: Marks,
    sink: Sink,
) -> int:
    """Give the rows of a table to a sink, every column in its narrowest kind.

    A column is True and False, whole numbers, numbers or text, whichever is the first
    that all its cells fit; text that begins with a zero, such as ``007``, makes text.
    The kinds are found on the way: when a late cell does not fit, the rest is only
    looked at, and all is read once more.

    Parameters
    ----------
    batches : callable
        Returns the batches from the first on, all columns text.
    names : list of str
        Of the columns.
    marks : Marks
        Decimal and thousands marks of the numbers.
    sink : Sink

    Returns
    -------
    int
        Number of rows.

    Raises
    ------
    ValueError
        When a cell is longer than 131,072 characters.
    """
    kinds: list[CellKind] = ["empty"] * len(names)
    while True:
        before, begun, n_rows = None, False, 0
        for batch in batches():
            columns = []
            for position, cells in enumerate(batch.columns):
                kind, column = _narrow(cells, kinds[position], marks, names[position])
                kinds[position] = kind
                columns.append(column)
            before = before or list(kinds)
            n_rows += len(batch)
            if kinds != before:
                continue
            if not begun:
                types = [ARROW[kind] for kind in kinds]
                sink.begin(pa.schema(list(zip(names, types, strict=True))))
                begun = True
            sink.write(pa.RecordBatch.from_arrays(columns, names))
        if before is None or kinds == before:
            return n_rows


def _narrow(
    cells: Any, kind: CellKind, marks: Marks, name: str
) -> tuple[CellKind, Any]:
    """Return the first kind, from ``kind`` on, that all cells fit, and the cells."""
    if cells.null_count == len(cells):
        return kind, pa.nulls(len(cells), ARROW[kind])
    for wider in WIDER[kind][:-1]:
        column = _cast(cells, wider, marks)
        if column is not None:
            return wider, column
    check_cell(name, compute.max(compute.utf8_length(cells)).as_py())
    return "text", _without_blanks(cells)


def _cast(cells: Any, kind: CellKind, marks: Marks) -> Any:
    """Return the cells as another kind, or None when one does not fit."""
    if kind == "bool":
        if not _all(compute.is_in(cells.drop_null(), pa.array([*TRUE, *FALSE]))):
            return None
        answers = compute.is_in(cells, pa.array(TRUE))
        return compute.if_else(compute.is_valid(cells), answers, None)
    column = None
    if kind == "int" or marks.decimal == ".":
        column = _parse(cells, kind)
    return _parse(_plain(cells, marks), kind) if column is None else column


def _parse(cells: Any, kind: CellKind) -> Any:
    if cells is None:
        return None
    try:
        numbers = compute.cast(cells, ARROW[kind])
    except pa.ArrowInvalid:
        return None
    zero = cells.filter(compute.starts_with(cells, "0"))
    if len(zero) and _any(compute.match_substring_regex(zero, ZERO_FIRST)):
        return None
    if kind == "float":
        long = cells.filter(compute.greater(compute.binary_length(cells), WHOLE))
        if len(long) and _any(compute.match_substring_regex(long, LONG_WHOLE)):
            return None
    return numbers


def _plain(cells: Any, marks: Marks) -> Any:
    """Return numbers without spaces and thousands, with a decimal point, or None."""
    cells = _without_blanks(compute.utf8_trim_whitespace(cells))
    if mark := marks.thousands:
        one = f"[{mark}]"
        grouped = f"^[+-]?([0-9]+|[0-9]{{1,3}}({one}[0-9]{{3}})+)"
        grouped += f"([{marks.decimal}][0-9]*)?$"
        if not _all(compute.match_substring_regex(cells.drop_null(), grouped)):
            return None
        cells = compute.replace_substring(cells, mark, "")
    if marks.decimal == ",":
        if _any(compute.match_substring(cells, ".")):
            return None
        cells = compute.replace_substring(cells, ",", ".")
    return cells


def _without_blanks(cells: Any) -> Any:
    """Return the cells, those missing that are blank or hold a mark in spaces."""
    spaced = compute.or_(compute.starts_with(cells, " "), compute.ends_with(cells, " "))
    if not _any(spaced):
        return cells
    trimmed = compute.utf8_trim_whitespace(cells)
    blank = compute.is_in(trimmed, pa.array(MISSING))
    return compute.if_else(blank, pa.scalar(None, pa.string()), cells)


def _all(flags: Any) -> bool:
    return bool(compute.all(flags, min_count=0).as_py())


def _any(flags: Any) -> bool:
    return bool(compute.any(flags, min_count=0).as_py())
