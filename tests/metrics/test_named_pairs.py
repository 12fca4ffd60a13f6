"""Intervals of the pair that a sentence names, simulated: it is named for its gap."""

import numpy as np
import pytest

import fairdash
from fairdash.metrics import LocalMeasure, intervals


def test_four_people_of_a_third_group_hide_no_gap_of_the_others():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "c"], [900, 900, 4])
    rates = np.repeat([0.5, 0.3, 0.5], [900, 900, 4])
    decided = (rng.random(1804) < rates).astype(int)
    part = np.arange(1804) % 2
    report = fairdash.audit(None, decided, sensitive_features=group, subgroups=part)
    assert report.verdict.startswith(
        "b is predicted positive 17 points less often than"
    )
    over_all, tiny, inside = report.findings
    assert (over_all.sure, tiny.sure) == (True, False)
    assert (inside.group, inside.reference, inside.sure) == ("b", "a", True)


def test_the_pair_named_in_the_worst_subgroup_is_covered():
    """Groups of unlike sizes: the largest gap is rarely that of the pair named."""
    rng = np.random.default_rng(1)
    names = list("abcd")
    rate = np.array([0.35, 0.5, 0.42, 0.42])
    size = np.array([150, 150, 15, 15])
    group = np.tile(np.repeat(names, size), 4)
    part = np.repeat(["n", "e", "s", "w"], size.sum())
    truth = dict(zip(names, rate, strict=True))
    largest = []
    named = []
    for _ in range(150):
        pred = (rng.random(len(group)) < np.tile(np.repeat(rate, size), 4)).astype(int)
        local = LocalMeasure.of(
            "selection_rate", None, pred, sensitive_features=group, subgroups=part
        )
        table = local.table()
        worst = table.loc[table["gap"].idxmax()]
        values = {name: worst[f"value_{name}"] for name in names}
        high = max(values, key=values.get)
        low = min(values, key=values.get)
        gap = truth[high] - truth[low]
        largest.append(worst["ci_low"] <= gap <= worst["ci_high"])
        ends = local.between(
            high,
            low,
            subgroup=worst["subgroup"],
            confidence=intervals.for_all_pairs(0.95, 4, times=4),
        )
        assert ends.value == pytest.approx(worst["gap"])
        named.append(ends.low <= gap <= ends.high)
    assert np.mean(largest) < 0.9
    assert np.mean(named) >= 0.95
