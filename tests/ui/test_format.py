import math
import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash._wording import (
    UNDEFINED,
    ago,
    amount,
    change,
    duration,
    four_fifths,
    group_label,
    interval,
    percent,
    points,
    size,
    time_left,
)
from fairdash.ui import count, number, plain, plural

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    "written, wanted",
    [
        (number(0.1436), "0.144"),
        (number(-0.076), "−0.076"),
        (amount(36_000.4), "36,000"),
        (amount(-2.50), "−2.5"),
        (percent(0.6512), "65.1%"),
        (group_label("sex", "0"), "sex: 0"),
        (four_fifths(0.79, 0.81), "below"),
        (four_fifths(0.6, 0.79), "surely below"),
        (four_fifths(0.8, 0.9), "not below"),
        (four_fifths(math.nan, math.nan), "undefined"),
        (group_label("sex", "sex 0"), "sex 0"),
        (size(0), "0 B"),
        (size(999.6), "1.0 KB"),
        (size(31_400_000), "31 MB"),
        (size(1.5e12), "1500 GB"),
        (count(6167), "6,167"),
        (plural(1, "row"), "1 row"),
        (plural(1047, "row"), "1,047 rows"),
        (change(0.02), "+0.020"),
        (change(-0.0761), "−0.076"),
        (points(-0.019), "−1.9 pt"),
        (interval(0.0921, 0.199), "0.092–0.199"),
        (interval(0.635, 0.667, percent), "63.5–66.7%"),
        (interval(-0.118, -0.031), "−0.118 to −0.031"),
        (interval(-0.118, 0.02, change), "−0.118 to +0.020"),
        (interval(-0.0004, 0.02), "0.000–0.020"),
        (percent(-0.0001), "0.0%"),
        (change(-0.0001), "+0.000"),
    ],
)
def test_numbers_read_as_the_style_asks(written, wanted):
    assert written == wanted


@pytest.mark.parametrize("style", [number, percent, change, points])
def test_an_undefined_number_is_a_dash_and_never_nan(style):
    assert style(math.nan) == UNDEFINED
    assert interval(math.nan, 1.0, style) == ""


@pytest.mark.parametrize(
    "seconds, wanted",
    [
        (0.2, "1 s"),
        (41.4, "41 s"),
        (128, "2 min 8 s"),
        (120, "2 min"),
        (3900, "1 h 5 min"),
    ],
)
def test_durations_use_two_units_at_most(seconds, wanted):
    assert duration(seconds) == wanted


def test_time_left_is_no_finer_than_an_estimate():
    assert time_left(14.2) == "15 s left"
    assert time_left(127) == "2 min left"


@pytest.mark.parametrize(
    "back, wanted",
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=4), "4 min ago"),
        (timedelta(hours=3, minutes=50), "3 h ago"),
        (timedelta(days=1, hours=2), "yesterday"),
        (timedelta(days=2), "2 days ago"),
    ],
)
def test_moments_are_told_from_now(back, wanted):
    assert ago(NOW - back.total_seconds(), NOW) == wanted


@given(st.text())
def test_text_from_a_file_never_starts_a_formula_or_a_link(text):
    outside_code = re.sub(r"`[^`]*`", "", plain(text))
    assert re.search(r"(?<!\\)(\\\\)*[$\[]", outside_code) is None


@pytest.mark.parametrize(
    "name", ["http://a.b", "see www.a.b", "mail me@a.b", "https://a.b/c?d=e"]
)
def test_an_address_is_parted_so_that_it_is_no_link(name):
    assert plain(name).replace("\u2060", "") == name
    assert not re.search(r"https?://|www\.|\w@\w", plain(name))


@pytest.mark.parametrize("name", ["a :ok: b", ":material/home:", ":+1:", "(:x:)"])
def test_a_name_in_colons_is_no_picture(name):
    assert plain(name).replace("\u2060", "") == name
    assert re.search(r":[\w+/-]+:", plain(name)) is None


def test_a_text_starts_no_list():
    starts = ["1. Loans", "2) a", "- a", "+ a"]
    assert [*map(plain, starts)] == [r"1\. Loans", r"2\) a", r"\- a", r"\+ a"]
    assert plain("-1 to 2.5, 12:30:45") == "-1 to 2.5, 12:30:45"


def test_backticks_that_hide_markup_are_no_code():
    assert plain("`` ` ![x](http://a.b) `") == (
        "\\`\\` \\` !\\[x\\](http:\u2060//a.b) \\`"
    )


def test_code_in_a_message_stays_as_it_is():
    assert plain("`a_b` and a_b cost $5") == r"`a_b` and a\_b cost \$5"
