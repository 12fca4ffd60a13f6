"""Replace characters that cannot be seen in a text by signs that can.

Screens draw nothing for most controls, draw many kinds of space as the same space, and
leave out a space at the end. A text is shown so that it can be read back:

- a space that would be lost, at an end or after another space, is ``␣``, and the end of
  a line ``↵``;
- any other character that cannot be seen, or that looks like a space, is its code, such
  as ``⟨U+202E⟩``; so are the signs themselves, where a text holds them;
- joiners and variants stay where they shape a letter or a picture, marks such as
  accents on a letter, a number or a picture, a wide space between wide letters.

Letters that look alike, such as Latin and Cyrillic "a", or "é" as one character and as
two, stay as they are.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

SPACE = "␣"
LINE = "↵"
_OPEN, _CLOSE = "⟨⟩"
_COMMON = re.compile("(?:[!-~]+(?: [!-~]+)*)?")
# characters without a look of their own whose category does not say so
_EMPTY = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_JOINERS = "\u200c\u200d"
_VARIANTS = "\ufe0e\ufe0f"
# they enclose the number that follows
_ENCLOSING = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2")
_VARIANT_SELECTORS = re.compile("[\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_PICTURES = re.compile("[\U0001f000-\U0001faff]")
_WIDE_SPACE = "\u3000"
_VIRAMA = 9  # combining class of the mark that joins two letters of Indic scripts


def visible(text: object) -> str:
    """Return ``text`` with a sign for all that cannot be seen; no two read the same."""
    words = str(text)
    if _COMMON.fullmatch(words):
        return words
    return "".join(map(_shown, words, *_neighbours(words)))


def as_printed(text: object) -> str:
    """Return text for a terminal, where spaces and ends of lines are seen."""
    words = str(text)
    return "".join(
        mark if mark in " \n" else _shown(mark, before, after)
        for mark, before, after in zip(words, *_neighbours(words), strict=True)
    )


def visible_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose names and texts are `visible`; numbers stay numbers."""
    readable = table.copy(deep=False)
    for position in range(readable.shape[1]):
        column = readable.iloc[:, position]
        if not (
            pd.api.types.is_numeric_dtype(column)
            or pd.api.types.is_datetime64_any_dtype(column)
        ):
            cells = np.empty(len(column), dtype=object)
            cells[:] = [_visible_cell(value) for value in column]
            readable.isetitem(position, cells)
    readable.columns = readable.columns.map(_visible_cell)
    return readable


def _visible_cell(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_visible_cell(part) for part in value]
    return visible(value) if isinstance(value, str) else value


def _neighbours(words: str) -> tuple[list[str], list[str]]:
    """Return what stands before and after each letter of a text."""
    return ["", *words[:-1]][: len(words)], [*words[1:], ""][: len(words)]


# a text has few different letters beside few others, and a table may have long names
@lru_cache(10_000)
def _shown(mark: str, before: str, after: str) -> str:
    if mark == " ":
        return SPACE if before in ("", " ", "\n") or after in ("", "\n") else mark
    if mark == "\n":
        return LINE
    if "!" <= mark <= "~" or _can_be_seen(mark, before, after):
        return mark
    return f"{_OPEN}U+{ord(mark):04X}{_CLOSE}"


def _can_be_seen(mark: str, before: str, after: str) -> bool:
    kind = unicodedata.category(mark)
    if mark in (SPACE, LINE, _OPEN) or mark in _EMPTY:
        return False
    if mark in _JOINERS:
        return _shapes(before, after)
    if _VARIANT_SELECTORS.match(mark):
        return mark in _VARIANTS and _is_picture(before)
    if kind[0] == "M":
        return unicodedata.category(before or " ")[0] in "LMN" or _is_picture(before)
    if kind == "Cf":
        return mark in _ENCLOSING
    if mark == _WIDE_SPACE:
        return _is_wide(before) and _is_wide(after)
    if kind == "Cn":  # a picture younger than this Python
        return _PICTURES.match(mark) is not None
    return kind[0] not in "CZ"


def _shapes(before: str, after: str) -> bool:
    if not before or not after:
        return False
    if unicodedata.category(after)[0] not in "LMS":
        return False
    joined = unicodedata.bidirectional(before) in ("AL", "NSM")
    return joined or unicodedata.combining(before) == _VIRAMA or _is_picture(before)


def _is_wide(mark: str) -> bool:
    return unicodedata.east_asian_width(mark or " ") in "WF"


def _is_picture(mark: str) -> bool:
    return mark in _VARIANTS or unicodedata.category(mark or " ") in ("So", "Sk")
