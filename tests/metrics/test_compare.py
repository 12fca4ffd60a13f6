"""Paired changes against a bootstrap of real rows, and against `gap_change`."""

import numpy as np
import pandas as pd
import pytest

from fairdash.metrics import compare, evaluate, gap_change


def literal_bootstrap(rows, metrics, n_resamples, seed):
    """Return differences of ``metrics`` after drawing rows with replacement."""
    rng = np.random.default_rng(seed)
    differences = []
    for _ in range(n_resamples):
        pick = rng.integers(0, len(rows.y), len(rows.y))
        both = evaluate(
            rows.y[pick],
            rows.y_pred[:2, pick],
            sensitive_features=rows.group[pick],
            subgroups=rows.subgroup.iloc[pick],
            min_size=60,
        )[metrics]
        differences.append(both.loc[0] - both.loc[1])
    return pd.DataFrame(differences)


def test_the_interval_equals_that_of_resampled_rows(rows_of_three_groups):
    rows = rows_of_three_groups
    table = compare(
        rows.y, *rows.y_pred[:2], **rows.where, min_size=60, n_resamples=4000
    ).set_index("metric")
    literal = literal_bootstrap(rows, ["accuracy", "worst_1_di"], 250, seed=1)
    for metric, drawn in literal.items():
        ends = table.loc[metric, ["low", "high"]].tolist()
        drawn_ends = drawn.quantile([0.025, 0.975]).tolist()
        assert ends == pytest.approx(drawn_ends, abs=0.25 * drawn.std()), metric
    gap = table.loc["demographic_parity_difference", ["difference", "low", "high"]]
    after, before = rows.y_pred[:2]
    change = gap_change(before, after, sensitive_features=rows.group)
    assert gap.tolist() == pytest.approx([*map(float, change)])


def test_models_that_are_equally_unfair_are_hardly_ever_told_apart():
    rng = np.random.default_rng(0)
    claims = []
    for _ in range(60):
        group, subgroup = rng.integers(0, 2, 1200), rng.integers(0, 8, 1200)
        rate = 0.4 + 0.2 * (subgroup == 0) * (group - 0.5)
        first, second, y = rng.random((3, 1200)) < [rate, rate, np.full(1200, 0.4)]
        table = compare(
            y.astype(int), first.astype(int), second.astype(int),
            sensitive_features=group, subgroups=subgroup, n_resamples=200,
        )  # fmt: skip
        claims.append((table["low"] > 0) | (table["high"] < 0))
    assert (np.mean(claims, axis=0) <= 0.1).all()
    assert np.mean(claims, axis=0)[2] <= 0.02


def test_weighted_changes_are_of_rows_repeated_and_their_spread_of_weighted_rows(rows):
    weight = np.random.default_rng(3).integers(1, 5, len(rows.y))
    again = np.repeat(np.arange(len(rows.y)), weight)
    two = rows.y_pred[:2]
    asked = {**rows.where, "min_size": 1}
    found = compare(rows.y, *two, **asked, sample_weight=weight)
    repeated = compare(
        rows.y[again],
        *two[:, again],
        sensitive_features=rows.group[again],
        subgroups=rows.subgroup.iloc[again],
        min_size=1,
    )
    for name in ("value", "reference", "difference"):
        np.testing.assert_allclose(found[name], repeated[name])
    # weighted rows are no more rows: wider than the interval of rows repeated
    width, narrow = (table["high"] - table["low"] for table in (found, repeated))
    assert (width > 1.2 * narrow).all()
    tenfold = compare(rows.y, *two, **asked, sample_weight=10 * weight)
    np.testing.assert_allclose(tenfold["low"], found["low"])
    ones = np.ones(len(rows.y))
    plain = compare(rows.y, *two, **rows.where, n_resamples=4000)
    same = compare(rows.y, *two, **rows.where, n_resamples=4000, sample_weight=ones)
    np.testing.assert_allclose(same["low"], plain["low"], atol=0.01)
    np.testing.assert_allclose(same["high"], plain["high"], atol=0.01)
