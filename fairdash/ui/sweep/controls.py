"""Where the reader stands in a sweep, and the controls that move through it.

The setting is that of the model in question: the one that the page's address names,
else the one that the sweep opens on. What is best within the limit is a line of its
own, and moves nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairdash._escaping import plain
from fairdash._metric_names import PARITY
from fairdash.audits import Setting, StoredSweep, linked, recommendation, sweeps
from fairdash.linked import MEASURES
from fairdash.methods import CATALOG
from fairdash.ui.selection import Fields, SharedFields, bound, choose
from fairdash.ui.widgets.blocks import more
from fairdash.ui.widgets.pick_rule import pick_rule
from fairdash.ui.widgets.question import model_in_question
from fairdash.ui.widgets.tray import pin, pinned

_MOST_LIMIT = 0.5  # unless the sweep was asked for with a larger one


@dataclass(frozen=True)
class SweepFields(Fields):
    """Fields of the address that this page has beside those of every page."""

    # The largest gap that is accepted.
    limit: float | None = None
    # The gap that the limit is on.
    across: str | None = None
    # What front, map and curves show.
    pictured: str | None = None
    # The limits that a model is to keep for certain.
    most_di: float | None = None
    most_worst: float | None = None


@dataclass(frozen=True)
class Controls:
    """The reader's choices: a trained setting, and how fronts are judged."""

    place: int  # of the setting in ``means``
    method: str
    limit: float
    limited: str  # the gap that the limit is on
    pictured: str  # what front, map and curves show


def sweep_controls(sweep: StoredSweep) -> tuple[Controls, DeltaGenerator]:
    """Draw the method and the popover with the rest.

    Returns what was set, and the place for one more popover in the bar.
    """
    result = sweep.result
    methods = list(dict.fromkeys(result.means["method"]))
    first = st.container(width=220) if len(methods) > 1 else None
    options = st.container(width="content")
    with st.container(width="content"):
        pick_rule()
    corner = st.container(width="content")
    with options, more("Limit"):
        limit, limited = _limit_options(sweep)
    place = current(sweep)
    method = str(result.means["method"].iloc[place])
    if first is not None:
        widget = f"{sweep.run.id} method"
        st.session_state[widget] = method
        first.selectbox(
            "Method",
            methods,
            format_func=lambda key: CATALOG[key].label,
            key=widget,
            label_visibility="collapsed",
            on_change=lambda: go(
                sweep, result.start(limit, st.session_state[widget], metric=limited)
            ),
        )
    return Controls(place, method, limit, limited, pictured_measure(sweep)), corner


def pictured_measure(sweep: StoredSweep) -> str:
    """Return the measure that the pictures show: that of the address, if it has one."""
    pictured = SweepFields.here().pictured
    return pictured if pictured in MEASURES else linked.first_measure(sweep)


def place_here(sweep: StoredSweep, limit: float) -> int:
    """Return the place of the model of the address, else of the best so far.

    The address is not written: of a sweep that grows what is best may change.
    """
    model = SharedFields.here().model
    return sweep.ids.index(model) if model in sweep.ids else sweep.result.start(limit)


def current(sweep: StoredSweep) -> int:
    """Return the place of the model in question, and write it into the address."""
    place = sweep.ids.index(model_in_question(sweep.models, sweep.run.id).id)
    go(sweep, place)
    return place


def go(sweep: StoredSweep, place: int) -> None:
    """Make the model of a setting that of the address: all pages look at it."""
    model = sweep.ids[place]
    if model != SharedFields.here().model:
        choose(model=model, scores=None)


def pick_pinned(sweep: StoredSweep, place: int, models: Sequence[Setting]) -> None:
    """Draw the pinned settings of the sweep, the chosen one, and the button that pins.

    ``models`` are those that other pages offer.
    """
    model = sweep.ids[place]
    pins = SharedFields.here().models
    everything = dict(zip(sweep.ids, sweep.result.labels, strict=True))
    pinned_ids = [name for name in pins if name in everything and name != model]

    def pin_it() -> None:
        pin(*(setting.id for setting in pinned(models, sweep.run.id)))

    with st.container(
        horizontal=True, gap="xsmall", vertical_alignment="center", width="content"
    ):
        st.pills(
            "Model",
            required=True,
            label_visibility="collapsed",
            **bound(
                "model",
                model,
                named={name: plain(everything[name]) for name in (*pinned_ids, model)},
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


def show_recommendation(sweep: StoredSweep, state: Controls) -> None:
    """Draw what is best within the limit, and the button that looks at it."""
    best = recommendation.recommend(sweep, state.limit, metric=state.limited)
    with st.container(
        horizontal=True,
        gap="small",
        vertical_alignment="center",
        wrap=False,
        key="recommendation",
    ):
        st.caption(plain(best.beside(state.place)), width="content")
        if best.place is not None and best.place != state.place:
            st.button(
                "Use",
                type="tertiary",
                key=f"{sweep.run.id} use",
                on_click=go,
                args=(sweep, best.place),
            )


def limit_here(sweep: StoredSweep) -> tuple[float, str]:
    """Return the limit of the URL and the gap that it is on, without a control."""
    chosen = SweepFields.here()
    start = float(sweep.run.spec.get("di_limit", 0.05))
    limited = chosen.across if chosen.across in sweeps.LIMITED else PARITY
    limit = start if chosen.limit is None else chosen.limit
    return min(max(limit, 0.0), max(_MOST_LIMIT, start)), limited


def _limit_options(sweep: StoredSweep) -> tuple[float, str]:
    start = float(sweep.run.spec.get("di_limit", 0.05))
    most = max(_MOST_LIMIT, start)
    limited = st.selectbox(
        "Limit on the",
        list(sweeps.LIMITED),
        format_func=sweeps.LIMITED.__getitem__,
        **bound("across", PARITY, among=list(sweeps.LIMITED)),
    )
    name = sweeps.LIMITED[limited]
    limit = st.slider(
        f"Limit on the {name}",
        0.0,
        most,
        step=0.01,
        help=f"Marks of settings whose {name} is larger are open.",
        **bound(
            "limit",
            start,
            shown=lambda limit: min(max(limit, 0.0), most),
            by_value=True,
        ),
    )
    return limit, limited
