"""Individual fairness: whether people who are alike are treated alike."""

import streamlit as st

from fairdash import audits, ui
from fairdash.ui import individual, train

view = ui.page("Individual fairness", "Are equals treated alike?", pick="run")
models = ui.known_models(view.data, view.run)
models += audits.callable_models(ui.store(), view.data, models) if view.data else []
asked = ui.cannot_be_asked(view.data, "about people who are changed")
if not models:
    ui.empty(
        "No model to audit yet",
        "People are changed in what should not count and scored again, which needs a "
        "model. A plain one trains in seconds; Data takes an ONNX file. " + asked,
        {"Train a model": lambda: ui.open_page("pages/2_Train.py", data=view.data)},
    )
    ui.freeze_imports()
    st.stop()

dataset = ui.store().dataset(view.data)


@st.fragment
def show_individual():
    """Draw everything that follows the controls."""
    facts = st.container()
    question = individual.pick_individual(
        models, dataset, view.data, view.run, individual.features_of
    )
    try:
        model = individual.model_of(view.data, question.trial)
        metric = individual.metric_of(model.rows, question.spec)
        with st.spinner("Searching people who are alike and scoring them"):
            own = individual.audits_of([question.model], question, view.data)
            found = individual.people_of(view.data, question.trial, question)
    except ValueError as error:
        ui.problem("This model was not audited", error)
        return
    answer = individual.answer_of(own, question, dataset.name)
    ui.show_answer(answer, "individual", top=facts)
    left, right = st.columns(2, gap="medium")
    with right:
        individual.show_metric(metric, model, question)
    individual.show_people(found, model)
    individual.what_if(model, metric, found)
    individual.show_certificate(view.data, question, model)
    with left:
        # other models come last: all that is said of one comes before them
        picture = st.container()
        known = ui.by_interest(models, view.run)
        compared, others = individual.pick_compared(known, question)
        with picture, st.spinner(f"Comparing {ui.plural(len(compared), 'model')}"):
            audits = individual.audits_of(compared, question, view.data)
            individual.show_consistency(audits, question, model.rows.n, others)


show_individual()
if asked:
    st.caption(ui.plain(asked))
train.export_run(view)
ui.freeze_imports()
