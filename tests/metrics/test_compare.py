"""Paired changes against a bootstrap of real rows, and against `gap_change`."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

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
    table = compare(rows.y, *rows.y_pred[:2], **rows.where, min_size=60)
    table = table.set_index("metric")
    drawn = literal_bootstrap(rows, ["accuracy"], 250, seed=1)["accuracy"]
    ends = table.loc["accuracy", ["low", "high"]].tolist()
    drawn_ends = drawn.quantile([0.025, 0.975]).tolist()
    assert ends == pytest.approx(drawn_ends, abs=0.25 * drawn.std())
    gap = table.loc["demographic_parity_difference", ["difference", "low", "high"]]
    after, before = rows.y_pred[:2]
    change = gap_change(before, after, sensitive_features=rows.group)
    assert gap.tolist() == pytest.approx([*map(float, change)])


def test_the_change_of_the_largest_local_gap_is_of_all_pairs_of_subgroups_at_once():
    """By hand: least and most of every gap before less every gap after."""
    rng = np.random.default_rng(6)
    group, part = rng.integers(0, 2, 900), rng.integers(0, 3, 900)
    old, new = (rng.random((2, 900)) < 0.4 + 0.2 * group * (part == 1)).astype(int)
    after = compare(
        rng.integers(0, 2, 900), new, old, sensitive_features=group, subgroups=part
    ).iloc[2]
    gaps, narrowed, half = [], np.empty((6, 6)), np.empty((6, 6))
    signed = [(p, s) for p in range(3) for s in (1, -1)]
    z = norm.ppf(1 - 0.05 / 3 / 2)
    for (i, (p, s)), (j, (q, t)) in product(enumerate(signed), repeat=2):
        variance, value = 0.0, 0.0
        for g in (0, 1):
            one, two = ((part == k) & (group == g) for k in (p, q))
            a, b = s * old[one], t * new[two]
            value += (1 - 2 * g) * (a.mean() - b.mean())
            if p == q:
                variance += np.var(a - b, ddof=1) / len(a)
                variance += (s + t) ** 2 / (2 * len(a) ** 2)
            else:
                variance += a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)
                variance += 1 / (2 * len(a) ** 2) + 1 / (2 * len(b) ** 2)
        narrowed[i, j], half[i, j] = value, z * np.sqrt(variance)
    for decided in (old, new):
        rates = pd.crosstab(part, group, decided, aggfunc="mean")
        gaps.append((rates[1] - rates[0]).abs().max())
    limit = np.diagonal(abs(narrowed) + half).max()
    low = max(-(narrowed + half).min(axis=1).max(), -limit)
    high = min(-(narrowed - half).min(axis=1).max(), limit)
    found = after[["difference", "low", "high"]].astype(float)
    assert found.tolist() == pytest.approx([gaps[1] - gaps[0], low, high])


def test_a_gap_that_is_removed_is_not_said_to_shrink_by_its_luck():
    """A percentile interval held the true change in .3 of such tables."""
    rng, held = np.random.default_rng(1), 0
    for _ in range(60):
        group, part = rng.integers(0, 2, 480), np.repeat(np.arange(8), 60)
        gap = 0.3 * (part == 0) * (group - 0.5)
        old, new = rng.random((2, 480)) < [0.5 + gap, np.full(480, 0.5)]
        row = compare(
            rng.integers(0, 2, 480), new * 1, old * 1,
            sensitive_features=group, subgroups=part,
        ).iloc[2]  # fmt: skip
        held += row["low"] <= -0.3 <= row["high"]
    assert held >= 54


def test_models_that_are_equally_unfair_are_hardly_ever_told_apart():
    rng = np.random.default_rng(0)
    claims = []
    for _ in range(60):
        group, subgroup = rng.integers(0, 2, 1200), rng.integers(0, 8, 1200)
        rate = 0.4 + 0.2 * (subgroup == 0) * (group - 0.5)
        first, second, y = rng.random((3, 1200)) < [rate, rate, np.full(1200, 0.4)]
        table = compare(
            y.astype(int), first.astype(int), second.astype(int),
            sensitive_features=group, subgroups=subgroup,
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
    plain = compare(rows.y, *two, **rows.where)
    same = compare(rows.y, *two, **rows.where, sample_weight=ones)
    np.testing.assert_allclose(same["low"], plain["low"], atol=0.01)
    np.testing.assert_allclose(same["high"], plain["high"], atol=0.01)
