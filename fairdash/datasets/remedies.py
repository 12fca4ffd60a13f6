"""The changes that roles ask for: remedies of a table and of its features."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairdash._columns import with_columns
from fairdash.datasets import choices, column_kinds
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles


def prepare(frame: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Apply ``roles.preparation`` and then ``roles.types`` to a table.

    Rows stay where they are: repeated rows are excluded by `make_dataset`, with those
    excluded for other reasons.

    Untouched columns share their memory with ``frame``, which is not changed. Raises
    ValueError, naming the rows, if a column is not there or a value does not fit the
    kind its column is read as.
    """
    return apply_steps(frame, roles.preparation, roles.types)


def apply_steps(
    frame: pd.DataFrame, steps: Sequence[Remedy], types: Mapping[str, str]
) -> pd.DataFrame:
    """Apply remedies in order, then read columns as kinds; see `prepare`."""
    for remedy in steps:
        if remedy.kind != "drop_duplicates":
            frame = _with_remedy(frame, remedy)
    for column, kind in types.items():
        changed = column_kinds.as_kind(_column(frame, column), kind)
        if kind == "number":
            # A text -9,999 becomes the label -9999 that stands for missing only now.
            changed = _masked(changed, _values_missing(steps, column))
        frame = with_columns(frame, {column: changed})
    return frame


def _values_missing(steps: Sequence[Remedy], column: str) -> tuple[str, ...]:
    """Return the values that some steps read as missing in a column."""
    values: list[str] = []
    for remedy in steps:
        if remedy.kind == "missing" and remedy.column == column:
            values.extend(remedy.values)
    return tuple(values)


def _with_remedy(frame: pd.DataFrame, remedy: Remedy) -> pd.DataFrame:
    """Return a table with the cells of one column changed, or with new columns."""
    return with_columns(frame, _columns_of(remedy, frame))


def _columns_of(remedy: Remedy, frame: pd.DataFrame) -> "dict[str, pd.Series[Any]]":
    """Return the columns that a remedy changes or makes, by name."""
    if remedy.kind == "one_of":
        groups = choices.one_of(
            frame, remedy.column, remedy.columns, remedy.none, remedy.several
        )
        return {remedy.column: groups}
    column = _column(frame, remedy.column)
    if remedy.kind == "missing":
        return {remedy.column: _masked(column, remedy.values)}
    if remedy.kind == "single_choice":
        single = choices.single_choice(column, remedy.separator, remedy.several)
        return {remedy.column: single}
    if remedy.kind == "recode":
        return {remedy.column: _recoded(column, remedy.changes)}
    if remedy.kind == "convert":
        masked = _masked(column, remedy.values)
        converted = column_kinds.as_kind(masked, str(remedy.to))
        return {remedy.column: converted}
    if remedy.kind == "date_parts":
        parts = column_kinds.date_parts(column)
        taken = [name for name in parts if name in frame]
        if taken:
            message = f"The table has columns {taken} already"
            raise ValueError(f"{message}; rename them to use the parts of a date.")
        return {str(name): part for name, part in parts.items()}
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


def _masked(column: "pd.Series[Any]", values: tuple[str, ...]) -> "pd.Series[Any]":
    """Return a column without some values, by their labels; these become missing."""
    if not values:
        return column
    codes, labels = column_kinds.label_codes(column)
    is_masked = [label in values for label in labels]
    return column.mask(column_kinds.by_code(is_masked, codes, missing=False))


def _recoded(column: "pd.Series[Any]", changes: dict[str, str]) -> "pd.Series[Any]":
    """Return a column with other values, by their labels.

    A column of numbers stays one where all its new values are numbers.
    """
    codes, labels = column_kinds.label_codes(column)
    new_labels = [changes.get(label, label) for label in labels]
    if column_kinds.is_number(column):
        try:
            numbers = [float(label) for label in new_labels]
        except ValueError:
            pass
        else:
            values = column_kinds.by_code(numbers, codes, missing=np.nan)
            return pd.Series(values, column.index, name=column.name)
    texts = column_kinds.by_code(new_labels, codes, missing=None, dtype=object)
    return pd.Series(texts, column.index, name=column.name, dtype="str")


def apply_remedy(roles: Roles, remedy: Remedy) -> Roles:
    """Return roles with a remedy in them; neither the table nor ``roles`` changes.

    Raises ValueError if the remedy does not fit the roles.
    """
    column = remedy.column
    features = tuple(name for name in roles.features if name != column)
    if remedy.kind == "leave_out":
        left_out = {**roles.left_out, column: remedy.reason or "excluded"}
        return _changed(roles, features=features, left_out=left_out)
    return _changed(roles, preparation=(*roles.preparation, remedy))


def applied_remedies(roles: Roles) -> list[Remedy]:
    """Return the remedies that `undo_remedy` can take back, in order of effect."""
    conversions = [
        Remedy(kind="convert", column=column, to=kind)
        for column, kind in roles.types.items()
    ]
    exclusions = [
        Remedy(kind="leave_out", column=column, reason=reason)
        for column, reason in roles.left_out.items()
    ]
    return [*roles.preparation, *conversions, *exclusions]


def undo_remedy(roles: Roles, remedy: Remedy, columns: Sequence[str]) -> Roles:
    """Return roles without one of their `applied_remedies`.

    ``columns`` are those of the table in order: a column that becomes a feature again
    takes its place before the features that follow it there.

    Raises ValueError if the remedy is not in the roles.
    """
    column = remedy.column
    if remedy in roles.preparation:
        rest = list(roles.preparation)
        rest.remove(remedy)
        return _changed(roles, preparation=tuple(rest))
    if remedy not in applied_remedies(roles):
        raise ValueError(f"{remedy.words()!r} is not applied; nothing was taken back.")
    if remedy.kind == "leave_out":
        return _changed(
            roles,
            features=_with_feature(roles.features, column, columns),
            left_out=_less(roles.left_out, column),
        )
    return _changed(roles, types=_less(roles.types, column))


def choose_features(
    roles: Roles, chosen: Collection[str], columns: Sequence[str]
) -> dict[str, Any]:
    """Return the fields of `Roles` that follow from a choice of features.

    ``columns`` are all of the table. Features keep their order where they are the same,
    else they come in that of the table.
    """
    ordered = tuple(column for column in columns if column in chosen)
    same = set(ordered) == set(roles.features)
    return {
        "features": roles.features if same else ordered,
        "left_out": _less(roles.left_out, *chosen),
    }


def _changed(roles: Roles, **changes: Any) -> Roles:
    """Return validated roles with other fields; a copy would not be checked."""
    return Roles.model_validate({**vars(roles), **changes})


def _with_feature(
    features: tuple[str, ...], column: str, columns: Sequence[str]
) -> tuple[str, ...]:
    """Return features with one more, before those that follow it in the table."""
    later = set(columns[list(columns).index(column) + 1 :])
    indices = (index for index, name in enumerate(features) if name in later)
    index = next(indices, len(features))
    return (*features[:index], column, *features[index:])


def _less(by_column: dict[str, Any], *columns: str) -> dict[str, Any]:
    """Return a dictionary without some columns."""
    return {name: value for name, value in by_column.items() if name not in columns}
