"""Numbers as the screen writes them: typographic minus, few digits, n with a noun."""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from fairdash._change import Change

if TYPE_CHECKING:
    import pandas as pd

MINUS = "−"
UNDEFINED = "–"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
FOUR_FIFTHS = 0.8
NO_SUBGROUPS = "All rows"  # the one subgroup where no column makes any
_HEADINGS = {"n": "Rows", "ci_low": "Low", "ci_high": "High", "feature": "Column"}
_BARE = frozenset({"yes", "no", "true", "false", "y", "n"})
_YES = frozenset({"1", "1.0", "yes", "true", "y", "t"})
_NO = frozenset({"0", "0.0", "no", "false", "n", "f"})
# Names of columns that say what people do, not what is done to them: they "survived",
# where others "are approved".
_ACTIVE = frozenset(
    [
        "applied",
        "attended",
        "churned",
        "completed",
        "defaulted",
        "died",
        "enrolled",
        "failed",
        "finished",
        "graduated",
        "left",
        "paid",
        "passed",
        "quit",
        "recidivated",
        "relapsed",
        "reoffended",
        "repaid",
        "resigned",
        "returned",
        "stayed",
        "succeeded",
        "survived",
        "voted",
        "won",
    ]
)
_IRREGULAR = frozenset(
    [
        "bought",
        "chosen",
        "caught",
        "found",
        "given",
        "held",
        "known",
        "lent",
        "let",
        "made",
        "met",
        "sent",
        "sold",
        "taken",
        "taught",
        "told",
        "withdrawn",
    ]
)
_NOUNS = frozenset({"hundred", "kindred", "naked", "sacred", "wicked"})
_NEGLIGIBLE = 0.1  # a correlation of less is no relation to speak of


@dataclass(frozen=True)
class Kpi:
    """One number of the KPI row, with what makes it honest."""

    label: str  # at most 20 characters, where cards stand in a row
    value: str  # the number as text
    note: str = ""  # quiet text below: the interval, or what the number counts
    delta: str = ""  # a change as signed text with a typographic minus, as a chip
    # For the better; None while its paired interval covers 0, and the chip is grey.
    good: bool | None = None
    help: str | None = None  # the definition, behind a question mark


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

    def counted(self, n: int) -> str:
        """Return a number of them: 1 person, 4,526 people."""
        return plural(n, self.one, self.several)


ROWS = Noun("row", "rows")
PEOPLE = Noun("person", "people")


def plural(n: int, noun: str, several: str = "") -> str:
    """Return ``n`` and its noun: 1 row, 6,167 rows; ``several`` as "people"."""
    if n == 1:
        return f"{count(n)} {noun}"
    return f"{count(n)} {several or f'{noun}s'}"


MOST_SPANS = 12


def value_spans(labels: Iterable[str]) -> str:
    """Return labels in a row, whole numbers that follow each other as a span.

    ``2, 4–8``; of many the first 12, and how many more.
    """
    spans: list[list[str]] = []
    for label in labels:
        if spans and _follows(spans[-1][-1], label):
            spans[-1].append(label)
        else:
            spans.append([label])
    parts = []
    for span in spans:
        # "2–3" is no shorter than "2, 3".
        if len(span) > 2:
            parts.append(f"{span[0]}–{span[-1]}")
        else:
            parts += span
    text = ", ".join(parts[:MOST_SPANS])
    n_more = len(parts) - MOST_SPANS
    if n_more > 0:
        text += f" and {n_more:,} more"
    return text


def _follows(first: str, second: str) -> bool:
    # To Python "²" is a digit, of which `int` makes no number.
    labels = (first, second)
    if not all(label.isascii() and label.isdigit() for label in labels):
        return False
    return int(second) == int(first) + 1


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


def moved_words(moved: Change, less: str, more: str, what: str) -> str:
    """Say a change of a share, as a finding only if its interval excludes 0.

    ``less`` and ``more`` are verbs for a change below and above 0 of ``what``.
    """
    if not moved.known:
        if math.isfinite(moved.value):
            return f"has no interval of how it moves {what}"
        return f"has no estimate of {what}"
    if not moved.clear:
        ends = interval(moved.low, moved.high, lambda share: change(100 * share, 1))
        return f"does not clearly move {what} ({ends} points)"
    verb = less if moved.value < 0 else more
    small, large = sorted((abs(moved.low), abs(moved.high)))
    ends = interval(small, large, in_points)
    size = f"{in_points(abs(moved.value))} points ({ends})"
    # One gains or loses accuracy, but narrows a gap.
    if what == "accuracy":
        return f"{verb} {size} of {what}"
    return f"{verb} {what} by {size}"


def group_label(feature: str, group: str) -> str:
    """Return a group after its column, "sex: Female"; "sex 1" stays as it is."""
    if not feature or group.startswith(f"{feature} "):
        return group
    return f"{feature}: {group}"


def sentences(*parts: str) -> str:
    """Return sentences one after the other, without those that are empty.

    Examples
    --------
    >>> sentences("No clear gap remains.", "", "Accuracy did not change clearly.")
    'No clear gap remains. Accuracy did not change clearly.'
    """
    return " ".join(filter(None, parts))


def each_sentence(text: str) -> list[str]:
    """Return the sentences of a text, in their order."""
    return [part for part in _SENTENCE_END.split(text) if part]


def without_sentences(text: str, above: str) -> str:
    """Return a text without the sentences that stand above it already.

    Examples
    --------
    >>> without_sentences("No gap is clear. One could be 9 points.", "No gap is clear.")
    'One could be 9 points.'
    """
    sentences_above = set(each_sentence(above))
    new = [part for part in each_sentence(text) if part not in sentences_above]
    return sentences(*new)


