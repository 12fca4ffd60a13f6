"""Trained surfaces as the browser gets them: small grids, and words for each stop."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairdash._wording import percent
from fairdash.audits.playground.encoding import as_bytes, as_numbers
from fairdash.audits.playground.grid import SIDE
from fairdash.audits.playground.people import EDGE, GROUPS, People
from fairdash.audits.playground.ramp import METHODS
from fairdash.audits.playground.sights import MOST_WEIGHT, Sight
from fairdash.audits.playground.sliders import Slider
from fairdash.audits.playground.surfaces import Surfaces

BY_SETTING = ("grids", "path", "words")  # lists with one entry per setting


def payload(surfaces: Surfaces) -> dict[str, Any]:
    """Return surfaces and figures of one method as plain data for JSON.

    Grids are bytes in base64, one per point.
    """
    reads_group = surfaces.grid.shape[1] > 1
    path = [
        {str(name): value for name, value in row.items()}
        for row in surfaces.path.to_dict("records")
    ]
    return {
        "method": METHODS[surfaces.method].label,
        "shown": list(surfaces.people.names) if reads_group else [""],
        "slider": _slider(surfaces.slider),
        "second": _slider(surfaces.second),
        "grids": [
            [as_bytes(surface) for surface in setting] for setting in surfaces.grid
        ],
        "sees": _seen(surfaces.sights, surfaces.people.names),
        "path": [
            {name: as_numbers(value) for name, value in row.items()} for row in path
        ],
        "words": [words(row, surfaces.people.names) for row in path],
    }


def plane_payload(people: People) -> dict[str, Any]:
    """Return the people and the plane they stand in as plain data for JSON."""
    return {
        "edge": EDGE,
        "side": SIDE,
        "groups": list(people.names),
        "axes": list(people.axes),
        "people": {
            "across": np.round(people.X[:, 0], 3).tolist(),
            "up": np.round(people.X[:, 1], 3).tolist(),
            "group": people.group.tolist(),
            "outcome": people.outcome.tolist(),
            "wrong": (people.group != people.true_group).astype(int).tolist(),
        },
    }


def _slider(slider: Slider | None) -> dict[str, Any] | None:
    if slider is None:
        return None
    return {"title": slider.title, "help": slider.help, "stops": list(slider.stops)}


def _seen(sights: Sequence[Sight], names: Sequence[str]) -> dict[str, Any] | None:
    """Return what a method sees, stop by stop; None where that is nothing."""
    if not sights:
        return None
    stops = [
        {**sight.payload(), "key": sight.key(names), "caption": sight.caption(names)}
        for sight in sights
    ]
    first = sights[0]
    return {
        "kind": first.kind,
        "title": first.title,
        "most_weight": MOST_WEIGHT,
        "stops": say_once(stops),
    }


def say_once(stops: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what a method sees without what is the same as at the first stop.

    That is ``before``, of one base model below all stops.
    """
    first, *later = stops
    if "before" not in first:
        return [*stops]
    shorter = [dict(stop) for stop in later]
    for stop in shorter:
        if stop["before"] == first["before"]:
            del stop["before"]
    return [first, *shorter]


def say_each(stops: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what a method sees with all that was said once: undo `say_once`."""
    if "before" not in stops[0]:
        return [*stops]
    return [{"before": stops[0]["before"], **stop} for stop in stops]


def words(stop: dict[str, Any], names: Sequence[str] = GROUPS) -> str:
    """Return what a stop does, in two sentences, from a row of `Surfaces.path`."""
    rates = " and ".join(
        f"{percent(stop[f'rate_{code}'])} of {name}"
        for code, name in zip(GROUPS, names, strict=True)
    )
    first = f"{percent(stop['accuracy'])} of decisions are right; {rates} are accepted."
    if not stop["place"] or not math.isfinite(stop["largest_local_gap"]):
        return first
    gap = percent(stop["largest_local_gap"]).removesuffix("%")
    return f"{first} The largest gap inside a quarter is {gap} points, {stop['place']}."
