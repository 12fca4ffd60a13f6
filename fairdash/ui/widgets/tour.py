"""The guided tour: a picture of the idea, then a finished run; a sentence a stop."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import streamlit as st

from fairdash.audits import trials
from fairdash.ui import pages
from fairdash.ui.selection import Address, SharedFields, choose, open_at, stated
from fairdash.ui.widgets.state import store


class _Stop(NamedTuple):
    page: pages.Page
    words: str
    plain: bool = False  # of the unconstrained model
    chosen: Mapping[str, Any] = MappingProxyType({})


_STOPS = (
    _Stop(
        pages.PLAYGROUND,
        "A corner nobody looked at: drag λ and compare the upper right in both planes.",
        chosen={
            "scene": "hidden_corner",
            "shown_method": "road",
            "beside": "adversarial",
        },
    ),
    _Stop(pages.SWEEP, "36 settings of ROAD on invented loans: drag λ and τ."),
    _Stop(
        pages.LOCAL_FAIRNESS,
        "Loan officers marked down women under 30, and a plain model learned it.",
        plain=True,
        chosen={"opened": ("settings",)},
    ),
    _Stop(
        pages.WEIGHTS,
        "ROAD knew of no subgroup; its weights show that it turned to young women.",
    ),
    _Stop(
        pages.POST_PROCESS,
        "Thresholds by group close the gap without training anew: drag γ.",
        plain=True,
    ),
    _Stop(
        pages.NOISY_GROUPS,
        "Drag the share: what holds if that many groups are recorded wrongly?",
    ),
    _Stop(
        pages.LOCAL_FAIRNESS,
        "A search of all subgroups finds young women without being told.",
        plain=True,
        chosen={"opened": ("find",)},
    ),
    _Stop(pages.SWEEP, "Export, Report (HTML) has it all as one page."),
)


def go_to_stop(stop: int, run: str | None, data: str | None) -> None:
    """Open a stop of the tour, from 1, as it was before anything was chosen there."""
    target = _STOPS[stop - 1]
    fields = {"run": run, "data": data, "tour": stop, **target.chosen}
    if target.plain and run:
        models = trials.known_models_of(store(), [run])
        # A sample's run may have been deleted in another window meanwhile.
        if models:
            first = models[0].id
            fields |= {"models": (first,), "model": first, "scores": first}
    open_at(target.page.path, stated(**fields))


def present_button(sweep_address: Address) -> None:
    """Draw the button that begins the show mode, at an address of the Sweep page."""
    how = "The pictures one at a time, in large type. Arrow keys go on and back."
    with st.container(key="present", width="content"):
        pressed = st.button(
            "Present", icon=":material/slideshow:", type="tertiary", help=how
        )
    if pressed:
        open_at(pages.SWEEP.path, sweep_address)


def show_tour() -> None:
    """Draw the stop that the address names, wherever the reader has gone meanwhile."""
    chosen = SharedFields.here()
    stop = chosen.tour
    if stop is None or not 1 <= stop <= len(_STOPS):
        return
    with st.container(border=True, gap="small"):
        st.markdown(f"**Stop {stop} of {len(_STOPS)}.** {_STOPS[stop - 1].words}")
        with st.container(horizontal=True):
            if stop < len(_STOPS) and st.button("Next stop", shortcut="N"):
                go_to_stop(stop + 1, chosen.run, chosen.data)
            if st.button("Start again", shortcut="S"):
                go_to_stop(1, chosen.run, chosen.data)
            present_button(stated(run=chosen.run, data=chosen.data, show=1))
            leave: dict[str, Any] = {
                "type": "tertiary",
                "on_click": choose,
                "kwargs": {"tour": None},
            }
            st.button("Leave the tour", **leave)
