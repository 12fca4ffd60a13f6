"""Where the reader stands in a sweep, and the controls that move through it.

The setting is part of the page's address, like every choice: see `selection`. A page
opened without one starts at the most accurate setting within the limit, and where there
is none at the one nearest to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairdash import plots
from fairdash.audits import StoredSweep
from fairdash.methods import CATALOG
from fairdash.metrics import MEASURE_NAMES
from fairdash.sweep import PARITY, TAU, WEIGHT, Judge, Point, Scalar
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

_JUDGES: dict[Judge, str] = {"validation": "Validation rows", "test": "As in the paper"}
_SLIDERS = 2
_MOST_LIMIT = 0.5  # unless the sweep was asked for with a larger one


@dataclass(frozen=True)
class SweepFields(Fields):
    """What the address says beside what every page knows."""

    # The method that sliders go through, and its setting: "parameter=value".
    method: str | None = field(default=None, metadata=OF_RUN)
    point: tuple[str, ...] = field(default=(), metadata=OF_RUN)
    # The largest demographic parity difference (DI) that is accepted.
    limit: float | None = None
    # Rows on which fronts are chosen: "validation" or "test".
    judge: str | None = None
    # Metrics on the axes of a front.
    across: str | None = None
    up: str | None = None
    # Whether fronts show models that do not decide.
    constants: bool | None = None

    def coordinates(self) -> dict[str, str]:
        """Return the values of the setting as texts; older links name each alone."""
        params = CATALOG[self.method].params if self.method in CATALOG else ()
        older = {p.name: st.query_params.get(p.name, "") for p in params}
        newer = {p.name: entry(self.point, p.name) or "" for p in params}
        return newer if self.point else older


@dataclass(frozen=True)
class Controls:
    """What the reader set: a setting, and how fronts are judged."""

    place: int  # of the setting in ``means``, or of the trained one nearest to it
    trained: bool  # whether the setting itself is trained
    method: str
    point: Point  # its value on every axis of the method's grid
    sliders: tuple[str, ...]  # the axes that sliders go through, at most two
    limit: float  # on DI
    judge: Judge
    axes: tuple[str, str]
    constants: bool  # whether models that do not decide are drawn

    @property
    def others(self) -> Point:
        """The values on the axes without a slider, which figures hold fixed."""
        return {n: v for n, v in self.point.items() if n not in self.sliders}

    @property
    def has_map(self) -> bool:
        """Whether the sliders go through λ and τ."""
        return self.sliders == (WEIGHT, TAU)


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
    grid = sweep.grid_result
    first = st.container(width=220) if len(grid.methods) > 1 else None
    options = st.container(width="content")
    corner = st.container(width="content")
    with options:
        options = more("Front and limit")
    with options:
        limit, judge, axes, constants = _front_options(sweep)
    method, point = current(sweep, limit)
    if first is not None:
        widget = f"{sweep.run.id} method"
        st.session_state[widget] = method
        first.selectbox(
            "Method",
            grid.methods,
            format_func=lambda key: CATALOG[key].label,
            key=widget,
            on_change=lambda: move(sweep, st.session_state[widget], {}),
        )
    sliders = tuple(point)[:_SLIDERS]
    with options:
        for name in tuple(point)[_SLIDERS:]:
            _other_axis(sweep, method, name, point[name])
    place = sweep.result.place(method, point)
    state = Controls(
        _shown_place(sweep, method, point),
        place is not None,
        method,
        point,
        sliders,
        limit,
        judge,
        axes,
        constants,
    )
    return state, corner


def current(sweep: StoredSweep, limit: float) -> tuple[str, Point]:
    """Return the method and the point to show: those of the address, else the start.

    The model they stand for is written into the address, if that names another.
    """
    grid = sweep.grid_result
    chosen = SweepFields.here()
    method = chosen.method or ""
    point = None
    if method in grid.methods:
        point = read_point(grid.axes(method), chosen.coordinates())
    if point is None:
        place = sweep.once(lambda: grid.start(limit), "start", limit)
        method, point = str(grid.means["method"].iloc[place]), grid.point(place)
    go(sweep, method, point)
    return method, point


def go(sweep: StoredSweep, method: str, point: Mapping[str, Scalar]) -> None:
    """Make a setting the one of the address, with the model that stands for it.

    All at once: whatever page is opened next looks at that model.
    """
    at: tuple[str, ...] = ()
    for name in sorted(point):
        at = with_entry(at, name, words(point[name]))
    model = sweep.model(_shown_place(sweep, method, dict(point)))
    if model == selection().model:
        choose(method=method, point=at)
    else:
        choose(method=method, point=at, model=model, models=(), scores=None)


def _shown_place(sweep: StoredSweep, method: str, point: Point) -> int:
    """Return the place of a setting, or of the trained one nearest to it."""
    place = sweep.result.place(method, point)
    if place is None:
        axes = sweep.grid_result.axes(method)
        place = sweep.result.nearest(method, point, axes)
    return place


def go_to_place(sweep: StoredSweep, place: int) -> None:
    """Go to a trained setting, before sliders are drawn or in a callback."""
    row = sweep.result.means.iloc[place]
    if row["method"] in sweep.grid_result.methods:
        axes = sweep.grid_result.axes(row["method"])
        go(sweep, row["method"], {name: row[name] for name in axes})


def move(sweep: StoredSweep, method: str, change: Mapping[str, Scalar]) -> None:
    """Change some values of the point, in a callback; of another method the nearest."""
    chosen = SweepFields.here()
    texts = chosen.coordinates()
    point = {
        name: _nearest(values, texts.get(name), method == chosen.method)
        for name, values in sweep.grid_result.axes(method).items()
    } | dict(change)
    go(sweep, method, point)


def read_point(
    axes: Mapping[str, Sequence[Scalar]], texts: Mapping[str, str]
) -> Point | None:
    """Return the values that the address states; None unless each lies on its axis.

    A number may lie between two values of an axis.
    """
    point: Point = {}
    for name, values in axes.items():
        value = _value(values, texts.get(name))
        if value is None:
            return None
        point[name] = value
    return point


def _value(values: Sequence[Scalar], text: str | None) -> Scalar | None:
    named = {words(value): value for value in values}
    if text is None or text in named:
        return named.get(text or "")
    first, last = values[0], values[-1]
    if not (isinstance(first, float) and isinstance(last, float)):
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if first <= value <= last else None


def _nearest(values: Sequence[Scalar], text: str | None, exact: bool) -> Scalar:
    """Return the value that a text states, else the nearest one, else the first."""
    value = _value(values, text)
    if value is not None and (exact or value in values):
        return value
    numbers = [one for one in values if not isinstance(one, str)]
    try:
        wanted = float(text or "")
    except ValueError:
        return values[0]
    return min(numbers, key=lambda one: abs(one - wanted)) if numbers else values[0]


def _other_axis(sweep: StoredSweep, method: str, name: str, value: Scalar) -> None:
    """Draw the choice of a value on an axis that has no slider."""
    known = {p.name: p for p in CATALOG[method].params}[name]
    key = f"{sweep.run.id} {name}"
    values = sweep.grid_result.axes(method)[name]
    st.session_state[key] = value
    shown = dict(zip(values, labels(values), strict=True))
    st.select_slider(
        known.title,
        values,
        format_func=shown.__getitem__,
        help=known.help or None,
        key=key,
        on_change=lambda: move(sweep, method, {name: st.session_state[key]}),
    )


def _front_options(
    sweep: StoredSweep,
) -> tuple[float, Judge, tuple[str, str], bool]:
    start = float(sweep.run.spec.get("di_limit", 0.05))
    most = max(_MOST_LIMIT, start)
    limit = st.slider(
        "Limit on DI",
        0.0,
        most,
        step=0.01,
        help="Fronts are drawn among models whose global DI is at most this.",
        **bound("limit", start, shown=lambda limit: min(max(limit, 0.0), most)),
    )
    judge: Judge = st.segmented_control(
        "Fronts chosen on",
        required=True,
        **bound("judge", "validation", named=_JUDGES),
    )
    constants = st.toggle(
        "Show constant models",
        help="Models that accept all or none, or whose balanced accuracy is within "
        "noise of 0.5: on no front, within no limit.",
        **bound("constants", False, meant=lambda shown: shown or None),
    )
    gaps = [f"{measure}_gap" for measure in MEASURE_NAMES]
    metrics = [*plots.METRICS, *gaps[1:]]  # the gap in selection rates is DI
    across = _axis("Across", "across", metrics, PARITY)
    others = [metric for metric in metrics if metric != across]
    first = "accuracy" if "accuracy" in others else others[0]
    up = _axis("Up", "up", others, first)
    return limit, judge, (across, up), constants


def _axis(title: str, field: str, metrics: list[str], first: str) -> str:
    return st.selectbox(
        title,
        metrics,
        format_func=lambda metric: plots.METRICS[metric][0].split(" (")[0],
        **bound(field, first, among=metrics),
    )


def go_to_mark(sweep: StoredSweep, drawn: pd.DataFrame) -> None:
    """Choose the setting whose mark was clicked on the front."""
    mark = _selected(f"{sweep.run.id} front")
    methods = list(dict.fromkeys(drawn["method"]))
    if mark is None or mark["curve_number"] >= len(methods):
        return
    marks = drawn[drawn["method"] == methods[mark["curve_number"]]]
    go_to_place(sweep, int(marks["place"].iloc[mark["point_index"]]))


def go_to_cell(sweep: StoredSweep, table: pd.DataFrame) -> None:
    """Choose the setting whose cell was clicked."""
    mark = _selected(f"{sweep.run.id} grid")
    if mark is not None and mark["curve_number"] == 1:
        go_to_place(sweep, int(table.index[mark["point_index"]]))


def _selected(key: str) -> dict[str, Any] | None:
    marks = st.session_state[key]["selection"]["points"]
    return marks[0] if marks else None
