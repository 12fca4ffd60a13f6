"""Noisy groups: what holds for the true groups when the known ones are wrong."""

import streamlit as st

from fairdash import ui

PAGE = "pages/7_Noisy_groups.py"
MOST = 12

view = ui.page("Noisy groups", "What if groups are wrong?", pick="run")
if view.data is None:
    ui.empty(
        "No groups to doubt yet",
        "Open a table: how far true groups can be from noisy ones, and what that means "
        "for any model trained on it.",
        {
            "Open the sample": lambda: ui.open_page(PAGE, data=ui.add_sample("loans")),
            "Upload a table": lambda: ui.open_page("pages/1_Data.py"),
        },
    )
    ui.settle()
    st.stop()

dataset = ui.store().dataset(view.data)
columns = ui.score_columns(view.data)
trained = ui.models_of_run(view.data, view.run)
models = ui.decided_models(trained[:MOST], columns)
n_known = len(trained) + len(columns)


def show_no_model():
    """Say what a certificate takes."""
    ui.empty(
        "No model to certify yet",
        "A plain one trains in seconds; the bounds below hold for any.",
        {"Train a model": lambda: ui.open_page("pages/2_Train.py", data=view.data)},
    )


@st.fragment
def noisy_groups():
    """Draw everything that follows the controls."""
    ui.context(*ui.noisy_facts(dataset, models))
    try:
        noise, question = ui.pick_noise(dataset, view.data)
        if noise is None:
            ui.empty("No sample yet", "Upload a file that has both groups.", {})
            return
        top = st.container()
        halves = st.columns([2, 3], gap="medium")
        with top:
            if models:
                ui.show_certificates(
                    models, n_known, view.data, noise, question, halves
                )
            else:
                show_no_model()
    except ValueError as error:
        ui.problem("Nothing can be said of these groups", error)
        return
    with halves[0]:
        ui.show_noise(noise)
    with halves[1]:
        ui.show_study(view.data, question)


noisy_groups()
if view.run:
    ui.export_run(view)
ui.settle()
