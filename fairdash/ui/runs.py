"""Home and Runs: what there is, and what can be done with it."""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from fairdash import APP_FOLDER, plots
from fairdash._escaping import plain
from fairdash._wording import clock_time, gap_size, percent, plural, size
from fairdash.audits import progress, question, sweeps, training
from fairdash.jobs import engine, unpack_runs, wake
from fairdash.store import RunRecord
from fairdash.ui import pages
from fairdash.ui.selection import write
from fairdash.ui.widgets.blocks import (
    confirm_deletion,
    draw_table,
    figure,
    problem,
    show_table,
)
from fairdash.ui.widgets.frame import open_page, open_unpacked
from fairdash.ui.widgets.pick_models import known_models
from fairdash.ui.widgets.runs import progress_facts, waiting_for_database
from fairdash.ui.widgets.state import store
from fairdash.ui.widgets.tray import pin
from fairdash.ui.widgets.uploads import BUNDLE_MB

_INTERVAL = "2s"
_RECENT = 2  # Home has at most 250 words; Runs lists all


def run_list() -> None:
    """Draw the table of runs, kept fresh while one is open, and what can be done."""
    going = any(not run.over for run in store().runs())

    @st.fragment(run_every=_INTERVAL if going else None)
    @waiting_for_database()
    def listed() -> None:
        chosen = _chosen_runs(store().runs())
        if going:
            if not store().open_runs():
                st.rerun()
            wake(store())
        _actions(chosen)

    listed()


def _chosen_runs(runs: Sequence[RunRecord]) -> list[RunRecord]:
    table = training.run_table(store(), runs)
    for row, run in enumerate(runs):
        if not run.over:
            snapshot = store().snapshot(run.id, curves=False)
            table.loc[row, "Note"] = engine.why_waits(store(), snapshot)
    config = st.column_config
    columns: dict[str, Any] = {
        "Run": config.TextColumn(width=220),
        "Progress": config.ProgressColumn(
            format="%.0f%%", min_value=0, max_value=100, width="small"
        ),
        "Model": config.TextColumn(width=150),
        "Accuracy": config.NumberColumn(format="%.1f%%", width=70),
        "Gap": config.NumberColumn(format="%.1f pt", width=60),
        "Largest local gap": config.NumberColumn(format="%.1f pt", width=120),
        "Seeds": config.NumberColumn(width=50),
        "Started": config.TextColumn(width=85),
    }
    rows = _chosen_rows(table, [run.id for run in runs], columns)
    return [runs[row] for row in rows]


def _chosen_rows(
    table: pd.DataFrame, ids: Sequence[str], columns: dict[str, Any] | None = None
) -> list[int]:
    """Rows are chosen by place, so that the table of other rows is another one."""
    event = draw_table(
        table,
        columns,
        on_select="rerun",
        selection_mode="multi-row",
        key=f"rows {hash(tuple(ids))}",
    )
    return [row for row in event["selection"]["rows"] if row < len(ids)]


def _actions(chosen: Sequence[RunRecord]) -> None:
    if not chosen:
        st.caption("Choose runs to open or delete them.")
        return
    first = chosen[0]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plural(len(chosen), 'run')} chosen**", width="content")
        if st.button(
            "Open",
            icon=":material/open_in_new:",
            type="primary",
            disabled=len(chosen) > 1,
        ):
            page = pages.SWEEP if sweeps.is_sweep(store(), first.id) else pages.TRAIN
            open_page(page, run=first.id, data=first.dataset_id)
        _pin(chosen)
        if st.button("Delete", icon=":material/delete:"):
            confirm_deletion(
                [run.name for run in chosen],
                "Models that no other run uses are deleted with it. The table stays.",
                _deleting([run.id for run in chosen], store().delete_run),
            )


def _pin(chosen: Sequence[RunRecord]) -> None:
    data = {run.dataset_id for run in chosen}
    if st.button(
        "Pin and compare",
        icon=":material/keep:",
        disabled=len(data) > 1,
        help="Puts the models of these runs into the tray of every page.",
    ):
        models = known_models(chosen[0].dataset_id, chosen[0].id)
        ids = []
        for run in chosen:
            of_run = question.models_of(store(), models, run.id)
            ids += [model.id for model in of_run]
        if not ids:
            st.caption("None of these runs has a finished model.")
            return
        open_page(
            pages.LOCAL_FAIRNESS, run=chosen[0].id, data=data.pop(), models=pin(*ids)
        )


def _deleting(ids: Sequence[str], delete: Callable[[str], None]) -> Callable[[], None]:
    def go() -> None:
        for key in ids:
            delete(key)
        write({})
        st.rerun()

    return go


