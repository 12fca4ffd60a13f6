"""Data: upload a table, say what its columns mean, see who it describes."""

from dataclasses import replace

import streamlit as st

from fairdash import audits, plots, ui
from fairdash.datasets import readable_checks, takes_long
from fairdash.ui import data

HOW = """
Each row is a subgroup. A dot is the share of a group's rows in which the outcome is
positive, with its 95% Wilson interval; a dashed line is the share in the whole group.
A subgroup with fewer rows than the smallest size is *not estimable*.

Base rates are facts of the table, not of a model. A model that repeats them repeats
their gaps. Other measures compare decisions with outcomes: they need a model, or a
column of scores.
"""

view = ui.page("Data", "What is in the table?", pick="data")
table = data.open_table(view.data)
if table is None:
    ui.context("Nothing leaves this machine.")
    data.choose_table()
    st.header("Or fetch a public table from its publisher", anchor=False)
    data.public_cards()
    ui.freeze_imports()
    st.stop()

facts, question, numbers = st.container(), st.container(), st.container()
left, right = st.columns([1, 2], gap="medium")
dataset, edited = None, False
roles, subgroups = table.roles, table.subgroups
with left, st.container(border=True, gap="xsmall"):
    st.header("Roles", anchor=False)
    try:
        frame = data.prepared_table(table.digest, roles)
        roles, subgroups, sizes = data.roles_form(
            frame, roles, subgroups, table.digest, table.key
        )
        edited = data.keep_edits(table, roles, subgroups)
        fitting = data.edited_dataset(table, roles)
        rates = data.edited_rates(fitting, subgroups)
        dataset = fitting
        with sizes:
            data.show_sizes(rates)
    except ValueError as error:
        refused = error
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
        f"Audit {ui.plain(scored.column)}",
        type="secondary" if roles.features else "primary",
        icon=":material/arrow_forward:",
        width="stretch",
        disabled=dataset is None,
        help="Shows where the model that gave these scores is unfair. Nothing is "
        "trained.",
    )
    brought = dataset and data.bring_model(
        table, dataset, lambda: data.keep_dataset(table, roles, subgroups)
    )
    if dataset is not None and (note := ui.audit_note(dataset.n_rows)):
        st.caption(note)
    keep = False
    if edited:
        with st.container(horizontal=True, gap="xsmall"):
            keep = st.button("Use these roles", disabled=dataset is None)
            if st.button("Discard", type="tertiary"):
                data.discard_edits(table)
checks = data.edited_checks(table, roles, subgroups, dataset)

if brought:
    data.open_scores(*brought)
if dataset is None and isinstance(refused, data.Unchosen):
    with question:
        data.no_guess_notice(table)
elif dataset is None:
    with right:
        ui.problem(f"{table.name} cannot be used with these roles", refused)
else:
    if audit or keep or audit_scores:
        try:
            kept = data.keep_dataset(table, roles, subgroups)
            if audit:
                ui.start_audit(kept)
            if audit_scores:
                data.open_scores(kept, scored.column)
        except ValueError as error:
            with right:
                ui.problem(f"No model was trained on {table.name}", error)
        else:
            ui.open_page("pages/1_Data.py", data=kept)
    read, used = len(table.frame), dataset.n_rows
    with facts:
        excluded = (
            f"{ui.count(read - used)} excluded, see Checks" if used < read else ""
        )
        rows = f"{ui.plural(read, 'row')} read"
        ui.context(table.file, rows, excluded, data.how_read(table))
    with question:  # before the form, on a phone as well
        guessed = data.guess_notice(table, roles)
    with numbers:
        seeds = ui.audited_seeds(dataset, view.data, view.run)
        promised, own = data.promised(dataset, subgroups, seeds)
        ui.kpi_row(
            audits.base_rate_kpis(
                rates,
                used,
                read,
                guessed=guessed,
                promised=promised,
                where="on test rows" if seeds else "on all rows",
                own=own,
            )
        )
    with right:
        picture = data.ratios_of_rates(dataset, subgroups) or plots.plot_base_rates(
            rates.cells,
            rates.groups,
            groups=dataset.group_names,
            outcome=roles.outcome(),
            source=data.source_words(dataset),
            feature=roles.sensitive_feature,
        )
        if guessed:
            picture = replace(picture, headline="Base rates, if the guess is right")
        how = f"{HOW}\n\n{ui.FOUR_FIFTHS_RULE}"
        ui.figure(picture, how=how, key="base rates", control=ui.pick_gap)

with view.export():
    found = readable_checks(checks)
    ui.table_download("Checks (CSV)", found, "fairdash-checks.csv")
    if dataset is not None:
        ui.table_download("Base rates (CSV)", rates.cells, "fairdash-base-rates.csv")

# every value is looked at to describe columns: of a large table, once somebody asks
lazy = len(table.frame) > ui.LARGE or takes_long(table.frame)
first, second, third, scores = st.tabs(
    [f"Checks ({len(checks)})", "Preview", "Columns", "Scores"],
    on_change="rerun" if lazy else "ignore",
    key=f"tabs {table.place}",
)
with first:
    data.check_panel(table, roles, subgroups, checks)
with second:
    data.reread(table)
    if second.open or not lazy:
        data.preview(table, roles)
if third.open or not lazy:
    with third:
        data.column_editor(table, roles, subgroups)
if dataset is not None:
    with scores:
        data.scores_panel(table, roles, subgroups, dataset)
data.delete_button(table)
ui.freeze_imports()
