"""Noisy groups: what holds for the true groups when the known ones are wrong."""

import streamlit as st

from fairdash import plots, ui

PAGE = "pages/7_Noisy_groups.py"
MOST = 12
HOW_CERTAIN = """
Each row is a **model**. Circle: the largest violation when the noisy groups are taken
at their word. Diamond: on the true groups. Right of the dashed line the constraint is
broken.

**Exact, TV ball**: the largest violation of any groups within the radius (γ).
**Exact, soft**: of any memberships that agree with P(G | Ĝ). **20 random draws**: the
check of the paper's public code, which averages over rows and so sees little.
"""
HOW_CONFUSION = """
Each row is a **true group**: the share, and the number, of its people by noisy group.
"""
HOW_STUDY = """
Groups of the training rows are replaced at random, models train on these **noisy**
groups, and the largest violation is measured on test rows: on true groups, on noisy
groups, beside the error. Below the dashed line the constraint holds. Bars: one
standard deviation over seeds. **Naive** trusts the noisy groups, at 0% they are the
true ones; **DRO** guards against all groups within the noise, **Soft** against all
memberships that agree with it.
"""
HOW_BOUNDS = """
How far a true group can be from its noisy version (total variation). **Lemma 1** of the
paper, P(Ĝ ≠ j | G = j), needs groups with equal true and noisy shares. The **valid
bound** is the larger of that and P(G ≠ j | Ĝ = j).
"""

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


def show_noise(noise):
    """Draw who is mistaken for whom, and the bounds that follow."""
    ui.figure(
        plots.plot_confusion(noise.shares),
        finding=plots.confusion_finding(noise.shares),
        caption=ui.confusion_caption(noise),
        alt=plots.describe_confusion(noise.shares),
        how=HOW_CONFUSION,
        key="confusion",
    )
    if noise.bounds is None:
        st.caption("The groupings differ, so only the soft certificate applies.")
        return
    ui.heading("How far apart groups can be", HOW_BOUNDS)
    st.dataframe(ui.bounds_table(noise.bounds), hide_index=True)
    if warning := ui.bounds_warning(noise):
        st.warning(warning, icon=":material/warning:")


def show_certificates(noise, question, left, right):
    """Draw the radius, what it means for one model, and every model beside it."""
    numbers = st.container()
    with left:
        name = st.selectbox("Model", list(models), key=f"{view.run} noisy model")
        radius = ui.pick_radius(models[name], view.data, noise, question)
    table = ui.certificate_table(models, view.data, noise, radius, question)
    chosen = table[table["label"] == name].iloc[0]
    with numbers:
        ui.kpi_row(ui.noisy_kpis(chosen, radius))
        st.markdown(ui.guarantee(chosen, radius, noise, question.constraints))
    with right:
        ui.figure(
            plots.plot_certificates(table),
            finding=plots.certificate_finding(table),
            caption=ui.certificate_caption(len(models), len(trained) + len(columns)),
            alt=plots.describe_certificates(table),
            how=HOW_CERTAIN,
            table=table,
            key="certificates",
        )


def show_no_model():
    """Say what a certificate takes."""
    ui.empty(
        "No model to certify yet",
        "A plain one trains in seconds; the bounds below hold for any.",
        {"Train a model": lambda: ui.open_page("pages/2_Train.py", data=view.data)},
    )


def show_study(question):
    """Draw the study, or the button that runs it."""
    table = ui.study_table(view.data, question)
    if table["level"].max() > 0:
        ui.figure(
            plots.plot_noise_study(table),
            finding=plots.noise_finding(table),
            caption=ui.study_caption(table),
            alt=plots.describe_noise_study(table),
            how=HOW_STUDY,
            table=table,
            key="study",
        )
        return
    ui.heading("What noise in training does", HOW_STUDY)
    st.caption("Trains every approach at growing noise; half a minute on the sample.")
    if st.button("Run the study", icon=":material/science:"):
        try:
            run = ui.start_study(view.data, question)
        except ValueError as error:
            ui.problem("The study did not start", error)
            return
        ui.open_page("pages/2_Train.py", run=run, data=view.data)


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
        left, right = st.columns([2, 3], gap="medium")
        with top:
            if models:
                show_certificates(noise, question, left, right)
            else:
                show_no_model()
    except ValueError as error:
        ui.problem("Nothing can be said of these groups", error)
        return
    with left:
        show_noise(noise)
    with right:
        show_study(question)


noisy_groups()
if view.run:
    ui.export_run(view)
ui.settle()
