"""What is kept on the disk: every data set and file, with its size; delete any."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from fairdash._wording import clock_time, plain, plural, size
from fairdash.store import Kept
from fairdash.ui.selection import Selection, write
from fairdash.ui.widgets.state import store


def kept_files() -> None:
    """Draw the list of all that is kept, and what can be deleted of it."""
    found = store().kept()
    if not found:
        return
    total = size(sum(one.n_bytes for one in found))
    label = f"Data kept here: {plural(len(found), 'table')}, {total}"
    with st.expander(label, icon=":material/database:"):
        event = st.dataframe(
            _table(found),
            hide_index=True,
            on_select="rerun",
            selection_mode="multi-row",
            key="kept",
        )
        rows = event["selection"]["rows"]
        chosen = [found[row] for row in rows if row < len(found)]
        st.caption(
            "Sizes are those on the disk: of a data set its table and its models. A "
            "file holds scores or groups that were uploaded for a question. Choose "
            "rows to delete them."
        )
        if chosen and st.button(
            "Delete", icon=":material/delete_forever:", key="delete kept"
        ):
            _delete(chosen)


def _table(found: Sequence[Kept]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Name": [one.name for one in found],
            "Kind": [one.kind.capitalize() for one in found],
            "Rows": [one.n_rows for one in found],
            "Columns": [one.n_columns for one in found],
            "Runs": [one.n_runs for one in found],
            "Size": [size(one.n_bytes) for one in found],
            "Added": [clock_time(one.created) for one in found],
        }
    )


@st.dialog("Delete for good?")
def _delete(chosen: Sequence[Kept]) -> None:
    for one in chosen:
        runs = f" with {plural(one.n_runs, 'run')}" if one.n_runs else ""
        st.markdown(f"- {plain(one.name)}{runs}")
    st.caption("Tables, roles, runs and models go. The files you uploaded stay yours.")
    if not st.button("Delete", type="primary", icon=":material/delete_forever:"):
        return
    try:
        for one in chosen:
            store().remove(one.id)
    except ValueError as error:
        st.error(plain(error), title="Not everything was deleted")
        return
    write(Selection())
    st.rerun()
