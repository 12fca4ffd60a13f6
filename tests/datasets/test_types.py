import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdash.datasets._columns import are_numbers, as_kind, date_parts, infer_kind

RNG = np.random.default_rng(0)
COLUMNS = {
    "whole numbers": ([3, 1, 4, 1, 5], "number", "numbers from 1 to 5"),
    "decimals": ([0.5, None, 2.25], "number", "from 0.5 to 2.25"),
    "thousands": (["1,234", "17", "1,000,000.5"], "number", "written as text"),
    "percent": (["12.5%", "3 %"], "number", "written as text"),
    "zero and one": ([0, 1, None], "yes_no", "holds 0 and 1"),
    "words": (["Yes", "no", None], "yes_no", "holds no and yes"),
    "booleans": ([True, False], "yes_no", "true and false"),
    "sexes": (["f", "m"], "category", "2 values"),
    "iso dates": (["2024-02-29", None], "date", "year-month-day"),
    "american dates": (["12/31/2024", "1/2/2024"], "date", "month/day/year"),
    "british dates": (["31/12/2024", "1/2/2024"], "date", "day/month/year"),
    "unclear dates": (["1/2/2024"], "date", "day/month fits as well"),
    "no date": (["2024-02-30", "2024-01-01"], "category", "2 values"),
    "row numbers": (list(range(1, 41)), "id", "different in every row"),
    "remarks": ([f"paid {i} times and late" for i in range(40)] * 2, "text", "5 words"),
    "towns": ([f"town{i}" for i in range(30)] * 10, "category", "30 different values"),
    "lists": ([[1], [2, 3]], "text", "lists or records"),
}


def column(values):
    return pd.Series(values, name="x")


@pytest.mark.parametrize("name", COLUMNS)
def test_the_kind_is_told_with_its_reason(name):
    values, kind, reason = COLUMNS[name]
    inferred = infer_kind(column(values))
    assert inferred[0] == kind
    assert reason in inferred[1]


def test_numbers_lose_separators_and_percent_signs():
    written = column(["1,234.5", "1 234", "-12.5 %", None, "7"])
    assert as_kind(written, "number").tolist()[:3] == [1234.5, 1234.0, -12.5]


@pytest.mark.parametrize("text", ["0,125", "1234,567", "1.234,567", "0'500", "1,234,5"])
def test_a_decimal_comma_is_no_mark_of_thousands(text):
    with pytest.raises(ValueError, match="not a number"):
        as_kind(column([text]), "number")
    assert not are_numbers([text]).any()


@pytest.mark.parametrize(
    "kind, words",
    [
        ("number", "2 rows of 'x' are not a number, first rows [2, 4] (no, maybe)"),
        ("yes_no", "1 rows of 'x' are not yes or no, first rows [4] (maybe)"),
        ("date", "3 rows of 'x' are not a date, first rows [1, 2, 4] (1, no, maybe)"),
    ],
)
def test_values_that_do_not_fit_are_named_with_their_rows(kind, words):
    with pytest.raises(ValueError) as caught:
        as_kind(column(["1", "no", None, "maybe"]), kind)
    assert words in str(caught.value)
    assert "make these cells empty" in str(caught.value)


@settings(max_examples=30)
@given(st.lists(st.dates(datetime.date(1700, 1, 1)), min_size=1, max_size=30))
def test_parts_of_dates_are_those_of_the_calendar(days):
    parts = date_parts(pd.Series([day.isoformat() for day in days], name="hired"))
    assert parts["hired year"].tolist() == [day.year for day in days]
    assert parts["hired month"].tolist() == [day.month for day in days]
    assert parts["hired weekday"].tolist() == [day.isoweekday() for day in days]
