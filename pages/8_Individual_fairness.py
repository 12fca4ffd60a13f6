"""Individual fairness: whether people who are alike are treated alike."""

import streamlit as st

from fairdash import plots, ui

HOW_CONSISTENCY = """
A person is **consistent** if the prediction stays the same whatever does not count:
over all values of the chosen columns, or, without columns, along the directions that do
not count, as far as real people differ in them. Right is fairer, up is more accurate.
The ring is the model above. Lines join one method over its fairness weights.
"""
HOW_METRIC = """
What two people may differ in and still be alike. A bar is the share of the variance of
all features along a direction, beyond the bars above it; hover for its columns.
"""

view = ui.page("Individual fairness", "Are equals treated alike?", pick="run")
models = ui.known_models(view.data, view.run) if view.data else []
networks = [model for model in models if ui.has_network(model)]
if not networks:
    ui.empty(
        "No model to audit yet",
        "People are changed and scored again, which needs a model that is stored as a "
        "network of the features. A plain one trains in seconds.",
        {"Train a model": lambda: ui.open_page("pages/2_Train.py", data=view.data)},
    )
    ui.show_individual_demo()
    ui.settle()
    st.stop()

dataset = ui.store().dataset(view.data)


@st.fragment
def individual():
    """Draw everything that follows the controls."""
    facts = st.container()
    chosen, alike, radius = ui.pick_individual(networks, dataset, view.data, view.run)
    trial = ui.trial_of(chosen)
    try:
        model = ui.audited(view.data, trial.key, trial)
        metric = ui.fair_metric(model, alike)
        found = ui.audit_of(view.data, trial.key, alike, trial)
        table = ui.audit_table(networks, chosen, view.data, alike)
    except ValueError as error:
        ui.problem("This model was not audited", error)
        return
    certificate, ratio = ui.certificates(model, metric, max(radius, 1e-6), 1.25)
    with facts:
        ui.context(*ui.facts_of(model, chosen.label))
    ui.kpi_row(ui.individual_kpis(found, certificate, ratio))
    left, right = st.columns(2, gap="medium")
    with left:
        ui.figure(
            plots.plot_consistency(table),
            finding=plots.consistency_finding(table),
            caption=f"{ui.plural(found.n, 'test row')}, 95% Wilson intervals across.",
            alt=plots.describe_consistency(table),
            how=HOW_CONSISTENCY,
            table=table.drop(columns=["colour_role", "chosen"]),
            key="consistency",
        )
    with right:
        free = metric.table(model.train)
        ui.figure(
            plots.plot_fair_metric(free),
            finding=plots.fair_metric_finding(free),
            caption="Learned on the training rows.",
            alt=plots.describe_fair_metric(free),
            how=HOW_METRIC,
            table=free,
            key="fair metric",
        )
    ui.heading("People whose probability moves most")
    people = ui.worst_people(model, alike, radius)
    st.dataframe(people, hide_index=True, column_config=ui.decimals(people))
    st.caption(
        "The worst counterpart found within the fair radius, rounded to a possible "
        "person. Rounding categories leaves the radius: the squared fair distance is "
        "that of the person shown."
    )
    ui.heading("What if this person were different?")
    ui.what_if(model, alike, people)
    if len(networks) < len(models):
        left_out = ", ".join(m.label for m in models if m not in networks)
        st.caption(f"Not stored as a network of the features: {left_out}.")


individual()
ui.show_individual_demo()
ui.export_run(view)
ui.settle()
