"""What is looked at in the playground: the scene, the method and one beside it."""

from dataclasses import dataclass

import streamlit as st

from fairdash.audits import playground
from fairdash.methods import CATALOG
from fairdash.ui.selection import Fields, bound

_FIRST_SCENE = "hidden_corner"
_FIRST_METHOD = "road"
_ALONE = ""  # no second method


@dataclass(frozen=True)
class PlaygroundFields(Fields):
    """Choices of the playground in the address: the scene and the methods."""

    scene: str | None = None
    shown_method: str | None = None
    beside: str | None = None


def choose() -> tuple[playground.Scene, tuple[str, ...]]:
    """Draw all choices and return the scene and the keys of one or two methods."""
    scenes = {key: scene.title for key, scene in playground.SCENES.items()}
    methods = {key: method.label for key, method in CATALOG.items()}
    scene_column, method_column, beside_column = st.columns(3)
    with scene_column:
        scene = st.selectbox("Scene", **bound("scene", _FIRST_SCENE, named=scenes))
    with method_column:
        method = st.selectbox(
            "Method", **bound("shown_method", _FIRST_METHOD, named=methods)
        )
    peers = {key: label for key, label in methods.items() if key != method}
    with beside_column:
        beside = st.selectbox(
            "Compare with", **bound("beside", _ALONE, named={_ALONE: "–", **peers})
        )
    compared = (method, beside) if beside else (method,)
    return playground.SCENES[scene], compared
