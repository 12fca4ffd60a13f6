"""How people and rows are put together: groups, their crossing, subgroups, sizes."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from fairdash._escaping import plain, visible
from fairdash._validation import value_label
from fairdash._wording import listing
from fairdash.datasets import Roles, Subgroups, column_kinds, guessing

_MOST_GROUPS = 30
_FEW_VALUES = 8


def pick_groups(
    column: "pd.Series[Any]", roles: Roles, key: str
) -> tuple[dict[str, tuple[str, ...]] | None, tuple[float, ...]]:
    """Draw the groups of a column and return them: values by name, or cut points."""
    if str(column.name) == roles.sensitive_feature:
        present = roles.groups
        cuts = roles.sensitive_cuts
    else:
        present, cuts = guessing.guess_groups(column)
    few = column_kinds.count_values(column, _FEW_VALUES) <= _FEW_VALUES
    ordered = pd.api.types.is_numeric_dtype(column) or column_kinds.has_order(column)
    if ordered and (cuts or not few):
        cuts = pick_numbers(
            f"Cut {column.name} at",
            cuts,
            f"{key} cuts",
            placeholder="25, 45",
            help="Each number begins a range: under 25, 25–44, 45 or more. Without any "
            "every value is a group.",
        )
        return None, cuts
    labels = column_kinds.listed_labels(column)[:_MOST_GROUPS]
    return _pick_values(labels, present, key), ()


def pick_crossing(
    few: list[str], roles: Roles, named: Callable[[str], str], key: str
) -> tuple[str, ...]:
    """Draw further sensitive columns, among ``few`` of few values without a role.

    ``named`` are their labels.
    """
    crossed = st.multiselect(
        "Crossed with",
        few,
        default=[name for name in roles.crossed_with if name in few],
        max_selections=2,
        format_func=named,
        help="Race crossed with sex has the groups black men, black women and so on.",
        key=f"{key} crossed",
    )
    return tuple(crossed)


def pick_numbers(
    label: str, current: tuple[float, ...], key: str, **how: Any
) -> tuple[float, ...]:
    """Draw numbers as text and return them, rising.

    Raises ValueError if something in the text is no number.
    """
    filled_in = ", ".join(map(value_label, current))
    text = st.text_input(plain(label), filled_in, key=key, **how)
    parts = [part for part in text.replace(";", ",").split(",") if part.strip()]
    try:
        numbers = {float(part) for part in parts}
    except ValueError as error:
        message = f"{label!r} takes numbers with commas between them, got {text!r}."
        raise ValueError(message) from error
    return tuple(sorted(numbers))


def _pick_values(
    labels: list[str], present: Mapping[str, tuple[str, ...]] | None, key: str
) -> dict[str, tuple[str, ...]] | None:
    """Draw the choice of values that are groups; return the groups, None for all."""
    current = dict(present) if present else None
    # Two values are two groups: there is nothing to choose.
    if len(labels) <= 2:
        return current
    # None where groups have names or values that clicks cannot make.
    values = guessing.chosen_of(present)
    filled_in = [value for value in values or () if value in labels]
    chosen = st.multiselect(
        "Compared with the rest",
        labels,
        filled_in,
        format_func=visible,
        help="Each chosen value is a group, all others are one. With nothing chosen "
        "every value is a group of its own.",
        key=f"{key} groups",
    )
    if set(chosen) == set(filled_in):
        if values is None:
            st.caption(plain(f"The groups are {listing(present or ())}."))
        return current
    # The order of groups is that of their colours: new ones come after those present.
    order = [*filled_in, *labels]
    return guessing.groups_of(sorted(chosen, key=order.index), labels)


def pick_bins(
    frame: pd.DataFrame, columns: list[str], present: Subgroups, key: str
) -> Subgroups:
    """Draw the bins of numbers and the smallest size; return ``present`` with these.

    One number is the width of the bins, several are cut points.
    """
    widths: dict[str, float] = {}
    cuts: dict[str, tuple[float, ...]] = {}
    quantiles: dict[str, int] = {}
    for column in columns:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            continue
        width = present.widths.get(column)
        current = present.cuts.get(column, () if width is None else (width,))
        numbers = pick_numbers(
            f"Bins of {column}",
            current,
            f"{key} {column} bins",
            placeholder="automatic",
            help="One number is a width: 10. Several are cut points: 25, 45.",
        )
        # Quantiles and a single cut point come from a file: they stay until changed.
        if column in present.quantiles and not numbers:
            quantiles[column] = present.quantiles[column]
        elif (numbers == current and column in present.cuts) or len(numbers) > 1:
            cuts[column] = numbers
        elif numbers:
            widths[column] = numbers[0]
    smallest = st.number_input(
        "Smallest subgroup (rows)",
        min_value=1,
        value=present.min_size,
        step=10,
        help="Gaps of smaller subgroups are not estimated.",
        key=f"{key} smallest",
    )
    bins = {"widths": widths, "quantiles": quantiles, "cuts": cuts}
    chosen = {"columns": tuple(columns), "min_size": int(smallest)}
    return Subgroups.model_validate({**present.model_dump(), **bins, **chosen})
