"""What makes a table unusable with its roles, stated once for errors and checks."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._wording import plural
from fairdash.datasets._columns import (
    N_EXAMPLES,
    count_labels,
    is_identifier,
    is_nested,
    is_number,
    label_codes,
)
from fairdash.datasets._roles import Cut, Remedy, Roles
from fairdash.datasets._rows import group_codes, outcomes, used_rows

# errors of single features, which leave the rest of the table usable
FEATURE_ERRORS = {"identifier", "infinite values"}
MANY_VALUES = 10  # of a number that is cut rather than sorted by its values
MOST_GROUPS = 20  # beyond these no figure can be read, and gaps are those of chance
INFINITE = ("inf", "-inf")


class Problem(NamedTuple):
    """One finding about a table; ``example_rows`` count from 1 below the header."""

    severity: Literal["error", "warning", "note"]
    check: str
    column: str
    rows: int
    example_rows: tuple[int, ...]
    message: str
    remedy: str
    action: Remedy | None = None


def error(
    check: str,
    column: str,
    message: str,
    remedy: str,
    rows: int = 0,
    *,
    examples: tuple[int, ...] = (),
    action: Remedy | None = None,
) -> Problem:
    """Return a finding that makes the table unusable."""
    return Problem("error", check, column, rows, examples, message, remedy, action)


def find_errors(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Yield everything that makes the table unusable, the most basic first."""
    if not frame.columns.is_unique:
        twice = sorted(set(frame.columns[frame.columns.duplicated()].astype(str)))
        message = f"The table has more than one column named {twice}."
        yield error("duplicate column", twice[0], message, "Rename all but one.")
        return
    missing = [column for column in roles.columns() if column not in frame]
    for column in missing:
        yield error(
            "missing column",
            column,
            f"The table has no column {column!r}.",
            f"Choose one of {list(frame.columns)[:20]}.",
            action=_leave_out(column, "not in the table", roles),
        )
    nested = [c for c in roles.columns() if c in frame and is_nested(frame[c])]
    for column in nested:
        yield error(
            "nested values",
            column,
            f"The cells of {column!r} hold lists or records.",
            "Choose a column of single values, or split it into several columns.",
            len(frame),
            action=_leave_out(column, "lists or records", roles),
        )
    if missing or nested:
        return
    text = list(_text_where_numbers_are_needed(frame, roles))
    yield from text
    if text:
        return
    used = used_rows(frame, roles)
    if not used.any():
        column = roles.target
        message = f"None of the {len(frame):,} rows can be used."
        yield error("no rows", column, message, "Loosen the row filter or the groups.")
        return
    yield from _target_errors(frame[roles.target][used], roles)
    yield from _group_errors(frame, roles, used)
    everyone, numbers = bool(used.all()), np.flatnonzero(used)
    for name in roles.features:
        feature = frame[name] if everyone else frame.loc[used, name]
        yield from _feature_errors(feature, roles, numbers)


def _leave_out(column: str, reason: str, roles: Roles) -> Remedy | None:
    if column not in roles.features:
        return None
    return Remedy(kind="leave_out", column=column, reason=reason)


def _text_where_numbers_are_needed(
    frame: pd.DataFrame, roles: Roles
) -> Iterator[Problem]:
    cuts = {roles.target: isinstance(roles.positive, Cut)}
    cuts[roles.sensitive_feature] = bool(roles.sensitive_cuts)
    for column in (name for name, is_cut in cuts.items() if is_cut):
        if not is_number(frame[column]):
            yield error(
                "no number to cut",
                column,
                f"{column!r} is cut as a number but holds text: "
                f"{count_labels(frame[column], 3)}.",
                "Read the column as a number, or choose among its values.",
                len(frame),
            )


