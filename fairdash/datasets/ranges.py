"""Ranges that are written as text: "25-34", ">74", "20%-<30%", "50k–75k", "65+".

A range keeps its words and has two ends, so it has an order and can be compared.
"""

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

READ_LETTERS = 60  # of a text; a longer one is no range
MOST_LABELS = 1_000  # of a column that is looked at
FEWEST_RANGES = 2
LEAST_SHARE = 0.5  # of the labels of a column that are ranges or numbers
SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "mio": 1e6}

_NUMBER = r"(?P<{0}>-?\d+(?:\.\d+)?)(?P<{0}_scale>k|mio|m)?"
_OPEN_LOW, _OPEN_HIGH = r"-inf(?:inity)?", r"\+?inf(?:inity)?"
_LOW, _HIGH = _NUMBER.format("low"), _NUMBER.format("high")
_UNIT = r"(?:years?|yrs?|months?|days?|hours?|weeks?)?(?:of age|old)?"
_UNTIL = r"(?:-|to|until|bis|and)"
# each with whether the low and the high end belong to the range
_FORMS: tuple[tuple[re.Pattern[str], bool, bool], ...] = tuple(
    (re.compile(form), low_in, high_in)
    for form, low_in, high_in in (
        (_LOW + _UNIT, True, True),
        (rf"{_LOW}{_UNTIL}{_HIGH}{_UNIT}", True, True),
        (rf"(?:between|from){_LOW}{_UNTIL}{_HIGH}{_UNIT}", True, True),
        (rf"{_LOW}{_UNTIL}(?:<|under|below|lessthan){_HIGH}{_UNIT}", True, False),
        (rf">{_LOW}{_UNTIL}{_HIGH}{_UNIT}", False, True),
        (rf"\[{_LOW}[,;]{_OPEN_HIGH}[\])]", True, False),
        (rf"\({_LOW}[,;]{_OPEN_HIGH}[\])]", False, False),
        (rf"[\[(]{_OPEN_LOW}[,;]{_HIGH}\]", False, True),
        (rf"[\[(]{_OPEN_LOW}[,;]{_HIGH}\)", False, False),
        (rf"\[{_LOW}[,;]{_HIGH}\]", True, True),
        (rf"\[{_LOW}[,;]{_HIGH}[)\[]", True, False),
        (rf"[(\]]{_LOW}[,;]{_HIGH}\]", False, True),
        (rf"[(\]]{_LOW}[,;]{_HIGH}[)\[]", False, False),
        (rf"(?:<|under|below|lessthan|youngerthan){_HIGH}{_UNIT}", False, False),
        (rf"(?:<=|≤|upto|atmost){_HIGH}{_UNIT}", False, True),
        (rf"{_HIGH}{_UNIT}(?:or|and)(?:less|under|younger|fewer|below)", False, True),
        (rf"(?:>|over|above|morethan|olderthan){_LOW}{_UNIT}", False, False),
        (rf"(?:>=|≥|atleast|from){_LOW}{_UNIT}", True, False),
        (rf"{_LOW}{_UNIT}(?:\+|plus)", True, False),
        (rf"{_LOW}\+{_UNIT}", True, False),
        (rf"{_LOW}{_UNIT}(?:or|and)(?:more|over|older|above|up|greater)", True, False),
    )
)


class TextRange(NamedTuple):
    """The numbers that a text stands for, from ``low`` to ``high``.

    ``has_low`` and ``has_high`` say whether the ends belong to it. A number alone is
    a range whose ends are equal; an open end is infinite.
    """

    low: float
    high: float
    has_low: bool
    has_high: bool

    @property
    def is_number(self) -> bool:
        """Whether it is one number."""
        return self.low == self.high

    def at_least(self, bound: float) -> bool | None:
        """Return whether all numbers are ``bound`` or more; None if only some are."""
        if self.low >= bound:
            return True
        reaches = self.high > bound or (self.high == bound and self.has_high)
        return None if reaches else False

    def above(self, bound: float) -> bool | None:
        """Return whether all numbers are above ``bound``; None if only some are."""
        if self.low > bound or (self.low == bound and not self.has_low):
            return True
        return None if self.high > bound else False

    def holds(self, test: str, bound: float) -> bool | None:
        """Return whether all numbers pass a test, None where only some do.

        Parameters
        ----------
        test : {"above", "at_least", "below", "at_most"}
        """
        if test in ("at_least", "above"):
            return self.at_least(bound) if test == "at_least" else self.above(bound)
        passes = self.at_least(bound) if test == "below" else self.above(bound)
        return None if passes is None else not passes


@lru_cache(maxsize=10_000)
def read_range(text: str) -> TextRange | None:
    """Return the range or the number that a text says, None of another text.

    Currencies, percent signs, units of time and separated thousands are read over.

    Examples
    --------
    >>> read_range("20%-<30%")
    TextRange(low=20.0, high=30.0, has_low=True, has_high=False)
    >>> read_range("65+").at_least(65)
    True
    """
    if len(text) > READ_LETTERS:
        return None
    plain = re.sub(r"[–—−]", "-", text.lower())
    plain = re.sub(r"(?<=\d)[,'](?=\d{3}(\D|$))", "", plain)
    plain = re.sub(r"[\s$€£%]", "", plain).removeprefix("age")
    for pattern, low_in, high_in in _FORMS:
        parts = pattern.fullmatch(plain)
        if parts is not None:
            return _range_of(parts.groupdict(), low_in, high_in)
    return None


