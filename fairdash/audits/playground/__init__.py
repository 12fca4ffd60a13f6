"""The playground: what a method does to people in the plane, stop by stop."""

from fairdash.audits.playground.payload import payload, words
from fairdash.audits.playground.scenes import GROUPS, SCENES, People, Scene
from fairdash.audits.playground.surfaces import (
    MIN_SIZE,
    SIDE,
    Slider,
    Surfaces,
    grid_points,
    settings_of,
    slider_of,
    train,
)

__all__ = [
    "GROUPS",
    "MIN_SIZE",
    "SCENES",
    "SIDE",
    "People",
    "Scene",
    "Slider",
    "Surfaces",
    "grid_points",
    "payload",
    "settings_of",
    "slider_of",
    "train",
    "words",
]
