"""Findings about features and their cells.

Constant, giving something away, gaps; values that look missing,
spellings, numbers as text, names.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._alike import mark_values
from fairdash.datasets._columns import (
    are_numbers,
    count_codes,
    count_labels,
    count_values,
    is_number,
    label_codes,
    some_rows,
)
from fairdash.datasets._problems import Problem
from fairdash.datasets._roles import Cut, Remedy, Roles
from fairdash.datasets._rows import UsedRows
from fairdash.datasets.checks.leakage import encodes_group, is_score, outcome_leak

LOOKS_MISSING = frozenset(
    {"", "?", "-", "--", ".", "na", "n/a", "#n/a", "nan", "null", "nil", "missing"}
)
MAY_BE_MISSING = frozenset(
    {"unknown", "not known", "not available", "unspecified", "not stated", "refused"}
)
CODES = (-99999.0, -9999.0, -999.0, -99.0, 999.0, 9999.0, 99999.0, 999999.0)
MOST_LEVELS = 1000
MOST_TEXT = 0.5
FEWEST_NUMBERS = 3
MANY_MISSING = 0.2
MANY_VALUES = 0.2


def value_findings(used: UsedRows, roles: Roles) -> Iterator[Problem]:
    """Yield what is doubtful about the cells of the columns that have a role."""
    for name in roles.columns():
        column = used.table[name]
        if is_number(column):
            yield from _number_codes(column, used)
        elif not pd.api.types.is_datetime64_any_dtype(column):
            yield from _text(column, roles, used)


def _number_codes(column: "pd.Series[Any]", used: UsedRows) -> Iterator[Problem]:
    """Yield -999 and its like where it lies farther off than all else spreads."""
    ends = (column.min(), column.max())
    if not any(end in CODES or np.isinf(end) for end in ends if not pd.isna(end)):
        return
    values = column.to_numpy(dtype=float, na_value=np.nan)
    values = np.where(np.isinf(values), np.nan, values)
    if np.isnan(values).all():
        return
    low, high = np.nanmin(values), np.nanmax(values)
    for code in (low, high):
        if code not in CODES:
            continue
        rest = values[(values != code) & ~np.isnan(values)]
        if not len(rest):
            continue
        gap = rest.min() - code if code == low else code - rest.max()
        spread = rest.max() - rest.min()
        if gap > max(spread, 1):
            flags = values == code
            yield Problem(
                "warning" if code < 0 else "note",
                "looks missing",
                str(column.name),
                *used.flagged(flags),
                f"{column.name!r} is {code:,g} in {flags.sum():,} rows and lies "
                f"between {rest.min():,g} and {rest.max():,g} in all others.",
                "Read it as missing if it stands for that.",
                Remedy(
                    kind="missing", column=str(column.name), values=(f"{code:.0f}",)
                ),
            )


def _text(column: "pd.Series[Any]", roles: Roles, used: UsedRows) -> Iterator[Problem]:
    name = str(column.name)
    codes, labels = label_codes(column)
    plain = [label.strip().lower() for label in labels]
    for known, severe in ((LOOKS_MISSING, True), (MAY_BE_MISSING, False)):
        found = np.array([*(text in known for text in plain), False])
        if found.any():
            flags = found[codes]
            values = tuple(labels[i] for i in np.flatnonzero(found))
            shown = ", ".join(map(repr, values[:3]))
            yield Problem(
                "warning" if severe else "note",
                "looks missing",
                name,
                *used.flagged(flags),
                f"{name!r} is {shown} in {flags.sum():,} rows.",
                "Read it as missing if it stands for that.",
                Remedy(kind="missing", column=name, values=values),
            )
    if len(labels) > MOST_LEVELS:
        return
    yield from _spellings(name, codes, labels, plain, used)
    declared = name in roles.types or name in roles.left_out
    whole = name == roles.target and not isinstance(roles.positive, Cut)
    if not declared and not whole and name not in roles.sensitive_columns():
        yield from _numbers_as_text(column, codes, labels, plain, used)


def _spellings(
    name: str,
    codes: NDArray[np.int64],
    labels: list[str],
    plain: list[str],
    used: UsedRows,
) -> Iterator[Problem]:
    """Yield values that differ by capitals and spaces only."""
    same: dict[str, list[int]] = {}
    for position, text in enumerate(plain):
        same.setdefault(" ".join(text.split()), []).append(position)
    if len(same) == len(labels):
        return
    counts = count_codes(codes, len(labels))
    changes: dict[str, str] = {}
    for positions in same.values():
        usual = max(positions, key=lambda i: int(counts[i]))
        changes |= {labels[i]: labels[usual] for i in positions if i != usual}
    if changes:
        odd = np.array([*(label in changes for label in labels), False])[codes]
        old, new = next(iter(changes.items()))
        yield Problem(
            "warning",
            "spellings",
            name,
            *used.flagged(odd),
            f"{name!r} has values that differ by capitals or spaces only, such as "
            f"{old!r} and {new!r}.",
            "Write each in its usual way.",
            Remedy(kind="recode", column=name, changes=changes),
        )


def _numbers_as_text(
    column: "pd.Series[Any]",
    codes: NDArray[np.int64],
    labels: list[str],
    plain: list[str],
    used: UsedRows,
) -> Iterator[Problem]:
    """Yield columns of numbers that some cells of text made a column of text."""
    if pd.api.types.is_bool_dtype(column):
        return
    fits = are_numbers(plain)
    if fits.sum() < FEWEST_NUMBERS:
        return
    counts = count_codes(codes, len(labels))
    if counts[fits].sum() < MOST_TEXT * counts.sum():
        return
    texts = tuple(labels[i] for i in np.flatnonzero(~fits))
    odd = np.append(~fits, False)[codes]
    name = str(column.name)
    shown = ", ".join(map(repr, texts[:3]))
    yield Problem(
        "warning",
        "mixed types" if texts else "numbers as text",
        name,
        int(odd.sum()) if texts else len(column),
        used.examples(odd),
        f"{name!r} holds numbers, but {odd.sum():,} rows hold text: {shown}."
        if texts
        else f"{name!r} holds numbers that are stored as text.",
        "Read it as numbers, these cells as missing; otherwise each value is a level."
        if texts
        else "Read it as numbers; otherwise each value is a level.",
        Remedy(kind="convert", column=name, to="number", values=texts),
    )


def feature_findings(
    used: UsedRows, roles: Roles, names: list[str]
) -> Iterator[Problem]:
    """Yield what is doubtful about the features of the rows used."""
    yield from _copies(used.table, names)
    if not roles.features:
        yield Problem(
            "note",
            "no features",
            "",
            len(used.table),
            (),
            "No column is a feature, so no model can be trained.",
            "Rates and scores of a model can be audited as they are. To train one, "
            "tick its features under Columns.",
        )
    for name in names:
        column = used.table[name]
        if pd.api.types.is_datetime64_any_dtype(column):
            yield _about(
                "date",
                column,
                f"The feature {name!r} is a date, which models read as text.",
                "Use its parts.",
                Remedy(kind="date_parts", column=name),
            )
            continue
        constant = _constant(column)
        if constant is not None:
            yield constant
            continue
        yield from _gives_away(column, used, roles)
        yield from _levels(column)
        yield from _missing(column, used)


def _gives_away(
    column: "pd.Series[Any]", used: UsedRows, roles: Roles
) -> Iterator[Problem]:
    name = str(column.name)
    rows = some_rows(len(column))
    sample = column.iloc[rows]
    reason = outcome_leak(sample, used.y[rows])
    if reason:
        yield _about(
            "leak",
            column,
            f"The feature {name!r} may give the outcome away: {reason}.",
            "Remove it if it is known only after the outcome or made from it.",
            _leave_out(name, "may give the outcome away"),
        )
    if is_score(name, (roles.target,)):
        yield _about(
            "model score",
            column,
            f"The name of the feature {name!r} says that it is the output of another "
            "model.",
            "Remove it unless the new model is meant to build on the old one.",
            _leave_out(name, "output of another model"),
        )
    if encodes_group(sample, used.group[rows]):
        yield _about(
            "proxy",
            column,
            f"The feature {name!r} tells the group of 99% of the rows, so models see "
            f"the sensitive feature {roles.sensitive_feature!r} through it.",
            "Remove it unless this is meant.",
            _leave_out(name, f"another coding of {roles.sensitive_feature}"),
        )


def _constant(column: "pd.Series[Any]") -> Problem | None:
    if count_values(column, 1) > 1:
        return None
    empty = not column.notna().any()
    what = "is missing in all rows used" if empty else "has one value in all rows used"
    value = "" if empty else f": {count_labels(column)}"
    reason = "no value in any row" if empty else "one value in all rows"
    return _about(
        "all missing" if empty else "constant",
        column,
        f"The feature {column.name!r} {what}{value}.",
        "Remove it; it is dropped before training.",
        _leave_out(str(column.name), reason),
    )


def _copies(table: pd.DataFrame, names: list[str]) -> Iterator[Problem]:
    """Yield features that equal an earlier one."""
    sample = table.iloc[some_rows(len(table))]
    marks: dict[bytes, str] = {}
    for name in names:
        same = marks.setdefault(mark_values(sample[name]), name)
        if same != name and table[same].equals(table[name]):
            yield Problem(
                "note",
                "copied column",
                name,
                len(table),
                (),
                f"The feature {name!r} equals the feature {same!r} in every row.",
                "Remove one of them; two count one fact twice.",
                _leave_out(name, f"copy of {same}"),
            )


def _levels(column: "pd.Series[Any]") -> Iterator[Problem]:
    name = str(column.name)
    if is_number(column):
        return
    codes, labels = label_codes(column)
    counts = count_codes(codes, len(labels))
    if len(labels) > max(MANY_VALUES * counts.sum(), 20):
        yield _about(
            "many values",
            column,
            f"The feature {name!r} has {len(labels):,} different values in "
            f"{counts.sum():,} rows: free text or an identifier.",
            "Remove it or put its values together.",
            _leave_out(name, "free text"),
        )


def _missing(column: "pd.Series[Any]", used: UsedRows) -> Iterator[Problem]:
    flags = column.isna().to_numpy()
    if not flags.any():
        return
    name, share = str(column.name), flags.mean()
    filled_in = "the training median" if is_number(column) else "a level (missing)"
    yield Problem(
        "warning" if share > MANY_MISSING else "note",
        "missing values",
        name,
        *used.flagged(flags),
        f"The feature {name!r} is missing in {flags.sum():,} of {len(flags):,} rows.",
        f"They get {filled_in}; or exclude these rows, or remove the feature.",
        _leave_out(name, f"missing in {share:.0%} of the rows")
        if share > MANY_MISSING
        else None,
    )


def _leave_out(name: str, reason: str) -> Remedy:
    return Remedy(kind="leave_out", column=name, reason=reason)


def _about(
    check: str, column: "pd.Series[Any]", message: str, remedy: str, action: Remedy
) -> Problem:
    """Return a warning about all rows of a column."""
    name, n = str(column.name), len(column)
    return Problem("warning", check, name, n, (), message, remedy, action)