def _target_errors(target: "pd.Series[Any]", roles: Roles) -> Iterator[Problem]:
    check = "target not binary"
    if isinstance(roles.positive, Cut):
        above = int(outcomes(target, roles.positive).sum())
        if above in (0, len(target)):
            yield error(
                check,
                roles.target,
                f"{above:,} of {len(target):,} rows have {roles.outcome()}; its values "
                f"go from {target.min():g} to {target.max():g}.",
                "Cut between these.",
                len(target),
            )
        return
    _, labels = label_codes(target)
    counts = count_labels(target)
    if is_number(target) and len(labels) > MANY_VALUES:
        yield error(
            check,
            roles.target,
            f"The outcome {roles.target!r} has {len(labels):,} values where two are "
            "needed.",
            f"Choose above which value it is positive, such as > {target.median():g} "
            "(Positive if).",
            len(target),
        )
        return
    strict = isinstance(roles.positive, str)
    wanted = {roles.positive} if strict else set(roles.positive)
    if len(labels) != 2 if strict else len(labels) < 2 or wanted >= set(labels):
        yield error(
            check,
            roles.target,
            f"The outcome {roles.target!r} has {plural(len(labels), 'value')} where "
            f"two are needed: {counts}."
            if strict
            else f"Every row has {roles.outcome()}: {counts}.",
            "Choose all values that count as positive, or a column of two values.",
            len(target),
        )
    for value in sorted(wanted - set(labels)):
        yield error(
            "positive value absent",
            roles.target,
            f"No row has the positive value {value!r} in the outcome "
            f"{roles.target!r}; its values are {counts}.",
            "Choose one of these values as the positive one.",
        )


def _group_errors(
    frame: pd.DataFrame, roles: Roles, used: NDArray[np.bool_]
) -> Iterator[Problem]:
    column = roles.sensitive_feature
    table = frame if used.all() else frame.loc[used, list(roles.sensitive_columns())]
    codes, names = group_codes(table, roles)
    counts = np.bincount(codes, minlength=len(names))
    empty = [name for name, count in zip(names, counts, strict=True) if not count]
    if len(names) > MOST_GROUPS:
        yield error(
            "too many groups",
            column,
            f"The sensitive feature {column!r} makes {len(names):,} groups; at most "
            f"{MOST_GROUPS} can be compared.",
            "Compare some values with all others (`groups`), cut a number in ranges "
            "(`sensitive_cuts`), or cross fewer columns.",
            len(table),
        )
    elif np.count_nonzero(counts) < 2:
        yield error(
            "one group",
            column,
            f"The sensitive feature {column!r} has one group only: "
            f"{count_labels(table[column])}.",
            "Choose a column or groups that split the rows in two or more groups.",
            len(table),
        )
    elif empty:
        yield error(
            "empty group",
            column,
            f"No row of {column!r} is in the groups {empty}; its values are "
            f"{count_labels(table[column])}.",
            "Remove these groups or change their values.",
        )


def _feature_errors(
    feature: "pd.Series[Any]",
    roles: Roles,
    numbers: NDArray[np.int64],
) -> Iterator[Problem]:
    name = str(feature.name)
    infinite = _infinite(feature)
    if name not in roles.types and is_identifier(feature):
        yield error(
            "identifier",
            name,
            f"The feature {name!r} is different in every one of {feature.count():,} "
            "rows, so it identifies rows rather than describes them.",
            "Remove it from the features.",
            int(feature.count()),
            action=_leave_out(name, "different in every row", roles),
        )
    elif infinite.any():
        yield error(
            "infinite values",
            name,
            f"The feature {name!r} is infinite in {infinite.sum():,} rows.",
            "Make these cells empty or remove the feature.",
            int(infinite.sum()),
            examples=tuple(int(row) + 1 for row in numbers[infinite][:N_EXAMPLES]),
            action=Remedy(kind="missing", column=name, values=INFINITE),
        )


def _infinite(column: "pd.Series[Any]") -> NDArray[np.bool_]:
    if not pd.api.types.is_float_dtype(column):
        return np.zeros(len(column), dtype=bool)
    return np.isinf(column.to_numpy(dtype=float, na_value=np.nan))
