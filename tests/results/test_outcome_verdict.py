"""The sentence above a run says no more than its paired intervals do."""

import math
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.results.outcomes import Outcome

SHARES = st.integers(-400, 400).map(lambda n: n / 1000)
CHANGES = st.tuples(SHARES, SHARES, SHARES).map(sorted)
GAP = "demographic_parity_difference"


def found(row, changes):
    row = {"label": "ROAD λ 2", "n": 400.0, "n_seeds": 1, **row}
    return Outcome((), "ROAD", pd.DataFrame([row]), row, changes, 0.1, "")


@given(CHANGES, CHANGES)
def test_only_a_change_whose_interval_excludes_0_is_called_one(gap, accuracy):
    rows = [
        {"metric": metric, "low": low, "difference": middle, "high": high}
        for metric, (low, middle, high) in {GAP: gap, "accuracy": accuracy}.items()
    ]
    said = found({"constant": 0.0}, pd.DataFrame(rows)).verdict()
    words = {"narrows": gap[2] < 0, "widens": gap[0] > 0}
    words |= {"loses": accuracy[2] < 0, "gains": accuracy[0] > 0}
    for word, holds in words.items():
        assert (word in said) == holds
    first = said.split(" and ")[0]
    if words["narrows"] or words["widens"]:
        size, low, high = map(float, re.findall(r"[\d.]+", first)[1:])
        ends = sorted(abs(100 * end) for end in (gap[0], gap[2]))
        assert [low, high] == [pytest.approx(end, abs=0.051) for end in ends]
        assert size == pytest.approx(abs(100 * gap[1]), abs=0.051)
    assert said.endswith("400 test rows.")


def test_a_model_alone_tells_its_gap_and_a_constant_one_none():
    row = {"constant": 0.0, GAP: 0.161, f"{GAP}_low": 0.118, f"{GAP}_high": 0.204}
    assert "16.1 points apart (11.8–20.4; 400 test rows)" in found(row, None).verdict()
    said = found(row | {"constant": 1.0}, None).verdict()
    assert "decides alike for everyone" in said
    assert not re.search(r"points", said)


def test_a_gap_that_is_not_estimable_is_said_to_be_so():
    rows = pd.DataFrame(
        [
            {"metric": m, "low": math.nan, "difference": math.nan, "high": math.nan}
            for m in (GAP, "accuracy")
        ]
    )
    assert "no estimate of the gap" in found({"constant": 0.0}, rows).verdict()
