"""How numbers are cut in subgroups: by width, in quantiles or at chosen points."""

from typing import Any

import pandas as pd
import streamlit as st

from fairdash.datasets import Subgroups
from fairdash.ui.data.groups_form import pick_cuts

_WAYS = ("Width", "Quantiles", "Cuts")
_MOST_BINS = 20


def pick_bins(
    frame: pd.DataFrame, columns: list[str], known: Subgroups, key: str
) -> Subgroups:
    """Draw the bins of the numbers among ``columns`` and the smallest size.

    Returns
    -------
    Subgroups
        ``known`` with these columns and bins.
    """
    bins: dict[str, dict[str, Any]] = {"widths": {}, "quantiles": {}, "cuts": {}}
    for column in columns:
        if pd.api.types.is_numeric_dtype(frame[column]):
            field, value = _pick_way(column, known, f"{key} {column}")
            if value:
                bins[field][column] = value
    smallest = st.number_input(
        "Smallest subgroup (rows)",
        min_value=1,
        value=known.min_size,
        step=10,
        help="Gaps of smaller subgroups are not estimated.",
        key=f"{key} smallest",
    )
    change = {"columns": tuple(columns), "min_size": int(smallest), **bins}
    return Subgroups(**{**known.model_dump(), **change})


def _pick_way(column: str, known: Subgroups, key: str) -> tuple[str, Any]:
    """Return the field for the bins of a number, and its value or None."""
    start = 2 if column in known.cuts else 1 if column in known.quantiles else 0
    left, right = st.columns([1.9, 1], gap="xsmall")
    way = left.segmented_control(
        f"Bins of {column}",
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
