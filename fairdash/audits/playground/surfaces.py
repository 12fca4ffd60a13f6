"""Train a method at every stop of its slider, and show its scores in the plane."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._metric_names import PARITY, WORST
from fairdash.audits.playground.scenes import EDGE, GROUPS, People
from fairdash.methods import CATALOG, Method, Param
from fairdash.metrics import Drawn, evaluate, expected_local_di

SIDE = 64  # grid points along each feature
N_STOPS = 9
MIN_SIZE = 10  # people of a quarter of the plane, below which no gap is measured
# The stack sees all people of a scene at every step, for a hundred steps.
_SCHEDULE = {"n_epochs": 100, "batch_size": 1024, "learning_rate": 0.005}
# What tells most in the plane, where the usual range of a form is wider or narrower.
_RANGES = {
    "road": (0.0, 6.0),
    "broad": (0.0, 6.0),
    "adversarial": (0.0, 8.0),
    "fad": (0.0, 8.0),
    "cuma": (0.0, 8.0),
    "noisy_dro": (0.0, 0.3),
    "noisy_soft": (0.0, 0.4),
    "noisy_ideal": (0.0, 0.4),
    "noisy_naive": (0.0, 0.2),
    "sensei": (0.0, 30.0),
    "clp": (0.0, 60.0),
}
_FIXED: dict[str, dict[str, Any]] = {"road": {"tau": 0.2}, "broad": {"tau": 0.2}}
# Sliders of methods that declare no parameter as their trade-off.
_SECOND = {
    "fair_log_loss": "alpha",
    "noisy_dro": "tv_radius",
    "noisy_soft": "noise_level",
    "noisy_ideal": "noise_level",
    "noisy_naive": "slack",
    "sensr": "fair_radius",
}


@dataclass(frozen=True)
class Slider:
    """The parameter that is dragged, and its trained stops."""

    name: str
    title: str
    help: str
    stops: tuple[float, ...]


@dataclass(frozen=True)
class Surfaces:
    """Models of one method, one per stop of the slider, seen on a grid.

    Attributes
    ----------
    people : People
    slider : Slider or None
        None of a method without one: a single model.
    grid : ndarray of float32, (n_stops, n_shown, SIDE, SIDE)
        P(1) at the points of `grid_points`; a surface per group where the method reads
        the group, else one. The first axis of a surface is the second feature.
    scores : ndarray of float32, (n_stops, n_people)
    ratio : ndarray of float32, (n_stops, n_people), optional
        Weights r of the people, of methods that have them.
    """

    people: People
    method: str
    slider: Slider | None
    grid: NDArray[np.float32]
    scores: NDArray[np.float32]
    ratio: NDArray[np.float32] | None

    @cached_property
    def path(self) -> pd.DataFrame:
        """One row per stop: accuracy, gap, largest_local_gap, place, rates, errors.

        They are of the decisions P(1) > 1/2 about the people of the scene, as
        `evaluate` and `local_di` have them, and expected ones of a random mixture. The
        quarters of the plane are the subgroups. ``error_A`` and ``error_B`` are the
        shares of people with outcome 1 who are refused.
        """
        return pd.DataFrame([self._stop(scores) for scores in self.scores])

    def _stop(self, scores: NDArray[np.float32]) -> dict[str, Any]:
        people = self.people
        if CATALOG[self.method].mixture:  # P(1) is the chance of a decision
            predictions: Any = Drawn(scores)
            decided = scores.astype(np.float64)
        else:
            predictions = scores
            decided = (scores > 0.5).astype(np.float64)
        figures = evaluate(
            people.outcome,
            predictions,
            sensitive_features=people.group,
            subgroups=people.corner,
            min_size=MIN_SIZE,
        ).iloc[0]
        local = expected_local_di(
            decided,
            sensitive_features=people.group,
            subgroups=people.corner,
            min_size=MIN_SIZE,
        )
        gaps = local["local_di"].to_numpy(dtype=float)
        place = ""
        if np.isfinite(gaps).any():
            place = str(local["subgroup"].iloc[int(np.nanargmax(gaps))])
        stop = {
            "accuracy": float(figures["accuracy"]),
            "gap": float(figures[PARITY]),
            "largest_local_gap": float(figures[WORST]),
            "place": place,
        }
        for code, name in enumerate(GROUPS):
            members = people.group == code
            qualified = members & (people.outcome == 1)
            stop[f"rate_{name}"] = _mean(decided[members])
            stop[f"error_{name}"] = _mean(1 - decided[qualified])
        return stop


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def grid_points() -> NDArray[np.float64]:
    """Return the points of a grid, (SIDE * SIDE, 2), row by row from below."""
    line = np.linspace(-EDGE, EDGE, SIDE)
    across, up = np.meshgrid(line, line)
    return np.column_stack([across.ravel(), up.ravel()])


def slider_of(method: Method, n_stops: int = N_STOPS) -> Slider | None:
    """Return the slider of a method of the catalog with its stops; None without one."""
    param = method.trade_off()
    if param is None and method.key in _SECOND:
        param = next(p for p in method.params if p.name == _SECOND[method.key])
    if param is None:
        return None
    low, high = _RANGES.get(method.key, (param.low, param.high))
    return Slider(
        param.name, param.title, param.help, _stops(param, low, high, n_stops)
    )


def _stops(param: Param, low: float, high: float, n_stops: int) -> tuple[float, ...]:
    if param.axis == "log":
        stops = np.geomspace(max(low, param.step, 1e-4), high, n_stops)
    else:
        stops = np.linspace(low, high, n_stops)
    return tuple(float(f"{stop:.3g}") for stop in stops)


def train(
    people: People,
    method: str,
    *,
    stops: Sequence[float] | None = None,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Surfaces:
    """Train a method at every stop of its slider and return what it does.

    Parameters
    ----------
    method : str
        Key of the catalog.
    stops : sequence of float, optional
        Values of the slider, by default `N_STOPS` over its range.
    params : mapping, optional
        Other parameters of the method, such as ``constraints`` or ``tau``.

    Raises
    ------
    KeyError
        If there is no such method.
    ValueError
        If a parameter is out of range, or a group is missing or lacks an outcome.
    """
    entry = CATALOG[method]
    slider = slider_of(entry)
    if slider is not None and stops is not None:
        slider = Slider(slider.name, slider.title, slider.help, tuple(stops))
    points = [{}] if slider is None else [{slider.name: stop} for stop in slider.stops]
    groups = np.array(GROUPS)[people.group]
    estimator = entry.estimator(settings_of(entry, params), random_state=seed)
    models = estimator.fit_many(
        points, people.X, people.outcome, sensitive_features=groups
    )
    plane = grid_points()
    groups_drawn = GROUPS if entry.needs_groups else GROUPS[:1]
    grid = np.empty((len(models), len(groups_drawn), SIDE, SIDE), dtype=np.float32)
    scores = np.empty((len(models), len(people)), dtype=np.float32)
    for place, model in enumerate(models):
        for index, group in enumerate(groups_drawn):
            surface = _positive(entry, model, plane, np.full(len(plane), group))
            grid[place, index] = surface.reshape(SIDE, SIDE)
        scores[place] = _positive(entry, model, people.X, groups)
    weights = [getattr(model, "ratio_", None) for model in models]
    ratio = None
    if all(weight is not None for weight in weights):
        ratio = np.array(weights, dtype=np.float32)
    return Surfaces(people, method, slider, grid, scores, ratio)


def settings_of(
    method: Method, params: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the parameters that a method is trained with in the plane."""
    efforts = dict(method.efforts["fast"])
    schedule = _SCHEDULE if "n_epochs" in efforts else {}
    return {**efforts, **schedule, **_FIXED.get(method.key, {}), **(params or {})}


def _positive(
    method: Method, model: Any, X: NDArray[np.float64], groups: NDArray[Any]
) -> NDArray[np.float32]:
    routed = {"sensitive_features": groups} if method.needs_groups else {}
    return np.asarray(model.predict_proba(X, **routed)[:, 1], dtype=np.float32)
