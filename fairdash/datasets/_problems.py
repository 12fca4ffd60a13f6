"""Reasons why a table cannot be used with its roles, for errors and checks alike."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._record import NAME_LETTERS, cut
from fairdash._wording import plural, value_spans
from fairdash.datasets import ranges
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles
from fairdash.datasets._rows import (
    exclude_rows,
    group_codes,
    outcomes,
    row_reasons,
)
from fairdash.datasets._values import Cut
from fairdash.datasets.column_kinds import (
    count_labels,
    is_coded,
    is_identifier,
    is_nested,
    is_number,
    label_codes,
    range_labels,
)

# errors of single features, which leave the rest of the table usable
FEATURE_ERRORS = {"identifier", "infinite values"}
MANY_VALUES = 10  # of a number that is cut rather than sorted by its values
MOST_GROUPS = 20  # beyond these no figure can be read, and gaps are those of chance
INFINITE = ("inf", "-inf")


class Problem(NamedTuple):
    """One finding about a table."""

    severity: Literal["error", "warning", "note"]
    check: str
    column: str
    rows: int
    message: str
    remedy: str
    action: Remedy | None = None


def error(
    check: str,
    column: str,
    message: str,
    remedy: str,
    rows: int = 0,
    action: Remedy | None = None,
) -> Problem:
    """Return a finding that makes the table unusable."""
    return Problem("error", check, column, rows, message, remedy, action)


def find_errors(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Yield everything that makes the table unusable, the most basic first."""
    if not frame.columns.is_unique:
        twice = sorted(set(frame.columns[frame.columns.duplicated()].astype(str)))
        message = f"The table has more than one column named {twice}."
        yield error("duplicate column", twice[0], message, "Rename all but one.")
        return
    missing = [column for column in roles.columns() if column not in frame]
    columns = [cut(str(name), NAME_LETTERS) for name in frame.columns[:20]]
    for column in missing:
        yield error(
            "missing column",
            column,
            f"The table has no column {column!r}.",
            f"Choose one of {columns}.",
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
    cuts = {roles.target: isinstance(roles.positive, Cut)}
    cuts[roles.sensitive_feature] = bool(roles.sensitive_cuts)
    text = [c for c, is_cut in cuts.items() if is_cut and not is_number(frame[c])]
    # ranges such as 25-34 have ends to cut at
    text = [c for c in text if c == roles.target or range_labels(frame[c]) is None]
    for column in text:
        labels = count_labels(frame[column], 3)
        message = f"{column!r} is cut as a number but holds text: {labels}."
        remedy = "Read the column as a number, or choose among its values."
        yield error("no number to cut", column, message, remedy, len(frame))
    if text:
        return
    cut_errors = list(_cut_errors(frame, roles))
    if cut_errors:
        yield from cut_errors
        return
    condition_errors = list(_condition_errors(frame, roles))
    if condition_errors:
        yield from condition_errors
        return
    used, excluded = exclude_rows(frame, row_reasons(frame, roles))
    if not used.any():
        column = roles.target
        message = f"None of the {len(frame):,} rows can be used."
        if excluded:
            message += f" {'; '.join(map(str, excluded))}."
        yield error("no rows", column, message, "Loosen the row filter or the groups.")
        return
    yield from _target_errors(frame[roles.target][used], roles)
    yield from _group_errors(frame, roles, used)
    uses_all_rows = bool(used.all())
    for name in roles.features:
        feature = frame[name] if uses_all_rows else frame.loc[used, name]
        yield from _feature_errors(feature, roles)


def _cut_errors(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    column = roles.sensitive_feature
    if not roles.sensitive_cuts or is_number(frame[column]):
        return
    _, labels = label_codes(frame[column])
    try:
        ranges.parts_between(column, labels, roles.sensitive_cuts)
    except ValueError as reason:
        message, _, remedy = str(reason).partition(". ")
        yield error("cut inside a range", column, f"{message}.", remedy)


def _condition_errors(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    for condition in roles.rows:  # `keep` of an earlier version refuses no value
        name = ", ".join(condition.columns())
        try:
            condition.holds(frame)
        except ValueError as refusal:
            remedy = "Change the condition under Which rows."
            yield error("condition does not fit", name, str(refusal), remedy)
            continue
        for column, values in condition.absent_values(frame).items():
            message = f"No row has {column!r} = {value_spans(values)}, which the rows "
            message += f"are chosen by; its values are {count_labels(frame[column])}."
            remedy = "Remove these values from the condition."
            yield error("value of condition absent", column, message, remedy)


def _leave_out(column: str, reason: str, roles: Roles) -> Remedy | None:
    if column not in roles.features:
        return None
    return Remedy(kind="leave_out", column=column, reason=reason)


def _target_errors(target: "pd.Series[Any]", roles: Roles) -> Iterator[Problem]:
    name = f"The outcome {roles.target!r}"
    n_rows = len(target)
    if isinstance(roles.positive, Cut):
        above = int(outcomes(target, roles.positive).sum())
        if 0 < above < n_rows:
            return
        message = f"{above:,} of {n_rows:,} rows have {roles.outcome()}."
        remedy = f"Cut between {target.min():g} and {target.max():g}."
        yield error("target not binary", roles.target, message, remedy, n_rows)
        return
    _, labels = label_codes(target)
    counts = count_labels(target)
    strict = isinstance(roles.positive, str) and not roles.negative
    wanted = set(roles.positive_values())
    if len(labels) != 2 if strict else len(labels) < 2 or wanted >= set(labels):
        message = f"{name} has {plural(len(labels), 'value')} where two are needed: "
        if not strict:
            message = f"Every row has {roles.outcome()}: "
        remedy = "Choose all values that count as positive, or a column of two values."
        if is_number(target) and not is_coded(target):
            remedy = f"Choose a cut (Positive if), such as > {target.median():g}."
        message += f"{counts}."
        yield error("target not binary", roles.target, message, remedy, n_rows)
    sides = {"positive": wanted, "negative": set(roles.negative)}
    for side, values in sides.items():
        for value in sorted(values - set(labels)):
            message = f"No row has the {side} value {value!r} in the outcome "
            message += f"{roles.target!r}; its values are {counts}."
            remedy = f"Choose one of these values as the {side} one."
            yield error(f"{side} value absent", roles.target, message, remedy)


def _group_errors(
    frame: pd.DataFrame, roles: Roles, used: NDArray[np.bool_]
) -> Iterator[Problem]:
    column = roles.sensitive_feature
    table = frame if used.all() else frame.loc[used, list(roles.sensitive_columns())]
    codes, names = group_codes(table, roles)
    counts = np.bincount(codes, minlength=len(names))
    empty = [name for name, count in zip(names, counts, strict=True) if not count]
    name = f"The sensitive feature {column!r}"
    if len(names) > MOST_GROUPS:
        check = "too many groups"
        message = f"{name} makes {len(names):,} groups; at most {MOST_GROUPS} can be "
        message += "compared."
        remedy = "Compare some values with all others (`groups`), cut a number in "
        remedy += "ranges (`sensitive_cuts`), or cross fewer columns."
    elif np.count_nonzero(counts) < 2:
        check = "one group"
        message = f"{name} has one group only: {count_labels(table[column])}."
        remedy = "Choose a column or groups that split the rows in two or more groups."
    elif empty:
        check = "empty group"
        message = f"No row of {column!r} is in the groups {empty}; its values are "
        message += f"{count_labels(table[column])}."
        remedy = "Remove these groups or change their values."
    else:
        return
    yield error(check, column, message, remedy, len(table))


def _feature_errors(feature: "pd.Series[Any]", roles: Roles) -> Iterator[Problem]:
    name = str(feature.name)
    infinite = pd.Series(False)
    if pd.api.types.is_float_dtype(feature):
        infinite = feature.abs() == np.inf
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
            action=Remedy(kind="missing", column=name, values=INFINITE),
        )
