"""Small networks of two features under a slider that the map follows, in the browser.

The parameters of all settings are sent once; the browser computes the map of the one
that the slider stands at.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from fairdash.methods import Network
from fairdash.ui.widgets.live_component import live_component

_HERE = Path(__file__).parent


def live_surface(
    networks: Mapping[float, Network],
    points: NDArray[np.float64],
    *,
    name: str,
    slider: str,
    start: float,
    key: str,
    moved: Callable[[float], None],
) -> None:
    """Draw the slider with the map of P(1), the rows and what the network does.

    Parameters
    ----------
    networks : mapping of float to Network
        By setting, ascending; two inputs, the first of which is free, and one output.
    points : ndarray of shape (n_rows, 4)
        Features 1 and 2, outcome and group (0 or 1) of the rows drawn.
    name, slider : str
        The method and its setting on screen.
    start : float
        Setting at first.
    key : str
        Identity between reruns.
    moved : callable
        Receives the setting on release.
    """

    def released() -> None:
        setting = st.session_state[key].get("setting")
        if setting is not None:
            moved(float(setting))

    live_component("live_surface", _HERE)(
        data={
            "settings": list(networks),
            "networks": [
                {
                    "weights": [np.asarray(w).round(6).tolist() for w in one.weights],
                    "biases": [np.asarray(b).round(6).tolist() for b in one.biases],
                }
                for one in networks.values()
            ],
            "points": points.round(4).tolist(),
            "name": name,
            "slider": slider,
            "start": start,
        },
        key=key,
        on_setting_change=released,
    )
