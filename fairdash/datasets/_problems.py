"""What makes a table unusable with its roles, stated once for errors and checks."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._columns import (
    count_labels,
    is_identifier,
    is_nested,
    is_number,
    label_codes,
)
from fairdash.datasets._roles import Roles

# errors of single features, which leave the rest of the table usable
FEATURE_ERRORS = {"identifier", "infinite values", "equals the target"}


class Problem(NamedTuple):
    """One finding about a table; ``example_rows`` count from 1 below the header."""

    severity: str
    check: str
    column: str
    rows: int
    example_rows: tuple[int, ...]
    message: str
    remedy: str


def error(check: str, column: str, message: str, remedy: str, rows: int = 0) -> Problem:
    """Return a finding that makes the table unusable."""
    return Problem("error", check, column, rows, (), message, remedy)


def row_reasons(
    frame: pd.DataFrame, roles: Roles
) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Yield why rows are left out: the reason, its column and a flag per row."""
    for column, values in roles.keep.items():
        codes, labels = label_codes(frame[column])
        kept = np.isin(codes, [i for i, label in enumerate(labels) if label in values])
        yield "outside the row filter", column, ~kept
    yield "outcome missing", roles.target, _missing(frame[roles.target])
    sensitive = frame[roles.sensitive_feature]
    yield "sensitive feature missing", roles.sensitive_feature, _missing(sensitive)
    codes, _ = group_codes(sensitive, roles)
    yield "value in no group", roles.sensitive_feature, codes < 0
    if roles.missing == "exclude":
        for column in roles.features:
            yield "feature missing", column, _missing(frame[column])


def used_rows(frame: pd.DataFrame, roles: Roles) -> NDArray[np.bool_]:
    """Return a flag per row: no reason to leave it out."""
    reasons = [flags for _, _, flags in row_reasons(frame, roles)]
    used: NDArray[np.bool_] = ~np.any(reasons, axis=0)
    return used


def group_codes(
    column: "pd.Series[Any]", roles: Roles
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return each row's group, -1 where it has none, and the names of the groups."""
    codes, labels = label_codes(column)
    if roles.groups is None:
        return codes, tuple(labels)
    names = tuple(roles.groups)
    rest = next((i for i, name in enumerate(names) if not roles.groups[name]), -1)
    group_of = {
        value: position
        for position, name in enumerate(names)
        for value in roles.groups[name]
    }
    lookup = np.array([*(group_of.get(label, rest) for label in labels), -1])
    return lookup.astype(np.int64)[codes], names


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
        )
    nested = [c for c in roles.columns() if c in frame and is_nested(frame[c])]
    for column in nested:
        yield error(
            "nested values",
            column,
            f"The cells of {column!r} hold lists or records.",
            "Choose a column of single values, or split it into several columns.",
            len(frame),
        )
    if missing or nested:
        return
    used = used_rows(frame, roles)
    if not used.any():
        column = roles.target
        message = f"None of the {len(frame):,} rows can be used."
        yield error("no rows", column, message, "Loosen the row filter or the groups.")
        return
    yield from _target_errors(frame[roles.target][used], roles)
    yield from _group_errors(frame[roles.sensitive_feature][used], roles)
    for name in roles.features:
        yield from _feature_errors(frame.loc[used, name], frame[roles.target][used])


def _target_errors(target: "pd.Series[Any]", roles: Roles) -> Iterator[Problem]:
    _, labels = label_codes(target)
    counts = count_labels(target)
    if len(labels) != 2:
        yield error(
            "target not binary",
            roles.target,
            f"The outcome {roles.target!r} has {len(labels)} "
            f"value{'s' * (len(labels) != 1)} where two are needed: {counts}.",
            "Choose a column of two values, or keep only the rows of two of them with "
            "the row filter.",
            len(target),
        )
    if roles.positive not in labels:
        yield error(
            "positive value absent",
            roles.target,
            f"No row has the positive value {roles.positive!r} in the outcome "
            f"{roles.target!r}; its values are {counts}.",
            "Choose one of these values as the positive one.",
        )


def _group_errors(sensitive: "pd.Series[Any]", roles: Roles) -> Iterator[Problem]:
    column = roles.sensitive_feature
    codes, names = group_codes(sensitive, roles)
    counts = np.bincount(codes, minlength=len(names))
    empty = [name for name, count in zip(names, counts, strict=True) if not count]
    if np.count_nonzero(counts) < 2:
        yield error(
            "one group",
            column,
            f"The sensitive feature {column!r} has one group only: "
            f"{count_labels(sensitive)}.",
            "Choose a column or groups that split the rows in two or more groups.",
            len(sensitive),
        )
    elif empty:
        yield error(
            "empty group",
            column,
            f"No row of {column!r} is in the groups {empty}; its values are "
            f"{count_labels(sensitive)}.",
            "Remove these groups or change their values.",
        )


def _feature_errors(
    feature: "pd.Series[Any]", target: "pd.Series[Any]"
) -> Iterator[Problem]:
    name = str(feature.name)
    if is_identifier(feature):
        yield error(
            "identifier",
            name,
            f"The feature {name!r} is different in every one of {feature.count():,} "
            "rows, so it identifies rows rather than describes them.",
            "Remove it from the features.",
            int(feature.count()),
        )
    elif infinite := _count_infinite(feature):
        yield error(
            "infinite values",
            name,
            f"The feature {name!r} is infinite in {infinite:,} rows.",
            "Make these cells empty or remove the feature.",
            infinite,
        )
    elif _is_renaming(feature, target):
        yield error(
            "equals the target",
            name,
            f"The feature {name!r} equals the outcome {target.name!r} in all "
            f"{feature.size:,} rows.",
            "Remove it from the features.",
            feature.size,
        )


def _count_infinite(column: "pd.Series[Any]") -> int:
    if not is_number(column):
        return 0
    return int(np.isinf(column.to_numpy(dtype=float, na_value=np.nan)).sum())


def _is_renaming(feature: "pd.Series[Any]", target: "pd.Series[Any]") -> bool:
    """Tell whether each value of the feature goes with one of the target and back."""
    if feature.nunique() != 2 or feature.isna().any():
        return False
    codes, labels = label_codes(feature)
    wanted, values = label_codes(target)
    if not len(labels) == len(values) == 2:
        return False
    return bool((codes == wanted).all() or (codes != wanted).all())


def _missing(column: "pd.Series[Any]") -> NDArray[np.bool_]:
    return column.isna().to_numpy()
