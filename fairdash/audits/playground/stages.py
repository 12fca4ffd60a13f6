"""The stops of a method in stages and parts: which a page shows first, and together.

A page shows a stage once all its parts are trained. Parts can be trained beside one
another: a model is the same whatever is trained with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from fairdash.audits.playground.payload import (
    BY_SETTING,
    payload,
    say_each,
    say_once,
)
from fairdash.audits.playground.people import People
from fairdash.audits.playground.sliders import second_slider_of, slider_of
from fairdash.audits.playground.surfaces import train
from fairdash.methods import Method

_COARSE = 2  # the first stage has every second stop
_Setting = tuple[float | None, float | None]  # of the second slider and the first


@dataclass(frozen=True)
class Stops:
    """Stops of both sliders, each of one with each of the other; () without a slider.

    Attributes
    ----------
    first, second : tuple of float
    """

    first: tuple[float, ...] = ()
    second: tuple[float, ...] = ()

    @property
    def settings(self) -> list[_Setting]:
        """The settings of the sliders, in the order in which models are kept."""
        return list(product(self.second or (None,), self.first or (None,)))


@dataclass(frozen=True)
class Stage:
    """What a page shows at once.

    Attributes
    ----------
    stops : Stops
    parts : tuple of Stops
        What no earlier stage has trained.
    """

    stops: Stops
    parts: tuple[Stops, ...]


def stages_of(method: Method, people: People) -> tuple[Stage, ...]:
    """Return what a page trains, in order: five stops, all, those of both sliders."""
    slider = slider_of(method, people)
    if slider is None:
        return (Stage(Stops(), (Stops(),)),)
    second = second_slider_of(method)
    middle = () if second is None else (second.stops[len(second.stops) // 2],)
    coarse = slider.stops[::_COARSE]
    fine = tuple(stop for stop in slider.stops if stop not in coarse)
    stages = [
        Stage(Stops(coarse, middle), _halves(coarse, middle)),
        Stage(Stops(slider.stops, middle), _halves(fine, middle)),
    ]
    if second is not None:
        rest = [stop for stop in second.stops if stop not in middle]
        parts = tuple(Stops(slider.stops, (stop,)) for stop in rest)
        stages.append(Stage(Stops(slider.stops, second.stops), parts))
    return tuple(stages)


def _halves(first: tuple[float, ...], second: tuple[float, ...]) -> tuple[Stops, ...]:
    # No stops would be those of a method without a slider.
    return tuple(Stops(half, second) for half in (first[::2], first[1::2]) if half)


def train_part(people: People, method: str, stops: Stops) -> dict[str, Any]:
    """Return the `payload` of a method that is trained at some stops."""
    trained = train(
        people, method, stops=stops.first or None, second_stops=stops.second
    )
    return payload(trained)


def join(parts: Sequence[dict[str, Any]], stops: Stops) -> dict[str, Any]:
    """Return the payload of all settings of some stops, which parts have together.

    A second slider with one stop is none: there is nothing to drag.
    """
    joined = dict(parts[0])
    for name in BY_SETTING:
        joined[name] = _ordered(parts, [part[name] for part in parts], stops)
    if stops.first:
        joined["slider"] = {**joined["slider"], "stops": list(stops.first)}
    joined["second"] = None
    if len(stops.second) > 1:
        joined["second"] = {**parts[0]["second"], "stops": list(stops.second)}
    sights = [part["sees"] for part in parts]
    joined["sees"] = None
    if all(sight is not None for sight in sights):
        seen = [say_each(sight["stops"]) for sight in sights]
        joined["sees"] = {**sights[0], "stops": say_once(_ordered(parts, seen, stops))}
    return joined


def _ordered(
    parts: Sequence[dict[str, Any]], columns: Sequence[Sequence[Any]], stops: Stops
) -> list[Any]:
    """Return entries of all parts, one per setting, in the order of some stops."""
    entries: dict[_Setting, Any] = {}
    for part, column in zip(parts, columns, strict=True):
        entries.update(zip(_stops_of(part).settings, column, strict=True))
    return [entries[setting] for setting in stops.settings]


def _stops_of(part: dict[str, Any]) -> Stops:
    axes = (part["slider"], part["second"])
    first, second = (() if axis is None else tuple(axis["stops"]) for axis in axes)
    return Stops(first, second)


def warm_up() -> None:
    """Load the modules that training needs, by training a little."""
    people = People.drawn(
        {
            "across": [-1, 1, -1, 1],
            "up": [-1, -1, 1, 1],
            "group": [0, 0, 1, 1],
            "outcome": [0, 1, 0, 1],
            "wrong": [0, 0, 0, 0],
        }
    )
    for method in ("unconstrained", "logistic"):
        train_part(people, method, Stops())
