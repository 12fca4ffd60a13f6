"""SenSeI and SenSR on two made-up features, one of which should not count."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairdash import plots
from fairdash.methods import Network, two_feature_networks, two_feature_people
from fairdash.ui._blocks import figure
from fairdash.ui._format import percent

_AXIS = np.linspace(-4, 4, 41)
_GROUPS = ("Group 0", "Group 1")
_HOW = """
Rows are made up: group 1 (squares) lies higher along both features and has more
positive outcomes (filled). The line is where decisions change. Feature 1 should not
count, so a fair line is parallel to the arrow.

**SenSeI** weighs fairness: the line turns as ρ grows, and accuracy is paid for it step
by step. **SenSR** minimises the loss of the worst counterpart, and moves along the
arrow cost nothing there: its line is parallel at every ε, even 0. These are Figures 1
and 3 of the SenSeI paper, on rows of our own.
"""


@dataclass(frozen=True)
class _Demo:
    method: str
    name: str
    slider: str


_DEMOS = (
    _Demo("sensei", "SenSeI", "Fairness weight (ρ) of SenSeI"),
    _Demo("sensr", "SenSR", "Fair radius (ε) of SenSR"),
)


@st.fragment
def show_individual_demo() -> None:
    """Draw the demonstration when it is opened; each slider redraws its own map."""
    box = st.expander(
        "See it on two features",
        icon=":material/scatter_plot:",
        key="individual demo",
        on_change="rerun",
    )
    if box.open:
        for place, demo in zip(box.columns(2, gap="medium"), _DEMOS, strict=True):
            with place:
                _surface(demo)


@st.fragment
def _surface(demo: _Demo) -> None:
    networks = two_feature_networks(demo.method)
    setting = st.select_slider(
        demo.slider,
        list(networks),
        key=f"demo {demo.method}",
        format_func="{:g}".format,
    )
    network = networks[setting]
    X, y, group = two_feature_people()
    surface = _probability(network, *np.meshgrid(_AXIS, _AXIS))
    change = float(np.ptp(surface, axis=1).max())
    decided = _probability(network, X[:, 0], X[:, 1]) > 0.5
    anywhere = _probability(network, *np.meshgrid(_AXIS, X[:, 1])) > 0.5
    kept = (anywhere == decided[:, None]).all(axis=1)
    points = pd.DataFrame(
        {"x": X[:, 0], "y": X[:, 1], "group": np.array(_GROUPS)[group], "outcome": y}
    )
    figure(
        plots.plot_surface(surface, points, axis=_AXIS, groups=_GROUPS),
        finding=plots.surface_finding(change),
        caption=f"{len(y)} made-up rows: {percent(float(np.mean(decided == y)))} "
        f"predicted right, {percent(float(kept.mean()))} keep their decision wherever "
        "feature 1 moves them on this map.",
        alt=plots.describe_surface(demo.name, change),
        how=_HOW,
        key=f"surface {demo.method}",
    )


def _probability(
    network: Network, first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return P(1) at every pair of features, in the shape of either."""
    logit = network.logits(np.column_stack([first.ravel(), second.ravel()]))
    p: NDArray[np.float64] = 1 / (1 + np.exp(-logit))
    return p.reshape(first.shape)
