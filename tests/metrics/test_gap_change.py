"""The change of a gap: both gaps are random, and neither is folded at zero."""

import numpy as np
import pytest
from scipy.stats import norm

from fairdash._change import Change
from fairdash._wording import moved_words
from fairdash.metrics import (
    compare,
    demographic_parity_difference,
    evaluate,
    gap_change,
)
from fairdash.metrics.group.two_models import TwoModels
from fairdash.postprocessing import ScoredRows
from fairdash.postprocessing.outcome import expected_outcome


def drawn(rng, before, after, n, alike=0.7):
    """Decisions of the same rows before and after, as alike as asked."""
    group = rng.integers(0, len(before), n)
    first = rng.random(n)
    second = np.where(rng.random(n) < alike, first, rng.random(n))
    old, new = (
        (u < np.array(rates)[group]).astype(int)
        for u, rates in ((first, before), (second, after))
    )
    return group.astype(str), old, new


def shown(group, old, new, unit=None):
    """What Post-process shows of decisions before and after."""
    rows = ScoredRows(
        2.0 * old - 1, group.astype(int), ("0", "1"), ("0", "1"), new, unit=unit
    )
    return expected_outcome(rows, new.astype(float))


@pytest.mark.parametrize(
    "before, after, n",
    [
        ((0.62, 0.49), (0.55, 0.55), 900),
        ((0.3, 0.1), (0.22, 0.2), 600),
        ((0.4, 0.5), (0.5, 0.42), 600),
        ((0.6, 0.5, 0.4), (0.55, 0.5, 0.45), 600),
    ],
)
def test_its_interval_covers_the_true_change(before, after, n):
    rng = np.random.default_rng(5)
    times = 200
    true = np.ptp(after) - np.ptp(before)
    covered = 0
    for _ in range(times):
        group, old, new = drawn(rng, before, after, n)
        change = gap_change(old, new, sensitive_features=group)
        covered += bool(change.low <= true <= change.high)
    assert covered / times > 0.91  # 95 % less three standard errors


def test_it_is_the_least_and_most_by_hand_of_every_sign_of_both_gaps():
    group, old, new = drawn(np.random.default_rng(4), (0.42, 0.45), (0.5, 0.47), 300)
    least = []
    most = []
    same_pair = []
    for s in (1, -1):
        ends = []
        for t in (1, -1):
            first_part, second_part = (
                (s * old - t * new)[group == name] for name in ("0", "1")
            )
            variance = sum(
                part.var(ddof=1) / len(part) + (s + t) ** 2 / (2 * len(part) ** 2)
                for part in (first_part, second_part)
            )
            reach = norm.ppf(0.975) * np.sqrt(variance)
            ends.append(
                first_part.mean() - second_part.mean() + np.array([-reach, reach])
            )
            if s == t:
                same_pair.append(abs(first_part.mean() - second_part.mean()) + reach)
        least.append(min(low for low, _ in ends))
        most.append(min(high for _, high in ends))
    gaps = [
        demographic_parity_difference(d, sensitive_features=group) for d in (old, new)
    ]
    limit = max(same_pair)
    ends = max(-max(most), -limit), min(-max(least), limit)
    expected = gaps[1] - gaps[0], *ends
    assert np.allclose(gap_change(old, new, sensitive_features=group), expected)


def twelve_groups(rng, tiny=0):
    """Decisions of twelve groups of 400 with a gap of .2, of which few change."""
    group = np.repeat(np.arange(12), 400)
    if tiny:
        group = np.concatenate([group, np.full(tiny, 12)])
    rate = np.where(group == 0, 0.2, 0.4)
    first = rng.random(len(group))
    second = np.where(rng.random(len(group)) < 0.98, first, rng.random(len(group)))
    return group, (first < rate).astype(int), (second < rate).astype(int)


def test_of_many_groups_only_pairs_that_may_differ_most_widen_it():
    group, old, new = twelve_groups(np.random.default_rng(7))
    change = gap_change(old, new, sensitive_features=group)
    moved = new - old
    errors = [moved[group == g].std(ddof=1) / np.sqrt(400) for g in range(12)]
    # The first group has the lowest rate, surely: one pair of groups has this error.
    error = np.hypot(errors[0], np.sqrt(np.mean(np.square(errors[1:]))))
    assert change.low < 0 < change.high
    assert change.high - change.low < 2 * 4.5 * error
    none = gap_change(old, old, sensitive_features=group)
    assert none.high == -none.low < 0.013  # 3 / 400 and more for two groups


def test_a_group_of_four_rows_takes_no_interval_away():
    rng = np.random.default_rng(8)
    group, old, new = twelve_groups(rng, tiny=4)
    old[-4:], new[-4:] = [0, 0, 0, 0], [1, 1, 1, 1]
    change = gap_change(old, new, sensitive_features=group)
    large = group < 12
    without = gap_change(old[large], new[large], sensitive_features=group[large])
    assert np.allclose(change, without)
    y = rng.integers(0, 2, len(old))
    row = compare(y, new, old, sensitive_features=group).iloc[1]
    gaps = [
        demographic_parity_difference(d[large], sensitive_features=group[large])
        for d in (new, old)
    ]
    assert row[["value", "reference"]].tolist() == pytest.approx(gaps)
    assert row["difference"] == pytest.approx(float(change.value))
    assert row["n_left_out"] == 1