def spoken_value(column: str, value: str) -> str:
    """Return a value of a column inside a sentence: "sex Female", "male = 1".

    A name that begins with its column, such as "male 1", is one of that value.
    """
    value = value.removeprefix(f"{column} ")
    if not column:
        return value
    if _is_code(value):
        return f"{column} = {value}"
    return f"{column} {value}"


def spoken_outcome(column: str, outcome: str, value: str | None) -> str:
    """Return what people with an outcome do: "are approved", "survived".

    The verb is that of the column, if its name is one and ``value`` says yes or no, or
    the value itself, such as "admitted". A value that is called as its column is
    quoted, as “dead”; else it is "have" with the whole ``outcome``, such as
    "have grade = good".

    Examples
    --------
    >>> spoken_outcome("is_approved", "is_approved = 1", "1")
    'are approved'
    >>> spoken_outcome("dead", "dead = dead", "dead")
    'are “dead”'
    >>> spoken_outcome("two_year_recid", "two_year_recid = 1", "1")
    'have two_year_recid = 1'
    """
    verb = column.lower()
    for start in ("is_", "was_", "got_", "been_"):
        verb = verb.removeprefix(start)
    if value is None:
        return f"have {outcome}"
    word = value.lower()
    if word in _YES and verb in _ACTIVE:
        return verb
    if word in _YES and _is_participle(verb):
        return f"are {verb}"
    if word in _NO and _is_participle(verb):
        return f"are not {verb}"
    if _is_participle(word):
        return f"are {word}"
    if word == verb:
        return f"are “{value}”"
    return f"have {outcome}"


def _is_participle(word: str) -> bool:
    """Return whether "people are ..." takes a word: approved, sold, not hundred."""
    if word in _ACTIVE or not word.isalpha():
        return False
    if word in _IRREGULAR:
        return True
    # "Need" and "speed" end alike, and so do short words such as "red".
    regular = word.endswith("ed") and not word.endswith("eed") and len(word) >= 5
    return regular and word not in _NOUNS


def _is_code(value: str) -> bool:
    """Return whether a value says nothing without its column: 1, no."""
    try:
        float(value)
    except ValueError:
        return value.lower() in _BARE
    return True


def distinct_labels(
    feature: str, groups: Sequence[str], taken: Collection[str] = ()
) -> list[str]:
    """Return `group_label` of groups as names of columns beside those ``taken``."""
    labels = [group_label(feature, group) for group in groups]
    return [f"{label} (group)" if label in taken else label for label in labels]


def four_fifths(ratio: float, high: float) -> str:
    """Say where a ratio is by the four-fifths rule; ``high`` ends its interval."""
    if math.isnan(ratio):
        return "undefined"
    if ratio >= FOUR_FIFTHS:
        return "not below"
    if high < FOUR_FIFTHS:
        return "surely below"
    return "below"


def is_bare(label: str) -> bool:
    """Return whether a label such as "1" or "no" needs the name of its column."""
    return label.lower() in _BARE or not any(c.isalpha() for c in label)


def listing(names: Iterable[str]) -> str:
    """Return "a, b and c"."""
    *most, last = names
    if not most:
        return last
    return f"{', '.join(most)} and {last}"


def shortened(names: Mapping[str, str], most: int = 28) -> dict[str, str]:
    """Return names of at most ``most`` characters, cut in the middle.

    The names of runs differ at both ends: by the table, and by the method with its
    setting. Names that would be equal once cut stay whole.
    """
    n_end = most // 2
    n_start = most - n_end - 1  # one character for the ellipsis
    cut = {}
    for key, name in names.items():
        cut[key] = name
        if len(name) > most:
            cut[key] = f"{name[:n_start]}…{name[-n_end:]}"
    uses = Counter(cut.values())
    return {key: names[key] if uses[short] > 1 else short for key, short in cut.items()}


def floor_words(label: str) -> str:
    """Say whose floor the grey band of a figure is: a floor is of one model."""
    return f"Grey: what chance alone shows of {label}."


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


def related(correlation: float) -> int:
    """Return 1 or −1 for the sign of a correlation; 0 where it is below 0.1 in size."""
    if abs(correlation) < _NEGLIGIBLE:
        return 0
    return 1 if correlation > 0 else -1


def limit_words(limit: float, name: str) -> str:
    """Return a limit with what it is on: limit of 5 points on the gap."""
    size = f"{100 * limit:.4g}"
    unit = "point" if size == "1" else "points"
    return f"limit of {size} {unit} on the {name}"


def headed(
    table: "pd.DataFrame", columns: Iterable[str] | None = None, **headings: str
) -> "pd.DataFrame":
    """Return columns of a table, those it has, by default all, as a reader calls them.

    That is the name in words, but for those of ``_HEADINGS`` and ``headings``.
    """
    chosen = table.columns if columns is None else columns
    present = [str(column) for column in chosen if column in table]
    names = {}
    for column in present:
        in_words = column.replace("_", " ").capitalize()
        names[column] = headings.get(column) or _HEADINGS.get(column, in_words)
    return table[present].rename(columns=names)


def markdown_table(rows: Iterable[Iterable[object]]) -> str:
    """Return rows of cells as a table in Markdown; the first row is the head."""
    head, *rest = ([str(cell) for cell in cells] for cells in rows)
    lines = (head, ["---"] * len(head), *rest)
    return "\n".join(f"|{'|'.join(cells)}|" for cells in lines)
