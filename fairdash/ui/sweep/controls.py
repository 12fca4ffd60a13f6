"""Where the reader stands in a sweep, and the controls that move through it.

The setting is that of the model in the page's address: see `selection`. A page opened
without one starts at the most accurate setting within the limit, and where there is
none at the one nearest to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairdash import plots
from fairdash._escaping import plain
from fairdash.audits import Setting, StoredSweep, choices
from fairdash.methods import CATALOG
from fairdash.sweep import PARITY
from fairdash.ui.selection import Fields, SharedFields, bound, choose
from fairdash.ui.widgets.blocks import more
from fairdash.ui.widgets.pick_rule import pick_rule
from fairdash.ui.widgets.tray import pin, pinned

_MOST_LIMIT = 0.5  # unless the sweep was asked for with a larger one


@dataclass(frozen=True)
class SweepFields(Fields):
    """What the address says beside what every page knows."""

    # The largest gap that is accepted: of the one across, else over all rows.
    limit: float | None = None
    # The metric across in a front; accuracy is up.
    across: str | None = None
    # The limits that a model is to keep for certain.
    most_di: float | None = None
    most_worst: float | None = None


@dataclass(frozen=True)
class Controls:
    """What the reader set: a trained setting, and how fronts are judged."""

    place: int  # of the setting in ``means``
    method: str
    limit: float
    limited: str  # the gap that the limit is on
    axes: tuple[str, str]


def sweep_controls(sweep: StoredSweep) -> tuple[Controls, DeltaGenerator]:
    """Draw the method and the popover with the rest.

    Returns what was set, and the place for one more popover in the bar.
    """
    result = sweep.result
    first = st.container(width=220) if len(result.methods) > 1 else None
    options = st.container(width="content")
    with st.container(width="content"):
        pick_rule()
    corner = st.container(width="content")
    with options, more("Front and limit"):
        limit, limited, axes = _front_options(sweep)
    place = current(sweep, limit, limited)
    method = str(result.means["method"].iloc[place])
    if first is not None:
        widget = f"{sweep.run.id} method"
        st.session_state[widget] = method
        first.selectbox(
            "Method",
            result.methods,
            format_func=lambda key: CATALOG[key].label,
            key=widget,
            on_change=lambda: go(
                sweep, result.start(limit, st.session_state[widget], metric=limited)
            ),
        )
    return Controls(place, method, limit, limited, axes), corner


def current(sweep: StoredSweep, limit: float, limited: str) -> int:
    """Return the place of the setting to show: that of the address, else the start.

    The model it stands for is written into the address, if that names another.
    """
    model, place = SharedFields.here().model, None
    if model in sweep.ids:
        place = sweep.ids.index(model)
    if place is None or not _has_sliders(sweep, place):
        place = sweep.once(
            lambda: sweep.result.start(limit, metric=limited), "start", limit, limited
        )
    go(sweep, place)
    return place


def go(sweep: StoredSweep, place: int) -> None:
    """Make the model of a setting that of the address: all pages look at it."""
    model = sweep.ids[place]
    if model != SharedFields.here().model and _has_sliders(sweep, place):
        choose(model=model, scores=None)


def pick_pinned(sweep: StoredSweep, place: int, models: Sequence[Setting]) -> None:
    """Draw the pinned settings of the sweep, the chosen one, and the button that pins.

    ``models`` are those that other pages offer.
    """
    model, pins = sweep.ids[place], SharedFields.here().models
    every = dict(zip(sweep.ids, sweep.result.labels, strict=True))
    shown = [name for name in pins if name in every and name != model]
    shown = [name for name in shown if _has_sliders(sweep, sweep.ids.index(name))]

    def pin_it() -> None:
        pin(*(each.id for each in pinned(models, sweep.run.id)))

    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.pills(
            "Model",
            required=True,
            label_visibility="collapsed",
            **bound(
                "model",
                model,
                named={name: plain(every[name]) for name in (*shown, model)},
            ),
        )
        st.button(
            "Pinned" if model in pins else "Pin",
            icon=":material/keep:",
            type="tertiary",
            help="Pinned models stand beside one another on every page.",
            disabled=model in pins,
            on_click=pin_it,
        )


def _has_sliders(sweep: StoredSweep, place: int) -> bool:
    return sweep.result.means["method"].iloc[place] in sweep.result.methods


def _front_options(sweep: StoredSweep) -> tuple[float, str, tuple[str, str]]:
    start = float(sweep.run.spec.get("di_limit", 0.05))
    most = max(_MOST_LIMIT, start)
    metrics = [name for name in plots.METRICS if name != "accuracy"]
    across = st.selectbox(
        "Across",
        metrics,
        format_func=lambda metric: plots.METRICS[metric][0].split(" (")[0],
        **bound("across", PARITY, among=metrics),
    )
    limited = across if across in choices.LIMITED else PARITY
    name = choices.LIMITED[limited]
    limit = st.slider(
        f"Limit on the {name}",
        0.0,
        most,
        step=0.01,
        help=f"Fronts are drawn among models whose {name} is at most this.",
        **bound("limit", start, shown=lambda limit: min(max(limit, 0.0), most)),
    )
    return limit, limited, (across, "accuracy")


def go_to_mark(sweep: StoredSweep, drawn: pd.DataFrame) -> None:
    """Choose the setting whose mark was clicked on the front."""
    marks = st.session_state[f"{sweep.run.id} front"]["selection"]["points"]
    methods = list(dict.fromkeys(drawn["method"]))
    if marks and marks[0]["curve_number"] < len(methods):
        shown = drawn[drawn["method"] == methods[marks[0]["curve_number"]]]
        go(sweep, int(shown["place"].iloc[marks[0]["point_index"]]))
