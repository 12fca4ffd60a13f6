import re

import pandas as pd
import pytest
from cases import examples
from hypothesis import given
from hypothesis import strategies as st

from fairdash.plots import plot_front

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
            "within": [False, True, True, True],
            "within_test": [False, True, True, False],
            "constant": [False, False, False, False],
            "front": [False, True, True, False],
            "line": [False, True, True, False],
        }
    )


def test_the_first_traces_are_the_methods_with_their_rows_in_order(models):
    figure = plot_front(models).figure
    assert [trace.name for trace in figure.data[:2]] == ["Unconstrained", "ROAD"]
    assert figure.data[1].x == (0.2, 0.1, 0.25)
    assert figure.data[1].y == (0.68, 0.6, 0.6)


def test_a_model_over_the_limit_is_open_and_one_on_the_front_is_larger(models):
    plain, road = plot_front(models).figure.data[:2]
    assert plain.marker.symbol[0].endswith("-open")
    assert not any(symbol.endswith("-open") for symbol in road.marker.symbol)
    first, second, third = road.marker.size
    assert first == second > third
    assert "over the limit of 5 points on the gap" in plain.text[0]


def test_what_is_not_beyond_chance_is_pale_and_the_caption_says_so(models):
    picture = plot_front(models.assign(quiet=[False, True, False, False]))
    pale, clear, _ = picture.figure.data[1].marker.color
    assert int(pale[7:], 16) < 0x80 < int(clear[7:] or "ff", 16)
    assert "Pale: not beyond chance from the plain model." in picture.caption
    assert "Pale" not in plot_front(models).caption


def test_the_line_joins_the_front_as_steps_from_fair_to_accurate(models):
    (line,) = [t for t in plot_front(models).figure.data if t.line.shape == "hv"]
    assert line.x == (0.1, 0.2)
    assert line.y == (0.6, 0.68)


def test_chance_has_a_band(models):
    figure = plot_front(models, chance=0.08).figure
    assert figure.layout.shapes[0].x1 == 0.08
    assert not plot_front(models).figure.layout.shapes


@examples(60)
@given(
    st.lists(st.tuples(*[st.booleans()] * 3), min_size=1, max_size=40),
    st.sampled_from([0.05, 0.1, 0.25]),
)
def test_the_headline_counts_the_models_within_the_limit(marks, limit):
    table = pd.DataFrame(marks, columns=["within", "within_test", "constant"])
    table["within"] &= ~table["constant"]
    table["within_test"] = table["within_test"] & ~table["constant"]
    table = table.assign(
        label="m", method="ROAD", colour_role="road", x=0.1, y=0.6,
        front=False, line=False,
    )  # fmt: skip
    words = plot_front(table, limit=limit).headline
    assert len(words) <= 70
    if table["constant"].all():
        assert words == "No setting decides on these rows"
        return
    n_kept, n, within, on_test = re.fullmatch(
        r"(\d+) of (\d+) keep the gap within ([\d.]+) pt on validation, (\d+) on "
        r"test rows",
        words,
    ).groups()
    assert (int(n), float(within)) == (len(table), 100 * limit)
    assert int(n_kept) == table["within"].sum()
    assert int(on_test) == table["within_test"].sum()


def test_words_name_the_ends_of_every_front(models):
    picture = plot_front(models)
    assert picture.headline == (
        "3 of 4 keep the gap within 5.0 pt on validation, 2 on test rows"
    )
    assert "ROAD: 10.0 pt at 60.0% to 20.0 pt at 68.0%" in picture.alt
    assert (
        "Unconstrained: no model within the limit of 5 points on the gap" in picture.alt
    )
    assert "within_test" in picture.table
    assert len(picture.table) == 4


def test_models_that_do_not_decide_are_counted_and_not_drawn(models):
    models["constant"] = [False, False, False, True]
    picture = plot_front(models)
    assert picture.figure.data[1].x == (0.2, 0.1)
    assert "not clearly better than guessing: 1." in picture.caption
    models["constant"], models["alike"] = True, [True, False, True, False]
    caption = plot_front(models).caption
    assert "Not drawn, because they accept all or none, or nearly so: 2." in caption
    assert "Not drawn, because they are not clearly better than guessing: 2." in caption


def test_models_that_guess_on_test_rows_are_drawn_and_counted(models):
    models["constant"], models["guessing_test"] = False, [True, False, False, True]
    picture = plot_front(models)
    assert "Not clearly better than guessing on test rows: 2." in picture.caption
    hovers = [text for trace in picture.figure.data[:2] for text in trace.text]
    assert sum("not clearly better than guessing" in text for text in hovers) == 2
