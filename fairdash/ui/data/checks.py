"""Checks as a table to act on: choose findings, apply their remedies, undo them."""

from typing import Any

import pandas as pd
import streamlit as st

from fairdash._wording import plain
from fairdash.datasets import (
    Remedy,
    Roles,
    Subgroups,
    applied_remedies,
    readable_checks,
)
from fairdash.ui.data.draft import apply_remedies, take_back
from fairdash.ui.data.table import OpenTable
from fairdash.ui.widgets.blocks import problem

_COLOURS = {"error": "red", "warning": "orange", "note": "gray"}
_SHOWN = 12  # rows of the table before it scrolls
_ROW_PIXELS = 35


def check_panel(
    table: OpenTable, roles: Roles, subgroups: Subgroups, checks: pd.DataFrame
) -> None:
    """Draw the findings; a click chooses some, a button applies their remedies.

    Parameters
    ----------
    table : OpenTable
    roles, subgroups : Roles, Subgroups
        As edited; remedies are applied to these.
    checks : DataFrame
        From `fairdash.datasets.check_table`.
    """
    if checks.empty:
        st.caption("Nothing to remark.")
    else:
        chosen = checks.iloc[_selected(checks, f"checks {table.key}")]
        _actions(table, roles, subgroups, chosen)
    _applied(table, roles, subgroups)


def _selected(checks: pd.DataFrame, key: str) -> list[int]:
    shown = readable_checks(checks)
    shown["Severity"] = [[severity] for severity in shown["Severity"]]
    column = st.column_config
    event = st.dataframe(
        shown,
        hide_index=True,
        height=_ROW_PIXELS * (min(len(shown), _SHOWN) + 1) + 3,
        column_config={
            "Severity": column.MultiselectColumn(
                width=85, options=list(_COLOURS), color=list(_COLOURS.values())
            ),
            "Check": column.TextColumn(width=125),
            "Column": column.TextColumn(width=130),
            "Rows": column.NumberColumn(width=65, format="localized"),
            "Finding": column.TextColumn(width=430),
            "One click": column.TextColumn(width=200),
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
    one = len(remedies) == 1
    label = remedies[0].words() if one else f"Apply {len(remedies)} remedies"
    if not one:
        st.caption(" · ".join(plain(remedy.words()) for remedy in remedies))
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
