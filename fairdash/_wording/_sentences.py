"""Words of the screen: sentences, labels of groups and columns, cards and lists."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairdash._change import Change
from fairdash._wording._numbers import change, in_points, interval

if TYPE_CHECKING:
    import pandas as pd

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
