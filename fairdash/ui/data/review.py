"""Checks and columns as tables to act on: apply and undo remedies, choose features."""

from typing import Any

import pandas as pd
import streamlit as st

from fairdash._escaping import plain
from fairdash.datasets import (
    KIND_NAMES,
    Remedy,
    Roles,
    Subgroups,
    applied_remedies,
    column_table,
    edited_roles,
    prepare,
    readable_checks,
)
from fairdash.ui.data.computed import facts_of, prepared_table, unused_columns
from fairdash.ui.data.draft import (
    apply_remedies,
    change_roles,
    take_back,
)
from fairdash.ui.data.table import OpenTable
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.state import store

_COLOURS = {"error": "red", "warning": "orange", "note": "gray"}
_SHOWN = 8  # rows of the table before it scrolls
_HEAD_PIXELS, _ROW_PIXELS = 38, 64  # a row holds three lines, in which text wraps


def check_panel(
    table: OpenTable, roles: Roles, subgroups: Subgroups, checks: pd.DataFrame
) -> None:
    """Draw the findings of `fairdash.datasets.check_table`, to be acted on.

    A click chooses some, a button applies their remedies to the roles as edited.
    """
    if checks.empty:
        if roles.target:
            st.caption("Nothing to remark.")
    else:
        # rows are chosen by their place: other findings are another list
        key = f"checks {table.key} {hash(tuple(checks['message']))}"
        chosen = checks.iloc[_selected(checks, key)]
        _actions(table, roles, subgroups, chosen)
    _applied(table, roles, subgroups)


def _selected(checks: pd.DataFrame, key: str) -> list[int]:
    shown = readable_checks(checks)
    shown.insert(4, "One click", shown.pop("One click"))  # short, and never cut off
    shown["Severity"] = [[severity] for severity in shown["Severity"]]
    column = st.column_config
    event = st.dataframe(
        shown,
        hide_index=True,
        height=_ROW_PIXELS * min(len(shown), _SHOWN) + _HEAD_PIXELS,
        row_height=_ROW_PIXELS,
        column_config={
            "Severity": column.MultiselectColumn(
                width=85, options=list(_COLOURS), color=list(_COLOURS.values())
            ),
            "Check": column.TextColumn(width=115),
            "Column": column.TextColumn(width=115),
            "Rows": column.NumberColumn(width=65, format="localized"),
            "One click": column.TextColumn(width=185),
            "Finding": column.TextColumn(width=415),
        },
        on_select="rerun",
        selection_mode="multi-row",
        key=key,
    )
    return [row for row in event["selection"]["rows"] if row < len(checks)]


def _actions(
    table: OpenTable, roles: Roles, subgroups: Subgroups, chosen: pd.DataFrame
) -> None:
    if chosen.empty:
        st.caption(
            "Choose findings to read them in full and to apply their remedies. "
            "The file itself never changes."
        )
        return
    records: list[dict[str, Any]] = chosen.to_dict("records")  # type: ignore[assignment]
    for record in records:
        colour = _COLOURS[record["severity"]]
        badge = f":{colour}-badge[{record['severity']}]"
        st.markdown(f"{badge} {plain(record['message'])} {plain(record['remedy'])}")
    remedies = [r["action"] for r in records if isinstance(r["action"], Remedy)]
    remedies = list({remedy.model_dump_json(): remedy for remedy in remedies}.values())
    if not remedies:
        st.caption("Only you can decide what to do here: change the roles.")
        return
    label = f"Apply {len(remedies)} remedies"
    if len(remedies) == 1:
        label = remedies[0].words()
    if st.button(plain(label), type="primary", icon=":material/build:"):
        try:
            apply_remedies(table, roles, subgroups, remedies)
        except ValueError as error:
            problem("Nothing was changed", error)


def _applied(table: OpenTable, roles: Roles, subgroups: Subgroups) -> None:
    applied = applied_remedies(roles)
    if not applied:
        return
    st.markdown(f"**Applied ({len(applied)})**")
    for position, remedy in enumerate(applied):
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", width="content"
        ):
            because = f": {remedy.reason}" if remedy.reason else ""
            st.markdown(plain(f"{remedy.words()}{because}"), width="content")
            undone = st.button(
                "Undo",
                type="tertiary",
                icon=":material/undo:",
                key=f"undo {position} {table.key}",
            )
        if undone:
            try:
                take_back(table, roles, subgroups, remedy)
            except ValueError as error:
                problem(f"{remedy.words()}: not undone", error)


def column_editor(table: OpenTable, roles: Roles, subgroups: Subgroups) -> None:
    """Draw every column; a changed kind becomes part of the roles."""
    if not roles.target:
        return
    try:
        reasons = unused_columns(table.digest, roles)
        shown = column_table(facts_of(table.digest, roles), roles, reasons)
    except ValueError as error:
        problem("The columns cannot be shown", error)
        return
    column = st.column_config
    edited = st.data_editor(
        shown,
        hide_index=True,
        disabled=[str(name) for name in shown if name != "Kind"],
        column_config={
            "Column": column.TextColumn(width=150),
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
        "Choose another kind where it is wrong: number, category or yes/no. Features "
        "are chosen under Roles."
    )
    try:
        changed = edited_roles(roles, shown, edited)
        if changed != roles:
            prepare(table.frame, changed)
            change_roles(table, changed, subgroups)
    except ValueError as error:
        problem("The column was not changed", error)


def preview(table: OpenTable, roles: Roles) -> None:
    """Draw the first rows as the roles prepare them."""
    try:
        frame = prepared_table(table.digest, roles)
    except ValueError:
        frame = store().table(table.digest)
    n = min(200, len(frame))
    st.dataframe(frame.head(n).rename(lambda row: row + 1))
    st.caption(f"The first {n} of {len(frame):,} rows, as the models see the cells.")
