"""Flips of columns, and how consistent predictions are over them."""

import numpy as np
import pandas as pd
import pytest

from fairdash.metrics import flip_columns, prediction_consistency


def test_consistency_counts_rows_that_never_change():
    y_pred = np.array([[1, 0, 1, 1], [1, 1, 1, 0], [1, 0, 1, 1]])
    assert prediction_consistency(y_pred) == 0.5
    assert np.isnan(prediction_consistency(np.empty((2, 0))))


def test_flips_are_all_combinations_of_the_values_seen():
    frame = pd.DataFrame({"sex": ["F", "M"], "race": ["W", "B"], "age": [30, 40]})
    variants = flip_columns(frame, ["sex", "race"], features=["sex", "race", "age"])
    assert len(variants) == 4
    assert {(v["sex"][0], v["race"][0]) for v in variants} == {
        (s, r) for s in "FM" for r in "WB"
    }
    assert all(v["age"].tolist() == [30, 40] for v in variants)
    some = flip_columns(frame, {"sex": ["F"]}, features=["sex"])
    assert [v["sex"].tolist() for v in some] == [["F", "F"]]


@pytest.mark.parametrize(
    "columns, message",
    [
        (["origin"], "'origin' cannot be flipped: it is not a feature"),
        ([], "at least one column"),
        ({"sex": ["X"]}, "has no value 'X'"),
        (["income"], "60 values; a column to flip may have 50"),
    ],
)
def test_a_flip_that_cannot_be_made_says_why(columns, message):
    frame = pd.DataFrame({"sex": ["F", "M"] * 30, "income": np.arange(60)})
    with pytest.raises(ValueError, match=message):
        flip_columns(frame, columns, features=["sex", "income"])


def test_a_value_may_be_set_that_only_the_whole_table_has():
    table = pd.DataFrame({"job": ["a", "b", "c"]})
    part = table.iloc[:2]
    with pytest.raises(ValueError, match="'job' has no value 'c'"):
        flip_columns(part, {"job": ["c"]}, features=["job"])
    (changed,) = flip_columns(part, {"job": ["c"]}, features=["job"], known=table)
    assert changed["job"].tolist() == ["c", "c"]
