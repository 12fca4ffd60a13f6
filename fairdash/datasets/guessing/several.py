"""Groups that stand in several 0/1 columns, one for each."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles
from fairdash.datasets.choices import NONE
from fairdash.datasets.column_kinds import is_number
from fairdash.datasets.guessing.words import sensitive_strength

FEWEST_COLUMNS = 2
CLEAR = 5.0  # how strongly each name says the attribute
FIRST_ROWS = 20  # looked at first where a column has more than `LONG`
LONG = 1_000
MOST_IN_SEVERAL = 0.2  # share of the rows that are in two of the columns
NAMES = {"ethnicity": "race", "a group": "group"}
_TAKEN = "makes the groups of {}"


def one_hot_sets(frame: pd.DataFrame) -> Iterator[Remedy]:
    """Yield the sets of 0/1 columns that together say one attribute of a person."""
    sets: dict[str, list[str]] = {}
    for name in map(str, frame):
        if not _is_zero_one(frame[name]):
            continue
        attribute, strongly = sensitive_strength(frame[name])
        # A 0/1 column about age is a condition, such as "over 65", not one of a set.
        if attribute is not None and strongly >= CLEAR and attribute != "age":
            sets.setdefault(attribute, []).append(name)
    for attribute, columns in sets.items():
        if len(columns) < FEWEST_COLUMNS or _overlap(frame, columns):
            continue
        name = _free_name(NAMES.get(attribute, attribute), frame)
        yield Remedy(kind="one_of", column=name, columns=tuple(columns), none=NONE)


def with_groups_of(roles: Roles, remedy: Remedy) -> Roles:
    """Return roles whose groups are those of a remedy "one_of".

    Its columns are no features any more.
    """
    used = {*remedy.columns, remedy.column}

    def unused(columns: Iterable[str]) -> tuple[str, ...]:
        return tuple(column for column in columns if column not in used)

    reason = _TAKEN.format(remedy.column)
    left_out = {name: roles.left_out[name] for name in unused(roles.left_out)}
    left_out |= dict.fromkeys(remedy.columns, reason)
    return Roles.model_validate(
        {
            **vars(roles),
            "preparation": (*roles.preparation, remedy),
            "sensitive_feature": remedy.column,
            "groups": None,
            "sensitive_cuts": (),
            "crossed_with": unused(roles.crossed_with),
            "features": unused(roles.features),
            "subgroup_columns": unused(roles.subgroup_columns),
            "left_out": left_out,
        }
    )


def zero_one_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that hold yes and no."""
    return [name for name in map(str, frame) if _is_zero_one(frame[name])]


def _is_zero_one(column: "pd.Series[Any]") -> bool:
    if pd.api.types.is_bool_dtype(column):
        return True
    if not is_number(column):
        return False
    parts = [column]
    if len(column) > LONG:
        # The first rows settle most long columns, without a look at the others.
        parts.insert(0, column.iloc[:FIRST_ROWS])
    for part in parts:
        values = part.to_numpy(dtype=float, na_value=np.nan)
        missing = np.isnan(values)
        if not (missing | (values == 0) | (values == 1)).all():
            return False
    return not bool(missing.all())


def _overlap(frame: pd.DataFrame, columns: Sequence[str]) -> bool:
    """Return whether columns say no groups of people.

    Many rows are in two of them, as with a code and its opposite, or no row is in
    exactly one.
    """
    n_groups = frame[list(columns)].astype(float).fillna(0).sum(axis=1)
    if (n_groups > 1).mean() > MOST_IN_SEVERAL:
        return True
    return not bool((n_groups == 1).any())


def _free_name(name: str, frame: pd.DataFrame) -> str:
    """Return a name for the new column that is not a column's, in any spelling."""
    taken = {re.sub(r"\W", "", str(column)).lower() for column in frame}
    return f"{name} group" if name in taken else name
