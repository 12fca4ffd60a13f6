"""Sliders through a sweep that everything follows, in the browser.

``st.slider`` sends nothing until it is let go, and a figure that the server draws again
takes some tenths of a second. Here the browser holds the numbers of every setting of a
method: at each step of a drag it writes those of the setting it stands at and moves a
ring over the front. The server is told on release.

The numbers go as JSON in bytes, made once a sweep: of an object Streamlit would write
the JSON twice at every release. Where the sliders start goes beside them, so that these
bytes never change: Streamlit then sends a reference to what the browser has.
"""

import json
import math
from pathlib import Path
from typing import Any

import streamlit as st

from fairdash._escaping import visible
from fairdash.audits import StoredSweep
from fairdash.methods import CATALOG
from fairdash.ui.sweep.controls import Controls, go
from fairdash.ui.widgets.state import live_component

_HERE = Path(__file__).parent


def draw_sliders(sweep: StoredSweep, state: Controls) -> None:
    """Draw the sliders and the numbers; the ring in the front follows too."""
    result = sweep.result
    axes = sweep.once(lambda: result.axes(state.method), "axes", state.method)
    row = result.means.iloc[state.place]
    key = f"{sweep.run.id} {state.method} setting"

    def moved() -> None:
        place = st.session_state[key].get("place")
        if place:
            go(sweep, int(place))

    drawn = sweep.once(
        lambda: json.dumps(_settings(sweep, state)).encode(),
        "sliders",
        state.method,
        state.limit,
        state.axes,
    )
    start = ",".join(str(axes[name].index(row[name])) for name in axes)
    st.html(f'<i class="fairdash-start" hidden>{start}</i>')
    live_component("live_setting", _HERE)(data=drawn, key=key, on_place_change=moved)


def _settings(sweep: StoredSweep, state: Controls) -> dict[str, Any]:
    result = sweep.result
    axes = result.axes(state.method)
    params = {param.name: param for param in CATALOG[state.method].params}
    cards = sweep.cards(state.method, state.limit, metric=state.limited)
    settings = []
    for place, kpis in cards.items():
        row = result.means.iloc[place]
        mark = [float(row[f"test_{metric}"]) for metric in state.axes]
        settings.append(
            {
                "id": str(place),
                "label": result.labels[place],
                "at": [axes[name].index(row[name]) for name in axes],
                "values": [
                    {
                        "value": visible(kpi.value),
                        "note": visible(kpi.note),
                        "delta": kpi.delta,
                    }
                    for kpi in kpis
                ],
                "mark": mark if all(map(math.isfinite, mark)) else None,
            }
        )
    return {
        "sliders": [
            {
                "title": params[name].title,
                "help": params[name].help,
                "values": [
                    value if isinstance(value, str) else f"{value:.10g}"
                    for value in axes[name]
                ],
            }
            for name in axes
        ],
        "cards": [{"label": kpi.label, "help": kpi.help} for kpi in cards[state.place]],
        "settings": settings,
        "figure": f"{sweep.run.id} front".replace(" ", "-"),
    }
