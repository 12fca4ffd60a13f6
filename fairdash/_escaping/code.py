"""A stranger's text inside of JSON, of Python and of a command."""

import json
import shlex
from typing import Any


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


def as_argument(text: str) -> str:
    """Return an argument of a Bash command; what cannot be seen is spelled out."""
    if text.isprintable():
        return shlex.quote(text)
    spelled = "".join(_spelled(mark) for mark in text)
    return f"$'{spelled}'"


def _spelled(mark: str) -> str:
    if mark in "'\\":
        return f"\\{mark}"
    return mark if mark.isprintable() else f"\\U{ord(mark):08x}"
