"""Delete the open data set, after saying what goes with it."""

import streamlit as st

from fairdash._wording import plain, plural
from fairdash.ui.data.table import OpenTable
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.state import store

_PAGE = "pages/1_Data.py"
_LISTED = 5


def delete_button(table: OpenTable) -> None:
    """Draw the button that asks, says what depends on the data set, and deletes."""
    if st.button(
        "Delete this data set" if table.is_dataset else "Delete this table",
        type="tertiary",
        icon=":material/delete:",
    ):
        _ask(table)


@st.dialog("Delete for good?")
def _ask(table: OpenTable) -> None:
    st.markdown(f"**{plain(table.name)}** ({plain(table.file)})")
    runs = store().runs(table.place) if table.is_dataset else []
    others = [
        record
        for record in store().datasets()
        if record.table_sha256 == table.digest and record.id != table.place
    ]
    if runs:
        st.markdown(f"{plural(len(runs), 'run')} on it and their models go with it:")
        for run in runs[:_LISTED]:
            st.markdown(f"- {plain(run.name)}")
        if len(runs) > _LISTED:
            st.caption(f"and {len(runs) - _LISTED} more")
    st.caption(
        f"The table stays: {plural(len(others), 'other data set')} is made of it."
        if others
        else "The uploaded table goes too: no other data set is made of it."
    )
    if not st.button("Delete", type="primary", icon=":material/delete:"):
        return
    try:
        if table.is_dataset:
            store().delete_dataset(table.place)
        else:
            store().delete_table(table.digest)
    except ValueError as error:
        st.error(plain(error), title="Nothing was deleted")
        return
    open_page(_PAGE)
