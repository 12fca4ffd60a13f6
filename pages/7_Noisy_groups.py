"""Noisy groups: what holds for the true groups when the known ones are wrong."""

import streamlit as st

from fairdash import audits, ui
from fairdash.audits import certificates
from fairdash.ui import noisy_groups, pages, train

view = ui.page(pages.NOISY_GROUPS)
models = ui.known_models(view.data, view.run)
if view.data:
    models += audits.trials.own_models(ui.store(), view.data)
if not models:
    ui.stop_empty(
        "No model to certify yet",
        "A promise is certified for a model. A plain one trains in seconds. A column "
        "of scores becomes a model on the Data page.",
        {"Train a model": lambda: ui.open_page(pages.TRAIN, data=view.data)},
    )
models = audits.trials.beside_trained(models)
dataset = ui.store().dataset(view.data)


@st.fragment
def show_noisy_groups():
    """Draw everything that follows the controls."""
    page = ui.result_page("worst case")
    with page.tray:
        chosen = ui.tray.pick_model(models, view.run)
    try:
        with page.controls:
            start = certificates.trained_for(ui.store(), chosen, view.run)
            question, noise = noisy_groups.pick_promise(dataset, start)
            ui.pick_rule(chosen)
            (model,) = ui.decided([chosen])
            if noise.memberships is None:
                curve = noisy_groups.curve_of(model, view.data, noise, question)
                share = noisy_groups.pick_share(curve)
            else:
                answer = certificates.membership_answer(
                    ui.store(), model, view.data, noise.memberships, question
                )
    except ValueError as error:
        ui.problem("Nothing can be said of these groups", error)
        return
    with page.figure:
        ui.advise_rule(chosen, view.data)
    if noise.memberships is not None:
        page.show(answer)
        page.evidence()
        return
    rows = "rows" if model.is_own and not view.run else "test rows"
    page.show(certificates.promise_answer(curve, question, share, rows))

    if noise.matrix is None:
        page.evidence()
        return

    def show_shares():
        ui.draw_table(noise.table)
        st.caption("P(G | Ĝ): the share of each true group behind a recorded one.")

    page.evidence(ui.Evidence("bounds", "What is known", show_shares))


show_noisy_groups()
if view.run:
    train.export_run(view)
ui.freeze_imports()
