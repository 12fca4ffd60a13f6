"""Noisy groups: what holds for the true groups when the known ones are wrong."""

import streamlit as st

from fairdash import ui
from fairdash.ui import data, noisy_groups, train

PAGE = "pages/7_Noisy_groups.py"

view = ui.page("Noisy groups", "How many groups could be recorded wrongly?", pick="run")
models = noisy_groups.certifiable(view.data, view.run, ui.uploads())
if view.data is None and not models:
    ui.empty(
        "No groups yet",
        "Open a table: how far true groups can be from noisy ones, and what that means "
        "for any model trained on it. A file of scores serves as well.",
        data.ways_to_a_table(PAGE),
    )
    ui.upload_scores()
    ui.freeze_imports()
    st.stop()


def show_no_model():
    """Say what a certificate takes."""
    ui.empty(
        "No model to certify yet",
        "A plain one trains in seconds, and scores of your own serve as well; the "
        "bounds below hold for any.",
        {"Train a model": lambda: ui.open_page("pages/2_Train.py", data=view.data)},
    )


def show_noisy_groups():
    """Draw the answer, the controls and everything that follows them."""
    facts, answer = st.container(), st.container()
    try:
        chosen = noisy_groups.pick_noise(models, view.data, view.run)
        with facts:
            ui.context(*noisy_groups.noisy_facts(chosen.rows, len(models)))
        if chosen.noise is None:
            ui.empty(
                "No table yet",
                "Upload a file that has the true and the recorded group of people.",
                {},
            )
            return
        numbers = st.container()
        halves = st.columns([2, 3], gap="medium")
        if models:
            noisy_groups.show_certificates(
                models, view.data, chosen, answer, numbers, halves
            )
        else:
            with numbers:
                show_no_model()
    except ValueError as error:
        ui.problem("Nothing can be said of these groups", error)
        return
    with halves[0]:
        noisy_groups.show_noise(chosen.rows, chosen.noise)
    upload = chosen.model and chosen.model.upload
    trainable = view.data and not upload and data.can_train(view.data)
    with halves[1]:
        noisy_groups.show_bounds(chosen.rows, chosen.noise)
        if trainable:
            noisy_groups.show_training(
                view.data, view.run, chosen.question, chosen.noise
            )


if view.run and not ui.store().run(view.run).over:
    ui.follow(view.run, noisy_groups.show_progress)
show_noisy_groups()
if view.run:
    train.export_run(view)
ui.freeze_imports()
