"""A stranger's text in each format that leaves the program: there it stays text.

Names of columns, values, groups, tables and runs come from files that anybody made.
Each format has one function here; whoever writes that format calls it.
"""

import json
import re
from typing import Any

import numpy as np
import pandas as pd

NO_WIDTH = "\u2060"
# controls, and marks that turn the text around them; a mark of one letter may stay
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_CODE = r"(?<!`)(`[\w .,:=%()+/-]+`)(?!`)"  # that holds nothing to be read otherwise
# a spreadsheet skips what cannot be seen before a formula
FORMULA = "^[\\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*[=+@＝＋－＠-]|^[\t\n]"
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

    A text that begins as a formula does gets an apostrophe before it, which marks it as
    text in a spreadsheet. Numbers, also those kept as text, stay as they are.
    """
    safe = table.copy(deep=False)
    for position in range(safe.shape[1]):
        column = safe.iloc[:, position]
        if not pd.api.types.is_numeric_dtype(column):
            safe.isetitem(position, [as_cell(value) for value in column])
    safe.columns = pd.Index([as_cell(name) for name in safe.columns])
    return safe.to_csv(index=False)


def as_cell(value: Any) -> Any:
    """Return a value of a table as `as_csv` writes it."""
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").replace("\r", "\n")  # or it would end the row
    if re.match(FORMULA, text):
        try:
            float(text)
        except ValueError:
            return f"'{text}"
    return text


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
