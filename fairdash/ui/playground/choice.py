"""The reader's choices in the playground: the people, the method and one beside it."""

from dataclasses import dataclass, field
from functools import partial

import streamlit as st

from fairdash._escaping import in_menu, plain, visible
from fairdash._wording import plural
from fairdash.audits import playground
from fairdash.ui import pages
from fairdash.ui.selection import OF_DATA, Fields, bound
from fairdash.ui.widgets.frame import open_page, stop_empty
from fairdash.ui.widgets.state import store

_FIRST_SCENE = "hidden_corner"
_FIRST_METHOD = "road"
_ALONE = ""  # no second method
_TABLE = "table"  # in place of a scene


@dataclass(frozen=True)
class PlaygroundFields(Fields):
    """Choices of the playground in the address: the scene and the methods."""

    scene: str | None = None
    shown_method: str | None = None
    beside: str | None = None
    # Columns of the data set that are the axes of the plane.
    plane_across: str | None = field(default=None, metadata=OF_DATA)
    plane_up: str | None = field(default=None, metadata=OF_DATA)


def choose(data: str | None) -> tuple[playground.Scene, tuple[str, ...]]:
    """Draw all choices and return the scene and the keys of one or two methods.

    A data set that the page names is a scene as well.
    """
    scenes = {key: scene.title for key, scene in playground.SCENES.items()}
    if data is not None:
        name = store().dataset_record(data).name
        scenes[_TABLE] = f"Two columns of {visible(name)}"
    methods = {key: method.label for key, method in playground.METHODS.items()}
    scene_column, method_column, beside_column = st.columns(3)
    with scene_column:
        scene = st.selectbox("Scene", **bound("scene", _FIRST_SCENE, named=scenes))
    with method_column:
        method = st.selectbox(
            "Method", **bound("shown_method", _FIRST_METHOD, named=methods)
        )
    peers = {key: label for key, label in methods.items() if key != method}
    with beside_column:
        second = st.selectbox(
            "Compare with", **bound("beside", _ALONE, named={_ALONE: "–", **peers})
        )
    compared = (method, second) if second else (method,)
    if scene == _TABLE and data is not None:
        return _scene_of(data), compared
    return playground.SCENES[scene], compared


def _scene_of(data: str) -> playground.Scene:
    """Draw the choice of both axes and return the rows of a data set as a scene."""
    columns = _columns(data)
    name = visible(store().dataset_record(data).name)
    if len(columns) < 2:
        stop_empty(
            "There is no plane to draw",
            f"{plain(name)} has {plural(len(columns), 'feature')} that is a number and "
            "varies; a plane needs two.",
            {"Choose features": partial(open_page, pages.DATA, data=data)},
        )
    first, second = st.columns(2)
    with first:
        across: str = st.selectbox(
            "Across",
            columns,
            format_func=in_menu(columns),
            **bound("plane_across", columns[0], among=columns),
        )
    rest = [column for column in columns if column != across]
    with second:
        up: str = st.selectbox(
            "Up",
            rest,
            format_func=in_menu(rest),
            **bound("plane_up", rest[0], among=rest),
        )
    return playground.Scene(
        f"{_TABLE} {data} {across} {up}",
        name,
        "What does a method do to this table?",
        f"Up to {playground.MOST_ROWS} rows of its two largest groups. Models learn "
        "from all features; the surface holds the others at their medians.",
        lambda *_: playground.people_of(store().dataset(data), across, up),
    )


@st.cache_data(max_entries=32, show_spinner=False)
def _columns(data: str) -> list[str]:
    return playground.plane_columns(store().dataset(data))
