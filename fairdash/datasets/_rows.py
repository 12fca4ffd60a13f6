"""Rows of a table that are used, with the outcome and group of each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._wording import ROWS, Noun, is_bare, value_spans
from fairdash.datasets._roles import Roles
from fairdash.datasets._values import Cut
from fairdash.datasets.bins import cut_column
from fairdash.datasets.column_kinds import (
    all_differ,
    by_code,
    common_labels,
    example_rows,
    is_nested,
    label_codes,
    sorted_labels,
)

MISSING_GROUP = "Missing"
FIRST_COLUMNS = 100


def outcomes(column: "pd.Series[Any]", positive: object) -> NDArray[np.int8]:
    """Return 1 where the outcome is positive, else 0; missing counts as 0.

    ``positive`` is that of `Roles`.
    """
    if isinstance(positive, Cut):
        return positive.holds(column).astype(np.int8)
    values = (positive,) if isinstance(positive, str) else positive
    codes, labels = label_codes(column)
    is_positive = [label in values for label in labels]  # type: ignore[operator]
    return by_code(is_positive, codes, missing=False).astype(np.int8)


def group_codes(
    frame: pd.DataFrame, roles: Roles
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return each row's group, -1 where it has none, and the names of the groups."""
    codes, names = _with_missing(frame, roles.sensitive_feature, roles)
    if not roles.crossed_with:
        return codes, names
    names = tuple(_clear(roles.sensitive_feature, names))
    for column in roles.crossed_with:
        column_codes, labels = _with_missing(frame, column, roles)
        absent = (codes < 0) | (column_codes < 0)
        codes = np.where(absent, -1, codes * len(labels) + column_codes)
        labels = tuple(_clear(column, labels))
        names = tuple(f"{name} · {label}" for name in names for label in labels)
    # Combinations that no row has are no groups.
    present = np.unique(codes[codes >= 0])
    compact = np.where(codes < 0, -1, np.searchsorted(present, codes))
    return compact, tuple(names[code] for code in present)


def group_labels(frame: pd.DataFrame, roles: Roles) -> "pd.Series[Any]":
    """Return the name of each row's group, missing where it has none."""
    codes, names = group_codes(frame, roles)
    labels = by_code(names, codes, missing=None, dtype=object)
    name = roles.group_column()
    return pd.Series(labels, index=frame.index, name=name, dtype=object)


