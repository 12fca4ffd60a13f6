"""The form that says what the columns of a table mean."""

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd
import streamlit as st

from fairdash._validation import value_label
from fairdash.datasets import Roles, Subgroups

_FEW = 4
_MOST_GROUPS = 30
_REST = "All others"
_MISSING: dict[Literal["impute", "exclude"], str] = {
    "impute": "Keep",
    "exclude": "Leave out",
}


def roles_form(
    frame: pd.DataFrame, roles: Roles, subgroups: Subgroups, key: str
) -> tuple[Roles, Subgroups]:
    """Draw the roles of a table, filled in with a first guess, and return the choice.

    Parameters
    ----------
    frame : DataFrame
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
        "Outcome (y)",
        columns,
        index=columns.index(roles.target),
        key=f"{key} target",
    )
    positive = _positive(frame[target], roles.positive, f"{key} {target}")
    others = [column for column in columns if column != target]
    sensitive = st.selectbox(
        "Sensitive column",
        others,
        index=_position(others, roles.sensitive_feature),
        help="Its values are the groups that are compared. No model sees it.",
        key=f"{key} sensitive",
    )
    known = roles.groups if sensitive == roles.sensitive_feature else None
    groups = _groups(frame[sensitive], known, f"{key} {sensitive}")
    described = st.multiselect(
        "Subgroup columns",
        others,
        default=[c for c in subgroups.columns if c in others],
        max_selections=4,
        help="Crossed, they make the subgroups in which fairness is looked at.",
        key=f"{key} subgroups",
    )
    with st.grid(columns=2, min_column_width=110, gap="xsmall"):
        with st.popover("Features", width="stretch"):
            free = [column for column in others if column != sensitive]
            features = st.multiselect(
                "Columns the model sees",
                free,
                default=[c for c in roles.features if c in free],
                key=f"{key} {target} {sensitive} features",
            )
        with st.popover("Rows, sizes", width="stretch"):
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
            widths, smallest = _sizes(frame, described, subgroups, key)
    chosen = Roles(
        target=target,
        positive=positive,
        sensitive_feature=sensitive,
        groups=groups,
        features=tuple(features),
        subgroup_columns=tuple(described),
        keep=keep,
        missing=missing,
    )
    change = {"columns": tuple(described), "widths": widths, "min_size": smallest}
    return chosen, Subgroups(**{**subgroups.model_dump(), **change})


def _positive(column: "pd.Series[Any]", known: str, key: str) -> str:
    labels = sorted(_labels(column))
    index = _position(labels, known, last=True)
    if len(labels) <= _FEW:
        chosen: str = st.segmented_control(
            "Positive value",
            labels,
            default=labels[index],
            required=True,
            key=f"{key} positive",
        )
        return chosen
    return st.selectbox("Positive value", labels, index=index, key=f"{key} positive")


def _groups(
    column: "pd.Series[Any]", known: Mapping[str, tuple[str, ...]] | None, key: str
) -> dict[str, tuple[str, ...]] | None:
    """Return the group of the chosen values and that of the rest, or None for all."""
    labels = _labels(column)[:_MOST_GROUPS]
    if len(labels) <= 2:
        return dict(known) if known else None
    named = [v for v in _first_group(known) if v in labels]
    chosen = st.pills(
        "Compared with the rest",
        labels,
        selection_mode="multi",
        default=named,
        help="The chosen values are one group and all others the second. With nothing "
        "chosen every value is a group of its own.",
        key=f"{key} groups",
    )
    if set(chosen) == set(named):
        return dict(known) if known else None
    if not chosen or len(chosen) == len(labels):
        return None
    name = " or ".join(chosen)
    return {name: tuple(chosen), f"Not {name}" if len(chosen) == 1 else _REST: ()}


def _first_group(known: Mapping[str, tuple[str, ...]] | None) -> tuple[str, ...]:
    """Return the values of the one group that is compared with all others."""
    groups = list((known or {}).values())
    return groups[0] if len(groups) == 2 and not groups[1] else ()


def _keep(
    frame: pd.DataFrame, known: Mapping[str, tuple[str, ...]], key: str
) -> dict[str, tuple[str, ...]]:
    columns = st.multiselect(
        "Use only rows with certain values in",
        [str(column) for column in frame.columns],
        default=list(known),
        key=f"{key} keep",
    )
    keep = {}
    for column in columns:
        labels = _labels(frame[column])
        values = st.multiselect(
            f"Values of {column} to keep",
            labels,
            default=[v for v in known.get(column, labels) if v in labels],
            key=f"{key} keep {column}",
        )
        keep[column] = tuple(values)
    return keep


def _sizes(
    frame: pd.DataFrame, columns: list[str], known: Subgroups, key: str
) -> tuple[dict[str, float], int]:
    widths = {}
    for column in columns:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            continue
        width = st.number_input(
            f"Width of the bins of {column}",
            min_value=0.0,
            value=known.widths.get(column),
            placeholder="automatic",
            key=f"{key} width {column}",
        )
        if width:
            widths[column] = float(width)
    smallest = st.number_input(
        "Smallest subgroup (rows)",
        min_value=1,
        value=known.min_size,
        step=10,
        help="Gaps of smaller subgroups are not estimated.",
        key=f"{key} smallest",
    )
    return widths, int(smallest)


def _labels(column: "pd.Series[Any]") -> list[str]:
    """Return the labels of a column, the commonest first."""
    return list(dict.fromkeys(value_label(v) for v in column.value_counts().index))


def _position(options: list[str], value: str, *, last: bool = False) -> int:
    if value in options:
        return options.index(value)
    return len(options) - 1 if last else 0
