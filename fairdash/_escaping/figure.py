"""A stranger's text in a figure.

Plotly reads a little HTML in any text, entities among it, and Streamlit puts colours of
the theme in the place of tokens such as "#000001", wherever these stand. What a figure
writes of that itself is a colour or a `Label`, made by the functions here; any other
text is only text.
"""

import textwrap
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from fairdash._escaping.visible import visible

_TOKEN = "#0000"  # how the token of a colour begins
_COLOURS = ("color", "colorway", "colorscale")  # how keys of colours end


class Label(str):
    """Text of a figure that is finished: what is markup in it is ours."""

    __slots__ = ()


def in_lines(*parts: str) -> Label:
    """Return texts as the lines of one label."""
    return Label("<br>".join(map(_finished, parts)))


def wrap(name: str, width: int = 20) -> Label:
    """Break a long name into lines."""
    lines = textwrap.wrap(visible(name), width) or [""]
    return Label("<br>".join(map(_escaped, lines)))


def bold(text: str) -> Label:
    """Return a text in bold letters."""
    return Label(f"<b>{_finished(text)}</b>")


def coloured(text: str, mark: str, colour: str) -> Label:
    """Return a text, and behind it a mark in a colour."""
    return Label(f'{_finished(text)} <span style="color:{colour}">{mark}</span>')


def as_label(part: Any) -> Any:
    """Return a part of a Plotly figure whose texts make no link and no style."""
    match part:
        case str():
            return _finished(part)
        case dict():
            return {
                key: value if key.endswith(_COLOURS) else as_label(value)
                for key, value in part.items()
            }
        case list() | tuple():
            return [as_label(value) for value in part]
        case np.ndarray() | pd.Series() | pd.Index() if part.dtype.kind not in "biufM":
            return as_label(part.tolist())
    return part


def _finished(text: str) -> Label:
    if isinstance(text, Label):
        return text
    return Label(_escaped(visible(text)))


def _escaped(words: str) -> str:
    return escape(words, quote=False).replace(_TOKEN, _TOKEN.replace("#", "&#35;"))
