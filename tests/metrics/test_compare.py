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
        evaluated = evaluate(
            rows.y[pick],
            rows.y_pred[:2, pick],
            sensitive_features=rows.group[pick],
            subgroups=rows.subgroup.iloc[pick],
            min_size=60,
        )[metrics]
        differences.append(evaluated.loc[0] - evaluated.loc[1])
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
    """By hand: of the gaps that may be the largest before, and after."""
    rng = np.random.default_rng(6)
    group = rng.integers(0, 2, 900)
    part = rng.integers(0, 3, 900)
    old, new = (rng.random((2, 900)) < 0.3 + 0.6 * group * (part == 1)).astype(int)
    after = compare(
        rng.integers(0, 2, 900), new, old, sensitive_features=group, subgroups=part
    ).iloc[2]
    signed = [(p, s) for p in range(3) for s in (1, -1)]

    def difference(*terms):
        """The value and the error of a sum of gaps, by hand."""
        value = 0.0
        variance = 0.0
        for p, g in product(range(3), (0, 1)):
            cell = (part == p) & (group == g)
            times = [
                (1 if k == 0 else -1) * s * (1 - 2 * g) * (q == p)
                for k, (q, s, _) in enumerate(terms)
            ]
            numbers = sum(
                t * of[cell] for t, (_, _, of) in zip(times, terms, strict=True)
            )
            whose = [1 if of is new else -1 for _, _, of in terms]
            one_more = sum(t * w for t, w in zip(times, whose, strict=True))
            value += numbers.mean()
            variance += np.var(numbers, ddof=1) / cell.sum()
            variance += one_more**2 / (2 * cell.sum() ** 2)
        return value, np.sqrt(variance)

    def may_be_largest(decided):
        values = [difference((*pair, decided))[0] for pair in signed]
        first = signed[int(np.argmax(values))]
        behind = [
            difference((*first, decided), (*pair, decided)) if pair != first else (0, 0)
            for pair in signed
        ]
        limit = norm.isf(0.025 * 0.1 / 3)
        near = [value <= limit * error for value, error in behind]
        return [pair for pair, stays in zip(signed, near, strict=True) if stays]

    before = may_be_largest(old)
    later = may_be_largest(new)
    assert len(before) < 6  # so that the choice matters
    own_z = norm.isf(0.025 * 0.5)
    gaps = []
    lows = []
    highs = []
    for pair in before:
        value, error = difference((*pair, new), (*pair, old))
        ends = [value - own_z * error]
        for following in later:
            value, error = difference((*following, new), (*pair, old))
            ends.append(value - norm.isf(0.025 * 0.4 / len(later)) * error)
        lows.append(max(ends))
    for pair in later:
        value, error = difference((*pair, new), (*pair, old))
        ends = [value + own_z * error]
        for following in before:
            value, error = difference((*pair, new), (*following, old))
            ends.append(value + norm.isf(0.025 * 0.4 / len(before)) * error)
        highs.append(min(ends))
    for decided in (old, new):
        rates = pd.crosstab(part, group, decided, aggfunc="mean")
        gaps.append((rates[1] - rates[0]).abs().max())
    result = after[["difference", "low", "high"]].astype(float)
    expected = [gaps[1] - gaps[0], min(lows), max(highs)]
    assert result.tolist() == pytest.approx(expected)


def test_a_gap_that_is_removed_is_not_said_to_shrink_by_its_luck():
    """A percentile interval held the true change in .3 of such tables."""
    rng = np.random.default_rng(1)
    n_covering = 0
    for _ in range(60):
        group = rng.integers(0, 2, 480)
        part = np.repeat(np.arange(8), 60)
        gap = 0.3 * (part == 0) * (group - 0.5)
        old, new = rng.random((2, 480)) < [0.5 + gap, np.full(480, 0.5)]
        row = compare(
            rng.integers(0, 2, 480), new * 1, old * 1,
            sensitive_features=group, subgroups=part,
        ).iloc[2]  # fmt: skip
        n_covering += row["low"] <= -0.3 <= row["high"]
    assert n_covering >= 54


def test_models_that_are_equally_unfair_are_hardly_ever_told_apart():
    rng = np.random.default_rng(0)
    claims = []
    for _ in range(60):
        group = rng.integers(0, 2, 1200)
        subgroup = rng.integers(0, 8, 1200)
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
    arguments = {**rows.where, "min_size": 1}
    comparison = compare(rows.y, *two, **arguments, sample_weight=weight)
    repeated = compare(
        rows.y[again],
        *two[:, again],
        sensitive_features=rows.group[again],
        subgroups=rows.subgroup.iloc[again],
        min_size=1,
    )
    for name in ("value", "reference", "difference"):
        np.testing.assert_allclose(comparison[name], repeated[name])
    # weighted rows are no more rows: wider than the interval of rows repeated
    width, narrow = (table["high"] - table["low"] for table in (comparison, repeated))
    assert (width > 1.2 * narrow).all()
    tenfold = compare(rows.y, *two, **arguments, sample_weight=10 * weight)
    np.testing.assert_allclose(tenfold["low"], comparison["low"])
    ones = np.ones(len(rows.y))
    plain = compare(rows.y, *two, **rows.where)
    same = compare(rows.y, *two, **rows.where, sample_weight=ones)
    np.testing.assert_allclose(same["low"], plain["low"], atol=0.01)
    np.testing.assert_allclose(same["high"], plain["high"], atol=0.01)


def test_a_group_of_one_row_widens_the_change_and_does_not_end_it():
    sizes = {"large": (90, 90, 0), "small": (70, 60, 1)}
    subgroup = np.repeat(list(sizes), [sum(n) for n in sizes.values()])
    group = np.concatenate([np.repeat([*"abc"], n) for n in sizes.values()])
    rng = np.random.default_rng(5)
    y, before, after = rng.integers(0, 2, (3, len(group)))
    groups = {"sensitive_features": group, "subgroups": subgroup, "min_size": 50}
    with_one = compare(y, before, after, **groups).set_index("metric")
    in_c = group == "c"
    before[in_c] = after[in_c] = 1
    difference = compare(y, before, after, **groups).set_index("metric")
    remaining = {
        name: values[~in_c] for name, values in groups.items() if name != "min_size"
    }
    without = compare(
        y[~in_c], before[~in_c], after[~in_c], **remaining, min_size=50
    ).set_index("metric")
    for changes in (with_one, difference):
        worst = changes.loc["worst_1_di"]
        assert worst["low"] <= worst["difference"] <= worst["high"]
        width = worst["high"] - worst["low"]
        narrow = without.loc["worst_1_di", ["low", "high"]]
        assert width > narrow["high"] - narrow["low"]
