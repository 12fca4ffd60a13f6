"""Group metrics against fairlearn, scikit-learn and direct formulas."""

import fairlearn.metrics as fl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.metrics import demographic_parity_difference, equalized_odds_difference
from fairdash.metrics.group.rates import ratio


@pytest.mark.parametrize("fixture", ["rows", "rows_of_three_groups"])
def test_gaps_equal_fairlearn(fixture, request):
    rows = request.getfixturevalue(fixture)
    y = rows.y
    y_pred = rows.y_pred[0]
    group = {"sensitive_features": rows.group}
    assert np.allclose(
        [
            demographic_parity_difference(y_pred, **group),
            equalized_odds_difference(y, y_pred, **group),
        ],
        [
            fl.demographic_parity_difference(y, y_pred, **group),
            fl.equalized_odds_difference(y, y_pred, **group),
        ],
    )


labels = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from("abc")), min_size=2, max_size=40
).filter(lambda rows: len({group for _, group in rows}) > 1)


@given(labels)
def test_the_difference_lies_in_0_to_1_and_ignores_names_of_groups(rows):
    y_pred, group = map(np.array, zip(*rows, strict=True))
    gap = demographic_parity_difference(y_pred, sensitive_features=group)
    assert 0 <= gap <= 1
    renamed = np.char.add("x", group)
    turned = demographic_parity_difference(1 - y_pred, sensitive_features=renamed)
    assert turned == pytest.approx(gap)


def test_what_is_undefined_is_nan():
    group = {"sensitive_features": ["a", "a", "b", "b"]}
    assert np.isnan(ratio(np.zeros(2)))
    assert np.isnan(equalized_odds_difference([1, 1, 0, 1], [1, 0, 0, 1], **group))


@pytest.mark.parametrize(
    "y_pred, message",
    [
        ([0, 1, 2, 1], "1 entries differ, the first is .*2.* in row 2"),
        ([0.2, 1, 0.4, 1], "2 entries differ"),
        ([0, 1, np.nan, 1], "`y_pred` is missing in 1 rows, the first is row 2"),
        ([[0, 1, 0, 1]], "`y_pred` must be one vector"),
        ([], "got shape \\(0,\\)"),
        ([0, 1, 1], "inconsistent numbers of samples"),
    ],
)
def test_bad_predictions_are_refused_with_their_place(y_pred, message):
    with pytest.raises(ValueError, match=message):
        demographic_parity_difference(y_pred, sensitive_features=["a", "a", "b", "b"])


def test_one_group_or_a_missing_group_is_refused():
    with pytest.raises(ValueError, match="at least two groups"):
        demographic_parity_difference([0, 1], sensitive_features=["a", "a"])
    with pytest.raises(ValueError, match="missing values in 1 rows, first row 1"):
        demographic_parity_difference([0, 1], sensitive_features=["a", None])


@pytest.mark.parametrize("cell", [["a"], {"a": 1}])
def test_cells_that_hold_lists_or_records_are_no_groups(cell):
    groups = pd.Series([cell, "b"])
    with pytest.raises(ValueError, match="one value a row") as caught:
        demographic_parity_difference([0, 1], sensitive_features=groups)
    assert type(caught.value) is ValueError
