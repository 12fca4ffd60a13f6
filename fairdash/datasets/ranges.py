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
_OPEN_LOW = r"-inf(?:inity)?"
_OPEN_HIGH = r"\+?inf(?:inity)?"
_LOW = _NUMBER.format("low")
_HIGH = _NUMBER.format("high")
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
        # Some numbers of it are below the bound, so the answer is no, or only some.
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
        if test == "at_least":
            return self.at_least(bound)
        if test == "above":
            return self.above(bound)
        opposite = self.at_least(bound) if test == "below" else self.above(bound)
        return None if opposite is None else not opposite


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
    """Return the range of a text that has a form; None if its ends do not rise."""
    low_scale = parts.get("low_scale")
    high_scale = parts.get("high_scale")
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
    """Return a number with its scale, such as 50k; ``absent`` without digits."""
    if digits is None:
        return absent
    return float(digits) * SCALES[scale or ""]


def are_ranges(labels: Iterable[str]) -> bool:
    """Return whether the labels of a column are ranges, or ranges and numbers.

    Two of them are ranges at least; up to half may be words, such as "Exempt".
    """
    labels = list(labels)
    if not FEWEST_RANGES <= len(labels) <= MOST_LABELS:
        return False
    ranges = _ranges(labels)
    n_ranges = sum(not text_range.is_number for text_range in ranges)
    return n_ranges >= FEWEST_RANGES and len(ranges) >= LEAST_SHARE * len(labels)


def _ranges(labels: Iterable[str]) -> list[TextRange]:
    """Return the ranges and numbers among labels, without words."""
    parsed = (read_range(label) for label in labels)
    return [text_range for text_range in parsed if text_range is not None]


def has_range(labels: Iterable[str]) -> bool:
    """Return whether at least one label is a range, and no number alone.

    Whoever compares a column with a number says that it holds ranges, so one is enough.
    """
    return any(not text_range.is_number for text_range in _ranges(labels))


def ordered(labels: Iterable[str]) -> list[str]:
    """Return labels with ranges and numbers by size, then words by name.

    >>> ordered(["25-34", ">74", "Exempt", "<25", "30"])
    ['<25', '25-34', '30', '>74', 'Exempt']
    """

    def sort_key(label: str) -> tuple[bool, float, float, str]:
        text_range = read_range(label)
        if text_range is None:
            return True, 0.0, 0.0, label
        return False, text_range.low, text_range.high, label

    return sorted(labels, key=sort_key)


def passing(
    column: str, labels: Iterable[str], test: str, bound: float
) -> dict[str, bool]:
    """Return which ranges pass a test such as "at_least"; a word passes none.

    Raises ValueError if the bound lies inside a range, some of whose numbers pass.
    """
    ranges = _ranges_by_label(labels)
    passes: dict[str, bool] = {}
    for label, text_range in ranges.items():
        passed = False if text_range is None else text_range.holds(test, bound)
        if passed is None:
            by_distance = sorted(edges(ranges), key=lambda low: (abs(low - bound), low))
            nearest = sorted(by_distance[:2])
            choices = " or ".join(f"{low:,.10g}" for low in nearest)
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
    parts = {label: -1 if read_range(label) is None else 0 for label in labels}
    for cut in cuts:
        is_above = passing(column, labels, "at_least", cut)
        for label in labels:
            parts[label] += is_above[label]
    return parts


def edges(labels: Iterable[str]) -> list[float]:
    """Return the finite lower ends of the ranges and numbers, rising: cut points."""
    ranges = _ranges_by_label(labels).values()
    lows = {text_range.low for text_range in ranges if text_range is not None}
    return sorted(low for low in lows if math.isfinite(low))


def are_whole(labels: Iterable[str]) -> bool:
    """Return whether ranges are of whole numbers: 25-34 is followed by 35-44."""
    ranges = _ranges(labels)
    lows = {text_range.low for text_range in ranges if text_range.has_low}
    for low, high, has_low, has_high in ranges:
        ends = [end for end in (low, high) if math.isfinite(end)]
        if not all(end.is_integer() for end in ends):
            return False
        # 20-30 beside 30-40 shares an end, so these are ranges of any numbers.
        has_two_ends = len(ends) == 2 and low < high
        if has_two_ends and (high in lows or not (has_low and has_high)):
            return False
    return True


def _ranges_by_label(labels: Iterable[str]) -> dict[str, TextRange | None]:
    """Return ranges as they are beside each other, None for a word.

    Among ranges of whole numbers ">74" begins at 75. Where "20-30" and "30-40" share an
    end, it belongs to the second.
    """
    labels = list(labels)
    whole = are_whole(labels)
    ranges = {label: read_range(label) for label in labels}
    lows = {text_range.low for text_range in ranges.values() if text_range is not None}

    def fitted(text_range: TextRange | None) -> TextRange | None:
        if text_range is None or text_range.is_number:
            return text_range
        low, high, has_low, has_high = text_range
        if not whole:
            return TextRange(low, high, has_low, has_high and high not in lows)
        is_bounded_below = math.isfinite(low)
        is_bounded_above = math.isfinite(high)
        if is_bounded_below and not has_low:
            low += 1
        if is_bounded_above and not has_high:
            high -= 1
        return TextRange(low, high, is_bounded_below, is_bounded_above)

    return {label: fitted(text_range) for label, text_range in ranges.items()}
