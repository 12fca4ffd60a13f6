"""Edited roles that survive a refresh, what was computed for them, and their end."""

import pandas as pd
import streamlit as st

from fairdash._escaping import plain
from fairdash._wording import plural, value_spans
from fairdash.audits import gaps
from fairdash.datasets import Dataset, Remedy, Roles, Subgroups, guessing, remedies
from fairdash.store import Draft
from fairdash.ui import pages
from fairdash.ui.data.computed import checks_of, guess_of, offered_roles
from fairdash.ui.data.table import OpenTable
from fairdash.ui.widgets.blocks import confirm_deletion, problem
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.state import BY_KEY, store

_TABLES = 4  # of each kind kept in memory


def keep_edits(table: OpenTable, roles: Roles, subgroups: Subgroups) -> bool:
    """Keep what the form says, if it says anything new; return whether it is edited."""
    # that a guess is right changes nothing of the data set
    sure = table.kept_roles.model_copy(update={"guessed": roles.guessed})
    edited = (roles, subgroups) != (sure, table.kept_subgroups)
    if (roles, subgroups) != (table.roles, table.subgroups):
        draft = Draft(roles, subgroups, table.version)
        store().keep_draft(table.place, draft)
    return edited


def change_roles(table: OpenTable, roles: Roles, subgroups: Subgroups) -> None:
    """Keep roles that were changed beside the form, fill it in anew and rerun."""
    store().keep_draft(table.place, Draft(roles, subgroups, table.version + 1))
    st.rerun()


def no_guess_notice(table: OpenTable) -> None:
    """Ask for outcome and groups; of an upload say why neither could be guessed."""
    guess = guess_of(table.digest, table.file)
    if isinstance(guess, guessing.RoleGuess):  # and the form took a choice back
        st.warning("Choose the outcome and the sensitive column under Roles.")
    else:
        st.warning(plain(f"No guess: choose outcome and groups by hand. {guess}"))


def guess_notice(table: OpenTable, roles: Roles) -> bool:
    """Say that roles are guessed, offer the runners-up, return whether they still are.

    A click confirms the guess or takes another column for it; an edit in the form and
    a run confirm it too.
    """
    if not roles.guessed or (table.is_dataset and store().runs(table.place)):
        return False
    guess = guess_of(table.digest, table.file)
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", gap="xsmall"
    ):
        looks = ""
        if isinstance(guess, guessing.RoleGuess) and guess.layout:
            looks = f"This looks like {plain(guess.layout)}. "
        negative = f", not {value_spans(roles.negative)}" if roles.negative else ""
        st.markdown(
            f"**Guessed**: {looks}Outcome **{plain(roles.outcome() + negative)}**, "
            f"groups of **{plain(roles.group_column())}**. Right?",
            width="content",
        )
        if st.button("Looks right", icon=":material/check:", type="primary"):
            sure = roles.model_copy(update={"guessed": False})
            change_roles(table, sure, table.subgroups)
        if isinstance(guess, guessing.RoleGuess):
            _runners_up(table, roles, "Outcome", guess.outcomes)
            _runners_up(table, roles, "Groups", guess.sensitive)
    return True


def offer_roles(table: OpenTable, roles: Roles, subgroups: Subgroups) -> None:
    """Draw a chip for each further role that a column's name suggests."""
    offered = offered_roles(table.digest, roles)
    with st.container(horizontal=True, gap="xsmall"):
        for words, changed in offered.items():
            if st.button(
                plain(words),
                icon=":material/add:",
                type="tertiary",
                help="Suggested by the name and the values of the column.",
                key=f"offer {words} {table.key}",
            ):
                change_roles(table, changed, subgroups)


def _runners_up(
    table: OpenTable,
    roles: Roles,
    role: str,
    candidates: tuple[guessing.Candidate, ...],
) -> None:
    taken = (roles.target, roles.sensitive_feature, roles.count, roles.sample_weight)
    for candidate in candidates:
        column = candidate.column
        if column in taken or not st.button(
            plain(f"{role}: {column}"),
            help="Also likely by its name and its values.",
            key=f"guess {role} {column} {table.key}",
        ):
            continue
        pair = {"Outcome": roles.target, "Groups": roles.sensitive_feature}
        try:
            changed = guessing.guess_rest(
                table.frame, *(pair | {role: column}).values()
            )
        except ValueError as error:
            problem(f"{column} was not chosen", error)
        else:
            change_roles(table, changed, Subgroups(columns=changed.subgroup_columns))


def discard_edits(table: OpenTable) -> None:
    """Go back to the roles of the data set, or to the guess."""
    change_roles(table, table.kept_roles, table.kept_subgroups)


def apply_remedies(
    table: OpenTable, roles: Roles, subgroups: Subgroups, chosen: list[Remedy]
) -> None:
    """Apply remedies to edited roles, one after the other, and rerun.

    Raises ValueError if one cannot be applied to the table; none is then.
    """
    for remedy in chosen:
        roles = remedies.apply_remedy(roles, remedy)
    _change_checked(table, roles, subgroups)


def take_back(
    table: OpenTable, roles: Roles, subgroups: Subgroups, remedy: Remedy
) -> None:
    """Undo a remedy and rerun; ValueError if the others need it."""
    columns = list(map(str, table.frame))
    _change_checked(table, remedies.undo_remedy(roles, remedy, columns), subgroups)


def _change_checked(table: OpenTable, roles: Roles, subgroups: Subgroups) -> None:
    remedies.prepare(
        table.frame, roles
    )  # raises what would stand in the way of everything
    columns = {"columns": roles.subgroup_columns}
    change_roles(table, roles, subgroups.model_copy(update=columns))


def edited_dataset(table: OpenTable, roles: Roles) -> Dataset:
    """Return the data set of edited roles, not yet kept.

    Raises ValueError if the roles do not fit the table.
    """
    return store().draft_dataset(table.digest, roles, table.name)


@st.cache_resource(
    max_entries=_TABLES, show_spinner="Counting rows…", hash_funcs=BY_KEY
)
def edited_rates(dataset: Dataset, subgroups: Subgroups) -> gaps.BaseRates:
    """Return the base rates under edited roles; ValueError if these do not fit."""
    return gaps.base_rates(dataset, subgroups)


@st.cache_resource(max_entries=_TABLES, show_spinner=False, hash_funcs=BY_KEY)
def edited_reversal(dataset: Dataset, subgroups: Subgroups) -> str:
    """Return what `gaps.reversal_words` says under edited roles."""
    return gaps.reversal_words(dataset, subgroups)


def edited_checks(table: OpenTable, roles: Roles) -> pd.DataFrame:
    """Return the findings about a table under edited roles."""
    return checks_of(table.digest, roles)


def delete_button(table: OpenTable) -> None:
    """Draw the button that asks, says what depends on the data set, and deletes."""

    def delete() -> None:
        if table.is_dataset:
            store().delete_dataset(table.place)
        else:
            store().delete_table(table.digest)
        open_page(pages.DATA)

    runs = store().runs(table.place) if table.is_dataset else []
    if st.button("Delete this table", type="tertiary", icon=":material/delete:"):
        confirm_deletion(
            [f"{table.name} ({table.file})"],
            f"{plural(len(runs), 'run')} with their models go with it. The table stays "
            "where another data set is made of it.",
            delete,
            refused="Nothing was deleted",
        )
