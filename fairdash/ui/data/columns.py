"""Columns as a table to edit: which are features, and what kind each one is read as."""

from typing import Any

import pandas as pd
import streamlit as st

from fairdash._validation import value_label
from fairdash.datasets import (
    COLUMN_KINDS,
    ColumnKind,
    Remedy,
    Roles,
    Subgroups,
    apply_remedy,
    infer_kind,
    prepare,
    set_type,
    undo_remedy,
)
from fairdash.ui.data.draft import change_roles, prepared_table, unused_columns
from fairdash.ui.data.table import OpenTable
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.state import store

_EXAMPLES = 3
_PROBED, _MANY = 1000, 20  # more different values are told by their range
_KINDS: dict[ColumnKind, str] = {kind: kind.replace("_", "/") for kind in COLUMN_KINDS}
_NAMES = {name: kind for kind, name in _KINDS.items()}
_BY_HAND = "left out by hand"


def column_editor(table: OpenTable, roles: Roles, subgroups: Subgroups) -> None:
    """Draw every column; a changed kind or tick becomes part of the roles."""
    try:
        shown = column_table(table.digest, roles)
    except ValueError as error:
        problem("The columns cannot be shown", error)
        return
    column = st.column_config
    edited = st.data_editor(
        shown,
        hide_index=True,
        disabled=[str(name) for name in shown if name not in ("Feature", "Kind")],
        column_config={
            "Column": column.TextColumn(width=150),
            "Feature": column.CheckboxColumn(width=80),
            "Kind": column.SelectboxColumn(
                width=90, options=list(_NAMES), required=True
            ),
            "Missing": column.NumberColumn(width=70, format="%.1f%%"),
            "Different values": column.NumberColumn(width=90, format="localized"),
            "Not a feature because": column.TextColumn(width=260),
        },
        key=f"columns {table.key}",
    )
    st.caption(
        "Tick a feature or choose another kind. A date that is a feature becomes its "
        "year, month and weekday; text and ids are left out."
    )
    try:
        changed = _edited_roles(roles, shown, edited)
        if changed != roles:
            prepare(table.frame, changed)
            change_roles(table, changed, subgroups)
    except ValueError as error:
        problem("The column was not changed", error)


def column_table(digest: str, roles: Roles) -> pd.DataFrame:
    """Return one row per column: role, kind, why it is no feature, values.

    Parameters
    ----------
    digest : str
        The table in the store.
    roles : Roles

    Raises
    ------
    ValueError
        If the roles' changes do not fit the table.
    """
    facts = _column_facts(digest, roles)
    reasons = unused_columns(digest, roles)
    names = [str(name) for name in facts.index]
    table = pd.DataFrame(
        {
            "Column": names,
            "Role": [_role(name, roles) for name in names],
            "Feature": [name in roles.features for name in names],
            "Kind": [_KINDS[kind] for kind in facts["kind"]],
            "Not a feature because": [reasons.get(name, "") for name in names],
        },
        index=facts.index,
    )
    return table.join(facts.drop(columns="kind")).reset_index(drop=True)


def _column_facts(digest: str, roles: Roles) -> pd.DataFrame:
    """Return what the cells of each column hold, whatever their roles are."""
    steps = roles.model_dump_json(include={"preparation", "types"})
    return _facts(digest, steps, roles)


@st.cache_resource(max_entries=4, show_spinner="Looking at columns…")
def _facts(digest: str, steps: str, _roles: Roles) -> pd.DataFrame:
    frame = prepared_table(digest, _roles)
    facts = {
        str(name): {
            "kind": _roles.types.get(str(name)) or infer_kind(column)[0],
            "Missing": column.isna().mean() * 100,
            "Different values": column.nunique(),
            "Values": _examples(column),
        }
        for name, column in frame.items()
    }
    return pd.DataFrame.from_dict(facts, orient="index")


def _edited_roles(roles: Roles, shown: pd.DataFrame, edited: pd.DataFrame) -> Roles:
    """Return roles with the edits of the table in them."""
    for before, after in zip(
        shown.to_dict("records"), edited.to_dict("records"), strict=True
    ):
        name = str(after["Column"])
        kind = _NAMES[str(after["Kind"])]
        if after["Kind"] != before["Kind"] and (kind != "date" or before["Feature"]):
            roles = set_type(roles, name, kind)
        if before["Feature"] and not after["Feature"]:
            leave = Remedy(kind="leave_out", column=name, reason=_BY_HAND)
            roles = apply_remedy(roles, leave)
        if after["Feature"] and not before["Feature"]:
            roles = _with_feature(roles, name, kind)
    return roles


def _with_feature(roles: Roles, name: str, kind: ColumnKind) -> Roles:
    taken = {roles.target: "outcome"}
    taken |= dict.fromkeys(roles.sensitive_columns(), "sensitive column")
    if name in taken:
        raise ValueError(f"{name!r} is the {taken[name]}, so it cannot be a feature.")
    if any(r.kind == "date_parts" and r.column == name for r in roles.preparation):
        raise ValueError(f"Year, month and weekday of {name!r} are features already.")
    if kind == "date":
        return apply_remedy(roles, Remedy(kind="date_parts", column=name))
    if name in roles.left_out:
        because = roles.left_out[name]
        left = Remedy(kind="leave_out", column=name, reason=because)
        return undo_remedy(roles, left)
    return roles.model_copy(update={"features": (*roles.features, name)})


def _role(name: str, roles: Roles) -> str:
    parts = {
        "outcome": name == roles.target,
        "sensitive": name in roles.sensitive_columns(),
        "feature": name in roles.features,
        "subgroup": name in roles.subgroup_columns,
        "row filter": name in roles.keep,
    }
    return ", ".join(part for part, is_so in parts.items() if is_so) or "not used"


def _examples(column: "pd.Series[Any]") -> str:
    """Return the commonest values, or from where to where most-varied numbers go."""
    number = pd.api.types.is_numeric_dtype(column)
    if number and column.head(_PROBED).nunique() > _MANY:
        return f"{column.min():,g} to {column.max():,g}"
    values = column.value_counts().head(_EXAMPLES).index
    return ", ".join(value_label(value) for value in values)


def preview(table: OpenTable, roles: Roles) -> None:
    """Draw the first rows as the roles prepare them."""
    try:
        frame = prepared_table(table.digest, roles)
    except ValueError:
        frame = store().table(table.digest)
    n = min(200, len(frame))
    st.dataframe(frame.head(n).rename(lambda row: row + 1))
    st.caption(f"The first {n} of {len(frame):,} rows, as the models see the cells.")
