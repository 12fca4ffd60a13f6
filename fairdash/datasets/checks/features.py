"""Findings about columns: values that look missing, numbers as text."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._columns import are_numbers, count_codes, is_number, label_codes
from fairdash.datasets._problems import Problem
from fairdash.datasets._roles import Cut, Remedy, Roles
from fairdash.datasets._rows import UsedRows

LOOKS_MISSING = frozenset(
    {"", "?", "-", "--", ".", "na", "n/a", "#n/a", "nan", "null", "nil", "missing"}
)
MOST_LEVELS = 1000
MOST_TEXT = 0.5
FEWEST_NUMBERS = 3


def value_findings(used: UsedRows, roles: Roles) -> Iterator[Problem]:
    """Yield what is doubtful about the cells of the columns that have a role."""
    for name in roles.columns():
        column = used.table[name]
        if not is_number(column) and not pd.api.types.is_datetime64_any_dtype(column):
            yield from _text(column, roles, used)


def _text(column: "pd.Series[Any]", roles: Roles, used: UsedRows) -> Iterator[Problem]:
    name = str(column.name)
    codes, labels = label_codes(column)
    plain = [label.strip().lower() for label in labels]
    marks = np.array([*(text in LOOKS_MISSING for text in plain), False])
    if marks.any():
        flags = marks[codes]
        values = tuple(labels[i] for i in np.flatnonzero(marks))
        shown = ", ".join(map(repr, values[:3]))
        yield Problem(
            "warning",
            "looks missing",
            name,
            int(flags.sum()),
            f"{name!r} is {shown} in {flags.sum():,} rows.",
            "Read it as missing if it stands for that.",
            Remedy(kind="missing", column=name, values=values),
        )
    if len(labels) > MOST_LEVELS:
        return
    declared = name in roles.types or name in roles.left_out
    whole = name == roles.target and not isinstance(roles.positive, Cut)
    if not declared and not whole and name not in roles.sensitive_columns():
        yield from _numbers_as_text(column, codes, labels, plain, used)


def _numbers_as_text(
    column: "pd.Series[Any]",
    codes: NDArray[np.int64],
    labels: list[str],
    plain: list[str],
    used: UsedRows,
) -> Iterator[Problem]:
    if pd.api.types.is_bool_dtype(column):
        return
    fits = are_numbers(plain)
    counts = count_codes(codes, len(labels))
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
