import numpy as np
import pandas as pd
import pytest

from fairdash.plots import describe_front, front_finding, plot_front

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
            "front": [False, True, True, False],
            "line": [False, True, True, False],
            "knee": [False, True, False, False],
        }
    )


@pytest.fixture
def runs():
    return pd.DataFrame(
        {"method": ["ROAD"], "colour_role": ["road"], "x": [0.2], "y": [0.7]}
    )


def test_the_first_traces_are_the_methods_with_their_rows_in_order(models, runs):
    figure = plot_front(models, runs)
    assert [trace.name for trace in figure.data[:2]] == ["Unconstrained", "ROAD"]
    assert figure.data[1].x == (0.2, 0.1, 0.25)
    assert figure.data[1].y == (0.68, 0.6, 0.6)


def test_a_model_over_the_limit_is_open_and_one_on_the_front_is_larger(models, runs):
    plain, road = plot_front(models, runs).data[:2]
    assert plain.marker.symbol[0].endswith("-open")
    assert not any(symbol.endswith("-open") for symbol in road.marker.symbol)
    first, second, third = road.marker.size
    assert first == second > third
    assert "over the DI limit" in plain.text[0]


def test_the_line_joins_the_front_as_steps_from_fair_to_accurate(models, runs):
    (line,) = [t for t in plot_front(models, runs).data if t.line.shape == "hv"]
    assert line.x == (0.1, 0.2)
    assert line.y == (0.6, 0.68)


def test_whiskers_stand_on_the_front_alone(models, runs):
    road = plot_front(models, runs).data[1]
    assert road.error_x.array == (0.01, 0.0, 0.0)


def test_the_knee_is_named_beside_its_mark(models, runs):
    figure = plot_front(models, runs)
    (note,) = figure.layout.annotations
    assert (note.text, note.x, note.y) == ("knee", 0.2, 0.68)
    assert "knee of the front" in figure.data[1].text[0]
    straight = plot_front(models.assign(knee=False), runs)
    assert not straight.layout.annotations


def test_chance_has_a_band(models, runs):
    figure = plot_front(models, runs, chance=0.08)
    assert figure.layout.shapes[0].x1 == 0.08
    assert not plot_front(models, runs).layout.shapes


def test_words_count_the_models_within_the_limit(models):
    words = front_finding(models, 0.05)
    assert words == "3 of 4 settings keep DI within 0.05, none of Unconstrained"
    nothing = front_finding(models.assign(within=False), 0.05)
    assert nothing.startswith("No setting keeps DI within 0.05")
    assert max(len(words), len(nothing)) <= 70
    text = describe_front(models, AXES)
    assert "ROAD: 0.100 at 60.0% to 0.200 at 68.0%" in text
    assert "Unconstrained: no model within the limit" in text


def test_models_in_training_are_small_marks_named_if_their_method_is_new(models, runs):
    training = models.iloc[:2].assign(method=["Zhang", "ROAD"])
    *_, zhang, road = plot_front(models, runs, training=training).data
    assert [(mark.name, mark.showlegend) for mark in (road, zhang)] == [
        ("ROAD", False),
        ("Zhang", True),
    ]
    assert (road.x, road.y) == ((0.2,), (0.68,))
    assert "in training" in road.text[0]
    alone = plot_front(models.iloc[:0], runs.iloc[:0], training=training).data
    assert len(alone) == 2
