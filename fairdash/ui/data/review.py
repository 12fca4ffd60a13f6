"""Checks and columns as tables to act on: apply and undo remedies, choose features."""

import pandas as pd
import streamlit as st

from fairdash._escaping import plain
from fairdash.datasets import Remedy, Roles, Subgroups, readable_checks, remedies
from fairdash.ui.data.computed import prepared_table
from fairdash.ui.data.draft import apply_remedies, take_back
from fairdash.ui.data.table import OpenTable
from fairdash.ui.widgets.blocks import draw_table, problem
from fairdash.ui.widgets.state import store

_SHOWN, _ROW_PIXELS = 8, 64  # rows before the table scrolls; three lines in a row


def check_panel(
    table: OpenTable, roles: Roles, subgroups: Subgroups, checks: pd.DataFrame
) -> None:
    """Draw the findings of `fairdash.datasets.check_table`, to be acted on.

    A click chooses some, a button applies their remedies to the roles as edited.
    """
    if checks.empty:
        st.caption("Nothing to remark." if roles.target else "")
    else:
        # rows are chosen by their place: other findings are another list
        key = f"checks {table.key} {hash(tuple(checks['message']))}"
        chosen = checks.iloc[_selected(checks, key)]
        picked = [r for r in chosen["action"] if isinstance(r, Remedy)]
        picked = list({r.model_dump_json(): r for r in picked}.values())
        st.caption(
            "Choose findings to apply their remedies. The file itself never changes."
            if not picked
            else " · ".join(plain(remedy.words()) for remedy in picked)
        )
        if picked and st.button("Apply remedies", type="primary"):
            try:
                apply_remedies(table, roles, subgroups, picked)
            except ValueError as error:
                problem("Nothing was changed", error)
    _applied(table, roles, subgroups)


def _selected(checks: pd.DataFrame, key: str) -> list[int]:
    column = st.column_config
    event = draw_table(
        readable_checks(checks),
        height=_ROW_PIXELS * min(len(checks), _SHOWN) + 38,
        row_height=_ROW_PIXELS,
        columns={
            "Finding": column.TextColumn(width=415),
            "One click": column.TextColumn(width=185),
        },
        on_select="rerun",
        selection_mode="multi-row",
        key=key,
    )
    return [row for row in event["selection"]["rows"] if row < len(checks)]


def _applied(table: OpenTable, roles: Roles, subgroups: Subgroups) -> None:
    for position, remedy in enumerate(remedies.applied_remedies(roles)):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            because = f": {remedy.reason}" if remedy.reason else ""
            words = plain(f"{remedy.words()}{because}")
            st.markdown(f"**Applied**: {words}", width="content")
            if st.button("Undo", type="tertiary", key=f"undo {position} {table.key}"):
                try:
                    take_back(table, roles, subgroups, remedy)
                except ValueError as error:
                    problem(f"{remedy.words()}: not undone", error)


def preview(table: OpenTable, roles: Roles) -> None:
    """Draw the first rows as the roles prepare them."""
    try:
        frame = prepared_table(table.digest, roles)
    except ValueError:
        frame = store().table(table.digest)
    n = min(200, len(frame))
    draw_table(frame.head(n).rename(lambda row: row + 1), hide_index=False)
    st.caption(f"The first {n} of {len(frame):,} rows, as the models see the cells.")
