"""Findings about columns: values that look missing, spellings, text, gaps."""

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets import column_kinds, ranges
from fairdash.datasets._problems import Problem
from fairdash.datasets._roles import Cut, Remedy, Roles
from fairdash.datasets._rows import UsedRows
from fairdash.datasets.checks.groups import spellings

LOOKS_MISSING = frozenset(
    {"", "?", "-", "--", ".", "na", "n/a", "#n/a", "nan", "null", "nil", "missing"}
)
CODES = frozenset(
    {-99999.0, -9999.0, -999.0, -99.0, -9.0, -8.0, -1.0, 77.0, 88.0, 98.0, 99.0, 777.0}
    | {888.0, 998.0, 999.0, 1111.0, 7777.0, 8888.0, 9999.0, 99999.0, 999999.0}
)
# what people write for "we do not know"; it may also be an answer
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

    Of many columns the first are looked at.
    """
    for name in roles.columns()[: column_kinds.SCREEN_COLUMNS]:
        column = used.table[name]
        if column_kinds.is_number(column):
            yield from _number_codes(column, used)
        elif not pd.api.types.is_datetime64_any_dtype(column):
            yield from _text(column, roles, used)


def _number_codes(column: "pd.Series[Any]", used: UsedRows) -> Iterator[Problem]:
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
        low, high = rest.min(), rest.max()
        below_all = code < 0 <= low and column_kinds.is_whole(column)  # -1 of a count
        if below_all or max(low - code, code - high) > max(high - low, 1):
            yield _looks_missing(
                str(column.name),
                int(flags.sum()),
                f"is {code:,g} in {flags.sum():,} rows and lies between {low:,g} and "
                f"{high:,g} in all others",
                (f"{code:.0f}",),
            )


def _looks_missing(name: str, rows: int, what: str, values: tuple[str, ...]) -> Problem:
    return Problem(
        "warning",
        "looks missing",
        name,
        rows,
        f"{name!r} {what}.",
        "Read it as missing if it stands for that.",
        Remedy(kind="missing", column=name, values=values),
    )


def _text(column: "pd.Series[Any]", roles: Roles, used: UsedRows) -> Iterator[Problem]:
    name = str(column.name)
    texts = column.array
    if isinstance(texts, pd.arrays.ArrowStringArray) and (
        column_kinds.count_values(column, MOST_LEVELS) > MOST_LEVELS
    ):  # its labels are not sorted for nothing
        flags = column.str.strip().str.lower().isin(LOOKS_MISSING)
        labels = column_kinds.sorted_labels(set(column[flags]))
        yield from _marks_of_missing(name, int(flags.sum()), labels)
        return
    codes, labels = column_kinds.label_codes(column)
    plain = [label.strip().lower() for label in labels]
    marks = np.array([*(text in LOOKS_MISSING for text in plain), False])
    rows = int(marks[codes].sum())
    yield from _marks_of_missing(name, rows, [labels[i] for i in np.flatnonzero(marks)])
    if len(labels) > MOST_LEVELS:
        return
    yield from _unsaid(name, codes, labels, plain)
    yield from spellings(name, codes, labels)
    declared = name in roles.types or name in roles.left_out
    if ranges.are_ranges(labels) and name != roles.target:
        yield from _ranges(
            name, codes, labels, declared or column_kinds.has_order(column)
        )
        return
    whole = name == roles.target and not isinstance(roles.positive, Cut)
    if not declared and not whole and name not in roles.sensitive_columns():
        yield from _numbers_as_text(column, codes, labels, plain, used)


def _marks_of_missing(name: str, rows: int, values: list[str]) -> Iterator[Problem]:
    if values:
        shown = ", ".join(map(repr, values[:3]))
        yield _looks_missing(name, rows, f"is {shown} in {rows:,} rows", tuple(values))


def _unsaid(
    name: str, codes: NDArray[np.int64], labels: list[str], plain: list[str]
) -> Iterator[Problem]:
    """Offer answers such as "Prefer not to say" as missing; they may be a group."""
    places = [i for i, text in enumerate(plain) if UNSAID.search(text)]
    if not places or len(places) == len(labels):
        return
    rows = int(np.isin(codes, places).sum())
    values = tuple(labels[i] for i in places)
    shown = ", ".join(map(repr, values[:3]))
    yield Problem(
        "note",
        "may stand for missing",
        name,
        rows,
        f"{name!r} is {shown} in {rows:,} rows.",
        "Read it as missing if nobody knows the value; keep it if it is an answer.",
        Remedy(kind="missing", column=name, values=values),
    )


def _ranges(
    name: str, codes: NDArray[np.int64], labels: list[str], declared: bool
) -> Iterator[Problem]:
    """Offer ranges in their order, and 8888 above all of them as missing."""
    read = {label: ranges.read_range(label) for label in labels}
    known = {label: each for label, each in read.items() if each is not None}
    numbers = {label: each.low for label, each in known.items() if each.is_number}
    marks = tuple(label for label, number in numbers.items() if number in CODES)
    rest = [each for label, each in known.items() if label not in marks]
    highest = max(end for each in rest for end in each[:2] if math.isfinite(end))
    marks = tuple(x for x in marks if numbers[x] < 0 or numbers[x] > highest)
    if marks:
        rows = int(np.isin(codes, [labels.index(x) for x in marks]).sum())
        what = f"holds ranges, and {', '.join(map(repr, marks))} in {rows:,} rows"
        yield _looks_missing(name, rows, what, marks)
    if declared:
        return
    shown = ", ".join(map(repr, ranges.ordered(labels)[:3]))
    yield Problem(
        "note",
        "ranges as text",
        name,
        0,
        f"{name!r} holds ranges: {shown}.",
        "Read them in their order; they keep their words.",
        Remedy(kind="convert", column=name, to="range"),
    )


def _numbers_as_text(
    column: "pd.Series[Any]",
    codes: NDArray[np.int64],
    labels: list[str],
    plain: list[str],
    used: UsedRows,
) -> Iterator[Problem]:
    if pd.api.types.is_bool_dtype(column):
        return
    fits = column_kinds.are_numbers(plain)
    counts = column_kinds.count_codes(codes, len(labels))
    if fits.sum() < FEWEST_NUMBERS or counts[fits].sum() < MOST_TEXT * counts.sum():
        return
    texts = tuple(labels[i] for i in np.flatnonzero(~fits))
    odd = np.append(~fits, False)[codes]
    name = str(column.name)
    shown = ", ".join(map(repr, texts[:3]))
    yield Problem(
        "warning",
        "numbers as text",
        name,
        int(odd.sum()),
        f"{name!r} holds numbers, but {odd.sum():,} rows hold text: {shown}."
        if texts
        else f"{name!r} holds numbers that are stored as text.",
        "Read it as numbers, these cells as missing; otherwise each value is a level.",
        Remedy(kind="convert", column=name, to="number", values=texts),
    )
