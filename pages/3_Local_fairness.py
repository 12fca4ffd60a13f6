"""Local fairness: the gap between groups inside every subgroup."""

import streamlit as st

from fairdash import audits, ui
from fairdash.ui import local, pages, sweep, train

view = ui.page(pages.LOCAL_FAIRNESS)
models = ui.known_models(view.data, view.run)
dataset = ui.store().dataset(view.data) if view.data else None
if view.data:
    models += audits.trials.own_models(ui.store(), view.data)
if not models:
    ui.stop_empty(
        "No trained model yet",
        "Gaps are looked for in the predictions of a model. A plain one trains in "
        "seconds. A column of scores becomes a model on the Data page.",
        {"Train a model": lambda: ui.open_page(pages.TRAIN, data=view.data)},
    )

roles = dataset.roles
start = ui.store().dataset_record(view.data).subgroups


@st.fragment
def local_fairness():
    """Draw everything that follows the controls."""
    page = ui.result_page("local")
    with page.tray:
        chosen = audits.trials.beside_trained(ui.tray.pick_models(models, view.run))
    with page.controls:
        measure = ui.pick_measure(
            audits.gaps.other_measures(ui.store(), chosen[-1], view.data)
        )
        subgroups = ui.subgroup_form(dataset, start)
        ui.pick_rule(chosen[-1])
        with ui.more(), st.container(width=420):
            reference = ui.pick_reference(dataset.group_names, roles.sensitive_feature)
            compared = ui.pick_seed(chosen, dataset)
    with page.figure:
        ui.advise_rule(compared[-1], view.data)
    compared = ui.decided(compared)
    in_figure = page.before_after(compared)
    truth = local.planted(view.data, subgroups, measure)

    def answer_of(some_models):
        result = audits.gaps.local_by_measure(
            ui.store(), some_models, view.data, subgroups, measure
        )
        return result.answer(dataset, subgroups, truth=truth)

    try:
        answer = answer_of(compared)
        drawn = answer
        if len(in_figure) < len(compared):
            drawn = answer_of(in_figure)
    except ValueError as error:
        with page.figure:
            ui.problem("These subgroups cannot be looked at", error)
        return
    page.show(answer, shown=drawn)
    openers = sweep.settings_evidence(view.run, ("local", "map"))
    if audits.gaps.predicts_classes(ui.store(), compared[-1], view.data):
        openers.append(
            ui.Evidence(
                "classes",
                "Every class",
                lambda: local.classes_section(compared[-1], view.data),
            )
        )
    page.evidence(
        *openers,
        ui.Evidence(
            "measures",
            "Every measure",
            lambda: local.by_measure(compared, dataset, view.data, measure, reference),
        ),
        ui.Evidence(
            "cuts",
            "Other cuts",
            lambda: local.cuts_section(
                compared, view.data, measure=measure, subgroups=subgroups
            ),
        ),
        ui.Evidence(
            "find",
            "Subgroups found by search",
            lambda: local.find_section(
                compared, view.data, measure=measure, subgroups=subgroups
            ),
        ),
    )


local_fairness()
train.export_run(view)
ui.freeze_imports()
