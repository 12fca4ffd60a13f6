import numpy as np
import pandas as pd

from fairdash.plots import describe_surface, plot_surface, surface_finding

AXIS = np.linspace(-2, 2, 5)
POINTS = pd.DataFrame(
    {
        "x": [0.1, 0.2, 0.3],
        "y": 0.0,
        "group": ["a", "a", "b"],
        "outcome": [0, 1, 1],
    }
)


def drawn(surface):
    return plot_surface(surface, POINTS, axis=AXIS, groups=("a", "b"))


def test_the_map_shows_the_surface_and_the_line_of_one_half():
    surface = np.random.default_rng(0).random((5, 5))
    colours, *_ = drawn(surface).data
    np.testing.assert_allclose(colours.z, surface, atol=1e-4)
    assert (colours.zmin, colours.zmax) == (0, 1)
    assert colours.contours.start == colours.contours.end == 0.5


def test_rows_are_told_apart_by_group_and_outcome():
    rows = drawn(np.full((5, 5), 0.2)).data[1:]
    assert [(mark.marker.symbol, list(mark.x)) for mark in rows] == [
        ("circle-open", [0.1]),
        ("circle", [0.2]),
        ("square-open", []),
        ("square", [0.3]),
    ]


def test_the_arrow_runs_along_the_first_feature():
    arrow = drawn(np.full((5, 5), 0.2)).layout.annotations[0]
    assert arrow.showarrow
    assert (arrow.axref, arrow.xref, arrow.ay) == ("x", "x", 0)
    assert arrow.ax < arrow.x


def test_words_tell_the_change():
    finding = surface_finding(0.123)
    assert "12.3 pt" in finding
    assert len(surface_finding(1.0)) <= 70
    assert "SenSR" in describe_surface("SenSR", 0.123)
    assert "12.3 points" in describe_surface("SenSR", 0.123)
