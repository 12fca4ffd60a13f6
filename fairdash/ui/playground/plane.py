"""One or two methods on the people of a scene, in planes that the browser draws.

Stops of the sliders are trained beside the app and kept; while a slider moves, the
browser interpolates between them and asks nothing. It asks for more while there are
more stops to come, and sends the people when somebody has drawn other ones.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from fairdash.audits import playground
from fairdash.plots import theme
from fairdash.ui.playground.people import DrawnPeople
from fairdash.ui.playground.training import Shown, trained, warm_up
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.state import live_component

_HERE = Path(__file__).parent
_SCRIPTS = (
    "surface",
    "sights",
    "picture",
    "figures",
    "sight_figures",
    "drawing",
    "live_plane",
)
_KEY = "plane"
_LAST = "playground last"  # of the session: views that were drawn last
_PATIENCE = 60.0  # seconds for the first models, while there is nothing to look at
_PAUSE = 0.3  # seconds for the next models, before the page says that it trains
_LOOKS = "playground looks"  # of the session: the browser asks whether there is more


@st.fragment
def draw_plane(scene: playground.Scene, methods: Sequence[str]) -> None:
    """Draw what methods do in a scene; say why where one cannot be trained there."""
    try:
        drawn = DrawnPeople.of(scene)
    except ValueError as error:
        problem("These people cannot be drawn", error)
        return
    last = st.session_state.get(_LAST, [])
    message = ""
    rest = waiting = False
    try:
        content = _trained(drawn.people, methods, wait=not last)
    except (ValueError, ChildProcessError) as error:
        if not drawn.is_drawn or [view["method"] for view in last] != _labels(methods):
            problem(f"{' or '.join(_labels(methods))} cannot be trained here", error)
            drawn.offer()
            return
        # The plane stays, so that the last edit can be taken back.
        views = last
        message = f"Not trained: {error}"
        state = "problem"
    else:
        rest = content.rest
        waiting = not content.views
        views = content.views or last
        state = " ".join(map(str, content.n_models))
        st.session_state[_LAST] = views
    data = {
        "id": f"{drawn.people.key} {' '.join(methods)} {state} {drawn.edit}",
        "scene": scene.key,
        "edit": drawn.edit,
        "most": playground.MOST_PEOPLE,
        "colours": theme.group_colours_of(
            drawn.people.names, st.context.theme.type or "light"
        ),
        "truth": bool((drawn.people.group != drawn.people.true_group).any()),
        "problem": message,
        "rest": rest,
        "waiting": waiting,
        "views": views,
        **playground.plane_payload(drawn.people),
    }
    live_component("live_plane", _HERE, _SCRIPTS)(
        data=json.dumps(data).encode(),
        key=_KEY,
        on_rest_change=_looks_again,
        on_people_change=lambda: drawn.take(st.session_state[_KEY].get("people")),
    )
    drawn.offer()
    warm_up()  # last: the browser draws meanwhile


def _trained(people: playground.People, methods: Sequence[str], *, wait: bool) -> Shown:
    if not wait:
        # A look that waited would meet the next one, which would break it off.
        looks = st.session_state.pop(_LOOKS, False)
        return trained(people, methods, seconds=0 if looks else _PAUSE)
    with st.spinner(f"Trains {' and '.join(_labels(methods))}…"):
        return trained(people, methods, seconds=_PATIENCE)


def _labels(methods: Sequence[str]) -> list[str]:
    return [playground.METHODS[method].label for method in methods]


def _looks_again() -> None:
    """Run the fragment again: the browser asks whether more stops are trained."""
    st.session_state[_LOOKS] = True
