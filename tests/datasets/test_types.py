import datetime
import gc

import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import given
from hypothesis import strategies as st

from fairdash.datasets import check_table, guess_roles
from fairdash.datasets.column_kinds import (
    SCREEN_ROWS,
    all_differ,
    as_kind,
    by_code,
    date_parts,
    distinct,
    infer_kind,
)

COLUMNS = {
    "whole numbers": ([3, 1, 4, 1, 5], "number"),
    "decimals": ([0.5, None, 2.25], "number"),
    "thousands": (["1,234", "17", "1,000,000.5"], "number"),
    "percent": (["12.5%", "3 %"], "number"),
    "sexes": (["f", "m"], "category"),
    "iso dates": (["2024-02-29", None], "date"),
    "american dates": (["12/31/2024", "1/2/2024"], "date"),
    "no date": (["2024-02-30", "2024-01-01"], "category"),
    "row numbers": (list(range(1, 41)), "id"),
    "remarks": ([f"paid {i} times and late" for i in range(40)] * 2, "text"),
    "towns": ([f"town{i}" for i in range(30)] * 10, "category"),
    "lists": ([[1], [2, 3]], "text"),
}


def column(values):
    return pd.Series(values, name="x")


@pytest.mark.parametrize("name", COLUMNS)
def test_the_kind_is_inferred_from_the_values(name):
    values, kind = COLUMNS[name]
    assert infer_kind(column(values)) == kind


def test_numbers_lose_separators_and_percent_signs():
    written = column(["1,234.5", "1 234", "-12.5 %", None, "7"])
    assert as_kind(written, "number").tolist()[:3] == [1234.5, 1234.0, -12.5]


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


@examples(30)
@given(st.lists(st.dates(datetime.date(1700, 1, 1)), min_size=1, max_size=30))
def test_parts_of_dates_are_those_of_the_calendar(days):
    parts = date_parts(pd.Series([day.isoformat() for day in days], name="hired"))
    assert parts["hired year"].tolist() == [day.year for day in days]
    assert parts["hired month"].tolist() == [day.month for day in days]
    assert parts["hired weekday"].tolist() == [day.isoweekday() for day in days]


@pytest.mark.parametrize(
    ("more", "differ"),
    [
        ([], True),
        (["person 7"], False),
        ([None], True),
        ([None, None], False),
        (["nan", None], True),
    ],
)
def test_all_cells_of_a_long_text_are_compared(more, differ):
    cells = [f"person {row}" for row in range(2 * SCREEN_ROWS)]
    assert all_differ(pd.Series([*cells, *more], dtype="str")) == differ


def test_all_cells_of_a_long_text_are_compared_once_until_one_is_changed(monkeypatch):
    scans = []
    repeated = distinct._repeated_hashes

    def scan(column):
        scans.append(len(column))
        return repeated(column)

    monkeypatch.setattr(distinct, "_repeated_hashes", scan)
    n_rows = 2 * SCREEN_ROWS
    names = pd.Series([f"person {row}" for row in range(n_rows)], dtype="str")
    rows = np.arange(n_rows)
    frame = pd.DataFrame({"name": names, "sex": rows % 2, "hired": rows // 2 % 2})
    roles = guess_roles(frame)
    check_table(frame, roles)
    assert "name" not in roles.features
    assert scans == [n_rows]
    frame.loc[n_rows - 1, "name"] = "person 7"
    assert not all_differ(frame["name"])
    assert scans == [n_rows, n_rows]
    key = id(frame["name"].array.__arrow_array__())
    assert key in distinct._differing
    del frame, names
    gc.collect()
    assert key not in distinct._differing


def test_values_of_rows_follow_codes_and_missing_ones_are_said():
    codes = np.array([1, -1, 0, 1])
    words = by_code(["a", "b"], codes, missing=None, dtype=object)
    assert words.tolist() == ["b", None, "a", "b"]
    assert by_code([], np.array([-1, -1]), missing=False).tolist() == [False, False]
