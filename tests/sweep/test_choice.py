import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.sweep import mean_over_seeds, param_columns, select

LIMITS = {"demographic_parity_difference": 0.4, "worst_1_di": 0.5}
coarse = st.integers(0, 6).map(lambda value: value / 8)
COLUMNS = [
    "validation_accuracy",
    "validation_demographic_parity_difference",
    "validation_worst_1_di",
    "test_accuracy",
]


@given(st.lists(st.tuples(coarse, coarse, coarse, coarse), max_size=12))
def test_the_choice_is_the_most_accurate_that_keeps_limits_on_validation_rows(points):
    rows = pd.DataFrame(points, columns=COLUMNS, dtype=float)
    allowed = [p for p in points if p[1] <= 0.4 and p[2] <= 0.5]
    chosen = select(rows, limits=LIMITS)
    if not allowed:
        assert chosen is None
    else:
        assert chosen["validation_accuracy"] == max(p[0] for p in allowed)
        assert tuple(chosen) in allowed


def test_test_rows_have_no_part_in_the_choice():
    rows = pd.DataFrame(
        {"validation_accuracy": [0.6, 0.7], "test_accuracy": [0.9, 0.5]}
    )
    assert select(rows)["test_accuracy"] == 0.5
    rows["test_accuracy"] = [0.5, 0.9]
    assert select(rows).name == 1


def test_an_undefined_gap_keeps_no_limit_and_a_loss_is_best_small():
    rows = pd.DataFrame(
        {
            "validation_accuracy": [0.9, 0.6],
            "validation_worst_1_di": [np.nan, 0.1],
            "validation_log_loss": [0.7, 0.3],
        }
    )
    assert select(rows, limits={"worst_1_di": 0.5}).name == 1
    assert select(rows, best="log_loss").name == 1
    with pytest.raises(ValueError, match="validation_beauty"):
        select(rows, best="beauty")


def test_settings_are_averaged_over_seeds_and_methods_kept_apart():
    rows = pd.DataFrame(
        {
            "key": list("abcd"),
            "method": ["road", "road", "broad", "road"],
            "seed": [0, 1, 0, 0],
            "tau": [0.1, 0.1, 0.1, np.nan],
            "seconds": 1.0,
            "test_accuracy": [0.6, 0.8, 0.5, 0.9],
        }
    )
    assert param_columns(rows) == ["tau"]
    means = mean_over_seeds(rows)
    assert means["method"].tolist() == ["road", "broad", "road"]
    assert means["test_accuracy"].tolist() == pytest.approx([0.7, 0.5, 0.9])
    assert means["n_seeds"].tolist() == [2, 1, 1]
    assert means["test_accuracy_sd"].iloc[0] == pytest.approx(
        np.std([0.6, 0.8], ddof=1)
    )
