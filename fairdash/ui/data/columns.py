"""Columns as a table to edit: which are features, and what kind each one is read as."""

import pandas as pd
import streamlit as st

from fairdash.datasets import (
    KIND_NAMES,
    Roles,
    Subgroups,
    column_facts,
    column_table,
    edited_roles,
    prepare,
)
from fairdash.ui.data.draft import change_roles, prepared_table, unused_columns
from fairdash.ui.data.table import OpenTable
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.state import store


def column_editor(table: OpenTable, roles: Roles, subgroups: Subgroups) -> None:
    """Draw every column; a changed kind or tick becomes part of the roles."""
    try:
        shown = _shown(table.digest, roles)
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
                width=90, options=list(KIND_NAMES.values()), required=True
            ),
            "Missing": column.NumberColumn(width=70, format="%.1f%%"),
            "Different values": column.NumberColumn(width=90, format="localized"),
            "Not a feature because": column.TextColumn(width=260),
        },
        key=f"columns {table.key}",
    )
    st.caption(
        "Tick a feature or choose another kind. A date that is a feature becomes its "
        "year, month and weekday; text and ids are excluded."
    )
    try:
        changed = edited_roles(roles, shown, edited)
        if changed != roles:
            prepare(table.frame, changed)
            change_roles(table, changed, subgroups)
    except ValueError as error:
        problem("The column was not changed", error)


def _shown(digest: str, roles: Roles) -> pd.DataFrame:
    """Return the columns with their roles; ValueError if a change does not fit."""
    steps = roles.model_dump_json(include={"preparation", "types"})
    return column_table(
        _facts(digest, steps, roles), roles, unused_columns(digest, roles)
    )


@st.cache_resource(max_entries=4, show_spinner="Looking at columns…")
def _facts(digest: str, steps: str, _roles: Roles) -> pd.DataFrame:
    return column_facts(prepared_table(digest, _roles), _roles)


def preview(table: OpenTable, roles: Roles) -> None:
    """Draw the first rows as the roles prepare them."""
    try:
        frame = prepared_table(table.digest, roles)
    except ValueError:
        frame = store().table(table.digest)
    n = min(200, len(frame))
    st.dataframe(frame.head(n).rename(lambda row: row + 1))
    st.caption(f"The first {n} of {len(frame):,} rows, as the models see the cells.")
