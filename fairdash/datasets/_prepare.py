"""A table after the changes its roles ask for; the table itself never changes."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._columns import (
    PROBED_ROWS,
    is_nested,
    is_number,
    label_codes,
    sorted_labels,
)
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles
from fairdash.datasets._types import as_kind, date_parts


def prepare(frame: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Apply ``roles.preparation`` and then ``roles.types`` to a table.

    Rows stay where they are: repeated rows are left out by `make_dataset`, with those
    left out for other reasons.

    Parameters
    ----------
    frame : DataFrame
        Not changed.
    roles : Roles

    Returns
    -------
    DataFrame
        Untouched columns share their memory with ``frame``.

    Raises
    ------
    ValueError
        If a column is not there, or a value does not fit the kind its column is read
        as; the message names the rows.
    """
    for remedy in roles.preparation:
        if remedy.kind != "drop_duplicates":
            frame = _changed(frame, remedy)
    for column, kind in roles.types.items():
        frame = frame.assign(**{column: as_kind(_column(frame, column), kind)})
    return frame


def has_row_rule(roles: Roles) -> bool:
    """Tell whether repeated rows are left out."""
    return any(remedy.kind == "drop_duplicates" for remedy in roles.preparation)


def repeated_rows(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Flag rows that repeat an earlier row in every column.

    Rows are compared by a hash of 64 bits, and those whose hash comes twice by value.
    """
    frame = frame[[name for name in frame if not is_nested(frame[name])]]
    flags = np.zeros(len(frame), dtype=bool)
    if not len(frame.columns) or any(_is_unique(frame[name]) for name in frame):
        return flags
    hashed = pd.util.hash_pandas_object(frame, index=False)
    candidates = hashed.duplicated(keep=False).to_numpy()
    if candidates.any():
        flags[candidates] = frame[candidates].duplicated().to_numpy()
    return flags


def _is_unique(column: "pd.Series[Any]") -> bool:
    """Tell whether no value comes twice; the first rows settle it for most columns."""
    return column.head(PROBED_ROWS).is_unique and column.is_unique


def _changed(frame: pd.DataFrame, remedy: Remedy) -> pd.DataFrame:
    column = _column(frame, remedy.column)
    if remedy.kind == "missing":
        return frame.assign(**{remedy.column: _without(column, remedy.values)})
    if remedy.kind == "recode":
        return frame.assign(**{remedy.column: _recoded(column, remedy.changes)})
    if remedy.kind == "convert":
        known = _without(column, remedy.values)
        return frame.assign(**{remedy.column: as_kind(known, str(remedy.to))})
    if remedy.kind == "date_parts":
        parts = date_parts(column)
        taken = [name for name in parts if name in frame]
        if taken:
            message = f"The table has columns {taken} already"
            raise ValueError(f"{message}; rename them to use the parts of a date.")
        return pd.concat([frame, parts], axis=1)
    raise ValueError(
        f"A remedy {remedy.kind!r} changes roles, not cells; apply it with "
        "`apply_remedy` instead of listing it in `preparation`."
    )


def _column(frame: pd.DataFrame, name: str) -> "pd.Series[Any]":
    if name not in frame:
        raise ValueError(
            f"The table has no column {name!r} to change; take it out of "
            "`preparation` and `types`."
        )
    return frame[name]


def _without(column: "pd.Series[Any]", values: tuple[str, ...]) -> "pd.Series[Any]":
    """Return a column whose cells with one of ``values`` are missing."""
    codes, labels = label_codes(column)
    gone = np.array([*(label in values for label in labels), False], dtype=bool)
    return column.mask(gone[codes])


def _recoded(column: "pd.Series[Any]", changes: dict[str, str]) -> "pd.Series[Any]":
    """Return a column of labels with some of them changed; numbers stay numbers."""
    codes, labels = label_codes(column)
    new = [changes.get(label, label) for label in labels]
    if is_number(column):
        try:
            numbers = [float(label) for label in new]
        except ValueError:
            pass
        else:
            return pd.Series(
                np.array([*numbers, np.nan])[codes], column.index, name=column.name
            )
    distinct = sorted_labels(set(new))
    position = {label: code for code, label in enumerate(distinct)}
    lookup = np.array([*(position[label] for label in new), -1], dtype=np.int64)
    values = np.array([*distinct, None], dtype=object)[lookup[codes]]
    return pd.Series(values, column.index, name=column.name, dtype="str")