def recent_runs(runs: Sequence[RunRecord]) -> None:
    """Draw every open run and the last ones that are over; a click opens one."""
    going = [run for run in runs if not run.over]
    if going:

        @st.fragment(run_every=_INTERVAL)
        @waiting_for_database()
        def cards() -> None:
            for run in going:
                _open_run(run)
            wake(store())

        cards()
    over = [run for run in runs if run.over][:_RECENT]
    rows = training.run_table(store(), over).to_dict("records") if over else []
    for run, row in zip(over, rows, strict=True):
        facts = [str(run.status)]
        if pd.notna(row["Accuracy"]):
            facts = [row["Model"]] if sweeps.is_sweep(store(), run.id) else []
            facts += [f"Accuracy {percent(row['Accuracy'] / 100)}"]
            facts += [
                f"{gap} {gap_size(row[gap] / 100)}"
                for gap in ("Largest local gap", "Gap")
            ]
        _card(run, [*facts, str(row["Started"])])


def _open_run(run: RunRecord) -> None:
    try:
        snapshot = store().snapshot(run.id, curves=False)
    except ValueError:
        st.rerun()  # deleted in another window
    if snapshot.run.over:
        st.rerun()
    _card(run, progress_facts(snapshot))
    st.progress(min(1.0, progress.share_done(store(), snapshot)))


def _card(run: RunRecord, facts: Sequence[str]) -> None:
    with st.container(
        border=True,
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="center",
    ):  # a table that opens what is chosen would do so at every press of Tab
        opened = st.button(
            plain(run.name),
            type="tertiary",
            icon=":material/arrow_forward:",
            icon_position="right",
            key=f"open {run.id}",
        )
        st.caption(plain(" · ".join(facts)), width="content")
    if opened:
        open_page(pages.TRAIN, run=run.id, data=run.dataset_id)


@st.dialog("League table", width="large")
def league() -> None:
    """Draw every method's figures on six public tables, and its mean ranks over all."""
    league = pd.read_csv(APP_FOLDER / "sample_data" / "league.csv")
    names = league["Table"].unique().tolist()[::-1]  # all of them first
    chosen = st.segmented_control("Table", names, default=names[0], required=True)
    table = league[league["Table"] == chosen]
    st.caption(f"Means over {table['Splits'].iloc[0]} splits, on test rows.")
    # every method is in sight, and its name while the figures are scrolled
    named = {"Method": st.column_config.TextColumn(pinned=True)}
    show_table(table.loc[:, "Method":"Seconds"], named, height="content")
    if chosen == names[0]:
        figure(plots.plot_ranks(table), key="league")


def note_old_link() -> None:
    """Say what replaces the share links of earlier versions, if one was followed."""
    if st.query_params.keys() & {"shared", "snapshot"}:
        words = "Ask its sender for a bundle of the run, or for its report as a file."
        problem("This link opens nothing any more", words)


def import_bundle() -> None:
    """Draw the upload of runs that were exported elsewhere; the first one is opened."""
    with st.popover("Import runs", icon=":material/upload:"):
        st.caption(
            "A bundle of Export or `fairdash store export`: runs with their tables and "
            "models. It says which file a table is of; take one from whom you trust."
        )
        sent = st.file_uploader("Bundle (ZIP)", type="zip", max_upload_size=BUNDLE_MB)
        if sent is None or not st.button("Import", type="primary"):
            return
        try:
            unpacked = unpack_runs(store(), sent)
        except ValueError as error:
            problem("The bundle was not imported", error)
            return
    open_unpacked(unpacked)


def kept_files() -> None:
    """Draw the list of all that is kept, and what can be deleted of it."""
    entries = store().kept()
    if not entries:
        return
    total = size(sum(entry.n_bytes for entry in entries))
    label = f"Data kept here: {plural(len(entries), 'table')}, {total}"
    table = pd.DataFrame(
        {
            "Name": [entry.name for entry in entries],
            "Kind": [entry.kind.capitalize() for entry in entries],
            "Rows": [entry.n_rows or None for entry in entries],
            "Runs": [entry.n_runs for entry in entries],
            "Size": [size(entry.n_bytes) for entry in entries],
            "Added": [clock_time(entry.created) for entry in entries],
        }
    )
    with st.expander(label, icon=":material/database:"):
        rows = _chosen_rows(table, [entry.id for entry in entries])
        chosen = [entries[row] for row in rows]
        st.caption("Sizes are of a table and its models. Choose rows to delete them.")
        if chosen and st.button("Delete", key="delete kept"):
            confirm_deletion(
                [entry.name for entry in chosen],
                "Tables, roles, runs and models go. The files you uploaded stay yours.",
                _deleting([entry.id for entry in chosen], store().remove),
            )
