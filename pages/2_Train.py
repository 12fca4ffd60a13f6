"""Train: set a method, watch it learn, see what it changed."""

import streamlit as st

from fairdash import ui
from fairdash.ui import data, pages, train

view = ui.page(pages.TRAIN)
if view.data is None:
    ui.stop_empty(
        "No table to train on yet",
        "Training needs a table and what its columns mean. The sample takes a minute.",
        data.ways_to_a_table(pages.TRAIN),
    )

data.stop_without_features(view.data)
form, result = ui.form_beside("train", answered=view.run is not None)
with form, st.container(border=True):
    start, n_seeds = train.prefilled(view.run)
    grid = train.method_form(start)
    seeds = train.seeds_input(n_seeds)
    train_rows = ui.rows_to_train(view.data)
    pressed = st.button(
        "Train" if seeds == 1 else f"Train {seeds} seeds",
        type="primary",
        icon=":material/play_arrow:",
        width="stretch",
    )
    st.caption(train.estimate(view.data, grid, seeds, train_rows))
if pressed:
    try:
        run = ui.start_training(view.data, grid, seeds, train_rows=train_rows)
        models = train.tray_with(run, view.run)
    except ValueError as error:
        with result:
            ui.problem("Nothing was trained: the settings do not fit", error)
    else:
        ui.open_page(pages.TRAIN, run=run, data=view.data, **models)

with result:
    if view.run is None:
        ui.empty(
            "No model yet",
            "Choose a method and press Train. The unconstrained model is trained "
            "beside it on the same splits, to hold every change to.",
            {},
        )
    else:
        ui.follow(view.run, train.show_run)
if view.run is not None:
    train.export_run(view)
ui.freeze_imports()
