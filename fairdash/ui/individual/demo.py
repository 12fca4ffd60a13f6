"""SenSeI and SenSR on two made-up features, one of which should not count."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from fairdash.methods import two_feature_networks, two_feature_people
from fairdash.ui.sweep.live_surface import live_surface

_HOW = """
Rows are made up: group 1 (squares) lies higher along both features and has more
positive outcomes (filled). The line is where decisions change. Feature 1, across,
should not count, so a fair line is level.

**SenSeI** weighs fairness: the line turns as ρ grows, and accuracy is paid for it step
by step. **SenSR** minimises the loss of the worst counterpart, and moves along feature
1 cost nothing there: its line is level at every ε, even 0. These are Figures 1 and 3 of
the SenSeI paper, on rows of our own.
"""


@dataclass(frozen=True)
class _Demo:
    method: str
    name: str
    slider: str
    address: str  # where the setting stands in the page's address


_DEMOS = (
    _Demo("sensei", "SenSeI", "Fairness weight (ρ) of SenSeI", "rho"),
    _Demo("sensr", "SenSR", "Fair radius (ε) of SenSR", "eps"),
)


@st.fragment
def show_individual_demo() -> None:
    """Draw the demonstration when it is opened; the address keeps its settings."""
    asked = any(demo.address in st.query_params for demo in _DEMOS)
    box = st.expander(
        "See it on two features",
        expanded=asked,
        icon=":material/scatter_plot:",
        key="individual demo",
        on_change="rerun",
    )
    if not box.open:
        return
    with box:
        st.markdown(_HOW)
        for place, demo in zip(st.columns(2, gap="medium"), _DEMOS, strict=True):
            with place:
                _surface(demo)


def _surface(demo: _Demo) -> None:
    networks = two_feature_networks(demo.method)
    X, y, group = two_feature_people()

    def keep(setting: float) -> None:
        st.query_params[demo.address] = f"{setting:g}"

    live_surface(
        networks,
        np.column_stack([X, y, group]),
        name=demo.name,
        slider=demo.slider,
        start=_start(st.query_params.get(demo.address), list(networks)),
        key=f"demo {demo.method}",
        moved=keep,
    )


def _start(text: str | None, settings: list[float]) -> float:
    """Return the setting that the address names, else the first."""
    named = {f"{setting:g}": setting for setting in settings}
    return named.get(text or "", settings[0])
