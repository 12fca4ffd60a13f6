"""Findings about columns: values that look missing, spellings, text, gaps."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets import column_kinds, ranges
from fairdash.datasets._problems import Problem
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles
from fairdash.datasets._rows import UsedRows
from fairdash.datasets._values import Cut
from fairdash.datasets.checks.groups import spellings

LOOKS_MISSING = frozenset(
    {"", "?", "-", "--", ".", "na", "n/a", "#n/a", "nan", "null", "nil", "missing"}
)
CODES = frozenset(
    {-99999.0, -9999.0, -999.0, -99.0, -9.0, -8.0, -1.0, 77.0, 88.0, 98.0, 99.0, 777.0}
    | {888.0, 998.0, 999.0, 1111.0, 7777.0, 8888.0, 9999.0, 99999.0, 999999.0}
)
# Words for "we do not know", which may also be an answer.
UNSAID = re.compile(
    r"exempt|not (available|applicable|reported|stated|provided|specified|known)"
    r"|unknown|prefer not|refused|declined|no (answer|information)|free form text only"
    r"|don.?t know|information not"
)
MOST_LEVELS = 1000
MOST_TEXT = 0.5
FEWEST_NUMBERS = 3


def value_findings(used: UsedRows, roles: Roles) -> Iterator[Problem]:
    """Yield what is doubtful about the cells of the columns that have a role.

    Only the first `SCREEN_COLUMNS` of them are looked at.
    """
    for name in roles.columns()[: column_kinds.SCREEN_COLUMNS]:
        column = used.table[name]
        if column_kinds.is_number(column):
            yield from _number_codes(column)
        elif not pd.api.types.is_datetime64_any_dtype(column):
            yield from _text(column, roles)


def _number_codes(column: "pd.Series[Any]") -> Iterator[Problem]:
    """Yield -999 and its like where it lies farther off than all else spreads."""
    values = column.to_numpy(dtype=float, na_value=np.nan)
    values = np.where(np.isinf(values), np.nan, values)
    if np.isnan(values).all():
        return
    for code in {float(np.nanmin(values)), float(np.nanmax(values))} & CODES:
        flags = values == code
        rest = values[~flags & ~np.isnan(values)]
        if not len(rest):
            continue
        low = rest.min()
        high = rest.max()
        # -1 in a column of counts means "unknown" however near it lies.
        is_below_counts = code < 0 <= low and column_kinds.is_whole(column)
        distance = max(low - code, code - high)
        if is_below_counts or distance > max(high - low, 1):
            yield _looks_missing(
                str(column.name),
                int(flags.sum()),
                f"is {code:,g} in {flags.sum():,} rows and lies between {low:,g} and "
                f"{high:,g} in all others",
                (f"{code:.0f}",),
            )


def _looks_missing(name: str, rows: int, what: str, values: tuple[str, ...]) -> Problem:
    """Return the warning that a column ``what``, with the step that empties cells."""
    return Problem(
        "warning",
        "looks missing",
        name,
        rows,
        f"{name!r} {what}.",
        "Read it as missing if it stands for that.",
        Remedy(kind="missing", column=name, values=values),
    )


def _text(column: "pd.Series[Any]", roles: Roles) -> Iterator[Problem]:
    """Yield what is doubtful about a column of text, or of True and False."""
    name = str(column.name)
    is_arrow = isinstance(column.array, pd.arrays.ArrowStringArray)
    if is_arrow and column_kinds.count_values(column, MOST_LEVELS) > MOST_LEVELS:
        # Sorting all labels takes long, and only those that look missing are needed.
        flags = column.str.strip().str.lower().isin(LOOKS_MISSING)
        labels = column_kinds.sorted_labels(set(column[flags]))
        yield from _marks_of_missing(name, int(flags.sum()), labels)
        return
    codes, labels = column_kinds.label_codes(column)
    plain = [label.strip().lower() for label in labels]
    is_mark = [text in LOOKS_MISSING for text in plain]
    marks = [labels[code] for code in np.flatnonzero(is_mark)]
    n_marked = column_kinds.by_code(is_mark, codes, missing=False).sum()
    yield from _marks_of_missing(name, int(n_marked), marks)
    if len(labels) > MOST_LEVELS:
        return
    yield from _unsaid(name, codes, labels, plain)
    yield from spellings(name, codes, labels)
    declared = name in roles.types or name in roles.left_out
    if ranges.are_ranges(labels) and name != roles.target:
        is_read = declared or column_kinds.has_order(column)
        yield from _ranges(name, codes, labels, is_read)
        return
    # Classes of an outcome and groups are chosen by their words, numbers or not.
    has_classes = name == roles.target and not isinstance(roles.positive, Cut)
    if not declared and not has_classes and name not in roles.sensitive_columns():
        yield from _numbers_as_text(column, codes, labels, plain)


def _marks_of_missing(name: str, rows: int, values: list[str]) -> Iterator[Problem]:
    """Yield the values of a column, such as "n/a", that look missing, if there are."""
    if values:
        examples = _examples(values)
        what = f"is {examples} in {rows:,} rows"
        yield _looks_missing(name, rows, what, tuple(values))


def _examples(values: Sequence[str]) -> str:
    """Return the first values, each in quotes."""
    return ", ".join(map(repr, values[:3]))


def _unsaid(
    name: str, codes: NDArray[np.int64], labels: list[str], plain: list[str]
) -> Iterator[Problem]:
    """Offer answers such as "Prefer not to say" as missing; they may be a group."""
    unsaid = [code for code, text in enumerate(plain) if UNSAID.search(text)]
    if not unsaid or len(unsaid) == len(labels):
        return
    rows = int(np.isin(codes, unsaid).sum())
    values = tuple(labels[code] for code in unsaid)
    yield Problem(
        "note",
        "may stand for missing",
        name,
        rows,
        f"{name!r} is {_examples(values)} in {rows:,} rows.",
        "Read it as missing if nobody knows the value; keep it if it is an answer.",
        Remedy(kind="missing", column=name, values=values),
    )


def _ranges(
    name: str, codes: NDArray[np.int64], labels: list[str], is_read: bool
) -> Iterator[Problem]:
    """Offer ranges in their order, and 8888 above all of them as missing.

    ``is_read`` says that the column is read as ranges already, or as chosen.
    """
    marks = _marks_among_ranges(labels)
    if marks:
        rows = int(np.isin(codes, [labels.index(mark) for mark in marks]).sum())
        what = f"holds ranges, and {', '.join(map(repr, marks))} in {rows:,} rows"
        yield _looks_missing(name, rows, what, marks)
    if is_read:
        return
    yield Problem(
        "note",
        "ranges as text",
        name,
        0,
        f"{name!r} holds ranges: {_examples(ranges.ordered(labels))}.",
        "Read them in their order; they keep their words.",
        Remedy(kind="convert", column=name, to="range"),
    )


def _marks_among_ranges(labels: list[str]) -> tuple[str, ...]:
    """Return the labels that are codes below 0 or above all ranges, such as 8888."""
    parsed = {label: ranges.read_range(label) for label in labels}
    spans = {label: span for label, span in parsed.items() if span is not None}
    numbers = {label: span.low for label, span in spans.items() if span.is_number}
    coded = [label for label, number in numbers.items() if number in CODES]
    highest = max(
        end
        for label, span in spans.items()
        if label not in coded
        for end in span[:2]
        if math.isfinite(end)
    )
    return tuple(
        label for label in coded if numbers[label] < 0 or numbers[label] > highest
    )


def _numbers_as_text(
    column: "pd.Series[Any]",
    codes: NDArray[np.int64],
    labels: list[str],
    plain: list[str],
) -> Iterator[Problem]:
    """Offer a column of text as numbers, if most of its rows hold some."""
    if pd.api.types.is_bool_dtype(column):
        return
    fits = column_kinds.are_numbers(plain)
    counts = column_kinds.count_codes(codes, len(labels))
    if fits.sum() < FEWEST_NUMBERS or counts[fits].sum() < MOST_TEXT * counts.sum():
        return
    texts = tuple(labels[i] for i in np.flatnonzero(~fits))
    n_texts = int(counts[~fits].sum())
    name = str(column.name)
    message = f"{name!r} holds numbers that are stored as text."
    if texts:
        message = (
            f"{name!r} holds numbers, but {n_texts:,} rows hold text: "
            f"{_examples(texts)}."
        )
    yield Problem(
        "warning",
        "numbers as text",
        name,
        n_texts,
        message,
        "Read it as numbers, these cells as missing; otherwise each value is a level.",
        Remedy(kind="convert", column=name, to="number", values=texts),
    )
