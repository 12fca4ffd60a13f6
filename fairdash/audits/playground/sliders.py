"""Sliders of the playground: which parameters are dragged, and their trained stops."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairdash.audits.playground.people import People
from fairdash.methods import Method, Param

N_STOPS = 9
_NOISE = "noise_level"  # share of records that may be wrong
# The stack sees all people of a scene at every step, for sixty steps.
_SCHEDULE = {"n_epochs": 60, "batch_size": 1024, "learning_rate": 0.01}
_SHORTER = {"cuma": {"n_epochs": 40}}  # a step takes three times as long as others
# What tells most in the plane, where the usual range of a form is wider or narrower.
# ROAD, BROAD and Zhang share theirs, so that one slider moves two of them alike.
_RANGES = {
    "road": (0.0, 4.0),
    "broad": (0.0, 4.0),
    "adversarial": (0.0, 4.0),
    "fad": (0.0, 8.0),
    "cuma": (0.0, 8.0),
    "noisy_dro": (0.0, 0.3),
    "noisy_soft": (0.0, 0.4),
    "noisy_ideal": (0.0, 0.4),
    "noisy_naive": (0.0, 0.2),
    "sensei": (0.0, 4.0),
    "clp": (0.0, 60.0),
}
# First sliders of methods that declare no parameter as their trade-off.
_FIRST = {
    "fair_log_loss": "alpha",
    "noisy_dro": "tv_radius",
    "noisy_soft": _NOISE,
    "noisy_ideal": _NOISE,
    "noisy_naive": "slack",
    "sensr": "fair_radius",
}
# Second sliders; the one in the middle is what the first slider is trained with.
_SECOND = {
    "road": ("tau", (0.05, 0.2, 0.8)),
    "broad": ("tau", (0.05, 0.2, 0.8)),
    "sensei": ("fair_radius", (0.02, 0.1, 0.5)),
    "cuma": ("curvature_weight", (0.0, 1.0, 10.0)),
    "noisy_dro": ("slack", (0.0, 0.05, 0.1)),
    "noisy_soft": ("slack", (0.0, 0.05, 0.1)),
    "noisy_ideal": ("slack", (0.0, 0.05, 0.1)),
}


@dataclass(frozen=True)
class Slider:
    """A parameter that is dragged, and its trained stops."""

    name: str
    title: str
    help: str
    stops: tuple[float, ...]


def slider_of(method: Method, people: People, n_stops: int = N_STOPS) -> Slider | None:
    """Return the first slider of a method with its stops; None without one.

    Its end is where the method can be trained on these people.
    """
    param = method.trade_off()
    if param is None and method.key in _FIRST:
        param = _param(method, _FIRST[method.key])
    if param is None:
        return None
    low, high = _RANGES.get(method.key, (param.low, param.high))
    if param.name == _NOISE:
        # More noise would give the smallest group more people than it has.
        high = min(high, 0.95 * people.smallest_share)
    return Slider(
        param.name, param.title, param.help, _stops(param, low, high, n_stops)
    )


def second_slider_of(method: Method) -> Slider | None:
    """Return the second slider of a method with its stops; None without one."""
    if method.key not in _SECOND:
        return None
    name, stops = _SECOND[method.key]
    param = _param(method, name)
    return Slider(param.name, param.title, param.help, stops)


def settings_of(
    method: Method, params: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the parameters that a method is trained with in the plane."""
    efforts = dict(method.efforts["fast"])
    schedule = _SCHEDULE if "n_epochs" in efforts else {}
    fixed = {}
    if method.key in _SECOND:
        name, stops = _SECOND[method.key]
        fixed = {name: stops[len(stops) // 2]}
    shorter = _SHORTER.get(method.key, {})
    return {**efforts, **schedule, **shorter, **fixed, **(params or {})}


def _param(method: Method, name: str) -> Param:
    return next(param for param in method.params if param.name == name)


def _stops(param: Param, low: float, high: float, n_stops: int) -> tuple[float, ...]:
    if param.axis == "log":
        stops = np.geomspace(max(low, param.step, 1e-4), high, n_stops)
    else:
        stops = np.linspace(low, high, n_stops)
    return tuple(float(f"{stop:.3g}") for stop in stops)
