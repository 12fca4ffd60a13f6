"""Which rows of a table are used, and the outcome and group of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._wording import is_bare
from fairdash.datasets._roles import Cut, Roles
from fairdash.datasets._subgroups import cut_column
from fairdash.datasets.column_kinds import all_differ, is_nested, label_codes

MISSING_GROUP = "Missing"


def outcomes(column: "pd.Series[Any]", positive: object) -> NDArray[np.int8]:
    """Return 1 where the outcome is positive, else 0; missing counts as 0.

    ``positive`` is that of `Roles`.
    """
    if isinstance(positive, Cut):
        return positive.holds(column).astype(np.int8)
    wanted = (positive,) if isinstance(positive, str) else positive
    codes, labels = label_codes(column)
    flags = np.array([*(label in wanted for label in labels), False])  # type: ignore[operator]
    return flags[codes].astype(np.int8)


def group_codes(
    frame: pd.DataFrame, roles: Roles
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return each row's group, -1 where it has none, and the names of the groups."""
    codes, names = _with_missing(frame, roles.sensitive_feature, roles)
    if not roles.crossed_with:
        return codes, names
    names = tuple(_clear(roles.sensitive_feature, names))
    for column in roles.crossed_with:
        other, labels = _with_missing(frame, column, roles)
        absent = (codes < 0) | (other < 0)
        codes = np.where(absent, -1, codes * len(labels) + other)
        labels = tuple(_clear(column, labels))
        names = tuple(f"{name} · {label}" for name in names for label in labels)
    seen = np.unique(codes[codes >= 0])
    compact = np.where(codes < 0, -1, np.searchsorted(seen, codes))
    return compact, tuple(names[code] for code in seen)


def group_labels(frame: pd.DataFrame, roles: Roles) -> "pd.Series[Any]":
    """Return the name of each row's group, missing where it has none."""
    codes, names = group_codes(frame, roles)
    labels = np.array([*names, None], dtype=object)[codes]
    name = " × ".join(roles.sensitive_columns())
    return pd.Series(labels, index=frame.index, name=name, dtype=object)


def _with_missing(
    frame: pd.DataFrame, name: str, roles: Roles
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    column = frame[name]
    first = name == roles.sensitive_feature
    codes, names = _groups(column, roles if first else None)
    missing = column.isna().to_numpy()
    if roles.sensitive_missing == "exclude" or not missing.any():
        return codes, names
    if MISSING_GROUP in names:  # some cells say so, others are empty
        return np.where(missing, names.index(MISSING_GROUP), codes), names
    return np.where(missing, len(names), codes), (*names, MISSING_GROUP)


def _groups(
    column: "pd.Series[Any]", roles: Roles | None
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    if roles is not None and roles.sensitive_cuts:
        codes, labels = cut_column(column, roles.sensitive_cuts)
        return codes, tuple(f"{column.name} {label}" for label in labels)
    codes, values = label_codes(column)
    if roles is None or roles.groups is None:
        return codes, tuple(values)
    names = tuple(roles.groups)
    rest = next((i for i, name in enumerate(names) if not roles.groups[name]), -1)
    group_of = {
        value: position
        for position, name in enumerate(names)
        for value in roles.groups[name]
    }
    lookup = np.array([*(group_of.get(label, rest) for label in values), -1])
    group = lookup.astype(np.int64)[codes]
    if rest < 0 or (group == rest).any():
        return group, names
    # no value remains, so there is no group of the remaining ones
    return group - (group > rest), (*names[:rest], *names[rest + 1 :])


def _clear(column: str, names: tuple[str, ...]) -> list[str]:
    return [
        f"{column} {name}" if name != MISSING_GROUP and is_bare(name) else name
        for name in names
    ]


@dataclass(frozen=True)
class UsedRows:
    """The rows used, with what their roles say of each.

    ``table`` is prepared, ``y`` is 0 or 1, and ``group`` an index in ``group_names``.
    """

    table: pd.DataFrame
    y: NDArray[np.int8]
    group: NDArray[np.int64]
    group_names: tuple[str, ...]

    @classmethod
    def of(
        cls, frame: pd.DataFrame, roles: Roles, used: NDArray[np.bool_]
    ) -> "UsedRows":
        """Return the flagged rows of a prepared table."""
        table = frame if used.all() else frame[used]
        y = outcomes(table[roles.target], roles.positive)
        return cls(table, y, *group_codes(table, roles))


def row_reasons(
    frame: pd.DataFrame, roles: Roles
) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Yield why rows are excluded: the reason, its column and a flag per row."""
    for column, values in roles.keep.items():
        codes, labels = label_codes(frame[column])
        inside = np.isin(
            codes, [i for i, label in enumerate(labels) if label in values]
        )
        yield "outside the row filter", column, ~inside
    yield "outcome missing", roles.target, _missing(frame[roles.target])
    if roles.sensitive_missing == "exclude":
        for column in roles.sensitive_columns():
            yield "sensitive feature missing", column, _missing(frame[column])
    codes, _ = group_codes(frame, roles)
    yield "value in no group", roles.sensitive_feature, codes < 0
    if has_row_rule(roles):
        yield "repeats an earlier row", "", repeated_rows(frame)
    if roles.missing == "exclude":
        for column in roles.features:
            yield "feature missing", column, _missing(frame[column])


def used_rows(frame: pd.DataFrame, roles: Roles) -> NDArray[np.bool_]:
    """Return a flag per row: no reason to exclude it."""
    reasons = [flags for _, _, flags in row_reasons(frame, roles)]
    return ~np.any(reasons, axis=0)


def _missing(column: "pd.Series[Any]") -> NDArray[np.bool_]:
    return column.isna().to_numpy()


def has_row_rule(roles: Roles) -> bool:
    """Tell whether repeated rows are excluded."""
    return any(remedy.kind == "drop_duplicates" for remedy in roles.preparation)


def repeated_rows(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Flag rows that repeat an earlier row in every column."""
    frame = frame[[name for name in frame if not is_nested(frame[name])]]
    flags = np.zeros(len(frame), dtype=bool)
    if not len(frame.columns) or any(all_differ(frame[name]) for name in frame):
        return flags
    hashed = pd.util.hash_pandas_object(frame, index=False)
    candidates = hashed.duplicated(keep=False).to_numpy()
    if candidates.any():
        flags[candidates] = frame[candidates].duplicated().to_numpy()
    return flags
