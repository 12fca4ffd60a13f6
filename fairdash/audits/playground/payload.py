"""Trained surfaces as the browser gets them: small grids, and words for each stop."""

import base64
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairdash._wording import percent
from fairdash.audits.playground.people import EDGE, GROUPS, People
from fairdash.audits.playground.sliders import Slider
from fairdash.audits.playground.surfaces import SIDE, Surfaces
from fairdash.methods import CATALOG

_LEVELS = 255  # a probability is kept as a whole number of 255ths


def payload(surfaces: Surfaces) -> dict[str, Any]:
    """Return surfaces and figures of one method as plain data for JSON.

    Grids are bytes in base64, one per point. Weights are relative to their mean.
    """
    levels = np.rint(surfaces.grid * _LEVELS).astype(np.uint8)
    reads_group = surfaces.grid.shape[1] > 1
    ratio = None
    if surfaces.ratio is not None:
        ratio = np.round(surfaces.ratio, 2).tolist()
    path = [
        {str(name): value for name, value in row.items()}
        for row in surfaces.path.to_dict("records")
    ]
    return {
        "method": CATALOG[surfaces.method].label,
        "shown": list(surfaces.people.names) if reads_group else [""],
        "slider": _slider(surfaces.slider),
        "second": _slider(surfaces.second),
        "grids": [
            [base64.b64encode(surface.tobytes()).decode() for surface in setting]
            for setting in levels
        ],
        "ratio": ratio,
        "path": [{name: _number(value) for name, value in row.items()} for row in path],
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


def _number(value: Any) -> Any:
    """Return a number as JSON has it: NaN and infinity as None."""
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else None
    return value


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
