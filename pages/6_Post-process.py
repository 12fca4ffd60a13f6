"""Post-process: other decisions from the scores of a model that is already trained."""

import streamlit as st

from fairdash import audits, ui
from fairdash.ui import postprocess, train

HOW_RAMP = """
Bars are the scores of a group; the **solid** part is decided 1. The line is the
probability of deciding 1: 0 before the ramp, 1 after it, in between at random. Each
group has its own start, so that all get the **target rate**.

**Ramp width (γ)**: how gradual. **Tolerance (ε)**: the gap of rates that is allowed.
Dotted: Hardt's rule, which decides at random between two thresholds of each group.
"""
TUNE = """
The ramps are redrawn while a slider moves. Cards and figures: the {} rows that
thresholds are learned on. Test rows report the choice.
"""
REPORT = """
The ramps stand over the {} rows they were learned on. Cards and figures: test rows,
which report the choice; to tune on, turn the report off.
"""

view = ui.page("Post-process", "Can thresholds fix it?", pick="run")
dataset = ui.store().dataset(view.data) if view.data else None
models = ui.known_models(view.data, view.run)
own = audits.own_models(ui.store(), view.data) if view.data else []
sources = ui.post_sources(models, own, ui.uploads(), view.run)
sources += ui.undeclared_columns(view.data) if view.data else []
if not sources:
    ui.empty(
        "No scores yet",
        "Thresholds are learned on the scores of a model. A plain one trains in "
        "seconds; a column of probabilities in your table or a file of scores serves "
        "as well.",
        {"Train a model": lambda: ui.open_page("pages/2_Train.py", data=view.data)},
    )
    ui.upload_scores()
    ui.freeze_imports()
    st.stop()

subgroups = None
if dataset is not None:
    start = ui.store().dataset_record(view.data).subgroups
    subgroups = ui.chosen_subgroups(dataset, start)


@st.fragment
def post_process():
    """Draw everything that follows the controls."""
    facts = st.container()
    choice = postprocess.pick_post(sources, view.data)
    try:
        data = ui.scored(view.data, choice.source, choice.crossed)
        ramp = postprocess.fit_ramp(data, choice)
    except ValueError as error:
        ui.problem("These groups cannot be corrected", error)
        return
    fitted = postprocess.baselines(view.data, choice.source, choice.crossed)
    details = [
        audits.one_of_seeds(model, models)
        for model in models
        if model.id == choice.source.model
    ]
    name = dataset.name if dataset else ""
    answer = postprocess.post_answer(ramp, choice, name, " ".join(details))
    ui.show_answer(answer, "post", top=facts)
    if scale := ui.what_margins_are(choice.source, view.data):
        st.caption(ui.plain(scale))
    left, right = st.columns(2, gap="medium")
    with left:
        ramps = postprocess.ramps_of(ramp)
        ui.heading(ramps.headline, HOW_RAMP)
        postprocess.live_ramp(ramp, ramps, choice, view.data, fitted.hardt)
        st.caption((REPORT if choice.on_test else TUNE).format(data.learned))
        with st.container(horizontal=True, gap="small"):
            postprocess.pick_ramp(ramp, choice, view.data)
            postprocess.post_downloads(ramp, choice, view.data, subgroups)
    with right:
        if choice.source.has_outcome:
            trade = postprocess.trade_off(ramp, choice, view.data)
            ui.show_answer(trade, "trade off")
        else:
            postprocess.changed_by_group(ramp)
    postprocess.by_measure(ramp)
    if dataset is not None and choice.source.upload is None:
        inside = postprocess.local_before_after(ramp, choice, view.data, subgroups)
        ui.show_answer(inside, "local")
    with st.expander("Apply to a new file", icon=":material/upload_file:"):
        postprocess.apply_to_file(ramp, choice, view.data, view.run, subgroups)
    if choice.source.has_outcome and (place := postprocess.opened("choosing")):
        with place:
            postprocess.cost_of_choosing(ramp, choice, view.data)


post_process()
train.export_run(view)
ui.freeze_imports()
