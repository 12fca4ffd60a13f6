"""One scene for each method, in which a picture shows what the method does."""

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdash._wording import listing
from fairdash.audits.playground.grid import SIDE
from fairdash.audits.playground.people import People
from fairdash.audits.playground.scenes import SCENES, Scene
from fairdash.audits.playground.sliders import slider_of
from fairdash.audits.playground.stages import Stops, join, stages_of, train_part
from fairdash.audits.playground.views import shipped
from fairdash.methods import Method

_USUAL = "hidden_corner"
_SCENES = {
    "cuma": "proxy",
    "fad": "proxy",
    "fair_log_loss": "proxy",
    "reductions": "proxy",
    "grid_reductions": "proxy",
    "reweighing": "proxy",
    "covariance": "proxy",
    "hardt": "equal_rates",
    "rule_list": "proxy",
    "multicalibration": "rare",
    "noisy_naive": "wrong_records",
    "noisy_dro": "wrong_records",
    "noisy_soft": "wrong_records",
    "noisy_ideal": "wrong_records",
    "sensei": "twins",
    "sensr": "twins",
    "clp": "twins",
}


@dataclass(frozen=True)
class Example:
    """A method in a scene, at both ends and in the middle of its slider.

    Attributes
    ----------
    scene : Scene
    people : People
    caption : str
        The scene and the stops: "A hidden corner: Fairness weight (λ) at 0, 2 and 4".
    surfaces : ndarray of uint8, (n_stops, n_shown, SIDE, SIDE)
        P(1) in 255ths; a surface per group where the method reads the group, else one.
    """

    scene: Scene
    people: People
    caption: str
    surfaces: NDArray[np.uint8]


def scene_of(method: Method) -> Scene:
    """Return the scene in which a method is shown."""
    return SCENES[_SCENES.get(method.key, _USUAL)]


def caption_of(method: Method) -> str:
    """Return the scene and the stops of an example, without training."""
    scene = scene_of(method)
    people = scene.people()
    slider = slider_of(method, people)
    if slider is None:
        return scene.title
    values = [f"{stop:g}" for stop in _stops(method, people).first]
    return f"{scene.title}: {slider.title} at {listing(values)}"


def example_of(method: Method) -> Example:
    """Return a method in its scene, from what comes with the package or trained."""
    scene = scene_of(method)
    people = scene.people()
    stops = _stops(method, people)
    view = shipped(people, method.key)
    if view is None:
        view = train_part(people, method.key, stops)
    return Example(scene, people, caption_of(method), _surfaces(join([view], stops)))


def _stops(method: Method, people: People) -> Stops:
    """Return both ends and the middle of the first slider, and the usual second."""
    stops = stages_of(method, people)[0].stops
    middle = len(stops.first) // 2
    return Stops(stops.first[::middle] if middle else (), stops.second)


def _surfaces(view: dict[str, Any]) -> NDArray[np.uint8]:
    contents = [
        [base64.b64decode(surface) for surface in setting] for setting in view["grids"]
    ]
    grids = [[np.frombuffer(grid, np.uint8) for grid in row] for row in contents]
    return np.array(grids).reshape(len(grids), -1, SIDE, SIDE)
