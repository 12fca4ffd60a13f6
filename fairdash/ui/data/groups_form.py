"""How people and rows are put together: groups, their crossing, subgroups, sizes."""

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd
import streamlit as st

from fairdash._escaping import plain
from fairdash._validation import value_label
from fairdash._wording import listing, plural
from fairdash.datasets import (
    Roles,
    Subgroups,
    chosen_of,
    common_labels,
    count_values,
    groups_of,
    guess_groups,
)
from fairdash.metrics import BaseRates

_MOST_GROUPS = 30
FEW_VALUES = 8
_TOGETHER = ("One group", "A group each")
_MISSING: dict[Literal["exclude", "group"], str] = {
    "exclude": "Exclude",
    "group": "A group",
}
_WAYS = ("Width", "Quantiles", "Cuts")
_MOST_BINS = 20
_MOST_PILLS = 12


def pick_groups(
    column: "pd.Series[Any]", roles: Roles, key: str
) -> tuple[dict[str, tuple[str, ...]] | None, tuple[float, ...]]:
    """Draw the groups of a column and return them: values by name, or cut points."""
    same = str(column.name) == roles.sensitive_feature
    known, cuts = (roles.groups, roles.sensitive_cuts) if same else guess_groups(column)
    few = count_values(column, FEW_VALUES) <= FEW_VALUES
    if pd.api.types.is_numeric_dtype(column) and not few:
        return None, pick_cuts(f"Cut {column.name} at", cuts, f"{key} cuts")
    return _pick_values(common_labels(column)[:_MOST_GROUPS], known, key), ()


def pick_crossing(
    few: list[str], roles: Roles, key: str
) -> tuple[tuple[str, ...], Literal["exclude", "group"]]:
    """Draw further sensitive columns, and what happens to missing values.

    ``few`` are the columns of few values that have no role yet.
    """
    crossed = st.multiselect(
        "Crossed with",
        few,
        default=[name for name in roles.crossed_with if name in few],
        max_selections=2,
        help="Race crossed with sex has the groups black men, black women and so on.",
        key=f"{key} crossed",
    )
    missing = st.segmented_control(
        "Rows without a sensitive value",
        list(_MISSING),
        default=roles.sensitive_missing,
        required=True,
        format_func=_MISSING.__getitem__,
        key=f"{key} sensitive missing",
    )
    return tuple(crossed), missing


def pick_cuts(label: str, known: tuple[float, ...], key: str) -> tuple[float, ...]:
    """Draw cut points as text and return them.

    Raises ValueError if something in the text is no number.
    """
    text = st.text_input(
        plain(label),
        ", ".join(map(value_label, known)),
        placeholder="25, 45",
        help="Each number begins a range: 25, 45 gives under 25, 25–44, 45 or more.",
        key=key,
    )
    parts = [part for part in text.replace(";", ",").split(",") if part.strip()]
    try:
        return tuple(sorted({float(part) for part in parts}))
    except ValueError as error:
        message = f"{label!r} takes numbers with commas between them, got {text!r}."
        raise ValueError(message) from error


def several(label: str, values: list[str], start: list[str], **how: Any) -> list[str]:
    """Draw values of a column of which several can be chosen: of many, as a list."""
    if len(values) > _MOST_PILLS:
        return st.multiselect(label, values, start, **how)
    return st.pills(
        label, values, selection_mode="multi", default=start, format_func=plain, **how
    )


def _pick_values(
    labels: list[str], known: Mapping[str, tuple[str, ...]] | None, key: str
) -> dict[str, tuple[str, ...]] | None:
    """Return the group of the chosen values and that of the rest, or None for all."""
    if len(labels) <= 2:
        return dict(known) if known else None
    shown = chosen_of(known)
    values, apart = shown or ((), False)
    named = [value for value in values if value in labels]
    chosen = several(
        "Compared with the rest",
        labels,
        named,
        help="All values that are not chosen are one group. With nothing chosen every "
        "value is a group of its own.",
        key=f"{key} groups",
    )
    as_known = set(chosen) == set(named)
    if len(chosen) > 1:
        chosen = sorted(chosen, key=[*named, *labels].index)
        way = st.segmented_control(
            "Chosen values are",
            _TOGETHER,
            default=_TOGETHER[apart],
            required=True,
            key=f"{key} together",
        )
        as_known &= way == _TOGETHER[apart]
        apart = way == _TOGETHER[True]
    if as_known:
        if shown is None:
            st.caption(plain(f"The groups are {listing(known or ())}."))
        return dict(known) if known else None
    return groups_of(chosen, labels, apart=apart and len(chosen) > 1)


def pick_bins(
    frame: pd.DataFrame, columns: list[str], known: Subgroups, key: str
) -> Subgroups:
    """Draw the bins of numbers and the smallest size; return ``known`` with these."""
    bins: dict[str, dict[str, Any]] = {"widths": {}, "quantiles": {}, "cuts": {}}
    for column in columns:
        if pd.api.types.is_numeric_dtype(frame[column]):
            field, value = _pick_way(column, known, f"{key} {column}")
            if value:
                bins[field][column] = value
    edges = known.edges
    if any(pd.api.types.is_numeric_dtype(frame[column]) for column in columns):
        paper = st.toggle(
            "Edges as in the ROAD paper",
            known.edges == "paper",
            help="Bins begin after multiples of their width: ages 21–30, 31–40. "
            "Otherwise ages are 25–34, 35–44, and sparse ends are joined.",
            key=f"{key} edges",
        )
        edges = "paper" if paper else "customary"
    smallest = st.number_input(
        "Smallest subgroup (rows)",
        min_value=1,
        value=known.min_size,
        step=10,
        help="Gaps of smaller subgroups are not estimated.",
        key=f"{key} smallest",
    )
    return Subgroups.model_validate(
        {
            **known.model_dump(),
            **bins,
            "columns": tuple(columns),
            "edges": edges,
            "min_size": int(smallest),
        }
    )


def _pick_way(column: str, known: Subgroups, key: str) -> tuple[str, Any]:
    """Return the field for the bins of a number, and its value or None."""
    start = 2 if column in known.cuts else 1 if column in known.quantiles else 0
    left, right = st.columns([1.9, 1], gap="xsmall")
    way = left.segmented_control(
        plain(f"Bins of {column}"),
        _WAYS,
        default=_WAYS[start],
        required=True,
        key=f"{key} way",
    )
    with right:
        if way == "Quantiles":
            bins = st.number_input(
                "Number",
                min_value=2,
                max_value=_MOST_BINS,
                value=known.quantiles.get(column, 4),
                key=f"{key} quantiles",
            )
            return "quantiles", int(bins)
        if way == "Cuts":
            return "cuts", pick_cuts("At", known.cuts.get(column, ()), f"{key} cuts")
        width = st.number_input(
            "Width",
            min_value=0.0,
            value=known.widths.get(column),
            placeholder="automatic",
            format="%g",
            key=f"{key} width",
        )
    return "widths", float(width) if width else None


def show_sizes(rates: BaseRates) -> None:
    """Draw the sizes of all subgroups, those that cannot be estimated first."""
    table = rates.sizes()
    lost = int((~table["Estimable"]).sum())
    st.caption(
        f"{plural(len(table), 'subgroup')}, {lost} not estimable"
        if lost
        else f"{plural(len(table), 'subgroup')}, all estimable"
    )
    ordered = table.sort_values("Estimable", kind="stable")
    st.dataframe(ordered, hide_index=True, height=min(35 * (len(table) + 1) + 3, 250))
