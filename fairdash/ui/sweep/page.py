"""The Sweep page's parts in order: while a sweep grows, and once it is over."""

import math
import os
from dataclasses import replace

import streamlit as st

from fairdash import plots
from fairdash._wording import duration, plural, time_left
from fairdash.audits import (
    StoredSweep,
    finished_sweep,
    joining_runs,
    models_in_training,
    runtime,
    seconds_left,
    sweep_answer,
    why_failed,
    with_gaps,
)
from fairdash.jobs import submit, wake
from fairdash.store import RunRecord, Snapshot
from fairdash.sweep import AXES, SweepSpec, model_label
from fairdash.ui.sweep.controls import Controls, current, sweep_controls
from fairdash.ui.sweep.figures import (
    draw_front,
    draw_grid,
    draw_table,
    find_model,
)
from fairdash.ui.sweep.form import SWEEP
from fairdash.ui.sweep.live import draw_inside, draw_sliders
from fairdash.ui.widgets.blocks import figure, problem
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.pick_measure import (
    compare_measure,
    gaps_on,
)
from fairdash.ui.widgets.results import Evidence, result_page
from fairdash.ui.widgets.runs import progress_box
from fairdash.ui.widgets.state import store

_NONE_KEPT = "No model had finished; going on starts with the first."
_HEIGHT = 420  # of the front
_FINISHED = (
    "Large marks: finished models. Small: in training, on validation rows; they move "
    "until they finish."
)
_MORE_SEEDS = 5


def _facts(run: RunRecord) -> tuple[str, ...]:
    """Return data set, settings, seeds, and how settings were chosen."""
    name = store().dataset_record(run.dataset_id).name
    trials = store().snapshot(run.id, curves=False).trials
    seeds = len({trial.seed for trial in trials})
    n_settings = len({model_label(t.method, t.params) for t in trials})
    counts = f"{plural(n_settings, 'setting')} × {plural(seeds, 'seed')}"
    return name, counts, "chosen on validation, shown on test"


def show_growing_sweep(snapshot: Snapshot) -> None:
    """Draw progress, the front so far and the models in training."""
    run = snapshot.run
    done, total = snapshot.count("finished"), len(snapshot.trials)
    left = seconds_left(store(), snapshot)
    facts = [
        f"{done} of {plural(total, 'model')} finished",
        time_left(left) if left is not None else "measuring the speed",
    ]
    progress_box(snapshot, facts)
    sweep, training = StoredSweep.of(store(), snapshot), models_in_training(snapshot)
    if sweep is None and training.empty:
        st.skeleton(height=_HEIGHT)
        return
    limit = float(run.spec.get("di_limit", 0.05))
    models = runs = None
    if sweep is not None:
        models = sweep.result.points(AXES, limit, "validation")
        runs = sweep.result.single_runs(AXES)
    picture = plots.plot_front(models, runs, limit=limit, training=training)
    figure(picture, caption=_FINISHED, key=f"{run.id} growing")


def show_finished_sweep(run_id: str) -> None:
    """Draw what a sweep that is over found, and how it ended."""
    run = store().run(run_id)
    sweep = finished_sweep(store(), run_id)
    _ending(run, sweep)
    if sweep is None or not sweep.grid_result.methods:
        return
    with st.container():  # always there, so that what follows keeps its place
        _follow_training(run)
    _explore(sweep)


def _follow_training(run: RunRecord) -> None:
    """Show how far the settings are that join the sweep, until they have."""
    waiting = [one.id for one in joining_runs(store(), run) if not one.over]
    if not waiting:
        return

    @st.fragment(run_every=os.environ.get("FAIRDASH_POLL", "1s"))
    def poll() -> None:
        try:
            snapshots = [store().snapshot(one) for one in waiting]
        except ValueError:
            st.rerun()  # one was deleted in another window
        if any(one.run.over for one in snapshots):
            st.rerun()
        for one in snapshots:
            first = one.trials[0]
            label = model_label(first.method, first.params)
            share = min(1.0, one.share)
            st.progress(share, f"Training {label} as the sweep trained the others.")
        wake(store())

    poll()


