"""The changes that roles ask for: remedies, and every column as a line to edit."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairdash._validation import value_label
from fairdash.datasets._columns import (
    COLUMN_KINDS,
    ColumnKind,
    as_kind,
    date_parts,
    infer_kind,
    is_nested,
    is_number,
    label_codes,
    sorted_labels,
)
from fairdash.datasets._roles import Remedy, Roles
from fairdash.datasets._rows import group_codes

DATE_PARTS = ("year", "month", "weekday")
EXAMPLES = 3
PROBED_ROWS, MANY_VALUES = 1000, 20  # more different values are shown by their range
KIND_NAMES: dict[ColumnKind, str] = {
    kind: kind.replace("_", "/") for kind in COLUMN_KINDS
}
BY_HAND = "excluded by hand"


def prepare(frame: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Apply ``roles.preparation`` and then ``roles.types`` to a table.

    Rows stay where they are: repeated rows are excluded by `make_dataset`, with those
    excluded for other reasons.

    Untouched columns share their memory with ``frame``, which is not changed. Raises
    ValueError, naming the rows, if a column is not there or a value does not fit the
    kind its column is read as.
    """
    for remedy in roles.preparation:
        if remedy.kind != "drop_duplicates":
            frame = _with_remedy(frame, remedy)
    for column, kind in roles.types.items():
        changed = as_kind(_column(frame, column), kind)
        if kind == "number":  # found missing as numbers: -9999 for a text -9,999
            changed = _masked(changed, _values_missing(roles, column))
        frame = frame.assign(**{column: changed})
    return frame


def _values_missing(roles: Roles, column: str) -> tuple[str, ...]:
    """Return the values of a column that roles read as missing."""
    found = (r for r in roles.preparation if r.kind == "missing" and r.column == column)
    return tuple(value for remedy in found for value in remedy.values)  # noqa: PD011


def _with_remedy(frame: pd.DataFrame, remedy: Remedy) -> pd.DataFrame:
    column = _column(frame, remedy.column)
    if remedy.kind == "missing":
        return frame.assign(**{remedy.column: _masked(column, remedy.values)})
    if remedy.kind == "recode":
        return frame.assign(**{remedy.column: _recoded(column, remedy.changes)})
    if remedy.kind == "convert":
        known = _masked(column, remedy.values)
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


def _masked(column: "pd.Series[Any]", values: tuple[str, ...]) -> "pd.Series[Any]":
    """Return a column whose cells with one of ``values`` are missing."""
    if not values:
        return column
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


def apply_remedy(
    roles: Roles, remedy: Remedy, frame: pd.DataFrame | None = None
) -> Roles:
    """Return roles with a remedy in them; neither the table nor ``roles`` changes.

    ``frame``, prepared, is needed by "merge_groups" for the other groups. Raises
    ValueError if nothing is left to predict from, or the groups cannot be merged.
    """
    column = remedy.column
    match remedy.kind:
        case "leave_out":
            reason = remedy.reason or "excluded"
            features, order = _less_feature(roles, column)
            return _changed(
                roles,
                features=features,
                feature_order=order,
                left_out={**roles.left_out, column: reason},
            )
        case "not_a_subgroup":
            return _changed(
                roles, subgroup_columns=_without(roles.subgroup_columns, column)
            )
        case "merge_groups":
            return _changed(roles, groups=_merged(roles, remedy, frame))
        case "date_parts":
            features, order = _less_feature(roles, column)
            parts = tuple(f"{column} {part}" for part in DATE_PARTS)
            return _changed(
                roles,
                features=(*features, *parts),
                feature_order=order,
                left_out=_less(roles.left_out, column),
                preparation=(*roles.preparation, remedy),
            )
    return _changed(roles, preparation=(*roles.preparation, remedy))


def applied_remedies(roles: Roles) -> list[Remedy]:
    """Return the remedies that `undo_remedy` can take back, in order of effect."""
    left = [
        Remedy(kind="leave_out", column=column, reason=reason)
        for column, reason in roles.left_out.items()
    ]
    types = [
        Remedy(kind="convert", column=column, to=kind)
        for column, kind in roles.types.items()
    ]
    return [*roles.preparation, *types, *left]


