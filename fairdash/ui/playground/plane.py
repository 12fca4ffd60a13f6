"""A scene and a method, and the plane in which the browser shows what the method does.

All stops of the slider are trained when a method is chosen and kept; while the slider
moves, the browser interpolates between them and asks nothing.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from fairdash.audits import playground
from fairdash.methods import CATALOG
from fairdash.plots import theme
from fairdash.ui.selection import Fields, bound
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.state import live_component

_HERE = Path(__file__).parent
_FIRST_SCENE = "hidden_corner"
_FIRST_METHOD = "road"


@dataclass(frozen=True)
class PlaygroundFields(Fields):
    """Choices of the playground in the address: the scene and the method."""

    scene: str | None = None
    shown_method: str | None = None


def choose() -> tuple[playground.Scene, str]:
    """Draw both choices and return the scene and the key of the method."""
    scenes = {key: scene.title for key, scene in playground.SCENES.items()}
    methods = {key: method.label for key, method in CATALOG.items()}
    scene_column, method_column = st.columns(2)
    with scene_column:
        scene = st.selectbox("Scene", **bound("scene", _FIRST_SCENE, named=scenes))
    with method_column:
        method = st.selectbox(
            "Method", **bound("shown_method", _FIRST_METHOD, named=methods)
        )
    return playground.SCENES[scene], method


def draw_plane(scene: playground.Scene, method: str) -> None:
    """Draw what a method does in a scene; say why where it cannot be trained there."""
    try:
        surfaces = _drawn(scene.key, method)
    except ValueError as error:
        problem(f"{CATALOG[method].label} cannot be trained in this scene", error)
        return
    scheme = st.context.theme.type or "light"
    colours = theme.group_colours_of(playground.GROUPS, scheme)
    data = {**surfaces, "colours": colours, "truth": scene.key == "wrong_records"}
    live_component("live_plane", _HERE)(data=json.dumps(data).encode(), key="plane")


@st.cache_resource(max_entries=64, show_spinner="Trains all stops of the slider")
def _drawn(scene: str, method: str) -> dict[str, object]:
    surfaces = playground.train(playground.SCENES[scene].people(), method)
    return {"id": f"{scene} {method}", **playground.payload(surfaces)}
