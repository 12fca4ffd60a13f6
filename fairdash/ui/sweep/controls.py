"""Controls of a sweep: method, other axes, the limit, clicks on figures."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairdash import plots
from fairdash.methods import CATALOG
from fairdash.results import TAU, WEIGHT, Judge, Point, Sweep, Value
from fairdash.store import RunRecord
from fairdash.ui.sweep.point import choose, current, labels, move
from fairdash.ui.widgets.blocks import controls, more

_JUDGES: dict[Judge, str] = {"validation": "Validation rows", "test": "As in the paper"}
_SLIDERS = 2


@dataclass(frozen=True)
class Controls:
    """What the reader set: a model, and how fronts are judged.

    Attributes
    ----------
    place : int or None
        Of the chosen setting in ``means``; None if it did not finish.
    method : str
    point : dict
        Its value on every axis of the method's grid.
    sliders : tuple of str
        The axes that sliders go through, at most two.
    limit : float
        On DI.
    judge : {"validation", "test"}
    axes : pair of str
    single : bool
        Fronts over single runs instead of means over seeds.
    """

    place: int | None
    method: str
    point: Point
    sliders: tuple[str, ...]
    limit: float
    judge: Judge
    axes: tuple[str, str]
    single: bool

    @property
    def others(self) -> Point:
        """The values on the axes without a slider, which figures hold fixed."""
        return {n: v for n, v in self.point.items() if n not in self.sliders}

    @property
    def has_map(self) -> bool:
        """Whether the sliders go through λ and τ."""
        return self.sliders == (WEIGHT, TAU)


def sweep_controls(sweep: Sweep, run: RunRecord) -> tuple[Controls, DeltaGenerator]:
    """Draw the method and the popover with the rest.

    Returns what was set, and the place for one more popover in the bar.
    """
    several = len(sweep.methods) > 1
    with controls(4):
        first = st.container() if several else None
        options = more("Front and limit")
        corner = st.container()
    with options:
        limit, judge, axes, single = _front_options(sweep, run)
    method, point = current(sweep, run, limit)
    if first is not None:
        key = f"{run.id} method"
        st.session_state[key] = method
        first.selectbox(
            "Method",
            sweep.methods,
            format_func=lambda key: CATALOG[key].label,
            key=key,
            on_change=lambda: move(sweep, run, st.session_state[key], {}),
        )
    sliders = tuple(point)[:_SLIDERS]
    with options:
        for name in tuple(point)[_SLIDERS:]:
            _other_axis(sweep, run, method, name, point[name])
    place = sweep.position(method, point)
    asked = Controls(place, method, point, sliders, limit, judge, axes, single)
    return asked, corner


def _other_axis(
    sweep: Sweep, run: RunRecord, method: str, name: str, value: Value
) -> None:
    """Draw the choice of a value on an axis that has no slider."""
    known = {p.name: p for p in CATALOG[method].params}[name]
    key = f"{run.id} {name}"
    st.session_state[key] = value
    values = sweep.axes(method)[name]
    shown = dict(zip(values, labels(values), strict=True))
    st.select_slider(
        known.title,
        values,
        format_func=shown.__getitem__,
        help=known.help or None,
        key=key,
        on_change=lambda: move(sweep, run, method, {name: st.session_state[key]}),
    )


def _front_options(
    sweep: Sweep, run: RunRecord
) -> tuple[float, Judge, tuple[str, str], bool]:
    limit = st.slider(
        "Limit on DI",
        0.0,
        0.5,
        float(run.spec.get("di_limit", 0.05)),
        0.01,
        help="Fronts are drawn among models whose global DI is at most this.",
        key=f"{run.id} limit",
        persist_state="session",
    )
    judge: Judge = st.segmented_control(
        "Fronts chosen on",
        list(_JUDGES),
        format_func=_JUDGES.__getitem__,
        default="validation",
        required=True,
        key=f"{run.id} judge",
        persist_state="session",
    )
    single = False
    if sweep.n_seeds > 1:
        single = st.toggle("Front over single runs", key=f"{run.id} single")
    axes = []
    for name, default in (("Across", "worst_1_di"), ("Up", "accuracy")):
        known = list(plots.METRICS)
        axes.append(
            st.selectbox(
                name,
                known,
                index=known.index(default),
                format_func=lambda metric: plots.METRICS[metric][0].split(" (")[0],
                key=f"{run.id} {name}",
                persist_state="session",
            )
        )
    return limit, judge, (axes[0], axes[1]), single


def go_to_mark(sweep: Sweep, run: RunRecord) -> None:
    """Choose the setting whose mark was clicked on the front."""
    mark = _selected(f"{run.id} front")
    methods = list(dict.fromkeys(sweep.means["method"]))
    if mark is None or mark["curve_number"] >= len(methods):
        return
    mine = sweep.means["method"] == methods[mark["curve_number"]]
    choose(sweep, run, int(mine.to_numpy().nonzero()[0][mark["point_index"]]))


def go_to_cell(sweep: Sweep, table: pd.DataFrame, run: RunRecord) -> None:
    """Choose the setting whose cell was clicked."""
    mark = _selected(f"{run.id} grid")
    if mark is not None and mark["curve_number"] == 1:
        choose(sweep, run, int(table.index[mark["point_index"]]))


def _selected(key: str) -> dict[str, Any] | None:
    marks = st.session_state[key]["selection"]["points"]
    return marks[0] if marks else None
