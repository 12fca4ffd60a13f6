"""The show mode: the pictures of a sweep for a room, one at a time, by key.

Its place is the field ``show`` of the URL, from 1. Arrow keys go on and back, Escape
leaves to the Sweep page, at the same model.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import streamlit as st

from fairdash import plots
from fairdash._escaping import plain
from fairdash.audits import StoredSweep, certificates, scenes, sweeps
from fairdash.ui import noisy_groups, postprocess
from fairdash.ui.linked import draw_linked
from fairdash.ui.selection import SharedFields, choose
from fairdash.ui.sweep.controls import current, go, limit_here
from fairdash.ui.widgets import scores
from fairdash.ui.widgets.blocks import draw_picture
from fairdash.ui.widgets.pick_models import known_models
from fairdash.ui.widgets.pick_rule import chosen_rule
from fairdash.ui.widgets.state import store

_HERE = Path(__file__).parent
_SCALE = 1.5  # of the text and the marks of pictures
_LINKED = {
    "front": ("front",),
    "map": ("map", "tau"),
    "local": ("local",),
    "weights": ("density", "quantiles"),
}
_KEYS = "→ next, ← back, Escape to leave. A slider in use takes the arrow keys."


def show_scene(run_id: str) -> None:
    """Draw the scene that the URL names, of a sweep that is over."""
    st.html(_HERE / "widgets" / "show.css")
    _scene(run_id)


@st.fragment
def _scene(run_id: str) -> None:
    chosen = SharedFields.here().show
    if chosen is None:
        st.rerun()  # the whole page, which is no longer on stage
    with st.spinner("Deciding by another rule…", show_time=True):
        sweep = sweeps.finished_sweep(store(), run_id, chosen_rule())
    assert sweep is not None, "the same models have finished by every rule"
    all_scenes = scenes.scenes_of(sweep)
    n = len(all_scenes)
    # Any number can stand in a link; the run may have fewer scenes.
    at = min(max(chosen, 1), n)
    scene = all_scenes[at - 1]
    _head(scene.question, at, n)
    draw = _DRAWN.get(scene.name, partial(_linked, name=scene.name))
    with st.container(key="scene"):
        sentence = draw(sweep)
    st.header(plain(sentence), anchor=False)
    st.caption(_KEYS)
    _listen(at, n)


def _head(question: str, at: int, n: int) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="show head"
    ):
        st.title(question, anchor=False, width="stretch")
        st.caption(f"{at} of {n}", width="content")
        for label, scene in (("Back", at - 1), ("Next", at + 1)):
            st.button(
                label,
                type="tertiary",
                disabled=not 1 <= scene <= n,
                on_click=choose,
                kwargs={"show": scene},
            )
        if st.button("Leave", type="tertiary", on_click=_leave):
            st.rerun()


def _leave() -> None:
    """Take the field out of the URL: the Sweep page opens at the same model."""
    choose(show=None)


def _listen(at: int, n: int) -> None:
    """Let arrow keys, those of a remote control, and Escape change the scene."""

    def pressed() -> None:
        scene = int(st.session_state["show keys"]["scene"][0])
        choose(show=scene if 1 <= scene <= n else None)

    # The browser sends a scene and the time of its key. It hears the time back, to tell
    # a page that was drawn before that key from one that shows its scene.
    sent = st.session_state.get("show keys", {}).get("scene")
    heard = sent[1] if sent else 0
    data = {"at": at, "n": n, "heard": heard}
    _keys()(data=data, key="show keys", on_scene_change=pressed)


@cache
def _keys() -> Any:
    script = (_HERE / "widgets" / "show_keys.js").read_text("utf-8")
    return st.components.v2.component("fairdash.show_keys", js=script)


def _linked(sweep: StoredSweep, name: str) -> str:
    place = current(sweep)
    limit, limited = limit_here(sweep)
    draw_linked(
        sweep,
        place,
        limit=limit,
        limited=limited,
        shows=_LINKED[name],
        scale=_SCALE,
        on_place=lambda place: go(sweep, place),
    )
    return scenes.sentence_of(sweep, name, place, limit, metric=limited)


def _ramp(sweep: StoredSweep) -> str:
    data = sweep.run.dataset_id
    sources = scores.post_sources(known_models(data, sweep.run.id), [], sweep.run.id)
    choice = postprocess.ramp_here(sources[0])
    try:
        ramp = postprocess.fit_ramp(scores.scored(data, choice.source), choice)
    except ValueError as error:
        return f"These groups cannot be corrected. {error}"
    postprocess.live_ramp(ramp, choice, data, scale=_SCALE)
    return postprocess.post_answer(ramp, choice, store().dataset(data)).verdict


def _noise(sweep: StoredSweep) -> str:
    model = sweep.models[current(sweep)]
    data = sweep.run.dataset_id
    start = certificates.trained_for(store(), model, sweep.run.id)
    question, noise = noisy_groups.usual_promise(store().dataset(data), start)
    try:
        curve = noisy_groups.curve_of(model, data, noise, question)
    except ValueError as error:
        return f"Nothing can be said of these groups. {error}"
    share = noisy_groups.usual_share(curve)
    answer = certificates.promise_answer(curve, question, share, "test rows")
    if answer.figure is not None:
        picture = answer.figure.picture(plots)
        large = plots.theme.enlarged(picture.figure, _SCALE)
        draw_picture(replace(picture, figure=large), key="show noise")
    return answer.verdict


_DRAWN: dict[str, Callable[[StoredSweep], str]] = {"ramp": _ramp, "noise": _noise}