def test_a_number_describes_all_rows_and_a_change_says_whom_it_leaves_out():
    rng = np.random.default_rng(8)
    group, old, new = twelve_groups(rng, tiny=4)
    new[-4:] = 1
    y = rng.integers(0, 2, len(old))
    described = evaluate(y, new, sensitive_features=group).iloc[0]
    everyone = demographic_parity_difference(new, sensitive_features=group)
    assert described["demographic_parity_difference"] == pytest.approx(everyone)
    changes = compare(y, new, old, sensitive_features=group).set_index("metric")
    assert changes.loc["demographic_parity_difference", "value"] < everyone
    assert changes["n_left_out"].tolist() == [0, 1, 0]
    large = group < 12
    whole = compare(y[large], new[large], old[large], sensitive_features=group[large])
    assert not whole["n_left_out"].any()
    tiny = np.repeat([0, 1], 3)  # no group has enough rows: all are compared
    few = compare(tiny, tiny, 1 - tiny, sensitive_features=tiny)
    assert not few["n_left_out"].any()
    assert few["value"].iloc[1] == 1


def test_rows_of_one_person_and_weights_widen_it_as_they_should():
    rng = np.random.default_rng(0)
    group, old, new = drawn(rng, (0.6, 0.4), (0.5, 0.45), 400)
    once = gap_change(old, new, sensitive_features=group)
    three = np.repeat(np.arange(400), 3)
    again = (old[three], new[three])
    groups = group[three]
    units = gap_change(*again, sensitive_features=groups, cluster=three)
    assert np.allclose(units, once)
    careless = gap_change(*again, sensitive_features=groups)
    assert careless.high - careless.low < 0.7 * (once.high - once.low)
    more = {"sensitive_features": group, "sample_weight": np.full(400, 2.5)}
    weighted = gap_change(old, new, **more)
    assert np.allclose(weighted, once)


def test_of_a_rate_it_looks_at_rows_with_that_outcome_only():
    rng = np.random.default_rng(1)
    group, old, new = drawn(rng, (0.6, 0.4), (0.5, 0.45), 500)
    y = rng.integers(0, 2, 500)
    change = gap_change(
        old, new, sensitive_features=group, y_true=y, measure="true_positive_rate"
    )
    positive = y == 1
    alone = gap_change(old[positive], new[positive], sensitive_features=group[positive])
    assert np.allclose(change, alone)
    with pytest.raises(ValueError, match="`y_true` is needed"):
        gap_change(old, new, sensitive_features=group, measure="true_positive_rate")


@pytest.mark.parametrize("cluster", [None, np.arange(300) // 3])
def test_too_few_expected_decisions_give_a_change_without_an_interval(cluster):
    rng = np.random.default_rng(3)
    group, old, _ = drawn(rng, (0.4, 0.3), (0.3, 0.3), 300)
    few = np.zeros(300, int)
    few[:6] = 1  # about three in each group of 150
    change = gap_change(old, few, sensitive_features=group, cluster=cluster)
    assert np.isnan([change.low, change.high]).all()
    report = shown(group, old, few, cluster).iloc[1]
    assert np.isnan(report["change_low"])
    moved = Change(report["change"], np.nan, np.nan)
    text = moved_words(moved, "narrows", "widens", "the gap")
    assert text == "has no interval of how it moves the gap"


def test_no_changed_decision_is_no_proof_of_none_and_the_page_says_the_same_numbers():
    rng = np.random.default_rng(2)
    group, old, new = drawn(rng, (0.6, 0.4), (0.5, 0.45), 500)
    same = gap_change(old, old, sensitive_features=group)
    assert -0.02 < same.low == -same.high < same.value - 3 / 500  # none of n: 3 / n
    change = gap_change(old, new, sensitive_features=group)
    ends = ["change", "change_low", "change_high"]
    once = shown(group, old, new)[ends]
    np.testing.assert_allclose(once.iloc[1], np.array(change, float), atol=1e-12)
    # three equal rows of a person are one
    again = np.repeat(np.arange(500), 3)
    thrice = shown(group[again], old[again], new[again], again)[ends]
    np.testing.assert_allclose(thrice, once, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_two_models_are_counted_once_for_every_change(weighted):
    rng = np.random.default_rng(3)
    y, old, new, place = rng.integers(0, 2, (4, 4000))
    weight = rng.lognormal(0, 1, 4000) if weighted else None
    rows = TwoModels.of(y * 1.0, old, new, place, 2, sample_weight=weight)
    assert len(rows.y) == 2**4
    mass = np.ones(4000) if weight is None else weight
    both = rows.rates(np.arange(2), 2).mean
    for group in range(2):
        for when, decided in enumerate((old, new)):
            inside = place == group
            rate = np.average(decided[inside], weights=mass[inside])
            assert both[group, when] == pytest.approx(rate)
    second = rows.rates(np.array([-1, 0]), 1)
    assert second.mean[0] == pytest.approx(both[1])
    right = [np.average(d == y, weights=mass) for d in (old, new)]
    assert rows.accuracies().mean[0] == pytest.approx(right)
    chances = TwoModels.of(y * 1.0, old * 0.5, new, place, 2, sample_weight=weight)
    assert len(chances.y) == 4000  # which cannot be counted
    assert chances.rates(np.arange(2), 2).mean[:, 0] == pytest.approx(both[:, 0] / 2)
