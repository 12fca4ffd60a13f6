"""A stranger's text in each format that leaves the program: there it stays text.

Names of columns, values, groups, tables and runs come from files that anybody made.
Each format has one function here; whoever writes that format calls it.
"""

import csv
import json
import re
import unicodedata
from typing import Any

import numpy as np
import pandas as pd

NO_WIDTH = "\u2060"
# controls, and marks that turn the text around them; a mark of one letter may stay
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_CODE = r"(?<!`)(`[\w .,:=%()+/-]+`)(?!`)"  # that holds nothing to be read otherwise
_SEPARATORS = re.compile("([;\t\n])")
_MAY_BEGIN = re.compile("(?:^|[;\t\n])[^0-9A-Za-z;\t\n]")
_NUMBER = re.compile(r" *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *")
# letters and a symbol without a shape, and the quote that a cell may begin with
_FILLERS = '\u115f\u1160\u2800"'
_TAG = re.compile(
    r"<(?!/?(?:br|b|i|extra|span)>|span style=\"color:#[0-9a-fA-F]{6,8}\">)"
)


def visible(text: str) -> str:
    """Return ``text`` with a sign for each control, and each mark that turns text."""
    return _HIDDEN.sub("\ufffd", text)


def plain(text: object) -> str:
    """Return ``text`` so that Markdown shows its characters; plain code stays code.

    It starts no formula, link, image, list or rule. Addresses, mail and names such as
    ":ok:" are parted by a character without width, for nothing else keeps them text.
    """
    lines = visible(re.sub(r"\r\n?", "\n", str(text)))
    parts = re.split(_CODE, re.sub(r"(?m)^[ \t]+(?=\S)", "", lines))
    shown = "".join(
        part if place % 2 else re.sub(r"([\\$*_\[\]~<>#|`&])", r"\\\1", _unlinked(part))
        for place, part in enumerate(parts)
    )
    return re.sub(r"(?m)^(\d*)([-+.)=])(?=\s|$|[-=])", r"\1\\\2", shown)


def _unlinked(text: str) -> str:
    return re.sub(
        r"(?i)(:(?=//)|(?<!\w):(?=[\w+/-]+:)|\bwww(?=\.)|(?<=[\w.+-])(?=@\w))",
        rf"\1{NO_WIDTH}",
        text,
    )


def as_label(part: Any) -> Any:
    """Return a part of a Plotly figure whose texts make no link and no style.

    Plotly reads a little HTML in any text. What figures here write of it stays: breaks,
    bold and italic words, coloured marks, the name of a trace.
    """
    match part:
        case str():
            return _TAG.sub("&lt;", visible(part))
        case dict():
            return {key: as_label(value) for key, value in part.items()}
        case list() | tuple():
            return [as_label(value) for value in part]
        case np.ndarray() | pd.Series() | pd.Index() if part.dtype.kind not in "biufM":
            return as_label(part.tolist())
    return part


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


def as_json(content: Any) -> str:
    """Return JSON that stays inside a script element of HTML, whatever it holds."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def as_literal(text: str) -> str:
    """Return a Python string in double quotes; what cannot be seen is spelled out."""
    return "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode()
        for mark in json.dumps(text, ensure_ascii=False)
    )
