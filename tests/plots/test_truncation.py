"""Where the probabilities of fair log-loss stop."""

import numpy as np
import pandas as pd
import pytest

from fairdash.plots import plot_truncation

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


@pytest.fixture
def bars():
    return pd.DataFrame(
        {"group": ["men"] * 2 + ["women"] * 2, "score": [0.2, 0.8] * 2, "share": 0.5}
    )


def test_truncation_is_drawn_where_there_is_one(bars, points):
    figure = plot_truncation(bars, points, groups=GROUPS).figure
    assert [trace.name for trace in figure.data] == ["men", "women"]
    (line,) = figure.layout.shapes
    assert line.x0 == line.x1 == 0.7
    assert line.line.color == figure.data[0].line.color


def test_words_name_group_side_and_place(bars, points):
    found = plot_truncation(bars, points, groups=GROUPS)
    assert found.headline == "Probabilities stop: men above 0.70"
    assert "men above 0.70" in found.alt
    none = plot_truncation(bars, points.assign(point=np.nan), groups=GROUPS)
    assert "without truncation" in none.headline
    assert "No probability is truncated" in none.alt
    given = plot_truncation(bars, points.assign(outcome=1), groups=GROUPS)
    assert "given a positive outcome" in given.alt
