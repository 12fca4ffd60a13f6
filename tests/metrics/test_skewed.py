"""Intervals of means of skewed numbers, against Hall's formula and by repetition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import skew
from scipy.stats import t as student

from fairdash._counts import RowCounts
from fairdash.audits.tables import audit_outcomes
from fairdash.metrics import intervals, measure_by_group, measure_gaps

GROUP = np.repeat(["a", "b"], 60)


def of(values, **how):
    how = {"sensitive_features": GROUP, **how}
    return measure_by_group("mean_prediction", None, values, **how)


def by_hand(values, other):
    """Return Hall's interval of the mean of some values beside another group's."""
    n = len(values)
    residual = np.concatenate([part - part.mean() for part in (values, other)])
    by_all = skew(residual, bias=False) / np.sqrt(n)
    by_own = skew(values, bias=False) / np.sqrt(n)
    size = max(by_all, by_own, key=abs)
    error = values.std(ddof=1) / np.sqrt(n)
    reach = [
        3 / size * (np.cbrt(1 + size * (z - size / 6)) - 1)
        for z in student.ppf([0.975, 0.025], n - 1)
    ]
    return [values.mean() - end * error for end in reach]


@given(st.floats(-4, 4), st.floats(-0.9, 0.9))
def test_the_quantile_is_the_inverse_of_halls_transformation(z, size):
    t = float(intervals.untwisted(np.array(z), np.array(size)))
    back = t + size * t**2 / 3 + size**2 * t**3 / 27 + size / 6
    assert back == pytest.approx(z, abs=1e-5)


def test_intervals_of_skewed_numbers_are_halls():
    values = np.random.default_rng(0).lognormal(0, 0.8, 120)
    table = of(values)
    sides = values[:60], values[60:]
    for row, side, other_side in zip(
        table.itertuples(), sides, sides[::-1], strict=True
    ):
        assert [row.ci_low, row.ci_high] == pytest.approx(by_hand(side, other_side))
        assert row.ci_high - row.value > 1.2 * (row.value - row.ci_low)


def test_intervals_of_symmetric_numbers_are_students():
    values = np.tile(np.arange(60.0), 2)
    row = of(values).iloc[0]
    half = student.ppf(0.975, 59) * values[:60].std(ddof=1) / np.sqrt(60)
    assert row["ci_high"] - row["value"] == pytest.approx(half, rel=1e-6)
    assert row["value"] - row["ci_low"] == pytest.approx(half, rel=1e-6)


def test_rows_that_repeat_are_counts_or_units():
    rng = np.random.default_rng(1)
    values = rng.exponential(size=120).round(2)
    times = rng.integers(1, 4, 120)
    index = np.repeat(np.arange(120), times)
    again = of(values[index], sensitive_features=GROUP[index])
    counted = of(values, sample_weight=RowCounts.of("n", times))
    for name in ("ci_low", "ci_high"):
        assert counted[name].tolist() == pytest.approx(again[name].tolist())
    whose = np.repeat(np.arange(120), 3)
    shared = of(values[whose], sensitive_features=GROUP[whose], cluster=whose)
    alone = of(values)
    assert shared["ci_low"].tolist() == pytest.approx(alone["ci_low"].tolist(), 0.01)


def test_of_few_claims_there_is_no_interval_and_no_clear_gap():
    """Four rows of a small group have a claim: its mean could be almost anything."""
    rng = np.random.default_rng(2)
    group = np.repeat(["few", "many"], [60, 1940])
    claims = (rng.random(2000) < 0.05) * rng.lognormal(0, 1, 2000)
    claims[group == "few"] = 0.0
    table = of(claims, sensitive_features=group)
    assert np.isnan(table.loc[table["group"] == "few", "ci_low"]).all()
    gaps = measure_gaps("mean_prediction", None, claims, sensitive_features=group)
    assert gaps["too_few"].all()
    report = audit_outcomes(None, claims, kind="numbers", sensitive_features=group)
    assert not report.findings[0][1].sure
    assert report.findings[0][1].reason == "too few rows to say"
    assert "nan" not in str(report).lower()


def test_the_top_is_as_large_as_it_says_where_scores_tie():
    scores = np.repeat([3.0, 2.0, 1.0], [5, 30, 65])
    group = np.tile(["a", "b"], 50)
    shares = measure_by_group("top_share", None, scores, sensitive_features=group)
    assert shares["value"].mean() == pytest.approx(0.1)
    report = audit_outcomes(None, scores, kind="ranking", sensitive_features=group)
    rows = report.by_group.query("outcome == 'top 10%'")
    assert rows["value"].tolist() == pytest.approx(shares["value"].tolist())
    assert (rows["ci_low"] < rows["value"]).all()
