"""Counts of groups in columns, made rows of counts by a click."""

import streamlit as st

from fairdash._escaping import plain
from fairdash.datasets import (
    WideCounts,
    guessing,
    rows_of_counts,
)
from fairdash.ui.data.computed import wide_counts
from fairdash.ui.data.table import OpenTable, open_dataset
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.state import store


def wide_form(table: OpenTable) -> None:
    """Say that groups stand in columns, with the button that makes rows of them.

    Nothing is drawn of a table without such columns.
    """
    wide = wide_counts(table.digest)
    if wide is None:
        return
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", gap="xsmall"
    ):
        st.markdown(plain(wide.sentence), width="content")
        if st.button("Make rows of counts", type="primary", key=f"wide {table.key}"):
            try:
                _make(table, wide)
            except ValueError as error:
                problem("No rows of counts were made", error)


def _make(table: OpenTable, wide: WideCounts) -> None:
    rows = rows_of_counts(table.frame, wide)
    guess = guessing.guess_rest(rows, wide.outcome, wide.feature, wide.roles.count)
    roles = wide.roles.model_copy(update={"subgroup_columns": guess.subgroup_columns})
    digest = store().add_frame(rows, table.file)
    open_dataset(store().add_dataset(digest, roles, table.name))
