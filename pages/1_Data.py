"""Data: upload a table, say what its columns mean, see who it describes."""

import streamlit as st

from fairdash import plots, ui
from fairdash.datasets import check_table, make_dataset

HOW = """
Each row is a subgroup. A dot is the share of a group's rows in which the outcome is
positive, with its 95% Wilson interval; a dashed line is the share in the whole group.
A subgroup with fewer rows than the smallest size is *not estimable*.

Base rates are facts of the table, not of a model. A model that repeats them repeats
their gaps.
"""

view = ui.page("Data", "What is in the table?", pick="data")
table = ui.open_table(view.data)
if table is None:
    ui.context("Nothing leaves this machine.")
    ui.choose_table()
    ui.settle()
    st.stop()

facts, numbers = st.container(), st.container()
left, right = st.columns([1, 2], gap="medium")
dataset, roles, subgroups = None, table.roles, table.subgroups
with left, st.container(border=True):
    st.subheader("Roles", anchor=False)
    try:
        roles, subgroups = ui.roles_form(table.frame, roles, subgroups, table.key)
        dataset = make_dataset(table.frame, roles, name=table.name, key=table.digest)
        rates = ui.base_rates(dataset, subgroups)
    except ValueError as error:
        refused = error
    audit = st.button(
        "Audit a plain model",
        type="primary",
        icon=":material/arrow_forward:",
        width="stretch",
        disabled=dataset is None,
        help="Trains a network without a fairness term and shows where it is unfair.",
    )
    changed = (roles, subgroups) != (table.roles, table.subgroups)
    keep = (
        changed
        and dataset is not None
        and st.button("Use these roles", width="stretch")
    )
checks = check_table(table.frame, roles)

if dataset is None:
    with right:
        ui.problem(f"{table.name} cannot be used with these roles", refused)
else:
    if audit or keep:
        try:
            data = ui.keep_dataset(table, roles, subgroups)
            if audit:
                ui.start_audit(data)
        except ValueError as error:
            with right:
                ui.problem(f"No model was trained on {table.name}", error)
        else:
            ui.open_page("pages/1_Data.py", data=data)
    read, used = len(table.frame), dataset.n_rows
    with facts:
        left_out = (
            f"{ui.count(read - used)} left out, see Checks" if used < read else ""
        )
        ui.context(table.file, f"{ui.plural(read, 'row')} read", left_out)
    with numbers:
        ui.kpi_row(ui.base_rate_kpis(rates, used, read))
    with right:
        ui.figure(
            plots.plot_base_rates(
                rates.cells,
                rates.groups,
                groups=dataset.group_names,
                outcome=f"{roles.target} = {roles.positive}",
            ),
            finding=plots.base_rates_finding(rates.cells),
            caption=f"Share with {roles.target} = {roles.positive} by subgroup, with "
            f"95% Wilson intervals. Dashed: the whole group. {ui.plural(used, 'row')}.",
            alt=plots.describe_base_rates(rates.cells, rates.groups),
            how=HOW,
            table=rates.cells,
            key="base rates",
        )

with view.export():
    ui.table_download("Checks (CSV)", checks, "fairdash-checks.csv")
    if dataset is not None:
        ui.table_download("Base rates (CSV)", rates.cells, "fairdash-base-rates.csv")

first, second, third = st.tabs([f"Checks ({len(checks)})", "Preview", "Columns"])
with first:
    ui.check_list(checks)
with second:
    st.dataframe(table.frame.head(200).rename(lambda row: row + 1))
    st.caption(f"The first {min(200, len(table.frame))} of {len(table.frame):,} rows.")
with third:
    percent = {"Missing": st.column_config.NumberColumn(format="%.1f%%")}
    columns = ui.column_table(table.frame, roles)
    st.dataframe(columns, hide_index=True, column_config=percent)
ui.settle()