def undo_remedy(roles: Roles, remedy: Remedy) -> Roles:
    """Return roles without one of their `applied_remedies`.

    A column that was a feature comes back to its place among the features, so that the
    identity of the data set is the one it had.

    Raises ValueError if the remedy is not in the roles.
    """
    if remedy not in applied_remedies(roles):
        raise ValueError(f"{remedy.words()!r} is not applied; nothing was taken back.")
    column = remedy.column
    if remedy in roles.preparation:
        kept = list(roles.preparation)
        kept.remove(remedy)
        features, order = roles.features, roles.feature_order
        subgroup_columns, left_out = roles.subgroup_columns, roles.left_out
        if remedy.kind == "date_parts":  # the parts are no columns any more
            for part in (f"{column} {part}" for part in DATE_PARTS):
                features, order = _without(features, part), _without(order, part)
                subgroup_columns = _without(subgroup_columns, part)
                left_out = _less(left_out, part)
            if column in order:
                features, order = _with_feature(features, order, column)
        return _changed(
            roles,
            preparation=tuple(kept),
            features=features,
            feature_order=order,
            subgroup_columns=subgroup_columns,
            left_out=left_out,
        )
    if remedy.kind == "leave_out":
        features, order = _with_feature(roles.features, roles.feature_order, column)
        return _changed(
            roles,
            features=features,
            feature_order=order,
            left_out=_less(roles.left_out, column),
        )
    return _changed(roles, types=_less(roles.types, column))


def set_type(roles: Roles, column: str, kind: ColumnKind) -> Roles:
    """Return roles that read a column as a kind.

    Text and identifiers are excluded from the features; of a feature that is a date,
    year, month and weekday are used.
    """
    if kind in ("text", "id"):
        changed = _changed(roles, types=_less(roles.types, column))
        reason = "free text" if kind == "text" else "identifier"
        remedy = Remedy(kind="leave_out", column=column, reason=reason)
        return apply_remedy(changed, remedy) if column in roles.features else changed
    if kind == "date":
        return apply_remedy(roles, Remedy(kind="date_parts", column=column))
    return _changed(roles, types={**roles.types, column: kind})


def choose_features(
    roles: Roles, chosen: Collection[str], columns: Sequence[str]
) -> dict[str, Any]:
    """Return the fields of `Roles` that follow from a choice of features.

    ``columns`` are all of the table. ``features`` come in the order they had where they
    are the same, else in that of the table; ``feature_order`` stands until all of it
    are back; with ``left_out``.
    """
    picked = set(chosen)
    same = picked == set(roles.features)
    ordered = tuple(column for column in columns if column in picked)
    back = set(roles.feature_order) <= picked
    return {
        "features": roles.features if same else ordered,
        "feature_order": () if back else roles.feature_order,
        "left_out": {c: why for c, why in roles.left_out.items() if c not in chosen},
    }


def _changed(roles: Roles, **changes: Any) -> Roles:
    """Return validated roles with other fields; a copy would not be checked."""
    return Roles.model_validate({**vars(roles), **changes})


def _merged(
    roles: Roles, remedy: Remedy, frame: pd.DataFrame | None
) -> dict[str, tuple[str, ...]]:
    if frame is None or roles.sensitive_cuts or roles.crossed_with:
        raise ValueError(
            "Only groups of values of one column can be merged; change the cuts or the "
            "crossing instead."
        )
    if roles.groups is None:
        _, names = group_codes(frame, roles)
        groups: dict[str, tuple[str, ...]] = {name: (name,) for name in names}
    else:
        groups = dict(roles.groups)
    merged = dict.fromkeys((*remedy.values, remedy.into))  # noqa: PD011
    parts = [groups.pop(name) for name in merged if name in groups]
    labels = tuple(label for part in parts for label in part)
    return {**groups, remedy.into: () if () in parts else labels}


