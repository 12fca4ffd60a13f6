"""The form of a method, from its entry in the catalog."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from fairdash.audits import trials
from fairdash.methods import CATALOG, Effort, Method, Param
from fairdash.sweep import MethodGrid
from fairdash.ui.selection import OF_RUN, Fields, bound

_Tied = dict[str, Any]  # what ties a widget to the selection
_NUMBERS: Mapping[str, type[float] | type[int]] = {"float": float, "int": int}
_MOST_SEEDS = 20  # unless the run that is opened has more


@dataclass(frozen=True)
class TrainFields(Fields):
    """Choices of the Train page in the address."""

    # The method and parameters filled in, and the seeds.
    form: MethodGrid | None = field(default=None, metadata=OF_RUN)
    n_seeds: int | None = field(default=None, metadata=OF_RUN)


def method_form(start: MethodGrid) -> MethodGrid:
    """Draw method, parameters and effort, and return what was chosen.

    Advanced parameters are behind "More settings". Only what differs from the effort's
    own value is written into the result, so that its YAML stays short. ``start`` is
    filled in until the reader changes it.
    """

    def current() -> MethodGrid:
        form = TrainFields.here().form
        # An address may name a method that this version does not have.
        if form is None or form.method not in CATALOG:
            return start
        return form

    def tie(
        value: Any, change: Callable[[Any], MethodGrid], key: str, **how: Any
    ) -> _Tied:
        return bound("form", value, shown=lambda _: value, meant=change, key=key, **how)

    def with_defaults(key: str, effort: Effort | None = None) -> MethodGrid:
        if key == start.method and effort in (None, start.effort):
            return start
        return MethodGrid(method=key, effort=effort or "fast")

    grid = current()
    method = CATALOG[grid.method]
    st.selectbox(
        "Method",
        list(CATALOG),
        format_func=lambda key: CATALOG[key].label,
        **tie(method.key, with_defaults, "method"),
    )
    st.caption(f"{method.summary}", help=method.source)
    # Above the effort on the page, but drawn after it: the effort sets their defaults.
    simple = st.container()
    more = st.container()
    effort: Effort = "fast"
    if method.efforts["fast"] != method.efforts["paper"]:
        effort = grid.effort
        with_effort = partial(with_defaults, method.key)
        pick_effort(**tie(effort, with_effort, f"{method.key} effort"))
    defaults = method.settings({}, effort)
    chosen = defaults | _fitting(method, trials.single_values(grid.params))

    def changed(name: str, value: Any) -> MethodGrid:
        # Read anew: another widget may have changed since this one was drawn.
        form = current()
        params = {**trials.single_values(form.params), name: value}
        return form.model_copy(update={"params": params})

    def draw(param: Param) -> None:
        value = chosen[param.name]
        if param.kind in _NUMBERS:
            # YAML and JSON write 1.0 as 1; a slider wants all its numbers of one type.
            value = _NUMBERS[param.kind](value)
        key = f"{method.key} {param.name}"
        change = partial(changed, param.name)
        _widget(param, value, tie(value, change, key, by_value=param.kind != "choice"))

    with simple:
        for param in method.params:
            if not param.advanced and param.counts(chosen):
                draw(param)
    advanced = [param for param in method.params if param.advanced]
    if advanced:
        with (
            more.popover("More settings", icon=":material/tune:", width="stretch"),
            st.container(width=460),
            st.grid(columns=2, min_column_width=190, gap=("xsmall", "small")),
        ):
            for param in advanced:
                draw(param)
    params: dict[str, Any] = {}
    for param in method.params:
        value = chosen[param.name]
        if param.counts(chosen) and value != defaults[param.name]:
            params[param.name] = value
    return MethodGrid(method=method.key, params=params, effort=effort)


def pick_effort(**tied: Any) -> Effort:
    """Draw the choice of how long networks are trained."""
    effort: Effort = st.segmented_control(
        "Effort",
        ["fast", "paper"],
        format_func=str.capitalize,
        required=True,
        help="Fast: fewer epochs, larger steps. Paper: the published schedule.",
        width="stretch",
        **tied,
    )
    return effort


def seeds_input(start: int) -> int:
    """Draw the choice of how many seeds are trained, ``start`` filled in."""
    most = max(_MOST_SEEDS, start)
    seeds: int = st.number_input(
        "Seeds",
        1,
        most,
        help="Each seed splits the rows anew and trains anew.",
        **bound("n_seeds", start, among=range(1, most + 1), by_value=True),
    )
    return seeds


def _fitting(method: Method, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that the method's parameters take; an address states any."""
    return {
        param.name: values[param.name]
        for param in method.params
        if param.name in values and param.fits(values[param.name])
    }


def _widget(param: Param, value: Any, tied: _Tied) -> None:
    """Draw the widget of a parameter's kind."""
    common: dict[str, Any] = {"help": param.help or None, **tied}
    if param.kind == "choice":
        words = param.options.__getitem__
        st.selectbox(param.title, list(param.options), format_func=words, **common)
    elif param.kind == "text":
        st.text_input(param.title, **common)
    else:
        _number_widget(param, value, common)


def _number_widget(param: Param, value: Any, common: dict[str, Any]) -> None:
    """Draw a slider for a parameter with a letter in its paper, else a field."""
    number = _NUMBERS[param.kind]
    # A run trained from the shell may lie outside the range that is offered here.
    low = number(min(param.low, value))
    high = number(max(param.high, value))
    step = number(param.step)
    if param.letter:
        st.slider(param.title, low, high, step=step, **common)
        return
    if param.kind == "float":
        common["format"] = "%.4f"
    st.number_input(param.title, low, high, step=step, **common)
