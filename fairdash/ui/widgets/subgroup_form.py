"""Controls that say which subgroups to look at; a change never retrains."""

import math
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairdash.datasets import Dataset, Subgroups, road_table_1

_SIZES = (10, 20, 30, 50, 100, 200, 500)
_AGE_WIDTHS = (5.0, 10.0, 15.0, 20.0)
_OWN = "Own choice"
_TABLE_1 = "ROAD paper, Table 1"


def subgroup_form(
    dataset: Dataset,
    start: Subgroups,
    key: str,
    *,
    bar: tuple[DeltaGenerator, DeltaGenerator],
    options: DeltaGenerator,
) -> Subgroups:
    """Draw the choice of subgroups and return it.

    Parameters
    ----------
    dataset : Dataset
    start : Subgroups
        What is filled in.
    key : str
        Identity of the form; another key fills it in anew.
    bar : two containers
        Where bin width and smallest size go.
    options : container
        Where columns and presets go: a popover.
    """
    frame = dataset.frame
    with options:
        preset = _preset(frame, key)
        columns = list(start.columns)
        if preset is None:
            columns = st.multiselect(
                "Columns",
                [str(name) for name in frame.columns if name != dataset.roles.target],
                default=columns,
                max_selections=4,
                help="Crossed with one another. None: all rows are one subgroup.",
                key=f"{key} columns",
                persist_state="session",
            )
    binned = [name for name in columns if _has_bins(frame[name])] if not preset else []
    widths = {}
    for place, name in zip([bar[0], *[options] * 4], binned, strict=False):
        with place:
            chosen = name in start.cuts or name in start.quantiles
            without = "as chosen" if chosen else "auto"
            widths[name] = _width(frame[name], start.widths.get(name), without, key)
    with bar[1]:
        smallest = st.select_slider(
            "Smallest subgroup",
            sorted({*_SIZES, start.min_size}),
            value=start.min_size,
            help="Gaps of subgroups with fewer rows are not estimated.",
            key=f"{key} smallest",
            persist_state="session",
        )
    if preset is not None:
        return preset.model_copy(update={"min_size": smallest})
    kept = {name for name in columns if not widths.get(name)}
    return Subgroups(
        columns=tuple(columns),
        widths={name: width for name, width in widths.items() if width},
        quantiles={name: n for name, n in start.quantiles.items() if name in kept},
        cuts={name: points for name, points in start.cuts.items() if name in kept},
        edges=start.edges,
        where=start.where,
        min_size=smallest,
    )


def _preset(frame: pd.DataFrame, key: str) -> Subgroups | None:
    """Draw the choice of a definition of Table 1, where age and gender are known."""
    ages = [str(name) for name in frame.columns if _has_bins(frame[name])]
    pairs = [str(name) for name in frame.columns if frame[name].nunique() == 2]
    if not ages or not pairs:
        return None
    kind = st.segmented_control(
        "Definition", [_OWN, _TABLE_1], default=_OWN, required=True, key=f"{key} kind"
    )
    if kind == _OWN:
        return None
    age = st.selectbox("Age", ages, index=_likely(ages, "age"), key=f"{key} age")
    gender = st.selectbox(
        "Gender", pairs, index=_likely(pairs, "sex", "gender"), key=f"{key} gender"
    )
    known = road_table_1(age, gender, frame)
    return known[st.selectbox("Subgroups", list(known), key=f"{key} preset")]


def _width(
    column: "pd.Series[Any]", start: float | None, without: str, key: str
) -> float | None:
    """Draw the bin width of a number; None, called ``without``, sets no width."""
    known = {*_widths(column), start or 0.0} - {0.0}
    return st.select_slider(
        f"{str(column.name).capitalize()} band",
        [None, *sorted(known)],
        value=start,
        format_func=lambda width: without if width is None else f"{width:g}",
        key=f"{key} width {column.name}",
        persist_state="session",
    )


def _widths(column: "pd.Series[Any]") -> list[float]:
    """Return 5, 10, 15, 20 for an age, else round widths giving 3 to 12 bins."""
    if "age" in str(column.name).lower().split("_"):
        return list(_AGE_WIDTHS)
    low, high = column.quantile([0.05, 0.95])
    span = float(high - low) or 1.0
    widths = set()
    for bins in (12, 8, 5, 3):
        power = 10.0 ** math.floor(math.log10(span / bins))
        step = next(s for s in (1, 2, 5, 10) if s * power >= span / bins)
        widths.add(float(f"{step * power:.6g}"))
    return sorted(widths)


def _has_bins(column: "pd.Series[Any]") -> bool:
    return pd.api.types.is_numeric_dtype(column) and column.nunique() > 8


def _likely(names: list[str], *words: str) -> int:
    """Return the place of the first name that has one of ``words`` in it."""
    found = [i for i, name in enumerate(names) if any(w in name.lower() for w in words)]
    return found[0] if found else 0
