import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdash.plots import drawn_models, plot_front

AXES = ("worst_1_di", "accuracy")


@pytest.fixture
def models():
    return pd.DataFrame(
        {
            "label": ["Unconstrained", "ROAD λ 1", "ROAD λ 2", "ROAD λ 3"],
            "method": ["Unconstrained", "ROAD", "ROAD", "ROAD"],
            "colour_role": ["unconstrained", "road", "road", "road"],
            "x": [0.3, 0.2, 0.1, 0.25],
            "y": [0.7, 0.68, 0.6, 0.6],
            "x_sd": [0.02, 0.01, np.nan, 0.01],
            "y_sd": [0.01, 0.01, np.nan, 0.01],
            "within": [False, True, True, True],
            "within_test": [False, True, True, False],
            "constant": [False, False, False, False],
            "front": [False, True, True, False],
            "line": [False, True, True, False],
        }
    )


@pytest.fixture
def runs():
    return pd.DataFrame(
        {
            "method": ["ROAD"],
            "colour_role": ["road"],
            "x": [0.2],
            "y": [0.7],
            "constant": [False],
        }
    )


def test_the_first_traces_are_the_methods_with_their_rows_in_order(models, runs):
    figure = plot_front(models, runs).figure
    assert [trace.name for trace in figure.data[:2]] == ["Unconstrained", "ROAD"]
    assert figure.data[1].x == (0.2, 0.1, 0.25)
    assert figure.data[1].y == (0.68, 0.6, 0.6)


def test_a_model_over_the_limit_is_open_and_one_on_the_front_is_larger(models, runs):
    plain, road = plot_front(models, runs).figure.data[:2]
    assert plain.marker.symbol[0].endswith("-open")
    assert not any(symbol.endswith("-open") for symbol in road.marker.symbol)
    first, second, third = road.marker.size
    assert first == second > third
    assert "over the DI limit" in plain.text[0]


def test_the_line_joins_the_front_as_steps_from_fair_to_accurate(models, runs):
    (line,) = [t for t in plot_front(models, runs).figure.data if t.line.shape == "hv"]
    assert line.x == (0.1, 0.2)
    assert line.y == (0.6, 0.68)


def test_whiskers_stand_on_the_front_alone(models, runs):
    road = plot_front(models, runs).figure.data[1]
    assert road.error_x.array == (0.01, 0.0, 0.0)


def test_chance_has_a_band(models, runs):
    figure = plot_front(models, runs, chance=0.08).figure
    assert figure.layout.shapes[0].x1 == 0.08
    assert not plot_front(models, runs).figure.layout.shapes


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(*[st.booleans()] * 3), min_size=1, max_size=40),
    st.sampled_from([0.05, 0.1, 0.25]),
    st.sampled_from(["validation", "test"]),
)
def test_the_headline_counts_the_models_within_the_limit_on_named_rows(
    marks, limit, judge
):
    table = pd.DataFrame(marks, columns=["within", "within_test", "constant"])
    table["within"] &= ~table["constant"]
    table["within_test"] = table["within_test"] & ~table["constant"]
    if judge == "test":
        table["within_test"] = table["within"]
    table = table.assign(
        label="m", method="ROAD", colour_role="road", x=0.1, y=0.6, x_sd=0.0,
        y_sd=0.0, front=False, line=False,
    )  # fmt: skip
    said = plot_front(table, limit=limit, judge=judge).headline
    assert len(said) <= 70
    found = re.fullmatch(
        r"(\d+) of (\d+) keep DI within ([\d.]+) on (\w+) rows"
        r"(?:, (\d+) on test rows|, none of ROAD)?",
        said,
    )
    kept, n, within, rows, on_test = found.groups()
    assert (int(n), float(within), rows) == (len(table), limit, judge)
    assert int(kept) == table["within"].sum()
    if judge == "validation":
        assert int(on_test) == table["within_test"].sum()


def test_words_name_the_ends_of_every_front(models):
    picture = plot_front(models)
    assert picture.headline == (
        "3 of 4 keep DI within 0.05 on validation rows, 2 on test rows"
    )
    assert "ROAD: 0.100 at 60.0% to 0.200 at 68.0%" in picture.alt
    assert "Unconstrained: no model within the limit" in picture.alt
    on_test = plot_front(models, judge="test").headline
    assert on_test == "3 of 4 keep DI within 0.05 on test rows, none of Unconstrained"
    assert "within_test" in picture.table
    assert len(picture.table) == 4


def test_models_that_do_not_decide_are_drawn_on_request_alone(models):
    models["constant"] = [False, False, False, True]
    hidden, shown = (plot_front(models, constants=c) for c in (False, True))
    assert hidden.figure.data[1].x == (0.2, 0.1)
    assert (
        "1 model decides alike for everyone, or as chance might: not drawn"
        in hidden.caption
    )
    assert shown.figure.data[1].x == (0.2, 0.1, 0.25)
    assert shown.figure.data[1].marker.symbol[2] == "x-thin-open"
    assert "or as chance might: crosses" in shown.caption
    assert hidden.headline == shown.headline
    assert drawn_models(models, constants=False)["label"].tolist() == [
        "Unconstrained", "ROAD λ 1", "ROAD λ 2",
    ]  # fmt: skip


def test_models_in_training_are_small_marks_named_if_their_method_is_new(models, runs):
    training = models.iloc[:2].assign(method=["Zhang", "ROAD"])
    *_, zhang, road = plot_front(models, runs, training=training).figure.data
    assert [(mark.name, mark.showlegend) for mark in (road, zhang)] == [
        ("ROAD", False),
        ("Zhang", True),
    ]
    assert (road.x, road.y) == ((0.2,), (0.68,))
    assert "in training" in road.text[0]
    alone = plot_front(None, training=training).figure.data
    assert len(alone) == 2
