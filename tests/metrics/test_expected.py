"""Violations of probabilities and of decisions, against hand calculation."""

import numpy as np
import pytest

from fairdash.metrics import expected_violations

Y = [1, 1, 0, 0, 1, 0]
P = [0.9, 0.6, 0.4, 0.2, 0.4, 0.7]
S = ["a", "a", "a", "b", "b", "b"]


def test_violations_are_those_of_hand_calculation():
    table = expected_violations(Y, P, sensitive_features=S).set_index("constraint")
    parity, odds = table.loc["demographic_parity"], table.loc["equalized_odds"]
    assert parity["expected"] == pytest.approx(1.9 / 3 - 1.3 / 3)
    assert parity["rounded"] == pytest.approx(2 / 3 - 1 / 3)
    assert odds["expected"] == pytest.approx((0.75 - 0.4) + (0.45 - 0.4))
    assert odds["rounded"] == pytest.approx((1 - 0) + (0.5 - 0))
    only = table.loc["true_positive_rate_parity"]
    assert only["expected"] == pytest.approx(0.35)


def test_a_group_without_the_outcome_is_undefined():
    table = expected_violations(
        [1, 1, 0], [0.5, 0.4, 0.3], sensitive_features=[0, 1, 0]
    )
    assert table["expected"].isna().tolist() == [False, True, False]
    assert np.isfinite(table.loc[0, "rounded"])
