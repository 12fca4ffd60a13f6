"""The playground: what a method does to people in the plane, stop by stop."""

from fairdash.audits.playground.examples import Example, caption_of, example_of
from fairdash.audits.playground.grid import SIDE, grid_points
from fairdash.audits.playground.payload import payload, plane_payload, words
from fairdash.audits.playground.people import COLUMNS, GROUPS, MOST_PEOPLE, People
from fairdash.audits.playground.ramp import METHODS
from fairdash.audits.playground.scenes import SCENES, Scene
from fairdash.audits.playground.sliders import (
    Slider,
    second_slider_of,
    settings_of,
    slider_of,
)
from fairdash.audits.playground.stages import (
    Stage,
    Stops,
    join,
    stages_of,
    train_part,
    warm_up,
)
from fairdash.audits.playground.surfaces import (
    MIN_SIZE,
    Surfaces,
    train,
)
from fairdash.audits.playground.tables import MOST_ROWS, people_of, plane_columns
from fairdash.audits.playground.views import shipped

__all__ = [
    "COLUMNS",
    "GROUPS",
    "METHODS",
    "MIN_SIZE",
    "MOST_PEOPLE",
    "MOST_ROWS",
    "SCENES",
    "SIDE",
    "Example",
    "People",
    "Scene",
    "Slider",
    "Stage",
    "Stops",
    "Surfaces",
    "caption_of",
    "example_of",
    "grid_points",
    "join",
    "payload",
    "people_of",
    "plane_columns",
    "plane_payload",
    "second_slider_of",
    "settings_of",
    "shipped",
    "slider_of",
    "stages_of",
    "train",
    "train_part",
    "warm_up",
    "words",
]
