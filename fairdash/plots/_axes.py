"""Spans of axes where Plotly would invent one: without values, or of one value.

Of no value Plotly draws -1 to 4 or 6 and of one value 1 on both sides, so an axis of
shares then goes from -100% to 400%.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

Spec = dict[str, Any]

_EMPTY: Spec = {"range": [0, 1], "showticklabels": False, "showgrid": False}
_AROUND = 0.1  # of a single value, on both sides
_LEAST = 1e-3


def with_span(
    name: str, axis: Spec, data: Sequence[Spec], shapes: Iterable[Mapping[str, Any]]
) -> Spec:
    """Return an axis of a figure, with a span where its values do not give one.

    Parameters
    ----------
    name : str
        Such as "xaxis2".
    axis : dict
        Its specification; one with a range that is wider than nothing stays.
    data, shapes : sequence of dict
        Traces and shapes of the figure, of all axes.
    """
    low, high = axis.get("range", (0, 0))
    if low != high:
        return axis
    values = np.fromiter(_values(name, data, shapes), np.float64)
    finite = values[np.isfinite(values)]
    if not finite.size:
        return {**axis, **_EMPTY}
    if finite.min() != finite.max():
        return axis  # Plotly's own span is right
    return {**axis, "range": _around(float(finite[0]), axis)}


def _around(value: float, axis: Spec) -> list[float]:
    """Return a span around a single value, within what the axis allows."""
    pad = max(_AROUND * abs(value), _LEAST)
    ends = [value - pad, value + pad]
    if axis.get("rangemode") == "tozero" or "tickvals" in axis:  # ticks start at 0
        ends[0] = min(ends[0], 0.0) if value < 0 else 0.0
    bounds = axis.get("autorangeoptions", {})
    low = bounds.get("clipmin", -np.inf)
    high = bounds.get("clipmax", np.inf)
    return [max(ends[0], low), min(ends[1], high)]


def _values(
    name: str, data: Sequence[Spec], shapes: Iterable[Mapping[str, Any]]
) -> Iterator[float]:
    """Yield the values along an axis; traces and shapes name it "x", "x2", ..."""
    letter = name[0]
    anchor = name.replace("axis", "")
    for trace in data:
        if trace.get(f"{letter}axis", letter) == anchor:
            yield from _of_trace(letter, trace)
    for shape in shapes:
        if shape.get(f"{letter}ref", letter) == anchor:
            yield from _numbers([shape.get(f"{letter}0"), shape.get(f"{letter}1")])


def _of_trace(letter: str, trace: Spec) -> Iterator[float]:
    """Yield the values of a trace, and the ends of its intervals."""
    values = np.array(list(_numbers(trace.get(letter, ()))), np.float64)
    yield from values
    if trace.get("type") == "bar":
        yield 0.0  # where bars begin
    error = trace.get(f"error_{letter}", {})
    for side, sign in (("array", 1), ("arrayminus", -1)):
        ends = np.array(list(_numbers(error.get(side, ()))), np.float64)
        if len(ends) == len(values):
            yield from values + sign * ends


def _numbers(values: Iterable[Any]) -> Iterator[float]:
    for value in values:
        yield np.nan if value is None else float(value)
