"""Groups in several 0/1 columns: which columns, and who is in none or in two."""

import streamlit as st

from fairdash._escaping import in_menu, plain
from fairdash.datasets import Remedy, Roles, Subgroups, choices, guessing
from fairdash.ui.data.computed import zero_one_columns
from fairdash.ui.data.draft import change_roles
from fairdash.ui.data.table import OpenTable
from fairdash.ui.widgets.blocks import problem


def pick_several(table: OpenTable, roles: Roles, subgroups: Subgroups) -> None:
    """Draw the form that makes one column of groups from several of 0 and 1.

    Nothing is drawn of a table with fewer than two such columns.
    """
    free = [name for name in zero_one_columns(table.digest) if name != roles.target]
    if len(free) < 2:
        return
    key = f"several {table.key}"
    with st.popover("Groups in several 0/1 columns", type="tertiary"):
        columns = st.multiselect(
            "Columns, one for each group",
            free,
            format_func=in_menu(free),
            placeholder="black, hispan, white",
            key=f"{key} columns",
        )
        name = st.text_input("Name of the groups", "race", max_chars=40, key=key)
        none = st.text_input(
            "Who is in none of them",
            choices.NONE,
            max_chars=40,
            help="A group of this name. Empty: these rows are left out, and counted.",
            key=f"{key} none",
        )
        several = st.text_input(
            "Who is in two or more",
            choices.SEVERAL,
            max_chars=40,
            help="A group of this name. Empty: these rows are left out, and counted.",
            key=f"{key} several",
        )
        if len(columns) < 2:
            return
        try:
            remedy = Remedy(
                kind="one_of",
                column=name.strip(),
                columns=tuple(columns),
                none=none.strip(),
                several=several.strip(),
            )
            _offer(table, roles, subgroups, remedy)
        except ValueError as error:
            problem("These columns make no groups", error)


def _offer(
    table: OpenTable, roles: Roles, subgroups: Subgroups, remedy: Remedy
) -> None:
    """Draw how many rows each group would have, and the button that makes them."""
    none = remedy.none or "(left out)"
    several = remedy.several or "(left out)"
    groups = choices.one_of(table.frame, remedy.column, remedy.columns, none, several)
    values = [*remedy.columns, none, several]
    st.caption(plain(f"Rows: {choices.membership_words(groups, values)}."))
    if st.button("Compare these groups", type="primary", key=f"make {table.key}"):
        changed = guessing.with_groups_of(roles, remedy)
        sensitive = changed.model_copy(update={"guessed": False})
        described = Subgroups.model_validate(
            {**vars(subgroups), "columns": changed.subgroup_columns}
        )
        change_roles(table, sensitive, described)
