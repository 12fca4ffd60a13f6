"""Data: upload a table, say what its columns mean, see who it describes."""

import streamlit as st

from fairdash import audits, ui
from fairdash.datasets import readable_checks
from fairdash.ui import data, pages

view = ui.page(pages.DATA)
table = data.open_table(view.data)
if table is None and data.audits_source():
    data.audit_source()
    ui.end_page()
if table is None:
    ui.context("Nothing leaves this machine.")
    data.choose_table()
    ui.end_page()

question = st.container()
with question:
    data.wide_form(table)
form_place, result_place = ui.form_beside(
    "data", answered=view.data is not None, form=1 / 3
)
with result_place:
    page = ui.result_page("base rates", beside=False)
page.below = st.container()
dataset = None
edited = False
roles = table.roles
subgroups = table.subgroups
with form_place, st.container(border=True, gap="xsmall"):
    st.header("Roles", anchor=False)
    try:
        frame = data.prepared_table(table.digest, roles)
        counts = data.LiveCounts()
        roles, subgroups = data.roles_form(
            frame, roles, subgroups, table.digest, table.key, counts
        )
        edited = data.keep_edits(table, roles, subgroups)
        fitting = data.edited_dataset(table, roles)
        counts.show(fitting)
        rates = data.edited_rates(fitting, subgroups)
        # Last: a page that failed above has no data set to audit.
        dataset = fitting
    except ValueError as error:
        refused = error
    data.offer_roles(table, roles, subgroups)
    data.pick_several(table, roles, subgroups)
    audit = bool(roles.features) and st.button(
        "Audit a plain model",
        type="primary",
        icon=":material/arrow_forward:",
        width="stretch",
        disabled=dataset is None,
        help="Trains a network without a fairness term and shows where it is unfair.",
    )
    scored = next(iter(roles.scores), None)
    audit_scores = scored is not None and st.button(
        ui.plain(f"Audit {scored.column}"),
        type="secondary" if roles.features else "primary",
        icon=":material/arrow_forward:",
        width="stretch",
        disabled=dataset is None,
        help="Shows where the model that gave these scores is unfair. Nothing is "
        "trained.",
    )
    brought = dataset and data.bring_model(
        table, lambda: data.keep_dataset(table, roles, subgroups)
    )
    keep = False
    if edited:
        with st.container(horizontal=True, gap="xsmall"):
            keep = st.button("Use these roles", disabled=dataset is None)
            if st.button("Discard", type="tertiary"):
                data.discard_edits(table)
checks = data.edited_checks(table, roles)

if brought:
    data.open_scores(*brought)
if dataset is None and isinstance(refused, data.Unchosen):
    with question:
        data.no_guess_notice(table)
elif dataset is None:
    with result_place:
        ui.problem(f"{table.name} cannot be used with these roles", refused)
else:
    if audit or keep or audit_scores:
        try:
            dataset_id = data.keep_dataset(table, roles, subgroups)
            if audit:
                ui.start_audit(dataset_id)
            if audit_scores:
                data.open_scores(dataset_id, scored.column)
        except ValueError as error:
            with result_place:
                ui.problem(f"No model was trained on {table.name}", error)
        else:
            ui.open_page(pages.DATA, data=dataset_id)
    # Above the form, on a phone as well.
    with question:
        guessed = data.guess_notice(table, roles)
    cards = audits.gaps.base_rate_kpis(
        rates,
        dataset.n_people,
        dataset.n_read,
        guessed=guessed,
        noun=dataset.roles.noun,
    )
    reversal = "" if guessed else data.edited_reversal(dataset, subgroups)
    page.show(
        audits.gaps.base_rates_answer(
            rates, dataset, cards, guessed=guessed, reversal=reversal
        )
    )

with view.export():
    listed = readable_checks(checks)
    ui.table_download("Checks (CSV)", listed, "fairdash-checks.csv")
    if dataset is not None:
        ui.table_download("Base rates (CSV)", rates.cells, "fairdash-base-rates.csv")

openers = [
    ui.Evidence(
        "checks",
        f"Checks ({len(checks)})",
        lambda: data.check_panel(table, roles, subgroups, checks),
    ),
    ui.Evidence("preview", "Preview", lambda: data.preview(table, roles)),
]
page.evidence(*openers, first="" if dataset is not None else "checks")
with page.below:
    n_rows = ui.plural(len(table.frame), "row")
    ui.context(table.file, f"{n_rows} read", data.how_read(table))
    data.join_form(table)
    data.delete_button(table)
ui.freeze_imports()
