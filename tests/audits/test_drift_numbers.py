"""Gaps and shifts between tables against recomputation from their definitions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom, ks_2samp

from fairdash.audits import gap_changes
from fairdash.audits.drifts.gaps import GapCells, gap_drivers
from fairdash.audits.drifts.points import table_points
from fairdash.audits.drifts.shifts import column_shifts, unseen_rows
from fairdash.audits.drifts.tables import DriftTable
from fairdash.metrics import newcombe_interval

SUBGROUPS = ("young", "middle", "old")
ENDS = ["ci_low", "ci_high"]


def table(rng, n, name="t", known=True, none=0.1):
    groups = pd.Categorical(rng.choice(["a", "b"], n), categories=["a", "b"])
    codes = rng.choice(3, n)
    codes[rng.random(n) < none] = -1
    subgroups = pd.Categorical.from_codes(codes, list(SUBGROUPS), ordered=True)
    y = rng.integers(0, 2, n).astype(np.int8) if known else None
    return DriftTable(name, pd.DataFrame(index=range(n)), y, groups, subgroups)


def cells(rng, n, name="t"):
    one = table(rng, n, name)
    decided = (rng.random(n) < 0.3 + 0.3 * (one.groups == "b")).astype(np.int8)
    return one, decided, GapCells.of(one, decided, "selection_rate")


def rate(one, decided, group, subgroup=None):
    rows = np.asarray(one.groups == group)
    if subgroup is not None:
        rows &= np.asarray(one.subgroups == subgroup)
    return decided[rows].mean(), int(decided[rows].sum()), int(rows.sum())


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(150, 900), st.integers(150, 900))
def test_changes_are_differences_of_gaps_with_square_and_add_intervals(seed, n, m):
    rng = np.random.default_rng(seed)
    old, d0, before = cells(rng, n, "old")
    new, d1, after = cells(rng, m, "new")
    found = gap_changes(before, after, (0, 1), min_size=60)
    sizes = [
        min(
            rate(t, d, "a", g)[2] + rate(t, d, "b", g)[2]
            for t, d in ((old, d0), (new, d1))
        )
        for g in SUBGROUPS
    ]
    assert found["estimable"].tolist() == [size >= 60 for size in sizes]
    level = 1 - 0.05 / max(sum(size >= 60 for size in sizes), 1)
    for row in found[found["estimable"]].to_dict("records"):
        gaps, lows, highs = [], [], []
        for t, d in ((old, d0), (new, d1)):
            (p, k, size), (q, j, other) = (
                rate(t, d, g, row["subgroup"]) for g in ("b", "a")
            )
            low, high = newcombe_interval(k, size, j, other, confidence=level)
            gaps.append(p - q)
            lows.append(float(low))
            highs.append(float(high))
        change = gaps[1] - gaps[0]
        assert row["change"] == pytest.approx(change)
        down = np.hypot(gaps[1] - lows[1], highs[0] - gaps[0])
        up = np.hypot(highs[1] - gaps[1], gaps[0] - lows[0])
        assert row["ci_low"] == pytest.approx(change - down)
        assert row["ci_high"] == pytest.approx(change + up)
    unknown = found[~found["estimable"]]
    assert unknown["change"].isna().all()
    assert (unknown["reason"] != "").all()


def test_changes_turn_their_sign_with_the_tables_and_with_the_groups():
    rng = np.random.default_rng(3)
    before, after = cells(rng, 700)[2], cells(rng, 900)[2]
    there = gap_changes(before, after, (0, 1))
    for turned in (
        gap_changes(after, before, (0, 1)),
        gap_changes(before, after, (1, 0)),
    ):
        np.testing.assert_allclose(there["change"], -turned["change"])
        np.testing.assert_allclose(there["ci_low"], -turned["ci_high"])


def test_the_interval_of_a_change_covers_it_in_about_95_of_100_cases():
    """By 1,500 draws, whose share has a standard error of .006."""
    rng = np.random.default_rng(0)
    p = np.array([[0.3, 0.4], [0.25, 0.6]])
    n = np.array([[40, 60], [80, 50]], float)
    covered = 0
    for _ in range(1_500):
        k = binom.rvs(n.astype(int), p, random_state=rng)
        one, two = (
            GapCells("t", ("g",), ("a", "b"), np.vstack([n[i], [0, 0]]), rows)
            for i, rows in enumerate(np.stack([k, 0 * k], axis=1).astype(float))
        )
        row = gap_changes(one, two, (0, 1), min_size=1).iloc[0]
        covered += row["ci_low"] <= 0.25 <= row["ci_high"]
    assert 0.93 <= covered / 1_500 <= 0.972


def test_of_two_rates_the_one_apart_more_claims_no_change_too_often():
    """By 1,500 draws; without both counted it were nine of 100."""
    rng = np.random.default_rng(1)
    n, none, claimed = np.array([300, 300]), np.zeros(2), 0
    for _ in range(1_500):
        rates = [
            [
                GapCells("t", ("g",), ("a", "b"), np.stack([n, none]), k)
                for k in (np.stack([rng.binomial(n, 0.5), none]) for _ in range(2))
            ]
            for _ in range(2)
        ]
        before, after = max(rates, key=lambda tables: np.ptp(tables[1].by_group))
        asked = {"min_size": 1, "n_rates": 2}
        row = gap_changes(before, after, before.pair(), **asked).iloc[0]
        claimed += row["ci_low"] > 0 or row["ci_high"] < 0
    assert claimed / 1_500 <= 0.065


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_contributions_sum_to_the_change_of_the_gap_over_all_rows(seed):
    rng = np.random.default_rng(seed)
    old, d0, before = cells(rng, int(rng.integers(30, 400)))
    new, d1, after = cells(rng, int(rng.integers(30, 400)))
    found = gap_drivers(before, after, (0, 1))
    gaps = [rate(t, d, "b")[0] - rate(t, d, "a")[0] for t, d in ((old, d0), (new, d1))]
    assert found["contribution"].sum() == pytest.approx(gaps[1] - gaps[0])
    np.testing.assert_allclose(
        found["contribution"], found["rates"] + found["composition"]
    )
    sizes = found["contribution"].abs()
    assert sizes.is_monotonic_decreasing
    assert found["share_before"].sum() == pytest.approx(1)


def by_hand(rows):
    """A table from (subgroup, group, rows, positives)."""
    n, k = np.zeros((4, 2)), np.zeros((4, 2))
    for subgroup, group, size, positive in rows:
        n[subgroup, group], k[subgroup, group] = size, positive
    return GapCells("t", SUBGROUPS, ("a", "b"), n, k)


def test_rates_and_composition_are_told_apart():
    same = [(0, 0, 100, 50), (1, 0, 100, 20), (0, 1, 100, 50), (1, 1, 100, 20)]
    before = by_hand(same)
    lower = by_hand([(0, 0, 100, 30), *same[1:]])
    found = gap_drivers(before, lower, (0, 1)).set_index("subgroup")
    assert found.loc["young", "contribution"] == pytest.approx(0.5 * 0.2)
    assert found.loc["middle", "contribution"] == pytest.approx(0)
    moved = by_hand([(0, 0, 50, 25), (1, 0, 150, 30), *same[2:]])
    found = gap_drivers(before, moved, (0, 1)).set_index("subgroup")
    np.testing.assert_allclose(found["rates"], 0, atol=1e-12)
    # 25 points of a go from rate .5 to .2: the gap grows by .25 * .3
    assert found["composition"].sum() == pytest.approx(0.075)
    gone = by_hand([(1, 0, 200, 40), *same[2:]])
    found = gap_drivers(before, gone, (0, 1))
    assert found["contribution"].sum() == pytest.approx(0.35 - 0.2)


def test_the_interval_of_a_contribution_is_that_of_the_change_when_it_is_all():
    before = by_hand([(0, 0, 400, 200), (0, 1, 300, 180)])
    after = by_hand([(0, 0, 500, 150), (0, 1, 200, 140)])
    row = gap_drivers(before, after, (0, 1)).iloc[0]
    variance = sum(
        p * (1 - p) / n for p, n in ((0.5, 400), (0.6, 300), (0.3, 500), (0.7, 200))
    )
    half = (row["ci_high"] - row["ci_low"]) / 2
    assert half == pytest.approx(1.96 * np.sqrt(variance), rel=0.08)


def test_intervals_of_contributions_hold_at_once():
    rows = [(0, 0, 400, 200), (0, 1, 300, 180), (1, 0, 90, 30), (1, 1, 80, 50)]
    tables = by_hand(rows), by_hand([(*row[:3], row[3] // 2) for row in rows])
    halves = []
    for confidence in (0.95, 0.5):
        found = gap_drivers(*tables, (0, 1), confidence=confidence)
        halves.append(found["ci_high"] - found["contribution"])
    # of two subgroups, so each at half the risk
    wanted = ndtri(1 - 0.05 / 4) / ndtri(1 - 0.5 / 4)
    np.testing.assert_allclose(halves[0] / halves[1], wanted)


@pytest.mark.parametrize("known", [True, False])
def test_points_have_odds_with_interval_and_nothing_that_needs_a_missing_outcome(known):
    rng = np.random.default_rng(5)
    one = table(rng, 800, known=known)
    scores = rng.random((2, 800))
    found = table_points(one, scores)
    decided = scores > 0.5
    np.testing.assert_allclose(found["selection_rate"], decided.mean(axis=1))
    assert found["status"].tolist() == (
        ["not told from chance"] * 2 if known else ["", ""]
    )
    if not known:
        assert found["accuracy"].isna().all()
        assert found["equalized_odds_difference_high"].isna().all()
        assert found["worst_1_di"].notna().all()
        return
    for i in range(2):
        apart = [
            abs(
                decided[i][(one.y == y) & (one.groups == "a")].mean()
                - decided[i][(one.y == y) & (one.groups == "b")].mean()
            )
            for y in (0, 1)
        ]
        row = found.iloc[i]
        assert row["equalized_odds_difference"] == pytest.approx(max(apart))
        assert row["equalized_odds_difference_low"] <= max(apart)
        assert row["equalized_odds_difference_high"] >= max(apart)
        assert row["accuracy"] == pytest.approx((decided[i] == one.y).mean())


def frames(rng, n, m):
    before = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "k": rng.choice(["p", "q", None], n, p=[0.5, 0.4, 0.1]),
            "same": rng.choice(["u", "v"], n),
        }
    )
    after = pd.DataFrame(
        {
            "x": rng.normal(0.5, 1, size=m),
            "k": rng.choice(["p", "q", "new"], m, p=[0.2, 0.5, 0.3]),
            "same": rng.choice(["u", "v"], m),
        }
    )
    return before, after


def test_shifts_are_the_largest_differences_of_distributions():
    before, after = frames(np.random.default_rng(1), 500, 700)
    found = column_shifts(before, after, before, columns=("x", "k", "same"))
    found = found.set_index("column")
    at = np.sort(np.concatenate([before["x"], after["x"]]))
    distance = [abs((before["x"] <= v).mean() - (after["x"] <= v).mean()) for v in at]
    assert found.loc["x", "shift"] == pytest.approx(max(distance))
    p = ks_2samp(before["x"], after["x"], method="asymp").pvalue
    assert found.loc["x", "p_value"] == pytest.approx(p)
    shares = [f["k"].fillna("?").value_counts(normalize=True) for f in (before, after)]
    apart = shares[1].subtract(shares[0], fill_value=0)
    assert found.loc["k", "shift"] == pytest.approx(apart[apart > 0].sum())
    assert found.loc["k", "unseen"] == pytest.approx((after["k"] == "new").mean())
    assert found.loc["k", "missing_before"] == pytest.approx(before["k"].isna().mean())
    assert found.loc["same", "p_adjusted"] > 0.01
    means = [f"{frame['x'].mean():.3g}".replace("-", "−") for frame in (before, after)]
    assert found.loc["x", "change"] == f"mean {means[0]} → {means[1]}"
    out = (after["x"] > before["x"].max()) | (after["x"] < before["x"].min())
    assert found.loc["x", "unseen"] == pytest.approx(out.mean())
    share = unseen_rows(after, before, columns=("x", "k", "same"))
    assert share == pytest.approx((after["k"] == "new").mean())


def test_without_a_shift_about_one_in_twenty_exceeds_chance_and_few_are_adjusted():
    rng = np.random.default_rng(2)
    beyond = {"x": 0, "k": 0}
    false = 0
    for _ in range(200):
        both = [
            pd.DataFrame(
                {"x": rng.normal(size=300), "k": rng.choice(list("abcdef"), 300)}
            )
            for _ in range(2)
        ]
        found = column_shifts(*both, both[0], columns=("x", "k"))
        for row in found.to_dict("records"):
            beyond[row["column"]] += row["shift"] > row["chance"]
        false += (found["p_adjusted"] < 0.05).any()
    assert all(2 <= n <= 20 for n in beyond.values())  # 10 expected
    assert false <= 20


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_holm_adjusts_as_defined(seed):
    rng = np.random.default_rng(seed)
    before, after = frames(rng, 60, 60)
    found = column_shifts(before, after, before, columns=("x", "k", "same"))
    p = np.sort(found["p_value"])
    wanted = np.minimum(np.maximum.accumulate(p * np.array([3, 2, 1])), 1)
    np.testing.assert_allclose(np.sort(found["p_adjusted"]), wanted)


@pytest.mark.parametrize("rate", ["selection_rate", "false_positive_rate", "brier"])
def test_a_row_of_weight_k_is_k_rows_to_gaps_and_points(rate):
    rng = np.random.default_rng(3)
    weighted, repeated, alike, plain = [], [], [], []
    for n in (900, 1100):
        one = table(rng, n)
        scores = np.clip(rng.random(n) + 0.2 * (one.groups == "b"), 0, 1)
        given = scores if rate == "brier" else (scores > 0.5).astype(np.int8)
        weight = rng.integers(0, 4, n) * (1 + (one.subgroups == "old"))
        again = np.repeat(np.arange(n), weight)
        many = replace(
            one,
            frame=one.frame.iloc[again],
            y=one.y[again],
            groups=one.groups[again],
            subgroups=one.subgroups[again],
        )
        for found, rows, places, w in (
            (weighted, one, slice(None), weight.astype(float)),
            (repeated, many, again, None),
            (alike, one, slice(None), np.full(n, 3.0)),
            (plain, one, slice(None), None),
        ):
            own = replace(rows, weight=w)
            cells = GapCells.of(own, given[places], rate)
            found.append((cells, table_points(own, scores[places][None])))
    values = ["gap_before", "gap_after", "change"]
    shares = ["contribution", "rates", "composition", "share_before", "share_after"]

    def said(found, drop):
        (before, first), (after, second) = found
        tables = [
            gap_changes(before, after, before.pair())[[*values, *drop]],
            gap_changes(before.whole(), after.whole(), (0, 1))[[*values, *drop]],
            pd.concat([first, second])[
                [c for c in first if drop or not c.endswith(("_low", "_high", "n"))]
            ].drop(columns="status"),
        ]
        if rate != "brier":
            drivers = gap_drivers(before, after, before.pair())
            tables.append(drivers.set_index("subgroup")[[*shares, *drop]].sort_index())
        return tables

    for one, other in (
        *zip(said(weighted, []), said(repeated, []), strict=True),
        *zip(said(alike, ENDS), said(plain, ENDS), strict=True),
    ):
        np.testing.assert_allclose(
            one.to_numpy(float), other.to_numpy(float), atol=1e-9
        )
