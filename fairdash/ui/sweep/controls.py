"""Where the reader stands in a sweep, and the controls that move through it.

The setting is part of the page's address, like every choice: see `selection`. A page
opened without one starts at the most accurate setting within the limit, and where there
is none at the one nearest to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairdash import plots
from fairdash.audits import StoredSweep
from fairdash.methods import CATALOG
from fairdash.sweep import PARITY, Scalar
from fairdash.ui.selection import (
    OF_RUN,
    Fields,
    bound,
    choose,
    entry,
    selection,
    with_entry,
)
from fairdash.ui.widgets.blocks import more

_MOST_LIMIT = 0.5  # unless the sweep was asked for with a larger one


@dataclass(frozen=True)
class SweepFields(Fields):
    """What the address says beside what every page knows."""

    # The method that sliders go through, and its setting: "parameter=value".
    method: str | None = field(default=None, metadata=OF_RUN)
    point: tuple[str, ...] = field(default=(), metadata=OF_RUN)
    # The largest demographic parity difference (DI) that is accepted.
    limit: float | None = None
    # The metric across in a front; accuracy is up.
    across: str | None = None


@dataclass(frozen=True)
class Controls:
    """What the reader set: a trained setting, and how fronts are judged."""

    place: int  # of the setting in ``means``
    method: str
    limit: float  # on DI
    axes: tuple[str, str]


def words(value: Scalar) -> str:
    """Return a value of a parameter as the address writes it: exactly."""
    return value if isinstance(value, str) else f"{value:.10g}"


def labels(values: Sequence[Scalar]) -> list[str]:
    """Return values as the screen writes them: four digits, more to tell them apart."""
    short = [v if isinstance(v, str) else f"{v:.4g}" for v in values]
    return short if len(set(short)) == len(short) else [words(v) for v in values]


def sweep_controls(sweep: StoredSweep) -> tuple[Controls, DeltaGenerator]:
    """Draw the method and the popover with the rest.

    Returns what was set, and the place for one more popover in the bar.
    """
    result = sweep.result
    first = st.container(width=220) if len(result.methods) > 1 else None
    options = st.container(width="content")
    corner = st.container(width="content")
    with options:
        options = more("Front and limit")
    with options:
        limit, axes = _front_options(sweep)
    place = current(sweep, limit)
    method = str(result.means["method"].iloc[place])
    if first is not None:
        widget = f"{sweep.run.id} method"
        st.session_state[widget] = method
        first.selectbox(
            "Method",
            result.methods,
            format_func=lambda key: CATALOG[key].label,
            key=widget,
            on_change=lambda: move(sweep, place, {}, st.session_state[widget]),
        )
    return Controls(place, method, limit, axes), corner


def current(sweep: StoredSweep, limit: float) -> int:
    """Return the place of the setting to show: that of the address, else the start.

    The model it stands for is written into the address, if that names another.
    """
    result, chosen = sweep.result, SweepFields.here()
    method, point = chosen.method or "", None
    if method in result.methods:
        point = read_point(result.axes(method), chosen.point)
    if point is None:
        place = sweep.once(lambda: result.start(limit), "start", limit)
    else:
        place = result.nearest(method, point)
    go(sweep, place)
    return place


def go(sweep: StoredSweep, place: int) -> None:
    """Make a setting the one of the address, with the model that stands for it.

    All at once: whatever page is opened next looks at that model.
    """
    row = sweep.result.means.iloc[place]
    at: tuple[str, ...] = ()
    for name in sorted(sweep.result.axes(row["method"])):
        at = with_entry(at, name, words(row[name]))
    model = sweep.model(place)
    if model == selection().model:
        choose(method=row["method"], point=at)
    else:
        choose(method=row["method"], point=at, model=model, models=(), scores=None)


def go_to_place(sweep: StoredSweep, place: int) -> None:
    """Go to a setting, before sliders are drawn or in a callback."""
    if sweep.result.means["method"].iloc[place] in sweep.result.methods:
        go(sweep, place)


def move(
    sweep: StoredSweep,
    place: int,
    change: Mapping[str, Scalar],
    method: str | None = None,
) -> None:
    """Go to the setting nearest to one with some values changed, in a callback."""
    row = sweep.result.means.iloc[place]
    method = method or str(row["method"])
    names = sweep.result.axes(method)
    point = {name: row[name] for name in names if pd.notna(row[name])}
    go(sweep, sweep.result.nearest(method, point | dict(change)))


def read_point(
    axes: Mapping[str, Sequence[Scalar]], entries: Sequence[str]
) -> dict[str, Scalar] | None:
    """Return the values that the address states; None unless each fits its axis.

    A number may lie between two values of an axis.
    """
    point: dict[str, Scalar] = {}
    for name, values in axes.items():
        text = entry(entries, name) or ""
        try:
            point[name] = text if isinstance(values[0], str) else float(text)
        except ValueError:
            return None
        if text not in values and isinstance(values[0], str):
            return None
    return point


def _front_options(sweep: StoredSweep) -> tuple[float, tuple[str, str]]:
    start = float(sweep.run.spec.get("di_limit", 0.05))
    most = max(_MOST_LIMIT, start)
    limit = st.slider(
        "Limit on the gap",
        0.0,
        most,
        step=0.01,
        help="Fronts are drawn among models whose gap over all rows is at most this.",
        **bound("limit", start, shown=lambda limit: min(max(limit, 0.0), most)),
    )
    metrics = [name for name in plots.METRICS if name != "accuracy"]
    across = st.selectbox(
        "Across",
        metrics,
        format_func=lambda metric: plots.METRICS[metric][0].split(" (")[0],
        **bound("across", PARITY, among=metrics),
    )
    return limit, (across, "accuracy")


def go_to_mark(sweep: StoredSweep, drawn: pd.DataFrame) -> None:
    """Choose the setting whose mark was clicked on the front."""
    marks = st.session_state[f"{sweep.run.id} front"]["selection"]["points"]
    methods = list(dict.fromkeys(drawn["method"]))
    if marks and marks[0]["curve_number"] < len(methods):
        shown = drawn[drawn["method"] == methods[marks[0]["curve_number"]]]
        go_to_place(sweep, int(shown["place"].iloc[marks[0]["point_index"]]))