def _less_feature(roles: Roles, column: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the features without a column, and the order to put it back in."""
    order = list(roles.feature_order)
    for place, name in enumerate(roles.features):
        if name not in order:
            order.insert(
                order.index(roles.features[place - 1]) + 1 if place else 0, name
            )
    left = _without(roles.features, column)
    return left, () if set(order) <= set(left) else tuple(order)


def _with_feature(
    features: tuple[str, ...], order: tuple[str, ...], column: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return features with a column at the place it had, and the order still needed."""
    after = set(order[order.index(column) + 1 :]) if column in order else set()
    places = (place for place, name in enumerate(features) if name in after)
    place = next(places, len(features))
    back = (*features[:place], column, *features[place:])
    return back, () if set(order) <= set(back) else order


def _without(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(other for other in names if other != name)


def _less(known: dict[str, Any], column: str) -> dict[str, Any]:
    return {name: value for name, value in known.items() if name != column}


def column_facts(frame: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Return what the cells of each column hold, whatever its role is.

    One row per column, by name: ``kind``, ``Missing`` (percent), ``Different values``
    and ``Values`` (the commonest, or a range). Lists and records are not told apart.
    """
    facts = {
        str(name): {
            "kind": roles.types.get(str(name)) or infer_kind(column)[0],
            "Missing": column.isna().mean() * 100,
            "Different values": None if is_nested(column) else column.nunique(),
            "Values": _examples(column),
        }
        for name, column in frame.items()
    }
    return pd.DataFrame.from_dict(facts, orient="index")


def column_table(
    facts: pd.DataFrame, roles: Roles, reasons: dict[str, str]
) -> pd.DataFrame:
    """Return one row per column: role, kind, why it is no feature, values.

    ``facts`` are of `column_facts`, ``reasons`` of `left_out_reasons`.
    """
    names, features = [str(name) for name in facts.index], set(roles.features)
    table = pd.DataFrame(
        {
            "Column": names,
            "Role": [_role(name, roles, features) for name in names],
            "Feature": [name in features for name in names],
            "Kind": [KIND_NAMES[kind] for kind in facts["kind"]],
            "Not a feature because": [reasons.get(name, "") for name in names],
        },
        index=facts.index,
    )
    return table.join(facts.drop(columns="kind")).reset_index(drop=True)


def edited_roles(roles: Roles, before: pd.DataFrame, after: pd.DataFrame) -> Roles:
    """Return roles with the edits of a table of columns in them.

    What differs in ``Feature`` and ``Kind`` of two `column_table` was edited. Raises
    ValueError if outcome or sensitive column was made a feature, or no feature is left.
    """
    kinds = {name: kind for kind, name in KIND_NAMES.items()}
    for old, new in zip(
        before.to_dict("records"), after.to_dict("records"), strict=True
    ):
        name = str(new["Column"])
        kind = kinds[str(new["Kind"])]
        if new["Kind"] != old["Kind"] and (kind != "date" or old["Feature"]):
            roles = set_type(roles, name, kind)
        if old["Feature"] and not new["Feature"]:
            roles = apply_remedy(
                roles, Remedy(kind="leave_out", column=name, reason=BY_HAND)
            )
        if new["Feature"] and not old["Feature"]:
            roles = _added(roles, name, kind)
    return roles


def _added(roles: Roles, name: str, kind: ColumnKind) -> Roles:
    taken = {roles.target: "outcome"}
    taken |= dict.fromkeys(roles.sensitive_columns(), "sensitive column")
    taken |= {score.column: "score of a model" for score in roles.scores}
    if roles.sample_weight is not None:
        taken[roles.sample_weight] = "sampling weight"
    if roles.unit is not None:
        taken[roles.unit] = "unit"
    if name in taken:
        raise ValueError(f"{name!r} is the {taken[name]}, so it cannot be a feature.")
    if any(r.kind == "date_parts" and r.column == name for r in roles.preparation):
        raise ValueError(f"Year, month and weekday of {name!r} are features already.")
    if kind == "date":
        return apply_remedy(roles, Remedy(kind="date_parts", column=name))
    if name in roles.left_out:
        reason = roles.left_out[name]
        excluded = Remedy(kind="leave_out", column=name, reason=reason)
        return undo_remedy(roles, excluded)
    return roles.model_copy(update={"features": (*roles.features, name)})


def _role(name: str, roles: Roles, features: Collection[str]) -> str:
    parts = {
        "outcome": name == roles.target,
        "sensitive": name in roles.sensitive_columns(),
        "feature": name in features,
        "subgroup": name in roles.subgroup_columns,
        "score of a model": name in [score.column for score in roles.scores],
        "sampling weight": name == roles.sample_weight,
        "unit": name == roles.unit,
        "row filter": name in roles.keep,
    }
    return ", ".join(part for part, is_so in parts.items() if is_so) or "not used"


def _examples(column: "pd.Series[Any]") -> str:
    """Return the commonest values, or from where to where most-varied numbers go."""
    if is_nested(column):
        return "lists or records"
    if is_number(column) and column.head(PROBED_ROWS).nunique() > MANY_VALUES:
        return f"{column.min():,g} to {column.max():,g}"
    values = column.value_counts().head(EXAMPLES).index
    return ", ".join(value_label(value) for value in values)
