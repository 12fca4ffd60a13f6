"""Groups that stand in several 0/1 columns, one for each."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairdash.datasets._roles import Remedy, Roles
from fairdash.datasets.choices import NONE
from fairdash.datasets.column_kinds import is_number
from fairdash.datasets.guessing.words import sensitive_strength

FEWEST_COLUMNS = 2
CLEAR = 5.0  # how strongly each name says the attribute
FIRST_ROWS, LONG = 20, 1_000
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
    reason = _TAKEN.format(remedy.column)
    kept = {name: why for name, why in roles.left_out.items() if name not in used}
    return Roles.model_validate(
        {
            **vars(roles),
            "preparation": (*roles.preparation, remedy),
            "sensitive_feature": remedy.column,
            "groups": None,
            "sensitive_cuts": (),
            "crossed_with": tuple(c for c in roles.crossed_with if c not in used),
            "features": tuple(c for c in roles.features if c not in used),
            "subgroup_columns": tuple(
                c for c in roles.subgroup_columns if c not in used
            ),
            "left_out": kept | dict.fromkeys(remedy.columns, reason),
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
    # the first rows show most long columns not to be one
    parts = [column.iloc[:FIRST_ROWS], column] if len(column) > LONG else [column]
    for part in parts:
        values = part.to_numpy(dtype=float, na_value=np.nan)
        missing = np.isnan(values)
        if not (missing | (values == 0) | (values == 1)).all():
            return False
    return not bool(missing.all())


def _overlap(frame: pd.DataFrame, columns: Sequence[str]) -> bool:
    """Return whether many rows are in two columns, as of a code and its opposite."""
    n_yes = frame[list(columns)].astype(float).fillna(0).sum(axis=1)
    in_several = n_yes > 1
    return bool(in_several.mean() > MOST_IN_SEVERAL) or not bool((n_yes == 1).any())


def _free_name(name: str, frame: pd.DataFrame) -> str:
    taken = {re.sub(r"\W", "", str(column)).lower() for column in frame}
    return f"{name} group" if name in taken else name
