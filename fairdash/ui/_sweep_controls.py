"""Controls of a sweep: sliders through its grid, the limit, clicks on figures."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from fairdash import plots
from fairdash.methods import CATALOG
from fairdash.store import RunRecord
from fairdash.ui._blocks import controls, more
from fairdash.ui._sweep import PARITY, Judge, Sweep

_JUDGES: dict[Judge, str] = {"validation": "Validation rows", "test": "As in the paper"}
_NAMES = {"fairness_weight": "λ", "tau": "τ"}


@dataclass(frozen=True)
class Controls:
    """What the reader set: a model, and how fronts are judged.

    Attributes
    ----------
    place : int or None
        Of the chosen setting in ``means``; None if it did not finish.
    method : str
    point : dict
        Its λ and, for methods that have it, τ.
    limit : float
        On DI.
    judge : {"validation", "test"}
    axes : pair of str
    single : bool
        Fronts over single runs instead of means over seeds.
    """

    place: int | None
    method: str
    point: dict[str, float]
    limit: float
    judge: Judge
    axes: tuple[str, str]
    single: bool


def sweep_controls(sweep: Sweep, run: RunRecord) -> Controls:
    """Draw method, λ, τ and the popover with the rest; return what was set."""
    with controls(4):
        bar = [st.container() for _ in range(3)]
        options = more("Front and limit")
    with options:
        limit, judge, axes, single = _front_options(sweep, run)
    _start(sweep, run, limit)
    method = sweep.methods[0]
    if len(sweep.methods) > 1:
        with bar[0]:
            method = st.selectbox(
                "Method",
                sweep.methods,
                format_func=lambda key: CATALOG[key].label,
                key=f"{run.id} method",
                persist_state="session",
            )
    point: dict[str, float] = {}
    for place, (param, letter) in zip(bar[1:], _NAMES.items(), strict=True):
        values = sweep.axis(method, param)
        if not values:
            continue
        known = {p.name: p for p in CATALOG[method].params}[param]
        if len(values) == 1:
            point[param] = values[0]
            continue
        _keep_on(values, f"{run.id} {letter}")
        with place:
            point[param] = st.select_slider(
                known.title,
                values,
                format_func=lambda value: f"{value:g}",
                help=known.help,
                key=f"{run.id} {letter}",
                persist_state="session",
            )
    place_of = sweep.position(method, point)
    return Controls(place_of, method, point, limit, judge, axes, single)


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


def _start(sweep: Sweep, run: RunRecord, limit: float) -> None:
    """Start on the most accurate setting within the limit, judged by validation."""
    if f"{run.id} started" in st.session_state:
        return
    place = sweep.best({PARITY: limit})
    if place is None:
        place = sweep.best({})
    if place is not None:
        choose(sweep, run, place)
    st.session_state[f"{run.id} started"] = True


def choose(sweep: Sweep, run: RunRecord, place: int) -> None:
    """Move the sliders to a setting; before they are drawn, or in a callback."""
    row = sweep.means.iloc[place]
    if row["method"] not in sweep.methods:
        return
    st.session_state[f"{run.id} method"] = row["method"]
    for param, letter in _NAMES.items():
        if param in row and row[param] == row[param]:
            st.session_state[f"{run.id} {letter}"] = float(row[param])


def _keep_on(values: list[float], key: str) -> None:
    """Move a slider's value onto the grid of another method."""
    current = st.session_state.get(key, values[0])
    if current not in values:
        current = min(values, key=lambda value: abs(value - current))
    st.session_state[key] = current


def go_to_mark(sweep: Sweep, run: RunRecord) -> None:
    """Choose the setting whose mark was clicked on the front."""
    mark = _selected(f"{run.id} front")
    methods = list(dict.fromkeys(sweep.means["method"]))
    if mark is None or mark["curve_number"] >= len(methods):
        return
    mine = sweep.means["method"] == methods[mark["curve_number"]]
    choose(sweep, run, int(mine.to_numpy().nonzero()[0][mark["point_index"]]))


def go_to_cell(table: pd.DataFrame, run: RunRecord) -> None:
    """Choose the setting whose cell was clicked."""
    mark = _selected(f"{run.id} grid")
    if mark is None or mark["curve_number"] != 1:
        return
    row = table.iloc[mark["point_index"]]
    move_to({param: float(row[param]) for param in _NAMES}, run)


def move_to(point: dict[str, float], run: RunRecord) -> None:
    """Move the sliders, in a callback, to values of λ and τ."""
    for param, value in point.items():
        st.session_state[f"{run.id} {_NAMES[param]}"] = value


def _selected(key: str) -> dict[str, Any] | None:
    marks = st.session_state[key]["selection"]["points"]
    return marks[0] if marks else None
