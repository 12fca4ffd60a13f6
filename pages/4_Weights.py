"""Weights: which training rows ROAD and BROAD turned to."""

import streamlit as st

from fairdash import plots, results, ui
from fairdash.ui import train, weights

HOW_RELATED = """
Each dot is a **subgroup** of the training rows, its area the number of rows. Right: the
other model treats its groups more differently. Up: this model gave its rows more
weight. A rising line means that the weights went where the gap was. No model was told
of these subgroups.
"""
HOW_EPOCHS = """
The line is the median of r among the rows of a group, the bands hold 50% and 90% of the
rows. All weights start near 1 and the mean stays 1, so attention to some rows is taken
from others.
"""
HOW_TRAITS = """
For each column the value that the rows with the largest weights have more often than
all training rows. The tick is its share among all rows, the dot its share among the top
rows with a 95% Wilson interval. Numbers are cut at their quartiles.
"""

view = ui.page("Weights", "Which rows carry weight?", pick="run")
models = ui.known_models(view.data, view.run)
own = ui.cannot_be_asked(view.data, "which training rows weighed most")
weighted = results.weighted_models(models)
if not weighted:
    ui.stop_empty(
        "No model with weights yet",
        "ROAD and BROAD give every training row a weight; other methods do not. " + own,
        {"Train ROAD": lambda: ui.open_page("pages/2_Train.py", data=view.data)},
    )

dataset = ui.store().dataset(view.data)
start = ui.store().dataset_record(view.data).subgroups


@st.fragment
def show_weights():
    """Draw everything that follows the controls."""
    facts = st.container()
    with ui.controls(4):
        first, second = st.container(), st.container()
        options = ui.more("Subgroups")
        with ui.more("Model and group"):
            chosen = weights.pick_weighted(weighted, models, view.data, view.run)
            group = weights.pick_group(dataset.group_names)
    with first:
        epoch = weights.pick_epoch(chosen)
    with second:
        share = weights.pick_share()
    subgroups = ui.subgroup_form(
        dataset, start, bar=(options, options), options=options
    )
    with facts:
        ui.context(*chosen.facts(dataset.name))

    ratio = chosen.ratio(epoch)
    try:
        table, related = chosen.by_subgroup(epoch, subgroups)
    except ValueError as error:
        ui.problem("These subgroups cannot be made", error)
        return
    top = results.find_top_rows(chosen, ratio, share, group)
    with facts:
        ui.verdict(results.weights_verdict(chosen, related, top, share))
    ui.kpi_row(results.weight_kpis(chosen, ratio, related))
    st.caption(weights.whose(models, chosen.model))
    left, right = st.columns(2, gap="medium")
    with left:
        ui.figure(
            plots.plot_ratio_against_di(
                table,
                colour_role=chosen.colour_role,
                related=related,
                reference=chosen.reference_name,
            ),
            how=HOW_RELATED,
            key="related",
        )
    rows = st.container()
    if len(chosen.epochs()) > 1:
        with right:
            ui.figure(
                plots.plot_ratio_by_epoch(
                    chosen.quantiles(),
                    groups=dataset.group_names,
                    feature=dataset.roles.sensitive_feature,
                ),
                how=HOW_EPOCHS,
                key="epochs",
            )
        right, rows = rows.columns(2, gap="medium")
    with right:
        ui.figure(
            plots.plot_traits(
                top.traits,
                colour_role=chosen.colour_role,
                share=share,
                n_rows=top.n_rows,
            ),
            how=HOW_TRAITS,
            key="traits",
        )
    with rows:
        ui.heading("The rows with the largest r")
        st.dataframe(
            top.listed,
            hide_index=True,
            placeholder="–",
            column_config=ui.decimals(top.listed[["r", "P(ŷ = 1)"]]),
        )


show_weights()
if own:
    st.caption(ui.plain(own))
train.export_run(view)
ui.freeze_imports()
