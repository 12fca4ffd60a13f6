"""Drift: whether models hold on tables they were not trained on."""

import streamlit as st

from fairdash import audits, ui
from fairdash.ui import data, drift, pages, train

view = ui.page(pages.DRIFT)
trained = ui.known_models(view.data, view.run)
columns = audits.drifts.column_models(ui.store(), view.data) if view.data else []
models = [*trained, *columns]
without_model = (
    "" if columns else ui.scores.cannot_be_asked(view.data, "about other tables")
)
if view.data is None:
    ui.stop_empty(
        "No table yet",
        "A model is held to rows of another time or place than it was trained on. The "
        "Loans sample has such a companion.",
        data.ways_to_a_table(pages.DRIFT),
    )
if not models:
    ui.stop_empty(
        "No trained model yet",
        "Other tables are scored by a model that was trained here; a plain one trains "
        "in seconds. " + without_model,
        {"Train a model": lambda: ui.open_page(pages.TRAIN, data=view.data)},
    )

dataset = ui.store().dataset(view.data)


@st.fragment
def show_drift():
    """Draw everything that follows the controls."""
    page = ui.result_page("drift")
    with page.tray:
        model = ui.tray.pick_model(models, view.run)
    try:
        with page.controls:
            question = drift.pick_drift(model, dataset, view.data)
        if question.table is None:
            drift.ask_for_table(view.data)
            return
        if model in columns:
            page.show(drift.compare_column(question, view.data))
            page.evidence()
            return
        result = drift.compare(question, trained, view.data, view.run)
    except ValueError as error:
        ui.problem("The tables were not compared", error)
        return
    with page.figure:
        ui.advise_rule(model, view.data)
    page.show(result.answer())
    page.evidence(
        ui.Evidence("columns", "Shift of columns", lambda: drift.show_shifts(result)),
    )


show_drift()
if without_model:
    st.caption(ui.plain(without_model))
train.export_run(view)
ui.freeze_imports()