@st.fragment
def _explore(sweep: StoredSweep) -> None:
    """Draw all that follows a setting; the browser moves most of it by itself."""
    page = result_page("sweep")
    with page.controls:
        state, corner = sweep_controls(sweep)
    sweep = with_gaps(sweep, gaps_on(state.axes))
    answer = sweep_answer(sweep, state.limit)
    facts = _facts(sweep.run)
    page.show(replace(answer, facts=facts))
    with corner:
        find_model(sweep, state)
    submitted = f"{sweep.run.id} submitted"
    with page.beside:
        draw_sliders(sweep, state, lambda: _train_exactly(sweep, submitted))
    if st.session_state.pop(submitted, False):
        st.rerun()  # the whole page: what trains has a place of its own above
    with page.figure:
        how = draw_front(sweep, state)
        if not state.trained:
            _not_trained(sweep, state, submitted)

    def inside() -> None:
        draw_inside(sweep, state)
        draw_table(sweep, state)

    def measure() -> None:
        compare_measure(sweep.compared(state.place), sweep.run.dataset_id)

    evidence = [
        Evidence("inside", "Inside subgroups", inside),
        Evidence("measure", "By any measure", measure),
        Evidence("seeds", "Seeds", lambda: _seed_note(sweep, state)),
        Evidence("how", "How this is computed", how),
    ]
    if state.has_map:
        drawn = Evidence("map", "Map of λ and τ", lambda: draw_grid(sweep, state))
        evidence = [drawn, *evidence]
    page.evidence(*evidence)


def _train_exactly(sweep: StoredSweep, submitted: str) -> None:
    """Train the setting of the address, unless it is trained or in training."""
    limit = float(sweep.run.spec.get("di_limit", 0.05))
    method, point = current(sweep, limit)
    if sweep.result.place(method, point) is not None:
        return
    spec = sweep.exact_spec(method, point)
    label = model_label(method, spec.methods[0].params)
    waiting = (one.name for one in joining_runs(store(), sweep.run) if not one.over)
    name = f"{label} · {sweep.run.name}"
    if name not in waiting:
        submit(store(), spec, name=name)
    st.session_state[submitted] = True


def _not_trained(sweep: StoredSweep, state: Controls, submitted: str) -> None:
    """Say that the nearest trained setting is shown, and offer to train this one."""
    near = sweep.result.labels[state.place]
    label = model_label(state.method, state.point)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{label} is not trained: **{near}**, the nearest, is shown.")
        if any(not one.over for one in joining_runs(store(), sweep.run)):
            return
        st.button(
            "Train this setting",
            icon=":material/target:",
            on_click=lambda: _train_exactly(sweep, submitted),
            key=f"{sweep.run.id} train exactly",
        )


def _seed_note(sweep: StoredSweep, state: Controls) -> None:
    """Say how far splits and starts differ, or offer the seeds that would tell."""
    parts = sweep.once(
        lambda: sweep.grid_result.spread(state.method), "spread", state.method
    )
    if parts:
        st.caption(parts)
    if sweep.grid_result.n_seeds > 1:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("One split: how far splits differ is not known.")
        if st.button(f"Train {_MORE_SEEDS - 1} more seeds", icon=":material/add:"):
            spec = SweepSpec.of_run(sweep.run.spec)
            seeds = (*spec.seeds, *range(max(spec.seeds) + 1, 99))[:_MORE_SEEDS]
            more = spec.model_copy(update={"seeds": seeds})
            run = submit(store(), more, name=f"{sweep.run.name}, {_MORE_SEEDS} seeds")
            open_page(SWEEP, run=run, data=sweep.run.dataset_id)


def _ending(run: RunRecord, sweep: StoredSweep | None) -> None:
    """Say how a sweep ended unless it simply finished, and offer to go on."""
    if run.status == "finished":
        return
    n_kept = 0 if sweep is None else len(sweep.result.rows)
    kept = f"{plural(n_kept, 'model')} finished and kept." if n_kept else _NONE_KEPT
    if run.status == "failed":
        problem(f"Part of {run.name} failed", f"{why_failed(store(), run)} {kept}")
    else:
        after = duration(math.ceil(runtime(run) or 0))
        others = " Going on trains only the others." if n_kept else ""
        st.info(f"{kept}{others}", title=f"Cancelled after {after}")
    if st.button("Go on", icon=":material/resume:", type="primary"):
        spec = SweepSpec.of_run(run.spec)
        new = submit(store(), spec, name=run.name)
        open_page(SWEEP, run=new, data=run.dataset_id)
