"""The form that says what the columns of a table mean."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import pandas as pd
import streamlit as st
from pydantic import ValidationError
from streamlit.delta_generator import DeltaGenerator

from fairdash._validation import explain_invalid
from fairdash.datasets import (
    Roles,
    Subgroups,
    choose_features,
    common_labels,
    features_after,
    guess_positive,
)
from fairdash.ui.data.groups_form import pick_bins, pick_crossing, pick_groups
from fairdash.ui.data.outcome_form import pick_meaning, pick_positive

_MISSING: dict[Literal["impute", "exclude"], str] = {
    "impute": "Keep",
    "exclude": "Exclude",
}


class Choice(NamedTuple):
    """What the form says, and where the sizes of subgroups can be shown."""

    roles: Roles
    subgroups: Subgroups
    sizes: DeltaGenerator


def roles_form(
    frame: pd.DataFrame, roles: Roles, subgroups: Subgroups, key: str
) -> Choice:
    """Draw the roles of a table, filled in with a first guess, and return the choice.

    Parameters
    ----------
    frame : DataFrame
        Prepared, see `fairdash.datasets.prepare`.
    roles, subgroups : Roles, Subgroups
        What is filled in.
    key : str
        Identity of the form; another key fills it in anew.

    Raises
    ------
    ValueError
        If the choice makes no roles, such as one column in two parts.
    """
    columns = [str(column) for column in frame.columns]
    target = st.selectbox(
        "Outcome (y)", columns, index=_position(columns, roles.target), key=f"{key} y"
    )
    same = target == roles.target
    known = roles.positive if same else guess_positive(frame[target])
    positive = pick_positive(frame[target], known, f"{key} {target}")
    name, meaning = pick_meaning(roles, target, positive, f"{key} {target} {positive}")
    others = [column for column in columns if column != target]
    sensitive = st.selectbox(
        "Sensitive column",
        others,
        index=_position(others, roles.sensitive_feature),
        help="Its values are the groups that are compared. No model sees it.",
        key=f"{key} sensitive",
    )
    groups, cuts = pick_groups(frame[sensitive], roles, f"{key} {sensitive}")
    described = st.multiselect(
        "Subgroup columns",
        others,
        default=[c for c in subgroups.columns if c in others],
        max_selections=4,
        help="Crossed, they make the subgroups in which fairness is looked at.",
        key=f"{key} subgroups",
    )
    fix = st.container()
    with st.grid(columns=2, min_column_width=110, gap="xsmall"):
        with st.popover("Groups", width="stretch"):
            crossed, without = pick_crossing(frame, roles, sensitive, others, key)
        with st.popover("Subgroups", width="stretch"), st.container(width=400):
            chosen_subgroups = pick_bins(frame, described, subgroups, key)
            sizes = st.container()
        taken = (sensitive, *crossed)
        clash = [column for column in described if column in taken]
        if clash:
            fix.button(
                f"Take {', '.join(clash)} out of the subgroups",
                icon=":material/build:",
                width="stretch",
                on_click=_choose,
                args=(f"{key} subgroups", [c for c in described if c not in clash]),
            )
        with st.popover("Features", width="stretch"):
            free = [column for column in others if column not in taken]
            proposed = features_after(
                frame,
                roles,
                target=target,
                positive=positive,
                sensitive_columns=taken,
            )
            features = st.multiselect(
                "Columns the model sees",
                free,
                default=[c for c in proposed if c in free],
                key=f"{key} {target} {taken} features",
            )
        with st.popover("Rows", width="stretch"):
            keep = _keep(frame, roles.keep, key)
            missing = st.segmented_control(
                "Rows with a missing feature",
                list(_MISSING),
                default=roles.missing,
                required=True,
                format_func=_MISSING.__getitem__,
                help="Keep: a category gets a level of its own, a number the training "
                "median and a column that says so.",
                key=f"{key} missing",
            )
            with st.grid(columns=2, min_column_width=140, gap="xsmall"):
                min_level_rows = st.number_input(
                    "Fewest rows of a level",
                    min_value=1,
                    value=roles.min_level_rows,
                    help="For the models, levels of a category in fewer training rows "
                    "share one column, (other). 1 keeps all.",
                    key=f"{key} level rows",
                )
                max_levels = st.number_input(
                    "Most levels of a feature",
                    min_value=1,
                    value=roles.max_levels,
                    help="Beyond the commonest, levels share one column, (other).",
                    key=f"{key} levels",
                )
    chosen = _changed(
        roles,
        target=target,
        positive=positive,
        positive_name=name,
        positive_is=meaning,
        sensitive_feature=sensitive,
        groups=groups,
        sensitive_cuts=cuts,
        crossed_with=crossed,
        sensitive_missing=without,
        **choose_features(roles, features, columns),
        subgroup_columns=tuple(described),
        keep=keep,
        missing=missing,
        min_level_rows=min_level_rows,
        max_levels=max_levels,
    )
    if roles.guessed and chosen == roles.model_copy(update={"guessed": False}):
        chosen = roles  # nothing was changed, so it is still a guess
    return Choice(chosen, chosen_subgroups, sizes)


def _choose(widget: str, value: list[str]) -> None:
    st.session_state[widget] = value


def _changed(roles: Roles, **choice: Any) -> Roles:
    fields = {
        "preparation": roles.preparation,
        "types": roles.types,
        **choice,
    }
    try:
        return Roles.model_validate(fields)
    except ValidationError as error:
        raise ValueError(explain_invalid(error)) from error


def _keep(
    frame: pd.DataFrame, known: Mapping[str, tuple[str, ...]], key: str
) -> dict[str, tuple[str, ...]]:
    columns = st.multiselect(
        "Use only rows with certain values in",
        [str(column) for column in frame.columns],
        default=[column for column in known if column in frame],
        key=f"{key} keep",
    )
    keep = {}
    for column in columns:
        labels = common_labels(frame[column])
        values = st.multiselect(
            f"Values of {column} to keep",
            labels,
            default=[v for v in known.get(column, labels) if v in labels],
            key=f"{key} keep {column}",
        )
        keep[column] = tuple(values)
    return keep


def _position(options: list[str], value: str) -> int:
    return options.index(value) if value in options else 0
