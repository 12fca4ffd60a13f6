"""Which way gaps point: said of who is worse off, and only beyond chance."""

import numpy as np
import pytest

from fairdash.metrics import (
    Finding,
    LocalMeasure,
    both_ways,
    direction_words,
    turned_gaps,
    turned_words,
    worse_off,
)

RATE = "selection_rate"
MISSED = "false_negative_rate"


def finding(value, *, place="18–24", sure=True, measure=RATE):
    ends = value, value - 0.05, value + 0.05
    return Finding(measure, place, "women", "men", *ends, sure=sure)


@pytest.mark.parametrize("value", [-0.2, 0.2])
@pytest.mark.parametrize(
    ("measure", "favourable", "more_is_better"),
    [(RATE, True, True), (RATE, False, False), (MISSED, True, False)],
)
def test_who_is_worse_off_depends_on_what_the_decision_means(
    value, measure, favourable, more_is_better
):
    worse = worse_off(finding(value, measure=measure), favourable=favourable)
    assert worse.group == ("men" if (value > 0) == more_is_better else "women")
    assert abs(worse.value) == 0.2
    assert worse.clear


def test_a_direction_is_said_of_clear_gaps_only():
    assert direction_words(finding(-0.2), "sex", 2) == "sex: women worse off"
    assert direction_words(finding(0.2), "sex", 2) == "sex: men worse off"
    for n_groups in (2, 3):
        assert direction_words(finding(0.02), "sex", n_groups) == ""
        assert direction_words(finding(0.2, sure=False), "sex", n_groups) == ""
    for value in (-0.2, 0.2):
        low, high = ("women", "men") if value < 0 else ("men", "women")
        text = direction_words(finding(value), "sex", 3)
        assert text == f"lowest sex: {low}, highest sex: {high}"


def test_a_gap_turned_only_where_both_signs_are_sure():
    before = [finding(0.2), finding(0.3, place="25–34"), finding(0.3, place="35–44")]
    after = [
        finding(-0.1),
        finding(-0.2, place="25–34"),
        finding(-0.2, place="35–44", sure=False),
        finding(-0.4, place="45–54"),  # none before
    ]
    turned = turned_gaps(before, after)
    assert [gap.subgroup for gap in turned] == ["25–34", "18–24"]
    text = "In 25–34 and 18–24 the gap turned against sex: women."
    assert turned_words(turned, "sex") == text
    assert not turned_gaps(before, before)
    assert turned_gaps(after[:2], before) == [before[1], before[0]]
    unsure = [finding(0.2, sure=False), finding(0.3, place="25–34", sure=False)]
    assert not turned_gaps(unsure, after)


def decided_rows(rng, n, gaps, groups=2):
    """Return decisions, groups and subgroups; group 1 is ahead by ``gaps``."""
    part = rng.integers(0, len(gaps), n)
    group = rng.integers(0, groups, n)
    ahead = np.asarray(gaps)[part] * np.where(group == 1, 0.5, -0.5)
    ahead = np.where(group < 2, ahead, 0.0)
    return (rng.random(n) < 0.4 + ahead).astype(int), group, part


def local_of(rng, n, gaps, **how):
    decided, group, part = decided_rows(rng, n, gaps, **how)
    names = np.array(["m", "w", "x"])[group]
    return LocalMeasure.of(
        RATE, None, decided, sensitive_features=names, subgroups=part.astype(str)
    )


def test_gaps_of_both_ways_are_found_and_named_by_their_groups():
    rng = np.random.default_rng(5)
    opposed = both_ways([local_of(rng, 4000, [0.3, -0.3, 0.0])])
    assert {opposed.higher, opposed.lower} == {"m", "w"}
    text = "Inside subgroups gaps point both ways, so they cancel over all rows."
    assert opposed.words("sex", 2, over_all=False) == text
    assert "cancel in part" in opposed.words("sex", 2, over_all=True)
    three = both_ways([local_of(rng, 6000, [0.4, -0.4], groups=3)])
    text = three.words("sex", 3, over_all=False)
    assert text.startswith("Inside subgroups gaps between sex: m and sex: w point")


@pytest.mark.parametrize(
    "gaps", [[0.0] * 4, [0.5, 0.0, 0.0, 0.0], [-0.5, 0.0], [0.4, 0.4, 0.4]]
)
def test_gaps_of_one_way_are_seldom_said_to_point_both_ways(gaps, times):
    rng = np.random.default_rng(17)
    flags = [
        both_ways([local_of(rng, 800, gaps)]) is not None for _ in range(times(200))
    ]
    assert np.mean(flags) <= 0.08  # .05 and two standard errors of 200 draws


def test_over_seeds_a_subgroup_counts_that_half_of_them_have():
    rng = np.random.default_rng(3)
    opposed = [local_of(rng, 4000, [0.3, -0.3]) for _ in range(2)]
    assert both_ways(opposed) is not None
    one_way = [local_of(rng, 4000, [0.3]) for _ in range(3)]
    assert both_ways([*one_way, opposed[0]]) is None


def test_too_few_rows_say_nothing_of_a_direction():
    rng = np.random.default_rng(3)
    decided, group, part = decided_rows(rng, 2000, [0.3, 0.3])
    few = part == 1
    part[few] = np.where(np.arange(few.sum()) < 60, 1, 0)
    decided = np.where(part == 1, group == 0, decided).astype(int)
    group = np.where(part == 1, np.arange(len(group)) % 20 == 0, group).astype(int)
    local = LocalMeasure.of(
        RATE, None, decided, sensitive_features=group, subgroups=part, min_size=20
    )
    assert both_ways([local]) is None
