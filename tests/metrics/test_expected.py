"""Measures of drawn decisions; violations, against hand calculation."""

import numpy as np
import pandas as pd
import pytest

from fairdash.metrics import (
    RATES,
    expected_measure,
    expected_violations,
    local_measure,
    measure_by_group,
)

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


def drawn_rows(n=500, seed=0):
    rng = np.random.default_rng(seed)
    group, y = rng.choice(["a", "b", "c"], n), rng.integers(0, 2, n)
    return y, rng.random(n), group, rng.uniform(0.2, 3, n), rng


@pytest.mark.parametrize("measure", [*RATES, "error_cost 3:1"])
@pytest.mark.parametrize("weighted", [False, True])
def test_decisions_that_are_sure_are_measured_as_decisions(measure, weighted):
    y, h, group, weight, _ = drawn_rows()
    asked = {"sensitive_features": group, "sample_weight": weight if weighted else None}
    decided = (h > 0.6).astype(int)
    found = expected_measure(measure, y, decided, **asked)
    pd.testing.assert_frame_equal(
        found.by_group, measure_by_group(measure, y, decided, **asked)
    )
    local = local_measure(
        measure, y, decided, subgroups=np.full(len(y), "all"), **asked
    ).iloc[0]
    for apart, names in (
        (found.difference, ["gap", "ci_low", "ci_high"]),
        (found.ratio, ["ratio", "ratio_low", "ratio_high"]),
    ):
        np.testing.assert_allclose(local[names].to_numpy(float), apart)


@pytest.mark.parametrize("measure", ["selection_rate", "precision", "error_cost 3:1"])
def test_a_measure_of_drawn_decisions_is_the_mean_over_draws(measure):
    y, h, group, weight, rng = drawn_rows()
    asked = {"sensitive_features": group, "sample_weight": weight}
    found = expected_measure(measure, y, h, **asked).by_group
    draws = [
        measure_by_group(measure, y, (rng.random(len(h)) < h).astype(int), **asked)
        for _ in range(400)
    ]
    for column, near in (("value", 0.02), ("n", 0.02), ("ci_low", 0.03)):
        mean = np.mean([one[column] for one in draws], axis=0)
        np.testing.assert_allclose(found[column], mean, rtol=near)


@pytest.mark.parametrize("measure", ["true_positive_rate", "precision"])
def test_intervals_with_expected_counts_hold_the_rate(measure):
    rng, inside = np.random.default_rng(1), []
    truth = 2 / 3  # of both: E[h²] / E[h]
    for _ in range(300):
        h = rng.random(160)
        y = (rng.random(160) < h).astype(int)
        found = expected_measure(measure, y, h, sensitive_features=[0, 1] * 80).by_group
        inside += [*((found["ci_low"] <= truth) & (truth <= found["ci_high"]))]
    assert np.mean(inside) > 0.97  # wider than 95% needs, as its docstring says
    with pytest.raises(ValueError, match="`measure` must be one of"):
        expected_measure("auc", y, h, sensitive_features=[0, 1] * 80)


def test_outcomes_of_violations_are_0_and_1_or_signs():
    asked = {"sensitive_features": S}
    signed = expected_violations(2 * np.array(Y) - 1, P, **asked)
    pd.testing.assert_frame_equal(signed, expected_violations(Y, P, **asked))
    with pytest.raises(ValueError, match="`y_true` must hold 0 and 1 only"):
        expected_violations([1, 2, 1, 2, 1, 2], P, **asked)
    with pytest.raises(ValueError, match="`scores` must be probabilities"):
        expected_violations(Y, [*P[:5], 7.0], **asked)
