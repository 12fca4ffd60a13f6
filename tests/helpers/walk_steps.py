"""The controls of a page, and what a user may set each of them to."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from streamlit.testing.v1.element_tree import TESTING_KEY

# kinds of controls whose value is one or several of some options, or a number
_OF_OPTIONS = ("selectbox", "radio", "select_slider", "button_group", "multiselect")
_OF_NUMBERS = ("slider", "number_input")
_SWITCHES = ("toggle", "checkbox")
# they lead to another run or another table
_AWAY = {"Run", "Data set"}


@dataclass(frozen=True)
class Step:
    """A control of a page set to a value, by what stands on the screen."""

    kind: str
    label: str
    value: Any

    def __str__(self) -> str:
        return f"{self.label} = {self.value}"

    def take(self, page: Any) -> None:
        """Set the control and run the page."""
        widget = next(w for w in page.get(self.kind) if w.label == self.label)
        if self.kind in _OF_OPTIONS:
            # an option by its words, as the browser sends it
            page.session_state[TESTING_KEY][widget.id] = str
        widget.set_value(self.value).run()

    def is_offered(self, page: Any) -> bool:
        """Tell whether the control is there and has the value among its options."""
        widgets = [w for w in page.get(self.kind) if w.label == self.label]
        if not widgets or self.kind not in _OF_OPTIONS:
            return bool(widgets)
        values = self.value if isinstance(self.value, list) else [self.value]
        return set(values) <= set(widgets[0].options)

    def holds(self, page: Any) -> bool:
        """Tell whether the control has the value, where it is still there."""
        widgets = [w for w in page.get(self.kind) if w.label == self.label]
        if not widgets:
            return True
        numbers = _shown(widgets[0], self.kind)
        if self.label == "Models":  # the model looked at is always among them
            return set(self.value) <= set(numbers)
        return bool(numbers == self.value)


def controls(page: Any) -> list[tuple[str, str]]:
    """Return kind and label of each control that can be set, the first of a label."""
    kinds = (*_OF_OPTIONS, *_OF_NUMBERS, *_SWITCHES)
    values = [
        (kind, widget.label)
        for kind in kinds
        for widget in page.get(kind)
        if not widget.proto.disabled and widget.label not in _AWAY
    ]
    return list(dict.fromkeys(values))


def steps(
    page: Any, kind: str, label: str, rng: np.random.Generator, most: int = 1
) -> list[Step]:
    """Return some values, drawn by chance, that a control does not have yet."""
    widget = next(w for w in page.get(kind) if w.label == label)
    values = list(_values(widget, kind))
    values = [value for value in values if value != _shown(widget, kind)]
    order = rng.permutation(len(values))
    return [Step(kind, label, values[place]) for place in islice(order, most)]


def _values(widget: Any, kind: str) -> Iterator[Any]:
    if kind in _SWITCHES:
        yield from (False, True)
    elif kind in _OF_NUMBERS:
        yield from _numbers(widget)
    elif _several(widget, kind):
        yield []
        yield from ([option] for option in widget.options)
        yield widget.options[:2]
    else:
        yield from widget.options


def _numbers(widget: Any) -> Iterator[float]:
    """Return the ends of a range and numbers inside it, on its grid."""
    step = widget.step or 1
    current = widget.value or 0
    low = widget.min if widget.min is not None else current - 2 * step
    high = widget.max if widget.max is not None else current + 20 * step
    whole = isinstance(current, int) and isinstance(step, int)
    for share in (0.0, 0.1, 0.3, 0.6, 1.0):
        number = min(low + step * round(share * (high - low) / step), high)
        yield int(number) if whole else round(float(number), 6)


def _several(widget: Any, kind: str) -> bool:
    several = kind == "button_group" and not widget._is_single_select
    return kind == "multiselect" or several


def _shown(widget: Any, kind: str) -> Any:
    """Return the value of a control as it stands on the screen."""
    if kind not in _OF_OPTIONS:
        return widget.value
    if _several(widget, kind):
        values = widget.values if kind == "multiselect" else widget.formatted_values
        return list(values)
    if kind == "button_group":
        return next(iter(widget.formatted_values), None)
    if kind == "select_slider":
        return widget.format_func(widget.value)
    if widget.value is None:
        return None
    words = str(widget.format_func(widget.value))
    return words if words in widget.options else None  # of options that changed
