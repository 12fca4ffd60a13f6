"""Numbers as the screen writes them: typographic minus, few digits, n with a noun."""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

MINUS = "−"
UNDEFINED = "–"


def number(value: float, digits: int = 3) -> str:
    """Return ``value`` as 0.144 or −0.076; an undefined value as an en dash."""
    if not math.isfinite(value):
        return UNDEFINED
    return f"{value:z.{digits}f}".replace("-", MINUS)


def percent(share: float, digits: int = 1) -> str:
    """Return ``share`` as 65.1%."""
    if not math.isfinite(share):
        return UNDEFINED
    return f"{share:z.{digits}%}".replace("-", MINUS)


def p_value(p: float) -> str:
    """Return ``p`` as 0.071, and what three decimals cannot show as <0.001."""
    return "<0.001" if p < 0.001 else number(p)


def count(n: int) -> str:
    """Return ``n`` as 6,167."""
    return f"{n:,}"


def amount(value: float) -> str:
    """Return a value of a column, at least four digits of it: 36,000, 0.1234."""
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", MINUS)


class Noun(NamedTuple):
    """The noun that is counted: rows, or the people that rows of counts stand for."""

    one: str
    several: str

    def counted(self, n: int, kind: str = "") -> str:
        """Return a number of them: 1 person, 4,526 people, 1,200 test rows."""
        singular, several = (f"{kind} {noun}".strip() for noun in self)
        return plural(n, singular, several)


ROWS = Noun("row", "rows")
PEOPLE = Noun("person", "people")


def plural(n: int, noun: str, several: str = "") -> str:
    """Return ``n`` and its noun: 1 row, 6,167 rows; ``several`` as "people"."""
    if n == 1:
        return f"{count(n)} {noun}"
    return f"{count(n)} {several or f'{noun}s'}"


def change(difference: float, digits: int = 3) -> str:
    """Return ``difference`` with its sign, which 0 has not: +0.020, −0.076, 0.000."""
    if not math.isfinite(difference):
        return UNDEFINED
    if round(difference, digits) == 0:
        return number(0.0, digits)
    return f"{difference:+.{digits}f}".replace("-", MINUS)


def points(difference: float) -> str:
    """Return a change of a share in percentage points: −1.9 pt."""
    if not math.isfinite(difference):
        return UNDEFINED
    return f"{change(100 * difference, 1)} pt"


def some_percent(share: float) -> str:
    """Return a share as whole percent, a small or large one with a decimal: 0.2%."""
    if 0.1 <= share <= 0.9 or share in (0, 1):
        return percent(share, 0)
    return percent(share, 1)


def interval(low: float, high: float, style: Callable[[float], str] = number) -> str:
    """Return 0.092–0.199, 63.5–66.7% or, with a negative bound, −0.118 to −0.031."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    # The unit stands once, after the upper end.
    first = style(low).removesuffix(" pt")
    second = style(high)
    has_sign = any(sign in first + second for sign in (MINUS, "+"))
    # A dash between signed numbers would look like another minus.
    if has_sign:
        return f"{first} to {second}"
    return f"{first.removesuffix('%')}–{second}"


def interval_note(
    low: float, high: float, style: Callable[[float], str] = number
) -> str:
    """Return the 95 % interval of a card's number as its note says it.

    Examples
    --------
    >>> interval_note(0.023, 0.445, gap_size)
    '95% 2.3–44.5 pt'
    """
    ends = interval(low, high, style)
    return f"95% {ends}" if ends else ""


def in_points(share: float) -> str:
    """Return a share in percentage points, without the unit: 16.1."""
    return number(100 * share, 1)


def gap_size(gap: float) -> str:
    """Return a gap of shares in percentage points: 12.2 pt."""
    return f"{in_points(gap)} pt" if math.isfinite(gap) else UNDEFINED


def duration(seconds: float) -> str:
    """Return 4 s, 2 min 8 s or 1 h 5 min."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, seconds_left = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {seconds_left} s" if seconds_left else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def rounded(seconds: float) -> str:
    """Return an end of a range of time, no finer than it deserves: 3 s, 40 s, 5 min.

    Examples
    --------
    >>> rounded(37.0)
    '40 s'
    """
    for least, step in ((3600, 1800), (600, 300), (90, 60), (30, 10), (10, 5)):
        if seconds >= least:
            return duration(step * round(seconds / step))
    return duration(seconds)


def time_left(seconds: float) -> str:
    """Return 15 s left or 2 min left, no finer than an estimate deserves."""
    if seconds < 60:
        return f"{max(1, math.ceil(seconds))} s left"
    return f"{round(seconds / 60)} min left"


def size(n_bytes: float) -> str:
    """Return 0 B, 912 B, 4.2 KB, 31 MB or 1.5 GB, a thousand bytes being a KB."""
    units = ["B", "KB", "MB", "GB"]
    while n_bytes >= 999.5 and len(units) > 1:
        n_bytes /= 1000
        units.pop(0)
    unit = units[0]
    digits = 1 if n_bytes < 9.95 and unit != "B" else 0
    return f"{n_bytes:.{digits}f} {unit}"


def utc(seconds: float) -> str:
    """Return when ``seconds`` since 1970 were, wherever it is read."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def clock_time(seconds: float) -> str:
    """Return when ``seconds`` since 1970 were, on the clock of this machine."""
    return time.strftime("%d %b %H:%M", time.localtime(seconds))


def in_decimals(size: float) -> str:
    """Return a size with three decimals, of 10 and more with fewer: 0.144, 12,350."""
    if size < 10:
        return f"{size:,.3f}"
    if size < 1000:
        return f"{size:,.1f}"
    return f"{size:,.0f}"


def whole_points(difference: float) -> str:
    """Return the size of a difference of shares: 24 points, 1 point, 0.3 points."""
    size = 100 * abs(difference)
    n = round(size)
    # "0 points" would say that there is no difference.
    if n == 0 and size:
        return f"{size:.1f} points" if size >= 0.05 else "less than 0.1 points"
    return f"{n} point" if n == 1 else f"{n} points"
