"""Local fairness: the gap between groups inside every subgroup."""

import streamlit as st

from fairdash import plots, results, ui
from fairdash.ui import local, train

HOW = """
Each row is a **subgroup**. A mark is the largest minus the smallest value of the
measure in the groups inside it, with a 95% interval; of the rate of positive
predictions that is local DI. 0 is fair.

A dashed line is the same gap over all rows: a model can be fair on the whole and unfair
in a subgroup. The largest of many noisy gaps is never 0; the **grey** band ends where
the largest gap of a fair model stays in 95% of cases.
"""

COUNT = st.column_config.NumberColumn(format="localized")
view = ui.page("Local fairness", "Where is the model unfair?", pick="run")
models = ui.known_models(view.data, view.run)
dataset = ui.store().dataset(view.data) if view.data else None
models += results.own_models(ui.store(), view.data) if view.data else []
if not models:
    ui.stop_empty(
        "No trained model yet",
        "Gaps are looked for in the predictions of a model. A plain one trains in "
        "seconds. A column of scores becomes a model on the Data page.",
        {"Train a model": lambda: ui.open_page("pages/2_Train.py", data=view.data)},
    )

roles = dataset.roles
favourable = roles.positive_is != "unfavourable"
start = ui.store().dataset_record(view.data).subgroups


@st.fragment
def local_fairness():
    """Draw everything that follows the controls."""
    facts = st.container()
    chosen = results.beside_trained(
        ui.pick_models(models, plots.MOST_MODELS, run_id=view.run)
    )
    with ui.controls(4 + (len(dataset.group_names) > 2)):
        measure = ui.pick_measure()
        reference = ui.pick_reference(dataset.group_names, roles.sensitive_feature)
        band = st.container()
        options = ui.more("Subgroups")
        with ui.more(), st.container(width=420):
            trained = not all(map(results.is_own, chosen))  # others are on all rows
            everywhere = trained and local.pick_rows()
            compared = ui.pick_seed(chosen)
            k = ui.pick_k()
    subgroups = ui.subgroup_form(dataset, start, bar=(band, options), options=options)
    held_out = compared
    if everywhere:
        compared = local.on_all_rows(compared, view.data)
        if not compared:
            return
    try:
        result = results.local_by_measure(
            ui.store(), compared, view.data, subgroups, measure, reference
        )
    except ValueError as error:
        ui.problem("These subgroups cannot be looked at", error)
        return
    feature = roles.sensitive_feature
    outcome = roles.spoken_outcome()

    def answer():
        picture = plots.plot_local_di(**result.drawn(dataset))
        words = result.verdict(outcome, favourable=favourable, feature=feature)
        return words, picture.finished(), result.caption(), result.ranked(feature)

    words, picture, caption, ranked = result.once(
        answer, "answer", outcome, favourable, feature
    )
    with facts:
        ui.context(*result.facts(dataset.name, subgroups))
        ui.verdict(words)
    ui.kpi_row(result.once(lambda: result.kpis(k), "kpis", k))
    if not local.draw_ratios(result, compared[-1], feature):
        ui.figure(
            picture,
            caption=caption,
            how=HOW,
            table=result.gaps,
            key="local di",
            control=ui.pick_gap,
        )
    ui.offer_missing_seeds(held_out, view.data)
    local.by_measure(compared, dataset, view.data, measure, reference)
    local.find_section(
        compared, dataset, view.data, measure=measure, subgroups=subgroups
    )
    ui.heading(f"Subgroups of {result.label} by gap")
    ui.show_table(ranked, columns={"Rows": COUNT})
    st.caption(ui.plain(result.below()))
    ui.table_download(
        "Download",
        result.estimates,
        "fairdash-local-di.csv",
        icon=":material/download:",
        type="secondary",
    )


local.follow_folds(view.data)
local_fairness()
train.export_run(view)
ui.freeze_imports()
