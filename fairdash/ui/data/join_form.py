"""A second file with further columns, joined to a table by keys."""

import streamlit as st

from fairdash._escaping import plain, visible
from fairdash.datasets import join_tables, notes_of
from fairdash.ui.data.computed import file_of
from fairdash.ui.data.table import OpenTable, open_digest
from fairdash.ui.widgets.blocks import kept_upload, problem
from fairdash.ui.widgets.state import store


def join_form(table: OpenTable) -> None:
    """Draw the form that joins a second file; the joined table is opened."""
    with st.popover("Join a second file", type="tertiary", icon=":material/join_left:"):
        st.caption(
            "Columns of people that are kept apart, as their race by an id. Rows stay "
            "as they are; what does not match is counted."
        )
        try:
            digest = kept_upload("File with further columns, one row a key", "join")
            if digest is not None:
                _pick_keys(table, digest)
        except ValueError as error:
            problem("The file was not joined", error)


def _pick_keys(table: OpenTable, digest: str) -> None:
    second = store().table(digest)
    shared = [name for name in map(str, table.frame) if name in second]
    key = f"join {table.key} {digest}"
    by = st.multiselect(
        "Joined by",
        shared,
        shared[:1],
        format_func=visible,
        help="Columns that both files have under one name. In the second file each "
        "key stands once.",
        key=f"{key} by",
    )
    if not shared:
        st.caption("The files share no column name. Rename the key in one of them.")
    if not by or not st.button("Join", type="primary", key=key):
        return
    name = file_of(digest)
    joined = join_tables(table.frame, second, by, name=name, table=digest)
    joined_digest = store().add_frame(joined, table.file)
    st.toast(plain(notes_of(joined).joined[-1].sentence))
    open_digest(joined_digest, table.name)
