"""Train a method at every stop of its sliders, and show its scores in the plane."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._metric_names import PARITY, WORST
from fairdash.audits.playground.grid import SIDE, grid_points
from fairdash.audits.playground.people import GROUPS, People
from fairdash.audits.playground.ramp import METHODS
from fairdash.audits.playground.sights import Sight, sight_of
from fairdash.audits.playground.sliders import (
    Slider,
    second_slider_of,
    settings_of,
    slider_of,
)
from fairdash.methods import Method
from fairdash.metrics import Drawn, evaluate, expected_local_di

MIN_SIZE = 10  # people of a quarter of the plane, below which no gap is measured


@dataclass(frozen=True)
class Surfaces:
    """Models of one method, one per setting of its sliders, seen on a grid.

    Attributes
    ----------
    people : People
    slider : Slider or None
        None of a method without one: a single model.
    second : Slider or None
        None where the second parameter stays as `settings_of` has it.
    grid : ndarray of float32, (n_settings, n_shown, SIDE, SIDE)
        P(1) at the points of `grid_points`; a surface per group where the method reads
        the group, else one. The first axis of a surface is the second feature.
    scores : ndarray of float32, (n_settings, n_people)
    sights : tuple of Sight
        What the method itself sees at each setting; empty of a method that sees no
        more than the surface shows.
    """

    people: People
    method: str
    slider: Slider | None
    second: Slider | None
    grid: NDArray[np.float32]
    scores: NDArray[np.float32]
    sights: tuple[Sight, ...]

    @property
    def settings(self) -> list[dict[str, float]]:
        """Parameters that the sliders set, by name, one mapping per model.

        All stops of the first slider stand together, for one stop of the second.
        """
        return _settings(self.slider, self.second)

    @cached_property
    def path(self) -> pd.DataFrame:
        """One row per setting: accuracy, gap, largest_local_gap, place, rates, errors.

        They are of the decisions P(1) > 1/2 about the people of the scene, as
        `evaluate` and `local_di` have them, and expected ones of a random mixture. The
        quarters of the plane are the subgroups. ``error_A`` and ``error_B`` are the
        shares of people with outcome 1 who are refused.
        """
        return pd.DataFrame([self._stop(scores) for scores in self.scores])

    def _stop(self, scores: NDArray[np.float32]) -> dict[str, Any]:
        people = self.people
        if METHODS[self.method].mixture:  # P(1) is the chance of a decision
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


def train(
    people: People,
    method: str,
    *,
    stops: Sequence[float] | None = None,
    second_stops: Sequence[float] = (),
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Surfaces:
    """Train a method at every setting of its sliders, as one stack.

    Parameters
    ----------
    method : str
        Key of `METHODS`: of the catalog, or the ramp.
    stops : sequence of float, optional
        Values of the first slider, by default those of `slider_of`.
    second_stops : sequence of float
        Values of the second slider; none leaves its parameter as `settings_of` has it.
    params : mapping, optional
        Other parameters of the method, such as ``constraints``.

    Raises
    ------
    KeyError
        If there is no such method.
    ValueError
        If a parameter is out of range, a group is missing or lacks an outcome, or
        ``second_stops`` are of a method without a second slider.
    """
    entry = METHODS[method]
    slider = _at_stops(slider_of(entry, people), stops)
    second = None
    if second_stops:
        second = _at_stops(second_slider_of(entry), second_stops)
        if second is None:
            raise ValueError(f"{entry.label} has no second slider in the playground.")
    fixed = settings_of(entry, params)
    fitted = entry.estimator(fixed, random_state=seed).fit_many(
        _settings(slider, second),
        people.features,
        people.outcome,
        sensitive_features=np.array(GROUPS)[people.group],
    )
    drawings = [_draw(entry, model, people) for model in fitted]
    sights = [drawing.sight for drawing in drawings if drawing.sight is not None]
    return Surfaces(
        people,
        method,
        slider,
        second,
        np.array([drawing.grid for drawing in drawings]),
        np.array([drawing.scores for drawing in drawings]),
        tuple(sights) if len(sights) == len(drawings) else (),
    )


class _Drawing(NamedTuple):
    """What is kept of one model: surfaces, scores of the people, what it sees."""

    grid: NDArray[np.float32]
    scores: NDArray[np.float32]
    sight: Sight | None


def _at_stops(slider: Slider | None, stops: Sequence[float] | None) -> Slider | None:
    if slider is None or stops is None:
        return slider
    return replace(slider, stops=tuple(stops))


def _settings(slider: Slider | None, second: Slider | None) -> list[dict[str, float]]:
    settings: list[dict[str, float]] = [{}]
    for axis in (second, slider):
        if axis is not None:
            settings = [
                {**setting, axis.name: stop}
                for setting in settings
                for stop in axis.stops
            ]
    return settings


def _draw(method: Method, model: Any, people: People) -> _Drawing:
    plane = people.at(grid_points())
    groups_drawn = GROUPS if method.needs_groups else GROUPS[:1]
    surfaces = [
        _positive(method, model, plane, np.full(len(plane), group))
        for group in groups_drawn
    ]
    grid = np.array(surfaces).reshape(len(surfaces), SIDE, SIDE)
    scores = _positive(method, model, people.features, np.array(GROUPS)[people.group])
    return _Drawing(grid, scores, sight_of(model, people))


def _positive(
    method: Method, model: Any, X: NDArray[np.float64], groups: NDArray[Any]
) -> NDArray[np.float32]:
    routed = {"sensitive_features": groups} if method.needs_groups else {}
    return np.asarray(model.predict_proba(X, **routed)[:, 1], dtype=np.float32)
