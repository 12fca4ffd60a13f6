"""Sweep: what fairness costs, over methods and over the grid of λ and τ."""

import streamlit as st

from fairdash import audits, ui
from fairdash.ui import data, pages, show, sweep, train

view = ui.page(pages.SWEEP)
if view.on_stage:
    show.show_scene(view.run)
    ui.end_page()
if view.data is None:
    ui.stop_empty(
        "No table to sweep over yet",
        "A sweep trains a grid of settings and shows what each gap costs in accuracy.",
        data.ways_to_a_table(pages.SWEEP),
    )

data.stop_without_features(view.data)
swept = audits.sweeps.is_sweep(ui.store(), view.run)
if not swept:
    sweep.sweep_form(view.data)
    ui.empty(
        "No sweep opened",
        "Five values of λ by five of τ show the shape of the trade-off; every model "
        "is kept.",
        {},
    )
elif ui.store().run(view.run).over:
    sweep.show_finished_sweep(view.run)
    if audits.sweeps.can_be_shown(ui.store(), view.run):
        view.present()
    train.export_run(view)
else:
    ui.follow(view.run, sweep.show_growing_sweep)
if swept:
    with st.expander("New sweep", icon=":material/add:"):
        sweep.sweep_form(view.data)
ui.freeze_imports()
