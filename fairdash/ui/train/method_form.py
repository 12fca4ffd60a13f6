"""The form of a method, made from its entry in the catalog."""

from typing import Any

import streamlit as st

from fairdash.methods import CATALOG, Effort, Param
from fairdash.results import single_values
from fairdash.sweep import MethodGrid

_FITTING = 24  # letters of options that fit side by side in the form's column
_EFFORTS: dict[Effort, str] = {"fast": "Fast", "paper": "Paper"}


def method_form(start: MethodGrid, key: str) -> MethodGrid:
    """Draw method, parameters and effort, and return what was chosen.

    Advanced parameters are behind "More settings". Only what differs from the effort's
    own value is written into the result, so that its YAML stays short.

    Parameters
    ----------
    start : MethodGrid
        What is filled in.
    key : str
        Identity of the form; another key fills it in anew.

    Returns
    -------
    MethodGrid
    """
    keys = list(CATALOG)
    chosen_key = st.selectbox(
        "Method",
        keys,
        index=keys.index(start.method),
        format_func=lambda name: CATALOG[name].label,
        key=f"{key} method",
        persist_state="session",
    )
    method = CATALOG[chosen_key]
    known = start if start.method == method.key else MethodGrid(method=method.key)
    st.caption(f"{method.summary}", help=method.source)
    simple, place = st.container(), st.container()
    effort: Effort = "fast"
    if method.efforts["fast"] != method.efforts["paper"]:
        effort = st.segmented_control(
            "Effort",
            list(_EFFORTS),
            format_func=_EFFORTS.__getitem__,
            default=known.effort,
            required=True,
            help="Fast: fewer epochs, larger steps. Paper: the published schedule.",
            key=f"{key} {method.key} effort",
            persist_state="session",
            width="stretch",
        )
    usual = method.settings({}, effort)
    filled = usual | (single_values(known.params) if effort == known.effort else {})
    # the effort's values are defaults, so it is part of each widget's identity
    identity = f"{key} {method.key} {effort}"
    chosen: dict[str, Any] = {}
    with simple:
        for param in method.params:
            if not param.advanced:
                chosen[param.name] = _widget(param, filled[param.name], identity)
    advanced = [param for param in method.params if param.advanced]
    if advanced:
        with (
            place.popover("More settings", icon=":material/tune:", width="stretch"),
            st.container(width=460),
            st.grid(columns=2, min_column_width=190, gap=("xsmall", "small")),
        ):
            for param in advanced:
                chosen[param.name] = _widget(param, filled[param.name], identity)
    params = {name: value for name, value in chosen.items() if value != usual[name]}
    return MethodGrid(method=method.key, params=params, effort=effort)


def _widget(param: Param, value: Any, identity: str) -> Any:
    common: dict[str, Any] = {
        "help": param.help or None,
        "key": f"{identity} {param.name}",
        "persist_state": "session",
    }
    if param.kind == "choice":
        return _choice(param, value, common)
    if param.kind == "text":
        return st.text_input(param.title, value, **common)
    number = float if param.kind == "float" else int
    limits: tuple[Any, ...] = (param.low, param.high, value, param.step)
    low, high, value, step = (number(limit) for limit in limits)
    if param.letter:
        return st.slider(param.title, low, high, value, step, **common)
    if param.kind == "float":
        common["format"] = "%.4f"
    return st.number_input(param.title, low, high, value, step, **common)


def _choice(param: Param, value: Any, common: dict[str, Any]) -> Any:
    options, words = list(param.options), param.options.__getitem__
    if sum(map(len, map(words, options))) > _FITTING:
        index = options.index(value)
        return st.selectbox(
            param.title, options, index=index, format_func=words, **common
        )
    return st.segmented_control(
        param.title,
        options,
        default=value,
        required=True,
        format_func=words,
        width="stretch",
        **common,
    )
