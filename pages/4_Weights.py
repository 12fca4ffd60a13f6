"""Weights: which training rows ROAD and BROAD turned to."""

from functools import partial

import streamlit as st

from fairdash import audits, ui
from fairdash.ui import pages, sweep, train, weights

view = ui.page(pages.WEIGHTS)
models = ui.known_models(view.data, view.run)
without_model = ui.scores.cannot_be_asked(view.data, "which training rows weighed most")
weighted = audits.weighting.weighted_models(models)
if not weighted:
    ui.stop_empty(
        "No model with weights yet",
        "ROAD and BROAD give every training row a weight; other methods do not. "
        + without_model,
        {"Train ROAD": lambda: ui.open_page(pages.TRAIN, data=view.data)},
    )

dataset = ui.store().dataset(view.data)
start = ui.store().dataset_record(view.data).subgroups


@st.fragment
def show_weights():
    """Draw everything that follows the controls."""
    page = ui.result_page("weights")
    with page.tray:
        model = ui.tray.pick_model(weighted, view.run)
        weights.note_without_weights(model, models, view.run)
    with page.controls:
        subgroups = ui.subgroup_form(dataset, start)
        chosen = weights.pick_weighted(model, models, view.data)
        ui.pick_rule(model)
    top = audits.weighting.find_top_rows(chosen, chosen.ratio())
    try:
        answer = chosen.answer(dataset, subgroups, top)
    except ValueError as error:
        with page.figure:
            ui.problem("These subgroups cannot be made", error)
        return
    with page.figure:
        ui.advise_rule(model, view.data)
    page.show(answer)
    gaps = chosen.gaps(subgroups)
    openers = [
        ui.Evidence(
            "gaps", "Weights and gaps", lambda: weights.show_gaps(chosen, gaps)
        ),
        ui.Evidence(
            "traits", f"Heaviest {top.noun.several}", lambda: weights.show_traits(top)
        ),
    ]
    if chosen.has_taus(weighted):
        draw = partial(weights.show_taus, chosen, weighted, dataset, subgroups)
        openers.insert(1, ui.Evidence("taus", "At other τ", draw))
    openers += sweep.settings_evidence(view.run, ("density", "quantiles"))
    page.evidence(*openers, first="gaps")


show_weights()
if without_model:
    st.caption(ui.plain(without_model))
train.export_run(view)
ui.freeze_imports()
