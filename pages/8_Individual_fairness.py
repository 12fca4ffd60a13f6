"""Individual fairness: whether people who are alike are treated alike."""

import streamlit as st

from fairdash import audits, ui
from fairdash.ui import individual, pages, train

view = ui.page(pages.INDIVIDUAL_FAIRNESS)
models = ui.known_models(view.data, view.run)
if view.data:
    models += audits.trials.callable_models(ui.store(), view.data, models)
cannot = ui.scores.cannot_be_asked(view.data, "about people who are changed")
if not models:
    ui.stop_empty(
        "No model to audit yet",
        "People who are alike are compared by a model. A plain one trains in seconds; "
        "Data takes an ONNX file. " + cannot,
        {"Train a model": lambda: ui.open_page(pages.TRAIN, data=view.data)},
    )


@st.fragment
def show_individual():
    """Draw everything that follows the controls."""
    page = ui.result_page("pairs")
    with page.tray:
        chosen = ui.tray.pick_model(models, view.run)
    with page.controls:
        question = individual.pick_individual(chosen, view.data)

    def pairs_of(kind, radius=0.0):
        return individual.pairs_of(
            view.data,
            question.trial,
            question.rule,
            kind,
            question.flipped,
            radius,
            "" if kind == "changed" else question.comparable,
        )

    try:
        with page.figure, st.spinner("Comparing each person with all others…"):
            model = individual.model_of(view.data, question.trial, question.rule)
            similar = pairs_of("similar")
            changed = pairs_of("changed") if question.flipped else None
        pairs = {"similar": similar, "changed": changed}.get(question.kind)
        if pairs is None:
            with page.figure, st.spinner("Inventing look-alikes and scoring them"):
                pairs = pairs_of("invented", question.radius)
    except ValueError as error:
        ui.problem("This model was not audited", error)
        return
    with page.figure:
        ui.advise_rule(question.model, view.data)
    page.show(
        audits.look_alikes.alike_answer(
            pairs,
            similar,
            changed,
            question.columns,
            label=question.model.label,
            model=model,
        )
    )

    page.evidence()
    if cannot:
        st.caption(ui.plain(cannot))


show_individual()
train.export_run(view)
ui.freeze_imports()
