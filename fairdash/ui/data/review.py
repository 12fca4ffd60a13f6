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

_MOST_ROWS = 8  # before the table scrolls
_ROW_PIXELS = 64  # three lines in a row
_HEAD_PIXELS = 38
_PREVIEW_ROWS = 200


def check_panel(
    table: OpenTable, roles: Roles, subgroups: Subgroups, checks: pd.DataFrame
) -> None:
    """Draw the findings of `fairdash.datasets.check_table`, to be acted on.

    A click chooses some, a button applies their remedies to the roles as edited.
    """
    if checks.empty:
        st.caption("Nothing to remark." if roles.target else "")
    else:
        picked = _pick_remedies(table, checks)
        if picked and st.button("Apply remedies", type="primary"):
            try:
                apply_remedies(table, roles, subgroups, picked)
            except ValueError as error:
                problem("Nothing was changed", error)
    _applied(table, roles, subgroups)


def _pick_remedies(table: OpenTable, checks: pd.DataFrame) -> list[Remedy]:
    """Draw the findings; return the remedies of those chosen, each once."""
    # Streamlit remembers the index of a chosen row: other findings are another list.
    key = f"checks {table.key} {hash(tuple(checks['message']))}"
    chosen = checks.iloc[_selected(checks, key)]
    distinct: dict[str, Remedy] = {}
    for action in chosen["action"]:
        if isinstance(action, Remedy):
            distinct[action.model_dump_json()] = action
    picked = list(distinct.values())
    if picked:
        st.caption(" · ".join(plain(remedy.words()) for remedy in picked))
    else:
        st.caption(
            "Choose findings to apply their remedies. The file itself never changes."
        )
    return picked


def _selected(checks: pd.DataFrame, key: str) -> list[int]:
    column = st.column_config
    event = draw_table(
        readable_checks(checks),
        height=_ROW_PIXELS * min(len(checks), _MOST_ROWS) + _HEAD_PIXELS,
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
            words = remedy.words()
            if remedy.reason:
                words += f": {remedy.reason}"
            st.markdown(f"**Applied**: {plain(words)}", width="content")
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
        # The form says what is wrong with the roles; the file can still be seen.
        frame = store().table(table.digest)
    n = min(_PREVIEW_ROWS, len(frame))
    draw_table(frame.head(n).rename(lambda row: row + 1), hide_index=False)
    st.caption(f"The first {n} of {len(frame):,} rows, as the models see the cells.")
