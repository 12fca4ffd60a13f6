"""Measures of drawn decisions."""

import numpy as np
import pandas as pd
import pytest
from cases import sampled

from fairdash.metrics import catalog, expected_measure, measure_by_group


def drawn_rows(n=500, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n)
    y = rng.integers(0, 2, n)
    return y, rng.random(n), group, rng.uniform(0.2, 3, n), rng


@pytest.mark.parametrize("measure", [*catalog.RATES, "error_cost 3:1"])
@pytest.mark.parametrize("weighted", [False, True])
def test_decisions_that_are_sure_are_measured_as_decisions(measure, weighted):
    y, h, group, weight, _ = drawn_rows()
    arguments = {
        "sensitive_features": group,
        "sample_weight": weight if weighted else None,
    }
    decided = (h > 0.6).astype(int)
    pd.testing.assert_frame_equal(
        expected_measure(measure, y, decided, **arguments),
        measure_by_group(measure, y, decided, **arguments),
    )


@pytest.mark.parametrize(
    "measure, rows",
    sampled([("selection_rate", 1), ("precision", 4), ("error_cost 3:1", 4)], 2),
)
def test_a_measure_of_drawn_decisions_is_the_mean_over_draws(measure, rows):
    y, h, group, weight, rng = drawn_rows()
    arguments = {"sensitive_features": group, "sample_weight": weight}
    arguments["cluster"] = np.arange(500) // rows
    measured = expected_measure(measure, y, h, **arguments)
    draws = [
        measure_by_group(measure, y, (rng.random(len(h)) < h).astype(int), **arguments)
        for _ in range(400)
    ]
    for column, near in (("value", 0.02), ("n", 0.02), ("ci_low", 0.03)):
        mean = np.mean([draw[column] for draw in draws], axis=0)
        np.testing.assert_allclose(measured[column], mean, rtol=near)


@pytest.mark.parametrize("measure", ["true_positive_rate", "precision"])
def test_intervals_with_expected_counts_hold_the_rate(measure):
    rng = np.random.default_rng(1)
    inside = []
    truth = 2 / 3  # of both: E[h²] / E[h]
    for _ in range(300):
        h = rng.random(160)
        y = (rng.random(160) < h).astype(int)
        measured = expected_measure(measure, y, h, sensitive_features=[0, 1] * 80)
        inside += [*((measured["ci_low"] <= truth) & (truth <= measured["ci_high"]))]
    assert np.mean(inside) > 0.97  # wider than 95% needs, as its docstring says
    with pytest.raises(ValueError, match="`measure` must be one of"):
        expected_measure("auc", y, h, sensitive_features=[0, 1] * 80)
