"""Local fairness: the gap between groups inside every subgroup."""

import streamlit as st

from fairdash import audits, plots, ui
from fairdash.ui import local, train

view = ui.page("Local fairness", "Where is the model unfair?", pick="run")
models = ui.known_models(view.data, view.run)
dataset = ui.store().dataset(view.data) if view.data else None
models += audits.own_models(ui.store(), view.data) if view.data else []
if not models:
    ui.stop_empty(
        "No trained model yet",
        "Gaps are looked for in the predictions of a model. A plain one trains in "
        "seconds. A column of scores becomes a model on the Data page.",
        {"Train a model": lambda: ui.open_page("pages/2_Train.py", data=view.data)},
    )

roles = dataset.roles
start = ui.store().dataset_record(view.data).subgroups


@st.fragment
def local_fairness():
    """Draw everything that follows the controls."""
    facts = st.container()
    chosen = audits.beside_trained(
        ui.pick_models(models, plots.MOST_MODELS, run_id=view.run)
    )
    with ui.controls(4 + (len(dataset.group_names) > 2)):
        measure = ui.pick_measure()
        reference = ui.pick_reference(dataset.group_names, roles.sensitive_feature)
        band = st.container()
        options = ui.more("Subgroups")
        with ui.more(), st.container(width=420):
            trained = not all(map(audits.is_own, chosen))  # others are on all rows
            everywhere = trained and local.pick_rows()
            compared = ui.pick_seed(chosen)
            k = ui.pick_k()
    subgroups = ui.subgroup_form(dataset, start, bar=(band, options), options=options)
    held_out = compared
    if everywhere:
        compared = local.on_all_rows(compared, view.data)
        if not compared:
            return
    try:
        result = audits.local_by_measure(
            ui.store(), compared, view.data, subgroups, measure, reference
        )
    except ValueError as error:
        ui.problem("These subgroups cannot be looked at", error)
        return
    gap = ui.chosen_gap()
    answer = result.answer(dataset, subgroups, k=k, gap=gap)
    shown, further, below = st.container(), st.container(), st.container()
    with shown:
        ui.show_answer(
            answer, f"local {gap}", top=facts, below=below, control=ui.pick_gap
        )
    with further:
        ui.offer_missing_seeds(held_out, view.data)
        local.by_measure(compared, dataset, view.data, measure, reference)
        local.find_section(
            compared, dataset, view.data, measure=measure, subgroups=subgroups
        )


local.follow_folds(view.data)
local_fairness()
train.export_run(view)
ui.freeze_imports()
