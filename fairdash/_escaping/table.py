"""A stranger's text in a cell that a spreadsheet opens."""

import csv
import re
import unicodedata
from typing import Any

import pandas as pd

_SEPARATORS = re.compile("([;\t\n])")
_MAY_BEGIN = re.compile("(?:^|[;\t\n])[^0-9A-Za-z;\t\n]")
_NUMBER = re.compile(r" *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *")
# letters and a symbol without a shape, and the quote that a cell may begin with
_FILLERS = '\u115f\u1160\u2800"'


def as_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV that a spreadsheet can open.

    An apostrophe marks as text what a spreadsheet would begin a formula with, also one
    that parts cells by semicolons or tabs. Numbers, also those kept as text, stay as
    they are. All texts are quoted, so that none ends a row.
    """
    safe = table.copy(deep=False)
    for position in range(safe.shape[1]):
        column = safe.iloc[:, position]
        if not pd.api.types.is_numeric_dtype(column):
            safe.isetitem(position, [as_cell(value) for value in column])
    safe.columns = pd.Index([as_cell(name) for name in safe.columns])
    return safe.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)


def as_cell(value: Any) -> Any:
    """Return a value of a table as `as_csv` writes it.

    Whoever opens the file may part cells by semicolons or tabs, and then a quote that
    stands inside of a cell protects nothing: each part may begin a formula.
    """
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").replace("\r", "\n")  # or it would end the row
    if _MAY_BEGIN.search(text) is None or _NUMBER.fullmatch(text):
        return text
    parts = _SEPARATORS.split(text)
    return "".join(f"'{part}" if begins_formula(part) else part for part in parts)


def begins_formula(text: str) -> bool:
    """Return whether a spreadsheet may read a text as a formula.

    That depends on its first sign other than spaces, signs without a shape and quotes.
    A form of ``=``, ``+``, ``-`` or ``@``, such as a wide one, counts as that sign.
    """
    for sign in text:
        plain_sign = unicodedata.normalize("NFKC", sign)
        if plain_sign[0] in "=+-@":
            return True
        if not _is_shapeless(plain_sign[0]):
            return False
    return False


def _is_shapeless(sign: str) -> bool:
    """Return whether a sign leaves nothing to see: a control, space, mark or filler."""
    return sign in _FILLERS or unicodedata.category(sign)[0] in "CMZ"
