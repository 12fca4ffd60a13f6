"""The Sweep page's parts in order: while a sweep grows, and once it is over."""

import streamlit as st

from fairdash._escaping import plain
from fairdash._metric_names import PARITY
from fairdash._wording import plural
from fairdash.audits import StoredSweep, choices, sweeps
from fairdash.jobs import resume, wake
from fairdash.linked import EVERY_PART
from fairdash.store import RunRecord, Snapshot
from fairdash.ui import pages
from fairdash.ui.linked import draw_linked
from fairdash.ui.local import by_measure
from fairdash.ui.selection import SharedFields, choose
from fairdash.ui.sweep.controls import (
    Controls,
    go,
    pick_pinned,
    pictured_measure,
    place_here,
    show_recommendation,
    sweep_controls,
)
from fairdash.ui.sweep.figures import certify, front_table
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.pick_models import known_models
from fairdash.ui.widgets.pick_rule import advise_rule, chosen_rule
from fairdash.ui.widgets.results import Evidence, result_page
from fairdash.ui.widgets.runs import show_ending, show_progress
from fairdash.ui.widgets.state import store

_HEIGHT = 420  # of the pictures before the first model
_IN_TOUR = ("front", "map", "local", "density")  # what one screen holds


def show_growing_sweep(snapshot: Snapshot) -> None:
    """Draw progress, and the linked pictures of the models that have finished."""
    run = snapshot.run
    show_progress(snapshot)
    sweep = StoredSweep.of(store(), snapshot, chosen_rule())
    if sweep is None or not sweep.result.methods:
        st.skeleton(height=_HEIGHT)
        return
    limit = float(run.spec.get("di_limit", 0.05))
    draw_linked(
        sweep,
        place_here(sweep, limit),
        limit=limit,
        limited=PARITY,
        measure=pictured_measure(sweep),
        on_place=lambda place: go(sweep, place),
        on_measure=lambda name: choose(pictured=name),
    )
    st.caption(
        plain(
            f"Models that have finished, {len(sweep.result.rows)} of "
            f"{len(snapshot.trials)}. Decided 1: {sweep.rule.words()}."
        )
    )


def show_finished_sweep(run_id: str) -> None:
    """Draw what a sweep that is over found, and how it ended."""
    run = store().run(run_id)
    sweep = sweeps.finished_sweep(store(), run_id)
    _ending(run, sweep)
    if sweep is not None and sweep.result.methods:
        _explore(run)


@st.fragment
def _explore(run: RunRecord) -> None:
    with st.spinner("Deciding by another rule…", show_time=True):
        sweep = sweeps.finished_sweep(store(), run.id, chosen_rule())
    assert sweep is not None, "the same models have finished by every rule"
    page = result_page("sweep", beside=False)
    with page.controls:
        state, corner = sweep_controls(sweep)
    # beside one another, so that the pictures begin higher
    with page.tray, st.container(horizontal=True, vertical_alignment="center"):
        pick_pinned(sweep, state.place, known_models(run.dataset_id, run.id))
        show_recommendation(sweep, state)
    page.show(choices.setting_answer(sweep, state.place))
    with corner:
        certify(sweep, state)
    with page.figure:
        advise_rule(sweep.compared(state.place)[-1], run.dataset_id)
        _pictures(sweep, state)

    def every_measure() -> None:
        models = sweep.compared(state.place)
        data = sweep.run.dataset_id
        by_measure(models, store().dataset(data), data, "selection_rate", None)

    page.evidence(
        Evidence("how", "How this is computed", lambda: front_table(sweep, state)),
        Evidence("measures", "Every measure", every_measure),
    )


def _pictures(sweep: StoredSweep, state: Controls) -> None:
    """Draw the linked pictures; a click on a subgroup opens Local fairness."""
    clicked = f"{sweep.run.id} subgroup"

    def click(name: str) -> None:
        st.session_state[clicked] = name

    draw_linked(
        sweep,
        state.place,
        limit=state.limit,
        limited=state.limited,
        measure=state.pictured,
        shows=EVERY_PART if SharedFields.here().tour is None else _IN_TOUR,
        on_place=lambda place: go(sweep, place),
        on_measure=lambda name: choose(pictured=name),
        on_subgroup=click,
    )
    if st.session_state.pop(clicked, None) is not None:
        open_page(pages.LOCAL_FAIRNESS, run=sweep.run.id, data=sweep.run.dataset_id)


def _ending(run: RunRecord, sweep: StoredSweep | None) -> None:
    if run.status == "finished":
        return
    n_kept = 0 if sweep is None else len(sweep.result.rows)
    saved = f"{plural(n_kept, 'model')} finished and kept."
    show_ending(run, f"{saved} Going on trains only the others.")
    if st.button("Go on", icon=":material/resume:", type="primary"):
        new = resume(store(), run.id)
        wake(store())
        open_page(pages.SWEEP, run=new, data=run.dataset_id)
