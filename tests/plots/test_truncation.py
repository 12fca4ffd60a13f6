"""The two players of fair log-loss, and where probabilities stop."""

import numpy as np
import pandas as pd
import pytest

from fairdash.plots import (
    describe_players,
    describe_truncation,
    plot_players,
    plot_truncation,
    truncation_finding,
)

GROUPS = ("men", "women")


@pytest.fixture
def points():
    return pd.DataFrame(
        {
            "group": ["men", "women"],
            "outcome": [-1, -1],
            "point": [0.7, np.nan],
            "side": ["above", "below"],
        }
    )


def test_every_group_has_its_curve_beside_the_diagonal():
    p = np.linspace(0, 1, 5)
    curves = pd.concat(
        pd.DataFrame({"group": g, "outcome": o, "p": p, "q": p**2})
        for o in (0, 1)
        for g in GROUPS
    )
    figure = plot_players(curves, groups=GROUPS)
    assert len(figure.data) == 5
    assert figure.data[1].name == "men, negative outcome"
    assert [trace.line.dash for trace in figure.data[1:]] == ["dash"] * 2 + [
        "solid"
    ] * 2
    np.testing.assert_allclose(figure.data[2].y, p**2)
    assert figure.data[1].line.color == figure.data[3].line.color


def test_truncation_is_drawn_where_there_is_one(points):
    bars = pd.DataFrame(
        {"group": ["men"] * 2 + ["women"] * 2, "score": [0.2, 0.8] * 2, "share": 0.5}
    )
    figure = plot_truncation(bars, points, groups=GROUPS)
    assert [trace.name for trace in figure.data] == ["men", "women"]
    (line,) = figure.layout.shapes
    assert line.x0 == line.x1 == 0.7
    assert line.line.color == figure.data[0].line.color


def test_words_name_group_side_and_place(points):
    assert truncation_finding(points) == "Probabilities stop: men above 0.70"
    assert "men above 0.70" in describe_truncation(points)
    assert "men above 0.70" in describe_players(points)
    none = points.assign(point=np.nan)
    assert "without truncation" in truncation_finding(none)
    assert "No probability is truncated" in describe_truncation(none)
    given = points.assign(outcome=1)
    assert "given a positive outcome" in describe_truncation(given)
