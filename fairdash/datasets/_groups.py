"""From columns to outcomes of 0 and 1, and to the groups that are compared."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._bins import cut_column
from fairdash.datasets._columns import is_bare, label_codes
from fairdash.datasets._labels import Cut
from fairdash.datasets._roles import Roles

MISSING_GROUP = "Missing"


def outcomes(column: "pd.Series[Any]", positive: object) -> NDArray[np.int8]:
    """Return 1 where the outcome is positive, else 0; missing counts as 0.

    Parameters
    ----------
    column : Series
    positive : str, tuple of str or Cut
        As in `Roles`.
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


def _with_missing(
    frame: pd.DataFrame, name: str, roles: Roles
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    column = frame[name]
    first = name == roles.sensitive_feature
    codes, names = _main_groups(column, roles) if first else _values(column)
    missing = column.isna().to_numpy()
    if roles.sensitive_missing == "exclude" or not missing.any():
        return codes, names
    return np.where(missing, len(names), codes), (*names, MISSING_GROUP)


def _values(column: "pd.Series[Any]") -> tuple[NDArray[np.int64], tuple[str, ...]]:
    codes, labels = label_codes(column)
    return codes, tuple(labels)


def _main_groups(
    column: "pd.Series[Any]", roles: Roles
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    if roles.sensitive_cuts:
        codes, labels = cut_column(column, roles.sensitive_cuts)
        return codes, tuple(f"{column.name} {label}" for label in labels)
    codes, values = _values(column)
    if roles.groups is None:
        return codes, values
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
    """Return names that tell which column they are of: "sex 1" for "1"."""
    return [
        f"{column} {name}" if name != MISSING_GROUP and is_bare(name) else name
        for name in names
    ]
