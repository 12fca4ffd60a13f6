import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash._wording import (
    UNDEFINED,
    amount,
    change,
    count,
    duration,
    four_fifths,
    group_label,
    interval,
    number,
    percent,
    plural,
    points,
    shortened,
    size,
    time_left,
    without_sentences,
)


@pytest.mark.parametrize(
    "written, wanted",
    [
        (number(0.1436), "0.144"),
        (amount(36_000.4), "36,000"),
        (percent(0.6512), "65.1%"),
        (group_label("sex", "0"), "sex: 0"),
        (duration(128), "2 min 8 s"),
        (duration(3900), "1 h 5 min"),
        (time_left(14.2), "15 s left"),
        (time_left(127), "2 min left"),
        (four_fifths(0.79, 0.81), "below"),
        (four_fifths(0.6, 0.79), "surely below"),
        (four_fifths(math.nan, math.nan), "undefined"),
        (group_label("sex", "sex 0"), "sex 0"),
        (size(0), "0 B"),
        (size(31_400_000), "31 MB"),
        (count(6167), "6,167"),
        (plural(1047, "row"), "1,047 rows"),
        (change(0.02), "+0.020"),
        (change(-0.0761), "−0.076"),
        (points(-0.019), "−1.9 pt"),
        (interval(0.0921, 0.199), "0.092–0.199"),
        (interval(0.635, 0.667, percent), "63.5–66.7%"),
        (interval(-0.118, -0.031), "−0.118 to −0.031"),
        (percent(-0.0001), "0.0%"),
        (change(-0.0001), "0.000"),
    ],
)
def test_numbers_read_as_the_style_asks(written, wanted):
    assert written == wanted


@pytest.mark.parametrize("style", [number, percent, change, points])
def test_an_undefined_number_is_a_dash_and_never_nan(style):
    assert style(math.nan) == UNDEFINED
    assert interval(math.nan, 1.0, style) == ""


NAMES = st.dictionaries(st.text(max_size=3), st.text(max_size=80), max_size=6)


@given(NAMES)
def test_both_ends_of_a_long_name_stand_and_names_that_differ_still_differ(names):
    short = shortened(names, 20)
    assert len(set(short.values())) == len(set(names.values()))
    for key, name in names.items():
        head, _, tail = short[key].partition("…")
        if short[key] != name:
            assert len(short[key]) == 20
            assert name.startswith(head)
            assert name.endswith(tail)


def test_a_text_does_not_repeat_what_stands_above_it():
    verdict = "m accepts 99%, so its gaps say nothing."
    assert without_sentences(f"{verdict} It has 12.5 points.", verdict) == (
        "It has 12.5 points."
    )
    assert without_sentences(verdict, verdict) == ""
    assert without_sentences("Nothing else.", verdict) == "Nothing else."
