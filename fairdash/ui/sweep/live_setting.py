"""Sliders through a finished sweep that everything follows, in the browser.

``st.slider`` sends nothing until it is let go, and a figure that the server draws again
takes some tenths of a second. Here the browser holds the numbers of every setting of a
method: at each step of a drag it writes the numbers and moves a ring over the front and
a frame over the map. `live_inside` draws what the same setting looks like inside. The
server is told on release, for the address and for the links to other pages.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from fairdash._wording import Kpi
from fairdash.ui.widgets.live_component import live_component

_HERE = Path(__file__).parent

Marks = Mapping[str, tuple[float, float] | None]


@dataclass(frozen=True)
class Slider:
    """An axis of the grid: name on screen, what it means, its values as text."""

    title: str
    help: str
    values: Sequence[str]


@dataclass(frozen=True)
class LiveSetting:
    """A setting: its value on every slider, its cards, and where figures show it.

    ``marks`` holds by figure ("front", "map") a point in the figure's units, or None.
    """

    at: Sequence[int]
    kpis: Sequence[Kpi]
    marks: Marks


def live_setting(
    settings: Iterable[LiveSetting],
    sliders: Sequence[Slider],
    *,
    start: Sequence[int],
    figures: Mapping[str, str],
    key: str,
    moved: Callable[[Sequence[int]], None],
) -> None:
    """Draw the sliders and the cards of the setting they stand at.

    Parameters
    ----------
    settings : iterable of LiveSetting
    sliders : sequence of Slider
        At most two.
    start : sequence of int
        Where each slider stands; the hand has the last word while it drags.
    figures : mapping of str to str
        Key of the figure that shows each of the ``marks``.
    key : str
        Identity between reruns.
    moved : callable
        Receives where the sliders stand on release, before the page is drawn again.
    """

    def released() -> None:
        place = st.session_state[key].get("place")
        if place:
            moved([int(i) for i in place])

    known = list(settings)
    first = known[0].kpis
    live_component("live_setting", _HERE)(
        data={
            "sliders": [asdict(slider) for slider in sliders],
            "cards": [{"label": kpi.label, "help": kpi.help} for kpi in first],
            "settings": [
                {
                    "at": list(setting.at),
                    "values": [_card(kpi) for kpi in setting.kpis],
                    "marks": {n: _finite(at) for n, at in setting.marks.items()},
                }
                for setting in known
            ],
            "start": list(start),
            "figures": {n: name.replace(" ", "-") for n, name in figures.items()},
        },
        key=key,
        on_place_change=released,
    )


def live_inside(data: Mapping[str, Any], *, key: str) -> None:
    """Draw local DI and r of the setting that `live_setting` stands at.

    ``data`` is that of `fairdash.ui.sweep.inside.inside`.
    """
    live_component("live_inside", _HERE)(data=dict(data), key=key)


def _card(kpi: Kpi) -> dict[str, Any]:
    """Return what changes on a card from setting to setting."""
    colours = {True: "good", False: "bad", None: ""}
    return {
        "value": kpi.value,
        "note": kpi.note,
        "delta": kpi.delta,
        "tone": colours[kpi.good],
    }


def _finite(at: tuple[float, float] | None) -> list[float] | None:
    return [float(v) for v in at] if at and all(map(math.isfinite, at)) else None
