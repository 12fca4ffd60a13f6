"""The guided tour: five stops on a finished run, with keys for who presents it.

Whoever goes on sees a last act, from a gap that nobody named to a report.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import streamlit as st

from fairdash.audits import known_models_of
from fairdash.ui.selection import choose, selection, stated
from fairdash.ui.widgets.state import store


class _Stop(NamedTuple):
    page: str
    words: str
    chosen: Mapping[str, Any] = MappingProxyType({})
    plain: bool = False  # of the unconstrained model
    found: bool = False  # in the subgroups that the reader has found just before


_LIMITS = {"rule": "certified", "most_di": 0.15, "most_worst": 0.4}
_TOUR = (
    _Stop(
        "5_Sweep",
        "25 settings of ROAD on invented loans. Drag λ and τ: numbers, front and map "
        "follow.",
    ),
    _Stop(
        "3_Local_fairness",
        "Loan officers marked down women under 30 and nobody else. A plain model "
        "learned it; what lies in the grey could be chance.",
        plain=True,
    ),
    _Stop(
        "4_Weights",
        "ROAD was told of no subgroup. Its weights say to which rows it turned.",
    ),
    _Stop(
        "6_Post-process",
        "Without training anew: thresholds by group close the plain model's gap over "
        "all rows. Drag γ, then look at what is left inside the age bands.",
        plain=True,
    ),
    _Stop(
        "7_Noisy_groups",
        "Groups are as recorded. Drag the radius: what holds if some were recorded "
        "wrongly?",
    ),
)
_LAST_ACT = (
    _Stop(
        "3_Local_fairness",
        "**Find.** All subgroups are searched below, and what chance explains is left "
        "out. Click the first one: its columns are the subgroups of every page.",
        {"opened": ("find",)},
        plain=True,
    ),
    _Stop(
        "6_Post-process",
        "**Fix.** Thresholds for each group of the scores of that model. See what they "
        "leave inside the subgroups just found.",
        plain=True,
        found=True,
    ),
    _Stop(
        "5_Sweep",
        "**Certify.** Open Find a model: it says for which setting both limits are "
        "shown to hold on new people, or how many rows that would take.",
        _LIMITS,
    ),
    _Stop(
        "5_Sweep",
        "**Report.** Open Export: Report (HTML) has it all as one page.",
        _LIMITS,
    ),
)
_STOPS = _TOUR + _LAST_ACT


def go_to_stop(stop: int, run: str | None, data: str | None) -> None:
    """Open a stop of the tour, from 1, as it was before anything was chosen there.

    The subgroups that were found go along to where they are fixed.
    """
    asked = _STOPS[stop - 1]
    there = {"run": run, "data": data, "tour": stop, **asked.chosen}
    if asked.plain and run and (known := known_models_of(store(), [run])):
        first = known[0].id
        there |= {"models": (first,), "model": first, "scores": first}
    if asked.found:
        there["subgroups"] = selection().subgroups
    st.switch_page(f"pages/{asked.page}.py", query_params=stated(**there))


def show_tour() -> None:
    """Draw the stop that the address names, wherever the reader has gone meanwhile."""
    chosen = selection()
    stop = chosen.tour
    if stop is None or not 1 <= stop <= len(_STOPS):
        return
    last_act = stop - len(_TOUR)
    name, forward = f"Stop {stop} of {len(_TOUR)}", "Next stop"
    if last_act > 0:
        name = f"Last act, {last_act} of {len(_LAST_ACT)}"
    elif last_act == 0:
        forward = "On to the last act: find, fix, certify, report"
    with st.container(border=True, gap="small"):
        st.markdown(f"**{name}.** {_STOPS[stop - 1].words}")
        with st.container(horizontal=True):
            if stop < len(_STOPS) and st.button(forward, shortcut="N"):
                go_to_stop(stop + 1, chosen.run, chosen.data)
            if st.button("Start again", shortcut="S"):
                go_to_stop(1, chosen.run, chosen.data)
            st.button("Leave the tour", type="tertiary", on_click=_leave)


def _leave() -> None:
    choose(tour=None)
