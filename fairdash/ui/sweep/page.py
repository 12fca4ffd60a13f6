"""The Sweep page's parts in order, once a sweep is over."""

import math

import streamlit as st

from fairdash._wording import duration, plural
from fairdash.jobs import submit
from fairdash.methods import CATALOG
from fairdash.results import Sweep, finished_sweep, is_sweep, runtime
from fairdash.store import RunRecord
from fairdash.sweep import SweepSpec
from fairdash.ui.sweep.controls import sweep_controls
from fairdash.ui.sweep.figures import (
    draw_along_tau,
    draw_front,
    draw_grid,
    draw_table,
)
from fairdash.ui.sweep.form import SWEEP
from fairdash.ui.sweep.live import draw_inside, draw_sliders
from fairdash.ui.sweep.numbers import find_model
from fairdash.ui.sweep.point import carry
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.state import store

_NONE_KEPT = "No model had finished; going on starts with the first."


def sweep_facts(data: str | None, run_id: str | None) -> tuple[str, ...]:
    """Return the context line: data set, settings, seeds, how they were chosen."""
    if data is None:
        return ()
    name = store().dataset_record(data).name
    if run_id is None or not is_sweep(store(), run_id):
        return (name,)
    trials = store().snapshot(run_id, curves=False).trials
    seeds = len({trial.seed for trial in trials})
    n_settings = len({repr((t.method, t.params)) for t in trials})
    counts = f"{plural(n_settings, 'setting')} × {plural(seeds, 'seed')}"
    return name, counts, "chosen on validation, shown on test"


def show_finished_sweep(run_id: str) -> None:
    """Draw what a sweep that is over found, and how it ended."""
    run = store().run(run_id)
    sweep = finished_sweep(store(), run_id)
    _ending(run, sweep)
    if sweep is None or not sweep.methods:
        return
    _explore(run, sweep)


@st.fragment
def _explore(run: RunRecord, sweep: Sweep) -> None:
    """Draw all that follows a setting; the browser moves most of it by itself."""
    asked, corner = sweep_controls(sweep, run)
    with corner:
        find_model(sweep, asked, run)
    draw_sliders(sweep, asked, run)
    if asked.has_map:
        left, right = st.columns(2, gap="medium")
        with left:
            draw_front(sweep, asked, run)
        with right:
            draw_grid(sweep, asked, run)
    else:
        draw_front(sweep, asked, run)
    draw_inside(sweep, asked, run)
    if asked.place is not None:
        draw_table(asked, run)
        _look_closer(sweep, asked.place, run)
    draw_along_tau(sweep, asked, run)


def _look_closer(sweep: Sweep, place: int, run: RunRecord) -> None:
    """Offer the pages that show the chosen model in full."""
    pages = {"See where it is unfair": "pages/3_Local_fairness.py"}
    if CATALOG[sweep.models[place].method].gives_weights:
        pages["See where it looked"] = "pages/4_Weights.py"
    pages["Mend its decisions"] = "pages/6_Post-process.py"
    with st.container(horizontal=True):
        for label, path in pages.items():
            if st.button(label, icon=":material/arrow_forward:", icon_position="right"):
                carry(sweep, run, place)
                open_page(path, run=run.id, data=run.dataset_id)


def _ending(run: RunRecord, sweep: Sweep | None) -> None:
    """Say how a sweep ended unless it simply finished, and offer to go on."""
    if run.status == "finished":
        return
    n_kept = 0 if sweep is None else len(sweep.rows)
    kept = f"{plural(n_kept, 'model')} finished and kept." if n_kept else _NONE_KEPT
    if run.status == "failed":
        trials = store().snapshot(run.id, curves=False).trials
        reasons = [trial.reason for trial in trials if trial.reason]
        reason = reasons[0] if reasons else run.error or "no reason was given"
        problem(f"Part of {run.name} failed", f"{reason} {kept}")
    else:
        after = duration(math.ceil(runtime(run) or 0))
        others = " Going on trains only the others." if n_kept else ""
        st.info(f"{kept}{others}", title=f"Cancelled after {after}")
    if st.button("Go on", icon=":material/resume:", type="primary"):
        spec = SweepSpec.of_run(run.spec)
        new = submit(store(), spec, name=run.name)
        open_page(SWEEP, run=new, data=run.dataset_id)
