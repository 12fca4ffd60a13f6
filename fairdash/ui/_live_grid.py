"""Sliders through a finished sweep whose numbers follow the hand, in the browser.

``st.slider`` sends nothing until it is let go. Here the browser holds the small table
of a method's settings, moves the chosen point and its numbers at every step of a drag,
and tells the server on release, which then redraws the page.
"""

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

_HTML = """
<div class="sliders">
  <label><span></span><input id="first" type="range" min="0" step="1"></label>
  <label><span></span><input id="second" type="range" min="0" step="1"></label>
</div>
<output aria-live="polite"></output>
<svg role="img" aria-label="Accuracy against Worst-1-DI of all settings"></svg>
"""


def live_grid(
    table: pd.DataFrame,
    axes: dict[str, list[float]],
    chosen: dict[str, float],
    *,
    letters: dict[str, str],
    key: str,
    moved: Callable[[dict[str, float]], None],
) -> None:
    """Draw the sliders, the numbers and the settings of one method.

    Parameters
    ----------
    table : DataFrame
        One row per setting: the parameters of ``axes``, accuracy, di, worst, within.
    axes : dict of str to list of float
        Ascending values of up to two parameters.
    chosen : dict of str to float
        The setting to start on.
    letters : dict of str to str
        Name of each parameter on screen.
    key : str
        Identity between reruns.
    moved : callable
        Receives the setting on release, before the page is drawn again.
    """

    def released() -> None:
        place = st.session_state[key].get("place")
        if place:
            pairs = zip(axes.items(), place, strict=True)
            moved({name: values[int(i)] for (name, values), i in pairs})

    start = [values.index(chosen[name]) for name, values in axes.items()]
    points = [
        {
            "at": [values.index(row[name]) for name, values in axes.items()],
            "within": bool(row["within"]),
            **{name: _finite(row[name]) for name in ("accuracy", "di", "worst")},
        }
        for row in table.to_dict("records")
    ]
    _component()(
        data={
            "axes": [
                {"name": letters[name], "values": values, "start": place}
                for (name, values), place in zip(axes.items(), start, strict=True)
            ],
            "points": points,
            "theme": st.context.theme.type or "light",
            "stamp": f"{key} {start}",
        },
        key=key,
        on_place_change=released,
    )


@cache
def _component() -> Any:
    here = Path(__file__)
    return st.components.v2.component(
        "fairdash.live_grid",
        html=_HTML,
        css=here.with_name("live_grid.css").read_text(),
        js=here.with_name("live_grid.js").read_text(),
    )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
