"""Local fairness: the gap between groups inside every subgroup."""

import streamlit as st

from fairdash import plots, results, ui
from fairdash.ui import train

HOW = """
Each row is a **subgroup**. A mark is its local DI: the largest minus the smallest rate
of positive predictions of the groups inside it, with a 95% interval. 0 is fair.

A dashed line is the same gap over all rows: a model can be fair on the whole and unfair
in a subgroup. The largest of many noisy gaps is never 0; the **grey** band ends where
the largest gap of a fair model stays in 95% of cases.
"""

view = ui.page("Local fairness", "Where is the model unfair?", pick="run")
models = ui.known_models(view.data, view.run) if view.data else []
if not models:
    ui.empty(
        "No trained model yet",
        "Gaps are looked for in the predictions of a model. A plain one trains in "
        "seconds.",
        {"Train a model": lambda: ui.open_page("pages/2_Train.py", data=view.data)},
    )
    ui.freeze_imports()
    st.stop()

dataset = ui.store().dataset(view.data)
start = ui.store().dataset_record(view.data).subgroups


@st.fragment
def local_fairness():
    """Draw everything that follows the controls."""
    facts = st.container()
    chosen = ui.pick_models(models, plots.MOST_MODELS, run_id=view.run)
    with ui.controls(3):
        bar = st.container(), st.container()
        options = ui.more("Subgroups")
    subgroups = ui.subgroup_form(dataset, start, bar=bar, options=options)
    with options:
        compared = ui.pick_seed(chosen)
        k = ui.pick_k()
        upright = ui.pick_upright()
    try:
        result = results.local_result(ui.store(), compared, view.data, subgroups)
    except ValueError as error:
        ui.problem("These subgroups cannot be made", error)
        return
    with facts:
        ui.context(*result.facts(dataset.name, subgroups))
        ui.verdict(result.verdict(dataset.group_names, dataset.roles.outcome()))
    ui.kpi_row(result.kpis(k))
    ui.figure(
        plots.plot_local_di(
            result.shown,
            result.models,
            groups=dataset.group_names,
            chance=result.chance,
            changes=result.changes,
            upright=upright,
        ),
        caption=result.caption(),
        how=HOW,
        table=result.cells,
        table_config=ui.decimals(result.cells),
        key="local di",
    )
    ui.offer_missing_seeds(compared, view.data)
    ui.heading(f"Subgroups of {result.label} by gap")
    ranked = result.ranked(dataset.group_names)
    st.dataframe(
        ranked, hide_index=True, placeholder="–", column_config=ui.decimals(ranked)
    )
    ui.table_download(
        "Download",
        result.cells,
        "fairdash-local-di.csv",
        icon=":material/download:",
        type="secondary",
    )


local_fairness()
train.export_run(view)
ui.freeze_imports()