def _range_of(
    parts: dict[str, str | None], low_in: bool, high_in: bool
) -> TextRange | None:
    low_scale, high_scale = parts.get("low_scale"), parts.get("high_scale")
    if parts.get("high") is not None:
        low_scale = low_scale or high_scale  # 50–75k
    low = _scaled(parts.get("low"), low_scale, -math.inf)
    high = _scaled(parts.get("high"), high_scale, math.inf)
    if parts.get("high") is None and low_in and high_in:  # a number alone
        high = low
    if low > high:
        return None
    return TextRange(low, high, low_in, high_in)


def _scaled(digits: str | None, scale: str | None, absent: float) -> float:
    return absent if digits is None else float(digits) * SCALES[scale or ""]


def are_ranges(labels: Iterable[str]) -> bool:
    """Return whether the labels of a column are ranges, or ranges and numbers.

    Two of them are ranges at least; up to half may be words, such as "Exempt".
    """
    labels = list(labels)
    if not FEWEST_RANGES <= len(labels) <= MOST_LABELS:
        return False
    read = [read_range(label) for label in labels]
    known = [each for each in read if each is not None]
    n_ranges = sum(not each.is_number for each in known)
    return n_ranges >= FEWEST_RANGES and len(known) >= LEAST_SHARE * len(labels)


def has_range(labels: Iterable[str]) -> bool:
    """Return whether at least one label is a range, and no number alone.

    Whoever compares a column with a number says that it holds ranges, so one is enough.
    """
    read = (read_range(label) for label in labels)
    return any(each is not None and not each.is_number for each in read)


def ordered(labels: Iterable[str]) -> list[str]:
    """Return labels with ranges and numbers by size, then words by name.

    >>> ordered(["25-34", ">74", "Exempt", "<25", "30"])
    ['<25', '25-34', '30', '>74', 'Exempt']
    """

    def key(label: str) -> tuple[bool, float, float, str]:
        read = read_range(label)
        if read is None:
            return True, 0.0, 0.0, label
        return False, read.low, read.high, label

    return sorted(labels, key=key)


def passing(
    column: str, labels: Iterable[str], test: str, bound: float
) -> dict[str, bool]:
    """Return which ranges pass a test such as "at_least"; a word passes none.

    Raises ValueError if the bound lies inside a range, some of whose numbers pass.
    """
    read = _read_together(labels)
    passes: dict[str, bool] = {}
    for label, numbers in read.items():
        passed = False if numbers is None else numbers.holds(test, bound)
        if passed is None:
            lows = edges(read)
            nearest = sorted(lows, key=lambda low: (abs(low - bound), low))[:2]
            choices = " or ".join(f"{low:,.10g}" for low in sorted(nearest))
            raise ValueError(
                f"{column!r} holds ranges, and {label!r} lies on both sides of "
                f"{bound:,.10g}. Choose an end of a range, such as {choices}."
            )
        passes[label] = passed
    return passes


def parts_between(
    column: str, labels: Iterable[str], cuts: Iterable[float]
) -> dict[str, int]:
    """Return how many cuts each range lies above; a word is in no part, -1.

    Raises ValueError if a cut lies inside a range.
    """
    labels = list(labels)
    parts = {label: 0 if read_range(label) is not None else -1 for label in labels}
    for cut in cuts:
        above = passing(column, labels, "at_least", cut)
        for label in labels:
            parts[label] += above[label]
    return parts


def edges(labels: Iterable[str]) -> list[float]:
    """Return the finite lower ends of the ranges and numbers, rising: cut points."""
    read = _read_together(labels).values()
    lows = {each.low for each in read if each is not None and math.isfinite(each.low)}
    return sorted(lows)


def are_whole(labels: Iterable[str]) -> bool:
    """Return whether ranges are of whole numbers: 25-34 is followed by 35-44."""
    read = [each for each in map(read_range, labels) if each is not None]
    lows = {each.low for each in read if each.has_low}
    for low, high, has_low, has_high in read:
        ends = [end for end in (low, high) if math.isfinite(end)]
        if not all(end.is_integer() for end in ends):
            return False
        between = len(ends) == 2 and low < high
        if between and (high in lows or not (has_low and has_high)):
            return False
    return True


def _read_together(labels: Iterable[str]) -> dict[str, TextRange | None]:
    """Return ranges as they are beside each other.

    Among ranges of whole numbers ">74" begins at 75. Of "20-30" and "30-40" the second
    has the shared end.
    """
    labels = list(labels)
    whole = are_whole(labels)
    read = {label: read_range(label) for label in labels}
    lows = {each.low for each in read.values() if each is not None}

    def fitted(each: TextRange) -> TextRange:
        if each.is_number:
            return each
        low, high, has_low, has_high = each
        if whole:
            low += math.isfinite(low) and not has_low
            high -= math.isfinite(high) and not has_high
            return TextRange(low, high, math.isfinite(low), math.isfinite(high))
        return TextRange(low, high, has_low, has_high and high not in lows)

    return {x: None if each is None else fitted(each) for x, each in read.items()}
