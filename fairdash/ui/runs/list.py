"""The list of runs: find, select, open, rename, download, delete, compare."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from fairdash import plots
from fairdash._wording import plain, plural
from fairdash.jobs import wake
from fairdash.results import (
    is_sweep,
    methods_of,
    readable,
    run_table,
    side_by_side,
)
from fairdash.store import RunRecord
from fairdash.ui.selection import bound
from fairdash.ui.widgets.blocks import figure
from fairdash.ui.widgets.downloads import table_download
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.pick_models import offer_missing_seeds
from fairdash.ui.widgets.state import store

_TRAIN, _SWEEP = "pages/2_Train.py", "pages/5_Sweep.py"
_STATUS = {
    "All": None,
    "Running": {"queued", "running"},
    "Finished": {"finished"},
    "Failed": {"failed", "cancelled"},
}
_INTERVAL = "2s"
_COLOURS = {
    "queued": "gray",
    "running": "blue",
    "finished": "green",
    "failed": "red",
    "cancelled": "gray",
}


def run_list() -> None:
    """Draw the table of runs, kept fresh while one is open, and what can be done."""
    going = any(not run.over for run in store().runs())

    @st.fragment(run_every=_INTERVAL if going else None)
    def listed() -> None:
        chosen = _selection(_found())
        if going:
            if not any(not run.over for run in store().runs()):
                st.rerun()
            wake(store())
        _actions(chosen)
        _comparison(chosen)

    listed()


def run_columns(width: int) -> dict[str, Any]:
    """Return how the columns of `run_table` are shown; ``width`` is the name's."""
    config = st.column_config
    return {
        "Run": config.TextColumn(width=width),
        "Status": config.MultiselectColumn(
            options=list(_COLOURS), color=list(_COLOURS.values()), width="small"
        ),
        "Progress": config.ProgressColumn(
            format="%.0f%%", min_value=0, max_value=100, width="small"
        ),
        "Accuracy": config.NumberColumn(format="%.1f%%", width="small"),
        "DI": config.NumberColumn(format="%.3f", width="small"),
        "Worst-1-DI": config.NumberColumn(format="%.3f", width="small"),
        "Seeds": config.NumberColumn(width="small"),
        "Started": config.TextColumn(width="small"),
        "Note": config.TextColumn(width="small"),
    }


def _found() -> list[RunRecord]:
    with st.container(horizontal=True, vertical_alignment="center"):
        text = st.text_input(
            "Find",
            placeholder="name, data set or method",
            icon=":material/search:",
            label_visibility="collapsed",
            width=300,
            **bound("find", "", meant=lambda text: text.strip() or None),
        )
        status = st.segmented_control(
            "Status",
            list(_STATUS),
            required=True,
            label_visibility="collapsed",
            **bound("status", "All", among=_STATUS),
        )
    allowed = _STATUS[status]
    words = text.lower().split()
    return [
        run
        for run in store().runs()
        if (allowed is None or run.status in allowed)
        and all(word in _searched(run) for word in words)
    ]


def _searched(run: RunRecord) -> str:
    return " ".join([run.name, run.dataset_name, *methods_of(run)]).lower()


def _selection(runs: Sequence[RunRecord]) -> list[RunRecord]:
    if not runs:
        st.caption("No run fits the filter.")
        return []
    event = st.dataframe(
        run_table(store(), runs),
        hide_index=True,
        column_config=run_columns(260),
        on_select="rerun",
        selection_mode="multi-row",
        placeholder="–",
        key="runs",
    )
    return [runs[row] for row in event["selection"]["rows"] if row < len(runs)]


def _actions(chosen: Sequence[RunRecord]) -> None:
    if not chosen:
        st.caption("Choose runs to open, compare, rename, download or delete them.")
        return
    one = chosen[0] if len(chosen) == 1 else None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plural(len(chosen), 'run')} chosen**", width="content")
        if st.button(
            "Open", icon=":material/open_in_new:", type="primary", disabled=not one
        ):
            where = _SWEEP if is_sweep(store(), chosen[0].id) else _TRAIN
            open_page(where, run=chosen[0].id, data=chosen[0].dataset_id)
        if st.button("Rename", icon=":material/edit:", disabled=not one):
            _rename(chosen[0])
        table_download(
            "Download",
            lambda: _models(chosen),
            "fairdash-runs.csv",
            type="secondary",
            icon=":material/download:",
            help="One row per model: settings, seed, validation and test metrics.",
        )
        if st.button("Delete", icon=":material/delete:"):
            _delete(chosen)


def _models(chosen: Sequence[RunRecord]) -> pd.DataFrame:
    # read when asked for: a run may have been renamed since the table was drawn
    snapshots = [store().snapshot(run.id, curves=False) for run in chosen]
    tables = [snapshot.table().assign(run=snapshot.run.name) for snapshot in snapshots]
    return pd.concat(tables)


@st.dialog("Rename the run")
def _rename(run: RunRecord) -> None:
    name = st.text_input("Name", run.name, max_chars=80)
    if st.button("Rename", type="primary", disabled=not name.strip()):
        store().rename_run(run.id, name.strip())
        st.rerun()


@st.dialog("Delete for good?")
def _delete(chosen: Sequence[RunRecord]) -> None:
    for run in chosen:
        st.markdown(f"- {plain(run.name)}")
    st.caption("Models that no other run uses are deleted with it. The table stays.")
    if not st.button("Delete", type="primary", icon=":material/delete:"):
        return
    try:
        for run in chosen:
            store().delete_run(run.id)
    except ValueError as error:
        st.error(plain(error), title="Not everything was deleted")
        return
    st.query_params.clear()
    st.rerun()


def _comparison(chosen: Sequence[RunRecord]) -> None:
    """Draw the models of the chosen runs together, if they are of one data set."""
    finished = [run for run in chosen if run.summary]
    if not finished:
        return
    if len({run.dataset_id for run in finished}) > 1:
        st.caption("Choose runs of one data set to compare them.")
        return
    found = side_by_side(store(), [run.id for run in finished])
    if found is None:
        return
    figure(
        plots.plot_comparison(found.table),
        caption=found.caption(),
        table=readable(found.table),
        key="comparison",
    )
    offer_missing_seeds(found.settings, finished[0].dataset_id)