def _with_missing(
    frame: pd.DataFrame, name: str, roles: Roles
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return codes and groups of a sensitive column; missing values may be a group."""
    column = frame[name]
    # Groups and cuts are chosen for the first sensitive column only.
    is_first = name == roles.sensitive_feature
    codes, names = _groups(column, roles if is_first else None)
    missing = column.isna().to_numpy()
    if roles.sensitive_missing == "exclude" or not missing.any():
        return codes, names
    if MISSING_GROUP in names:  # some cells say so, others are empty
        return np.where(missing, names.index(MISSING_GROUP), codes), names
    return np.where(missing, len(names), codes), (*names, MISSING_GROUP)


def _groups(
    column: "pd.Series[Any]", roles: Roles | None
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the codes and names of the groups that roles make of a column.

    A group without values is of all remaining ones.
    """
    if roles is not None and roles.sensitive_cuts:
        codes, labels = cut_column(column, roles.sensitive_cuts)
        return codes, tuple(f"{column.name} {label}" for label in labels)
    codes, values = label_codes(column)
    if roles is None or roles.groups is None:
        return codes, tuple(values)
    names = tuple(roles.groups)
    group_of_value: dict[str, int] = {}
    rest = -1
    for position, name in enumerate(names):
        for value in roles.groups[name]:
            group_of_value[value] = position
        if not roles.groups[name] and rest < 0:
            rest = position
    groups = [group_of_value.get(value, rest) for value in values]
    group = by_code(groups, codes, missing=-1)
    if rest < 0 or (group == rest).any():
        return group, names
    # No value remains, so there is no group of the remaining ones.
    return group - (group > rest), (*names[:rest], *names[rest + 1 :])


def _clear(column: str, names: tuple[str, ...]) -> list[str]:
    """Return the names of groups, with the column where a value says too little."""
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


class RowReason(NamedTuple):
    """Why some rows are excluded.

    ``column`` names the columns that say so, and ``flags`` the rows. The values of
    these rows are said where ``by_value``.
    """

    reason: str
    column: str
    flags: NDArray[np.bool_]
    about: Literal["rows", "outcome", "groups"] = "rows"
    by_value: bool = False


class ExcludedRows(NamedTuple):
    """Rows that are excluded, under the first reason that applies to them.

    ``values`` are the labels that these rows have in the column, sorted, where these
    are the reason. ``about`` is which of three questions the reason belongs to: which
    rows, what happened, to whom.
    """

    reason: str
    column: str
    rows: int
    example_rows: tuple[int, ...]
    values: tuple[str, ...] = ()
    about: str = "rows"

    def __str__(self) -> str:
        """Return "12 rows: value in no group (race Joint, Not Available)"."""
        return self.words()

    def words(self, noun: Noun = ROWS) -> str:
        """Return how many and why; ``noun`` says what `rows` counts."""
        return f"{noun.counted(self.rows)}: {self.why}"

    @property
    def why(self) -> str:
        """The reason with its column and values."""
        about = f"{self.column} {value_spans(self.values)}".strip()
        return f"{self.reason} ({about})" if about else self.reason


def row_reasons(frame: pd.DataFrame, roles: Roles) -> Iterator[RowReason]:
    """Yield why rows of a prepared table are excluded, the first reason first.

    Reasons of the outcome are yielded only for a table that has its column.
    """
    yield from filter_reasons(frame, roles)
    if roles.target in frame:
        yield from _outcome_reasons(frame[roles.target], roles)
    if roles.sensitive_missing == "exclude":
        for column in roles.sensitive_columns():
            missing = _missing(frame[column])
            yield RowReason("sensitive feature missing", column, missing, "groups")
    codes, _ = group_codes(frame, roles)
    yield RowReason(
        "value in no group", roles.sensitive_feature, codes < 0, "groups", by_value=True
    )
    if has_row_rule(roles):
        yield RowReason("repeats an earlier row", "", repeated_rows(frame))
    if roles.missing == "exclude":
        for column in roles.features:
            yield RowReason("feature missing", column, _missing(frame[column]))


def filter_reasons(frame: pd.DataFrame, roles: Roles) -> Iterator[RowReason]:
    """Yield which rows do not meet each condition of the roles.

    A condition on the outcome is skipped for a table without it.
    """
    for condition in roles.conditions():
        if roles.target in condition.columns() and roles.target not in frame:
            continue
        by_value = condition.lists_values
        yield RowReason(
            "outside the row filter" if by_value else f"not {condition}",
            ", ".join(condition.columns()),
            ~condition.holds(frame),
            by_value=by_value,
        )


def _outcome_reasons(column: "pd.Series[Any]", roles: Roles) -> Iterator[RowReason]:
    """Yield which rows have no outcome, or one that is on neither side."""
    yield RowReason("outcome missing", roles.target, _missing(column), "outcome")
    if roles.negative:
        codes, labels = label_codes(column)
        outcomes_of_roles = {*roles.positive_values(), *roles.negative}
        has_side = [label in outcomes_of_roles for label in labels]
        yield RowReason(
            "outcome neither positive nor negative",
            roles.target,
            # A missing value has its own reason.
            ~by_code(has_side, codes, missing=True),
            "outcome",
            by_value=True,
        )


def exclude_rows(
    frame: pd.DataFrame,
    reasons: Iterable[RowReason],
    people: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.bool_], list[ExcludedRows]]:
    """Return a flag per row that is used, and the others by their first reason.

    A row stands for so many ``people``, which are counted then.
    """
    used = np.ones(len(frame), dtype=bool)
    excluded: list[ExcludedRows] = []
    for reason, column, flags, about, by_value in reasons:
        newly = flags & used
        used &= ~flags
        if not newly.any():
            continue
        values: tuple[str, ...] = ()
        if by_value:
            labels = common_labels(frame.loc[newly, column])
            values = tuple(sorted_labels(set(labels)))
        n_rows = int(newly.sum() if people is None else people[newly].sum())
        examples = example_rows(newly)
        excluded.append(ExcludedRows(reason, column, n_rows, examples, values, about))
    return used, excluded


def used_rows(frame: pd.DataFrame, roles: Roles) -> NDArray[np.bool_]:
    """Return a flag per row: no reason to exclude it."""
    used, _ = exclude_rows(frame, row_reasons(frame, roles))
    return used


def _missing(column: "pd.Series[Any]") -> NDArray[np.bool_]:
    return column.isna().to_numpy()


def has_row_rule(roles: Roles) -> bool:
    """Return whether repeated rows are excluded."""
    return any(remedy.kind == "drop_duplicates" for remedy in roles.preparation)


def repeated_rows(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Flag rows that repeat an earlier row in every column."""
    frame = frame[[name for name in frame if not is_nested(frame[name])]]
    flags = np.zeros(len(frame), dtype=bool)
    # In most tables no two rows agree in the first columns: hash these first.
    first = frame.iloc[:, :FIRST_COLUMNS]
    if not len(frame.columns) or any(all_differ(first[name]) for name in first):
        return flags
    parts = [frame] if first.shape == frame.shape else [first, frame]
    for part in parts:
        hashed = pd.util.hash_pandas_object(part, index=False)
        candidates = hashed.duplicated(keep=False).to_numpy()
        if not candidates.any():
            return flags
    # Rows of one hash may still differ: compare their values.
    flags[candidates] = frame[candidates].duplicated().to_numpy()
    return flags
