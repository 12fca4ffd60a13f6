"""What Home shows: the last runs to go on with, or a first look."""

import math
from collections.abc import Sequence

import streamlit as st

from fairdash import plots
from fairdash._wording import floor_words, plain, plural, time_left
from fairdash.datasets import SAMPLES, load_sample
from fairdash.jobs import wake
from fairdash.metrics import BaseRates
from fairdash.results import (
    base_rates,
    outcome,
    readable,
    run_table,
    seconds_left,
    settings,
)
from fairdash.store import RunRecord
from fairdash.ui.runs.list import run_columns
from fairdash.ui.widgets.blocks import figure, heading
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.pick_models import offer_missing_seeds
from fairdash.ui.widgets.state import store

_TRAIN = "pages/2_Train.py"
_RECENT = 5
_INTERVAL = "2s"
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
_COLUMNS = ["Run", "Accuracy", "Worst-1-DI", "DI", "Started"]


def recent_runs(runs: Sequence[RunRecord]) -> None:
    """Draw a card for every open run and a table of the last ones; a click opens."""
    going = [run.id for run in runs if not run.over]
    if going:

        @st.fragment(run_every=_INTERVAL)
        def cards() -> None:
            for run_id in going:
                _card(run_id)
            wake(store())

        cards()
    over = [run for run in runs if run.over][:_RECENT]
    if not over:
        return
    event = st.dataframe(
        run_table(store(), over)[_COLUMNS],
        hide_index=True,
        column_config=run_columns(190),
        on_select="rerun",
        selection_mode="single-cell",
        placeholder="–",
        key="recent",
    )
    for row, _ in event["selection"]["cells"]:
        open_page(_TRAIN, run=over[row].id, data=over[row].dataset_id)


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
    floor = floor_words(found.row["label"]) if math.isfinite(found.chance) else ""
    figure(
        plots.plot_overview(found.models, title=run.name, chance=found.chance),
        caption=f"{found.caption()} {floor}",
        table=readable(found.models),
        key="latest",
    )
    offer_missing_seeds(found.settings, run.dataset_id)


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
    snapshot = store().snapshot(run_id, curves=False)
    if snapshot.run.over:
        st.rerun()
    with st.container(border=True, gap="xsmall"):
        with st.container(
            horizontal=True,
            horizontal_alignment="distribute",
            vertical_alignment="center",
        ):
            st.markdown(
                f":blue-badge[{snapshot.run.status}] **{plain(snapshot.run.name)}**",
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
        st.caption(
            f"{done} of {plural(total, 'model')} finished"
            + (f" · {time_left(left)}" if left is not None else "")
        )
        st.progress(min(1.0, snapshot.share))
