"""What a column holds: numbers, codes, categories, dates, free text, identifiers."""

from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets.column_kinds.cell_texts import (
    DATE_FORMATS,
    PROBE,
    dates_of,
    numbers_of,
)
from fairdash.datasets.column_kinds.cells import is_nested, some_rows
from fairdash.datasets.column_kinds.distinct import all_differ, count_values
from fairdash.datasets.column_kinds.names import READ_LETTERS, is_unnamed, words

ColumnKind = Literal["number", "category", "yes_no", "date", "text", "id", "range"]
COLUMN_KINDS: tuple[ColumnKind, ...] = get_args(ColumnKind)
PROBED_ROWS = 10_000
FEWEST_CODES = 3  # values of a column of codes
MOST_CODES = 20
CODE_WORDS = {
    "action", "category", "class", "code", "decision", "disposition", "ethnicity",
    "gender", "kind", "marital", "occupancy", "outcome", "purpose", "race", "reason",
    "result", "sex", "status", "type",
}  # fmt: skip
UNKNOWN_CODES = {7.0, 8.0, 9.0, 77.0, 88.0, 98.0, 99.0, 998.0, 999.0, 8888.0, 9999.0}
FEWEST_NUMBERED = 20  # rows; fewer may differ by chance
NUMBERING_WORDS = {"id", "index", "key", "number", "nr", "no"}
FEWEST_LEVELS = 20  # fewer distinct values are categories, whatever they say
FREE_TEXT_SHARE = 0.2
FREE_TEXT_WORDS = 4.0


def is_number(column: "pd.Series[Any]") -> bool:
    """Tell whether a column holds numbers; True and False are not numbers."""
    numeric = pd.api.types.is_numeric_dtype(column)
    return bool(numeric and not pd.api.types.is_bool_dtype(column))


def is_whole(column: "pd.Series[Any]") -> bool:
    """Tell whether every value of a column of numbers is whole."""
    if pd.api.types.is_integer_dtype(column):
        return True
    values = column.dropna().to_numpy(dtype=float)
    return bool(np.isfinite(values).all() and (values == np.floor(values)).all())


def is_coded(column: "pd.Series[Any]") -> bool:
    """Tell whether numbers are codes of categories rather than a quantity.

    Few whole numbers whose name says so, such as a status or a type, or that leave a
    gap of codes for "unknown": 1, 2, 3, 9.
    """
    if not is_number(column) or count_values(column, MOST_CODES) > MOST_CODES:
        return False
    values = np.sort(column.dropna().unique().astype(np.float64))
    if len(values) < FEWEST_CODES or not is_whole(column) or values[0] < 0:
        return False
    says_codes = bool(words(str(column.name)) & CODE_WORDS)
    return says_codes or _has_unknown_code(values)


def _has_unknown_code(values: NDArray[np.float64]) -> bool:
    """Return whether the last of rising codes stands off as one for "unknown"."""
    *steps, last_step = np.diff(values)
    is_apart = last_step > 1 and all(step == 1 for step in steps)
    return bool(is_apart and values[-1] in UNKNOWN_CODES)


def is_identifier(column: "pd.Series[Any]") -> bool:
    """Tell whether a column numbers or names its rows: no value twice, and no measure.

    Whole numbers count as identifiers when they only rise or fall down the table, are
    1 to n in any order, or when the column's name says so; text counts whenever no
    value comes twice.
    """
    # The first rows decide at little cost for most columns.
    head = column.head(PROBED_ROWS)
    if is_number(column) and not is_whole(head):
        return False
    if not all_differ(head.dropna()):
        return False
    present = column.dropna() if column.hasnans else column
    if len(present) < FEWEST_NUMBERED or not all_differ(present):
        return False
    if not is_number(column):
        return not pd.api.types.is_datetime64_any_dtype(column)
    if not is_whole(column):
        return False
    if present.is_monotonic_increasing or present.is_monotonic_decreasing:
        return True
    name = str(column.name)
    name_words = words(name)
    has_no_gap = present.max() - present.min() + 1 == len(present)
    # Years and ages have no gaps either, where there is one row for each.
    if has_no_gap and not name_words & {"year", "yr", "age"}:
        return True
    return bool(name_words & NUMBERING_WORDS) or is_unnamed(name)


def infer_kind(column: "pd.Series[Any]") -> ColumnKind:
    """Return what a column holds: number, category, date, text or id.

    ``id`` numbers or names the rows, ``text`` is written freely. For text the
    beginnings of some cells decide, and all cells whether a value comes twice.
    """
    if is_nested(column):
        return "text"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "date"
    if pd.api.types.is_numeric_dtype(column):
        return "id" if is_identifier(column) else "number"
    return _infer_text(column)


def _infer_text(column: "pd.Series[Any]") -> ColumnKind:
    """Return what a column that is no number by its type holds; see `infer_kind`."""
    sample = column.iloc[some_rows(len(column))].dropna()
    values: pd.Series[Any] = pd.Series(sample.unique())
    # Cells of another type may be of any kind, and have no letters to cut.
    if isinstance(values.dtype, pd.StringDtype):
        values = values.str.slice(0, READ_LETTERS)
    values = values.map(str).str.strip()
    if values.empty:
        return "category"
    # The first values settle most columns of text, which take long to read as numbers.
    may_be_numbers = numbers_of(values.iloc[:PROBE]).notna().all()
    if may_be_numbers and numbers_of(values).notna().all():
        return "number"
    may_be_dates = any(character.isdigit() for character in values.iloc[0])
    if may_be_dates and _fits_date_format(values):
        return "date"
    if len(values) <= FEWEST_LEVELS:
        return "category"
    if values.str.count(r"\S+").mean() >= FREE_TEXT_WORDS:
        return "text"
    if is_identifier(column):
        return "id"
    has_many_values = len(values) > FREE_TEXT_SHARE * len(sample)
    return "text" if has_many_values else "category"


def _fits_date_format(values: "pd.Series[Any]") -> bool:
    """Return whether all values are dates in one format."""
    return any(dates_of(values, form).notna().all() for form in DATE_FORMATS)
