"""Post-process: other decisions from the scores of a model that is already trained."""

import streamlit as st

from fairdash import audits, ui
from fairdash.ui import pages, postprocess, train

HOW = """
A method learns a rule for each group: the chance of deciding 1 at each score.

**Ramp**: bars are the scores of a group; the **solid** part is decided 1. The line is
the chance of deciding 1: 0 before the ramp, 1 after it, in between at random: the grey
zone. Each group has its own start, so that all get the **target rate**. **Ramp
width (γ)**: how gradual. A narrow ramp is nearly a threshold; a wide one leaves more
people to chance and costs accuracy, as the words beside the sliders say. **Tolerance
(ε)**: the gap of rates that is allowed.

{others}

Before the correction the model decides by the rule that you choose. For the ramp a rule
other than 0.5 makes *As before* the target rate, so that both accept the same share.

Thresholds are learned on the rows drawn. The verdict, the cards and the evidence are of
test rows, which took no part.
"""

view = ui.page(pages.POST_PROCESS)
dataset = ui.store().dataset(view.data) if view.data else None
models = ui.known_models(view.data, view.run)
own_models = audits.trials.own_models(ui.store(), view.data) if view.data else []
sources = ui.scores.post_sources(models, own_models, view.run)
if not sources:
    ui.empty(
        "No scores yet",
        "Thresholds are learned on the scores of a model. A plain one trains in "
        "seconds; a column of scores in your table, named on Data, serves as well.",
        {"Train a model": lambda: ui.open_page(pages.TRAIN, data=view.data)},
    )
    ui.end_page()

start = ui.store().dataset_record(view.data).subgroups
subgroups = ui.chosen_subgroups(dataset, start)


@st.fragment
def post_process():
    """Draw everything that follows the controls."""
    page = ui.result_page("post")
    with page.controls:
        choice = postprocess.pick_post(sources)
    with page.figure:
        choice = postprocess.pick_dials(choice)
    try:
        data = ui.scores.scored(view.data, choice.source)
        corrected = postprocess.correct(data, choice)
    except ValueError as error:
        ui.problem("These groups cannot be corrected", error)
        return
    scale = ui.scores.what_margins_are(choice.source, view.data)
    answer = postprocess.post_answer(corrected, choice, dataset, scale)
    page.show(answer)
    with page.figure:
        by_id = {model.id: model for model in [*models, *own_models]}
        ui.advise_rule(by_id[choice.source.setting], view.data)
        if choice.method == postprocess.RAMP:
            postprocess.live_ramp(corrected, choice, view.data)

    def other_methods():
        postprocess.trade_off(corrected, choice, view.data)

    def inside():
        postprocess.inside_subgroups(corrected, view.data, subgroups)

    def how():
        st.markdown(HOW.format(others=postprocess.other_methods()))

    page.evidence(
        ui.Evidence("trade", "Other methods", other_methods),
        ui.Evidence("measure", "By group", lambda: postprocess.by_group(corrected)),
        ui.Evidence("inside", "Inside subgroups", inside),
        ui.Evidence("apply", "Download", lambda: postprocess.post_downloads(corrected)),
        ui.Evidence("how", "How this is computed", how),
    )


post_process()
train.export_run(view)
ui.freeze_imports()
