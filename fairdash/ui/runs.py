"""Home and Runs: what there is, and what can be done with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from fairdash import plots
from fairdash._escaping import plain
from fairdash._wording import (
    clock_time,
    number,
    percent,
    plural,
    size,
    time_left,
)
from fairdash.audits import (
    BaseRates,
    base_rates,
    is_sweep,
    methods_of,
    outcome,
    run_table,
    seconds_left,
    settings,
    side_by_side,
)
from fairdash.datasets import SAMPLES, load_sample
from fairdash.jobs import unpack_runs, wake, why_waits
from fairdash.store import Kept, RunRecord
from fairdash.ui.selection import Fields, bound, write
from fairdash.ui.widgets.blocks import (
    confirm_deletion,
    draw_picture,
    figure,
    heading,
    problem,
    table_download,
)
from fairdash.ui.widgets.frame import open_page, open_unpacked
from fairdash.ui.widgets.results import show_answer
from fairdash.ui.widgets.runs import waiting_for_database
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
_RECENT = 5
_OLD_LINKS = {
    "shared": "Ask whoever sent it for a bundle of the run (Export), and import it on "
    "Runs.",
    "snapshot": "Open the run below and export its report as a file (Export, Report).",
}
_SAMPLE = "loans"
_STEPS = """
1. **Say what the columns mean**: the outcome, the sensitive column, the subgroups to
   look at. A first guess is made for you.
2. **Audit a plain model**: in which subgroups do its predictions differ between the
   groups, by how much, and could it be chance?
3. **Train the remedies** beside it on the same rows, and see what each one changes and
   costs.

