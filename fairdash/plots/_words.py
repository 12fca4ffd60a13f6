"""Numbers and names as figures write them."""

import math
import textwrap
from collections.abc import Iterable


def percent(share: float, digits: int = 0) -> str:
    """Return 0.651 as "65%"."""
    return "–" if math.isnan(share) else f"{100 * share:.{digits}f}%"


def number(value: float, digits: int = 3) -> str:
    """Return a number with a typographic minus, "–" where undefined."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}".replace("-", "−")


def between(low: float, high: float, digits: int = 3) -> str:
    """Return an interval such as "0.092–0.199"."""
    if math.isnan(low) or math.isnan(high):
        return "no interval"
    joint = " to " if min(low, high) < 0 else "–"
    return f"{number(low, digits)}{joint}{number(high, digits)}"


def wrap(name: str, width: int = 20) -> str:
    """Break a long name into lines."""
    return "<br>".join(textwrap.wrap(name, width)) or name


def listing(names: Iterable[str]) -> str:
    """Return "a, b and c"."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def fitting(*candidates: str, most: int = 70) -> str:
    """Return the first candidate of at most ``most`` characters, else cut the last."""
    for candidate in candidates:
        if len(candidate) <= most:
            return candidate
    return candidates[-1][: most - 1].rstrip() + "…"
