"""Findings about features: constant, giving something away, rare levels, gaps."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from fairdash.datasets._columns import (
    count_codes,
    count_labels,
    count_values,
    is_number,
    label_codes,
    words,
)
from fairdash.datasets._encode import OTHER
from fairdash.datasets._problems import Problem
from fairdash.datasets._roles import Remedy, Roles
from fairdash.datasets._rows import UsedRows
from fairdash.datasets.checks.leakage import encodes_group, is_score, outcome_leak

MANY_MISSING = 0.2
MANY_VALUES = 0.2
NEARLY_UNIQUE = 0.95
FINGERPRINT_ROWS = 1000


def feature_findings(
    used: UsedRows, roles: Roles, names: list[str]
) -> Iterator[Problem]:
    """Yield what is doubtful about the features of the rows used.

    ``names`` are features that are no error already.
    """
    yield from _copies(used.table, names)
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
        yield from _levels(column, used, roles)
        yield from _missing(column, used)


def _gives_away(
    column: "pd.Series[Any]", used: UsedRows, roles: Roles
) -> Iterator[Problem]:
    name = str(column.name)
    reason = outcome_leak(column, used.y)
    if reason:
        yield _about(
            "leak",
            column,
            f"The feature {name!r} may give the outcome away: {reason}.",
            "Remove it if it is known only after the outcome or made from it.",
            _leave_out(name, "may give the outcome away"),
        )
    if is_score(name):
        yield _about(
            "model score",
            column,
            f"The name of the feature {name!r} says that it is the output of another "
            "model.",
            "Remove it unless the new model is meant to build on the old one.",
            _leave_out(name, "output of another model"),
        )
    if encodes_group(column, used.group):
        yield _about(
            "proxy",
            column,
            f"The feature {name!r} tells the group of 99 % of the rows, so models see "
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
    """Yield features that equal an earlier one, compared in full if the start does."""
    first: dict[int, list[str]] = {}
    for name in names:
        head = table[name].iloc[:FINGERPRINT_ROWS]
        mark = int(pd.util.hash_pandas_object(head, index=False).sum())
        same = next(
            (x for x in first.get(mark, []) if table[x].equals(table[name])), None
        )
        first.setdefault(mark, []).append(name)
        if same is not None:
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


def _levels(
    column: "pd.Series[Any]", used: UsedRows, roles: Roles
) -> Iterator[Problem]:
    name = str(column.name)
    if is_number(column):
        yield from _nearly_unique(column)
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
        return
    rare = np.append(counts < roles.min_level_rows, False)
    if rare.any():
        flags = rare[codes]
        merged = dict.fromkeys([labels[i] for i in np.flatnonzero(rare)], OTHER)
        yield Problem(
            "note",
            "rare levels",
            name,
            *used.flagged(flags),
            f"{rare.sum():,} of {len(labels):,} values of {name!r} come in fewer than "
            f"{roles.min_level_rows} rows.",
            "Nothing needs doing: they share the column (other). Merge them to see "
            "them so everywhere.",
            Remedy(kind="recode", column=name, changes=merged),
        )


def _nearly_unique(column: "pd.Series[Any]") -> Iterator[Problem]:
    name = str(column.name)
    if not words(name) & {"id", "key", "index", "number", "nr", "no"}:
        return
    different, present = column.nunique(), int(column.count())
    if present >= 20 and different >= NEARLY_UNIQUE * present:
        yield _about(
            "nearly unique",
            column,
            f"The feature {name!r} has {different:,} different values in {present:,} "
            "rows, and its name says that it numbers rows.",
            "Remove it.",
            _leave_out(name, "numbers rows"),
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
