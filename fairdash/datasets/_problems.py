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
    # A stage may rely on what the stages before it checked.
    stages = (
        _name_errors,
        _column_errors,
        _text_errors,
        _cut_errors,
        _condition_errors,
        _row_errors,
    )
    for stage in stages:
        errors = list(stage(frame, roles))
        yield from errors
        if errors:
            return


def _name_errors(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Yield the first name that several columns have."""
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        names = sorted(set(repeated.astype(str)))
        message = f"The table has more than one column named {names}."
        yield error("duplicate column", names[0], message, "Rename all but one.")


def _column_errors(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Yield the columns of roles that are absent, or hold no single values."""
    offered = [cut(str(name), NAME_LETTERS) for name in frame.columns[:20]]
    for column in roles.columns():
        if column not in frame:
            yield error(
                "missing column",
                column,
                f"The table has no column {column!r}.",
                f"Choose one of {offered}.",
                action=_leave_out(column, "not in the table", roles),
            )
    for column in roles.columns():
        if column in frame and is_nested(frame[column]):
            yield error(
                "nested values",
                column,
                f"The cells of {column!r} hold lists or records.",
                "Choose a column of single values, or split it into several columns.",
                len(frame),
                action=_leave_out(column, "lists or records", roles),
            )


def _text_errors(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Yield the columns that are cut as numbers but hold text."""
    cut_columns = []
    if isinstance(roles.positive, Cut):
        cut_columns.append(roles.target)
    # Ranges such as 25-34 have ends to cut at.
    sensitive = roles.sensitive_feature
    if roles.sensitive_cuts and range_labels(frame[sensitive]) is None:
        cut_columns.append(sensitive)
    for column in cut_columns:
        if is_number(frame[column]):
            continue
        yield error(
            "no number to cut",
            column,
            f"{column!r} is cut as a number but holds text: "
            f"{count_labels(frame[column], 3)}.",
            "Read the column as a number, or choose among its values.",
            len(frame),
        )


def _row_errors(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Yield what is wrong with the rows that are used, or that none is."""
    used, excluded = exclude_rows(frame, row_reasons(frame, roles))
    if not used.any():
        message = f"None of the {len(frame):,} rows can be used."
        if excluded:
            message += f" {'; '.join(map(str, excluded))}."
        remedy = "Loosen the row filter or the groups."
        yield error("no rows", roles.target, message, remedy)
        return
    yield from _target_errors(frame[roles.target][used], roles)
    yield from _group_errors(frame, roles, used)
    uses_all_rows = bool(used.all())
    for name in roles.features:
        feature = frame[name] if uses_all_rows else frame.loc[used, name]
        yield from _feature_errors(feature, roles)


def _cut_errors(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Yield the cut that lies inside a range of the sensitive feature, if one does."""
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
    """Yield the conditions on rows that cannot be tested, or ask for absent values."""
    # `keep` of an earlier version refuses no value.
    for condition in roles.rows:
        name = ", ".join(condition.columns())
        try:
            condition.holds(frame)
        except ValueError as refusal:
            remedy = "Change the condition under Which rows."
            yield error("condition does not fit", name, str(refusal), remedy)
            continue
        for column, values in condition.absent_values(frame).items():
            message = (
                f"No row has {column!r} = {value_spans(values)}, which the rows are "
                f"chosen by; its values are {count_labels(frame[column])}."
            )
            remedy = "Remove these values from the condition."
            yield error("value of condition absent", column, message, remedy)


def _leave_out(column: str, reason: str, roles: Roles) -> Remedy | None:
    """Return the step that makes a column no feature, None where it is none."""
    if column not in roles.features:
        return None
    return Remedy(kind="leave_out", column=column, reason=reason)


def _target_errors(target: "pd.Series[Any]", roles: Roles) -> Iterator[Problem]:
    """Yield why an outcome does not have two sides, or lacks a chosen value."""
    n_rows = len(target)
    if isinstance(roles.positive, Cut):
        n_positive = int(outcomes(target, roles.positive).sum())
        if not 0 < n_positive < n_rows:
            message = f"{n_positive:,} of {n_rows:,} rows have {roles.outcome()}."
            remedy = f"Cut between {target.min():g} and {target.max():g}."
            yield error("target not binary", roles.target, message, remedy, n_rows)
        return
    _, labels = label_codes(target)
    counts = count_labels(target)
    # A single positive value asks for exactly one other value.
    needs_two_values = isinstance(roles.positive, str) and not roles.negative
    positive = set(roles.positive_values())
    if needs_two_values:
        is_binary = len(labels) == 2
        message = (
            f"The outcome {roles.target!r} has {plural(len(labels), 'value')} where "
            f"two are needed: {counts}."
        )
    else:
        is_binary = len(labels) >= 2 and not positive >= set(labels)
        message = f"Every row has {roles.outcome()}: {counts}."
    if not is_binary:
        remedy = "Choose all values that count as positive, or a column of two values."
        if is_number(target) and not is_coded(target):
            remedy = f"Choose a cut (Positive if), such as > {target.median():g}."
        yield error("target not binary", roles.target, message, remedy, n_rows)
    sides = {"positive": positive, "negative": set(roles.negative)}
    for side, values in sides.items():
        for value in sorted(values - set(labels)):
            message = (
                f"No row has the {side} value {value!r} in the outcome "
                f"{roles.target!r}; its values are {counts}."
            )
            remedy = f"Choose one of these values as the {side} one."
            yield error(f"{side} value absent", roles.target, message, remedy)


def _group_errors(
    frame: pd.DataFrame, roles: Roles, used: NDArray[np.bool_]
) -> Iterator[Problem]:
    """Yield why the groups of the rows used cannot be compared, if they cannot."""
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
            len(table),
        )


def _feature_errors(feature: "pd.Series[Any]", roles: Roles) -> Iterator[Problem]:
    """Yield why a column cannot be a feature, if it cannot."""
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
