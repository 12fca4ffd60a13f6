"""Which gap is named, and with which interval."""

import math

import numpy as np
import pytest

from fairdash.metrics import TOO_FEW, Finding, LocalMeasure, choose_finding, intervals

SMALL = Finding("selection_rate", "small", "b", "a", 0.5, 0.1, 0.9, sure=False)
LARGE = Finding("selection_rate", "large", "b", "a", 0.2, 0.15, 0.25)
TURNED = Finding("selection_rate", "turned", "b", "a", -0.3, -0.4, -0.2)
FEW = Finding(
    "selection_rate", "few", "b", "a", 0.6, 0.1, 1, sure=False, reason=TOO_FEW
)
UNSURE = Finding("selection_rate", "unsure", "b", "a", 0.6, -0.1, 1, sure=False)


@pytest.mark.parametrize(
    ("findings", "widest", "beyond_chance", "named"),
    [
        ([SMALL, LARGE], SMALL, True, SMALL),
        ([SMALL, LARGE], SMALL, False, LARGE),
        ([FEW, LARGE], FEW, True, LARGE),
        ([UNSURE, LARGE], UNSURE, True, LARGE),
        ([LARGE, TURNED], LARGE, False, TURNED),
        ([LARGE, TURNED], None, True, TURNED),
        ([SMALL, UNSURE], UNSURE, True, None),
        ([], None, True, None),
    ],
)
def test_the_widest_gap_is_named_beyond_chance_else_the_surest(
    findings, widest, beyond_chance, named
):
    assert choose_finding(findings, widest, beyond_chance=beyond_chance) is named


@pytest.mark.parametrize(
    ("ends", "folded"),
    [
        ((0.1, 0.3), (0.1, 0.3)),
        ((-0.3, -0.1), (0.1, 0.3)),
        ((-0.1, 0.3), (0.0, 0.3)),
        ((-0.3, 0.1), (0.0, 0.3)),
        ((math.nan, math.nan), (math.nan, math.nan)),
    ],
)
def test_the_size_of_a_difference_has_its_interval_folded_at_0(ends, folded):
    np.testing.assert_array_equal(intervals.folded(*ends), folded)


def test_the_groups_farthest_apart_are_those_with_the_extreme_values():
    groups = np.repeat(["a", "b", "c"], 40)
    decided = np.concatenate([np.arange(40) < n for n in (10, 20, 30)]).astype(int)
    place = np.where(np.arange(120) % 40 < 20, "early", "late")
    local = LocalMeasure.of(
        "selection_rate",
        None,
        decided,
        sensitive_features=groups,
        subgroups=place,
        min_size=10,
    )
    assert local.is_widest("c", "a")
    assert not local.is_widest("a", "c")  # turned
    assert not local.is_widest("b", "a")
    assert not local.is_widest("d", "a")  # has no rows here
    assert local.is_widest("b", "a", subgroup="early")  # as far as c: all are decided 1
    assert local.is_widest("b", "a", subgroup="nowhere")
    assert local.is_largest("early")
    assert local.is_largest("late")  # 10 of 20 rows more, as in the other one
    assert not local.is_largest("nowhere")
