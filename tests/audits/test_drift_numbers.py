"""Gaps and shifts between tables against recomputation from their definitions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from fairdash.audits.drifts.gaps import farthest_groups, gap_changes, measured_on
from fairdash.audits.drifts.points import table_points
from fairdash.audits.drifts.shifts import column_shifts, unseen_rows
from fairdash.audits.drifts.tables import DriftTable
from fairdash.metrics import measure_by_group, newcombe_interval

SUBGROUPS = ("young", "middle", "old")
ENDS = ["ci_low", "ci_high"]


def table(rng, n, name="t", known=True, none=0.1, groups=("a", "b")):
    codes = rng.choice(3, n)
    codes[rng.random(n) < none] = -1
    subgroups = pd.Categorical.from_codes(codes, list(SUBGROUPS), ordered=True)
    y = rng.integers(0, 2, n).astype(np.int8) if known else None
    who = pd.Categorical(rng.choice(list(groups), n), categories=list(groups))
    return DriftTable(name, pd.DataFrame(index=range(n)), y, who, subgroups)


def decided_on(rng, rows):
    return (rng.random(rows.n) < 0.3 + 0.3 * (rows.groups == "b")).astype(np.int8)


def changed(tables, predicted, pair=("a", "b"), measure="selection_rate", min_size=50):
    measured = [
        measured_on(rows, of_rows, measure, min_size)
        for rows, of_rows in zip(tables, predicted, strict=True)
    ]
    return gap_changes(tables, measured, pair)


def counted(rows, decided, group, subgroup):
    inside = np.asarray((rows.groups == group) & (rows.subgroups == subgroup))
    return int(decided[inside].sum()), int(inside.sum())


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(150, 900), st.integers(150, 900))
def test_changes_are_differences_of_gaps_with_square_and_add_intervals(seed, n, m):
    rng = np.random.default_rng(seed)
    tables = table(rng, n, "old"), table(rng, m, "new")
    decided = [decided_on(rng, rows) for rows in tables]
    changes = changed(tables, decided, min_size=60).iloc[1:]
    sizes = [
        min(
            counted(t, d, "a", g)[1] + counted(t, d, "b", g)[1]
            for t, d in zip(tables, decided, strict=True)
        )
        for g in SUBGROUPS
    ]
    assert changes["estimable"].tolist() == [size >= 60 for size in sizes]
    level = 1 - 0.05 / max(sum(size >= 60 for size in sizes), 1)
    for row in changes[changes["estimable"]].to_dict("records"):
        gaps, lows, highs = [], [], []
        for t, d in zip(tables, decided, strict=True):
            (k, size), (j, other) = (counted(t, d, g, row["subgroup"]) for g in "ba")
            low, high = newcombe_interval(k, size, j, other, confidence=level)
            gaps.append(k / size - j / other)
            lows.append(float(low))
            highs.append(float(high))
        change = gaps[1] - gaps[0]
        assert row["change"] == pytest.approx(change)
        down = np.hypot(gaps[1] - lows[1], highs[0] - gaps[0])
        up = np.hypot(highs[1] - gaps[1], gaps[0] - lows[0])
        assert row["ci_low"] == pytest.approx(change - down)
        assert row["ci_high"] == pytest.approx(change + up)
    unknown = changes[~changes["estimable"]]
    assert unknown["change"].isna().all()
    assert (unknown["reason"] != "").all()


def test_changes_turn_their_sign_with_the_tables_and_with_the_groups():
    rng = np.random.default_rng(3)
    tables = table(rng, 700, "old"), table(rng, 900, "new")
    decided = [decided_on(rng, rows) for rows in tables]
    there = changed(tables, decided)
    for turned in (
        changed(tables[::-1], decided[::-1]),
        changed(tables, decided, ("b", "a")),
    ):
        np.testing.assert_allclose(there["change"], -turned["change"])
        np.testing.assert_allclose(there["ci_low"], -turned["ci_high"])


@pytest.mark.parametrize(("groups", "least"), [("ab", 0.93), ("abcde", 0.93)])
def test_the_change_of_the_pair_farthest_apart_before_is_covered(groups, least):
    """Nothing changes; of five groups chance alone made the gap before the widest."""
    rng, draws, covered = np.random.default_rng(2), 250, 0
    for _ in range(draws):
        tables = [table(rng, 80 * len(groups), groups=groups) for _ in range(2)]
        decided = [(rng.random(rows.n) < 0.4).astype(np.int8) for rows in tables]
        by_group = measure_by_group(
            "selection_rate", None, decided[0], sensitive_features=tables[0].groups
        )
        pair = farthest_groups("t", by_group)
        row = changed(tables, decided, pair).iloc[0]
        covered += row["ci_low"] <= 0 <= row["ci_high"]
    assert covered / draws >= least


def test_a_table_with_rows_of_one_group_is_refused_by_its_name():
    rng = np.random.default_rng(3)
    old = table(rng, 400, "old")
    new = replace(old, name="new", groups=pd.Categorical(["a"] * 400, ["a", "b"]))
    with pytest.raises(ValueError, match="new has rows of one group only"):
        changed((old, new), [decided_on(rng, old)] * 2)
    by_group = pd.DataFrame({"group": ["a", "b"], "value": [0.5, np.nan]})
    with pytest.raises(ValueError, match="old has rows of one group only"):
        farthest_groups("old", by_group)


@pytest.mark.parametrize("known", [True, False])
def test_points_have_nothing_that_needs_a_missing_outcome(known):
    rng = np.random.default_rng(5)
    rows = table(rng, 800, known=known)
    scores = rng.random((2, 800))
    points = table_points(rows, scores)
    decided = scores > 0.5
    np.testing.assert_allclose(points["selection_rate"], decided.mean(axis=1))
    assert points["status"].tolist() == (
        ["not told from chance"] * 2 if known else ["", ""]
    )
    for i in range(2):
        by_group = pd.Series(decided[i]).groupby(np.asarray(rows.groups)).mean()
        row = points.iloc[i]
        assert row["selection_rate_gap"] == pytest.approx(np.ptp(by_group))
        ends = row["selection_rate_gap_low"], row["selection_rate_gap_high"]
        assert ends[0] <= row["selection_rate_gap"] <= ends[1]
        if known:
            assert row["accuracy"] == pytest.approx((decided[i] == rows.y).mean())
    assert points["accuracy"].isna().all() == (not known)
    assert points["worst_1_di"].notna().all()


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


@pytest.mark.parametrize("measure", ["selection_rate", "brier"])
def test_a_row_of_weight_k_is_k_rows_to_gaps_and_points(measure):
    rng = np.random.default_rng(3)
    weighted, repeated = [], []
    for n in (900, 1100):
        rows = table(rng, n)
        scores = np.clip(rng.random(n) + 0.2 * (rows.groups == "b"), 0, 1)
        weight = rng.integers(0, 4, n) * (1 + (rows.subgroups == "old"))
        again = np.repeat(np.arange(n), weight)
        many = replace(
            rows,
            frame=rows.frame.iloc[again],
            y=rows.y[again],
            groups=rows.groups[again],
            subgroups=rows.subgroups[again],
        )
        weighted.append((replace(rows, weight=weight.astype(float)), scores))
        repeated.append((many, scores[again]))

    def values(both):
        tables, scores = zip(*both, strict=True)
        given = scores if measure == "brier" else [s > 0.5 for s in scores]
        changes = changed(
            tables, [np.asarray(g, float) for g in given], measure=measure
        )
        points = pd.concat(
            table_points(t, s[None], measure)
            for t, s in zip(tables, scores, strict=True)
        )
        return (
            changes[["gap_before", "gap_after", "change"]],
            points[["accuracy", "selection_rate", f"{measure}_gap", "worst_1_di"]],
        )

    for one, other in zip(values(weighted), values(repeated), strict=True):
        np.testing.assert_allclose(
            one.to_numpy(float), other.to_numpy(float), atol=1e-9
        )
