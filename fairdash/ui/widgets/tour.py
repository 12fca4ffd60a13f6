"""The guided tour: five stops on a finished run, with keys for who presents it."""

import streamlit as st

from fairdash.ui.selection import Selection, choose, selection

_STOPS = {
    "pages/5_Sweep.py": "25 settings of ROAD on invented loans. Drag λ and τ: numbers, "
    "front and map follow.",
    "pages/3_Local_fairness.py": "Loan officers marked down women under 30 and nobody "
    "else. The gaps stand by age, with what chance alone would show.",
    "pages/4_Weights.py": "ROAD was told of no subgroup. Its weights say to which rows "
    "it turned.",
    "pages/6_Post-process.py": "Thresholds by group close the gap over all rows. Drag "
    "γ, then look at what is left inside the age bands.",
    "pages/7_Noisy_groups.py": "Groups are as recorded. Drag the radius: what holds if "
    "some were recorded wrongly?",
}


def go_to_stop(stop: int, run: str | None, data: str | None) -> None:
    """Open a stop of the tour, from 1, as it was before anything was chosen there."""
    address = Selection(run=run, data=data, tour=stop).address()
    st.switch_page(list(_STOPS)[stop - 1], query_params=address)


def show_tour() -> None:
    """Draw the stop that the address names, wherever the reader has gone meanwhile."""
    chosen = selection()
    stop = chosen.tour
    if stop is None or not 1 <= stop <= len(_STOPS):
        return
    words = list(_STOPS.values())[stop - 1]
    with st.container(border=True, gap="small"):
        st.markdown(f"**Stop {stop} of {len(_STOPS)}.** {words}")
        with st.container(horizontal=True):
            if stop < len(_STOPS) and st.button("Next stop", shortcut="N"):
                go_to_stop(stop + 1, chosen.run, chosen.data)
            if st.button("Start again", shortcut="S"):
                go_to_stop(1, chosen.run, chosen.data)
            st.button("Leave the tour", type="tertiary", on_click=_leave)


def _leave() -> None:
    choose(tour=None)
