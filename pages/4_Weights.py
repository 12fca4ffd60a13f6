"""Weights: which training rows ROAD and BROAD turned to."""

from dataclasses import replace

import streamlit as st

from fairdash import audits, ui
from fairdash.ui import train, weights

view = ui.page("Weights", "Which rows carry weight?", pick="run")
models = ui.known_models(view.data, view.run)
own = ui.cannot_be_asked(view.data, "which training rows weighed most")
weighted = audits.weighted_models(models)
if not weighted:
    ui.stop_empty(
        "No model with weights yet",
        "ROAD and BROAD give every training row a weight; other methods do not. " + own,
        {"Train ROAD": lambda: ui.open_page("pages/2_Train.py", data=view.data)},
    )

dataset = ui.store().dataset(view.data)
start = ui.store().dataset_record(view.data).subgroups


@st.fragment
def show_weights():
    """Draw everything that follows the controls."""
    facts = st.container()
    with ui.controls(4):
        first, second = st.container(), st.container()
        options = ui.more("Subgroups")
        with ui.more("Model and group"):
            chosen = weights.pick_weighted(weighted, models, view.data, view.run)
            group = weights.pick_group(dataset.group_names)
    with first:
        epoch = weights.pick_epoch(chosen)
    with second:
        share = weights.pick_share()
    subgroups = ui.subgroup_form(
        dataset, start, bar=(options, options), options=options
    )
    top = audits.find_top_rows(chosen, chosen.ratio(epoch), share, group)
    try:
        answer = chosen.answer(dataset, epoch, subgroups, top)
    except ValueError as error:
        ui.problem("These subgroups cannot be made", error)
        return
    numbers = st.container()
    left, right = st.columns(2, gap="medium")
    details = weights.whose(models, chosen.model)
    with numbers:
        ui.show_answer(
            replace(answer, details=details), "related", top=facts, beside=left
        )
    rows = st.container()
    if len(chosen.epochs()) > 1:
        with right:
            ui.show_answer(chosen.epochs_answer(dataset), "epochs")
        right, rows = rows.columns(2, gap="medium")
    with right:
        ui.show_answer(top.answer(), "traits")
    with rows:
        ui.heading("The rows with the largest r")
        st.dataframe(
            top.listed,
            hide_index=True,
            placeholder="–",
            column_config=ui.decimals(top.listed[["r", "P(ŷ = 1)"]]),
        )


show_weights()
if own:
    st.caption(ui.plain(own))
train.export_run(view)
ui.freeze_imports()