Every number comes with its interval. Nothing leaves this machine.
"""


def run_list() -> None:
    """Draw the table of runs, kept fresh while one is open, and what can be done."""
    going = any(not run.over for run in store().runs())

    @st.fragment(run_every=_INTERVAL if going else None)
    @waiting_for_database()
    def listed() -> None:
        chosen = _chosen_runs(_found())
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
        "Accuracy": config.NumberColumn(format="%.1f%%", width=70),
        "DI": config.NumberColumn(format="%.3f", width=60),
        "Worst-1-DI": config.NumberColumn(format="%.3f", width=80),
        "Seeds": config.NumberColumn(width=50),
        "Started": config.TextColumn(width=85),
        "Note": config.TextColumn(width="medium"),
    }


@dataclass(frozen=True)
class RunsFields(Fields):
    """What the address says beside what every page knows."""

    # Which runs are listed.
    find: str | None = None
    status: str | None = None


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


def _chosen_runs(runs: Sequence[RunRecord]) -> list[RunRecord]:
    if not runs:
        st.caption("No run fits the filter.")
        return []
    table = run_table(store(), runs)
    for row, run in enumerate(runs):
        if words := _waits(run):
            table.loc[row, "Note"] = words
    event = st.dataframe(
        table,
        hide_index=True,
        column_config=run_columns(260),
        on_select="rerun",
        selection_mode="multi-row",
        placeholder="–",
        key=_key("runs", runs),
    )
    return [runs[row] for row in event["selection"]["rows"] if row < len(runs)]


def _waits(run: RunRecord) -> str:
    """Return what a run waits for, or nothing."""
    if run.over:
        return ""
    return why_waits(store(), store().snapshot(run.id, curves=False))


def _key(name: str, listed: Sequence[RunRecord | Kept]) -> str:
    """Return the key of a list whose rows are chosen by their place in it.

    Of other rows it is another one: what was chosen by place would be these.
    """
    return f"{name} {hash(tuple(one.id for one in listed))}"


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
            _delete_runs(chosen)


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


def _delete_runs(chosen: Sequence[RunRecord]) -> None:
    def delete() -> None:
        for run in chosen:
            store().delete_run(run.id)
        st.query_params.clear()
        st.rerun()

    confirm_deletion(
        [f"- {plain(run.name)}" for run in chosen],
        "Models that no other run uses are deleted with it. The table stays.",
        delete,
    )


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
    show_answer(found.answer(), "comparison")


def recent_runs(runs: Sequence[RunRecord]) -> None:
    """Draw a card for every open run and a table of the last ones; a click opens."""
    going = [run.id for run in runs if not run.over]
    if going:

        @st.fragment(run_every=_INTERVAL)
        @waiting_for_database()
        def cards() -> None:
            for run_id in going:
                _card(run_id)
            wake(store())

        cards()
    over = [run for run in runs if run.over][:_RECENT]
    if not over:
        return
    rows = run_table(store(), over).to_dict("records")
    for run, row in zip(over, rows, strict=True):
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
            facts = [str(run.status)]
            if pd.notna(row["Accuracy"]):
                facts = [f"Accuracy {percent(row['Accuracy'] / 100)}"]
                facts += [f"{gap} {number(row[gap])}" for gap in ("Worst-1-DI", "DI")]
            st.caption(" · ".join([*facts, str(row["Started"])]), width="content")
        if opened:
            open_page(_TRAIN, run=run.id, data=run.dataset_id)


def latest_result(runs: Sequence[RunRecord]) -> None:
    """Draw what the last finished run came to."""
    done = [run for run in runs if run.status == "finished"]
    if not done:
        return
    run = next((run for run in done if len(run.summary) > 1), done[0])
    snapshot = store().snapshot(run.id, curves=False)
    if not settings(snapshot.trials):
        return
    found = outcome(store(), snapshot)
    heading(found.brief())
    drawing = found.answer().figure
    assert drawing is not None, "models have a figure"
    draw_picture(drawing.finished(plots), key="latest")
    st.caption(plain(f"The last result: {run.name}."))


def first_look() -> None:
    """Draw, before anything was done, what the sample hides: a gap that is planted."""
    sample = SAMPLES[_SAMPLE]
    names, rates = _sample_rates()
    left, right = st.columns([1, 1.6], gap="large")
    with left:
        heading("Three steps")
        st.markdown(_STEPS)
    with right:
        picture = plots.plot_base_rates(
            rates.cells,
            rates.groups,
            groups=names,
            outcome=sample.roles.outcome(),
            source=f"The sample {sample.title}, {plural(sample.n_rows, 'row')}.",
        )
        figure(picture, key="first look")


@st.cache_data(show_spinner=False)
def _sample_rates() -> tuple[tuple[str, ...], BaseRates]:
    dataset = load_sample(_SAMPLE)
    return dataset.group_names, base_rates(dataset, SAMPLES[_SAMPLE].subgroups)


def _card(run_id: str) -> None:
    try:
        snapshot = store().snapshot(run_id, curves=False)
    except ValueError:
        st.rerun()  # deleted in another window
    if snapshot.run.over:
        st.rerun()
    with st.container(border=True, gap="xsmall"):
        with st.container(
            horizontal=True,
            horizontal_alignment="distribute",
            vertical_alignment="center",
        ):
            wait = why_waits(store(), snapshot)
            status = "waiting" if wait else snapshot.run.status
            st.markdown(
                f":blue-badge[{status}] **{plain(snapshot.run.name)}**",
                width="content",
            )
            if st.button(
                "Watch",
                type="tertiary",
                icon=":material/arrow_forward:",
                icon_position="right",
                key=f"watch {run_id}",
            ):
                open_page(_TRAIN, run=run_id, data=snapshot.run.dataset_id)
        left = seconds_left(store(), snapshot)
        total, done = len(snapshot.trials), snapshot.count("finished")
        facts = [wait] if wait else []
        facts += [f"{done} of {plural(total, 'model')} finished"]
        facts += [time_left(left)] if left is not None else []
        st.caption(" · ".join(facts))
        st.progress(min(1.0, snapshot.share))


def note_old_link() -> None:
    """Say what replaces the link of an earlier version that was followed, if any."""
    for parameter, words in _OLD_LINKS.items():
        if parameter in st.query_params:
            problem("This link opens nothing any more", words)


def import_bundle() -> None:
    """Draw the upload of runs that were exported elsewhere; the first one is opened."""
    with st.popover("Import runs", icon=":material/upload:"):
        st.caption(
            "A bundle of Export or `fairdash store export`: runs with their tables and "
            "models. It says which file a table is of; take one from whom you trust."
        )
        sent = st.file_uploader("Bundle (ZIP)", type="zip", max_upload_size=500)
        if sent is None or not st.button("Import", type="primary"):
            return
        try:
            found = unpack_runs(store(), sent)
        except ValueError as error:
            problem("The bundle was not imported", error)
            return
    open_unpacked(found)


def kept_files() -> None:
    """Draw the list of all that is kept, and what can be deleted of it."""
    found = store().kept()
    if not found:
        return
    total = size(sum(one.n_bytes for one in found))
    label = f"Data kept here: {plural(len(found), 'table')}, {total}"
    with st.expander(label, icon=":material/database:"):
        event = st.dataframe(
            _kept_table(found),
            hide_index=True,
            on_select="rerun",
            selection_mode="multi-row",
            key=_key("kept", found),
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
            _delete_kept(chosen)


def _kept_table(found: Sequence[Kept]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Name": [one.name for one in found],
            "Kind": [one.kind.capitalize() for one in found],
            "Rows": [one.n_rows or None for one in found],
            "Columns": [one.n_columns or None for one in found],
            "Runs": [one.n_runs for one in found],
            "Size": [size(one.n_bytes) for one in found],
            "Added": [clock_time(one.created) for one in found],
        }
    )


def _delete_kept(chosen: Sequence[Kept]) -> None:
    def delete() -> None:
        for one in chosen:
            store().remove(one.id)
        write({})
        st.rerun()

    runs = [f" with {plural(n, 'run')}" if (n := one.n_runs) else "" for one in chosen]
    confirm_deletion(
        [f"- {plain(one.name)}{more}" for one, more in zip(chosen, runs, strict=True)],
        "Tables, roles, runs and models go. The files you uploaded stay yours.",
        delete,
    )
