"""Findings are short, and compare only what the intervals allow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash._wording import between, fitting, listing, number, percent, wrap
from fairdash.plots import (
    comparison_finding,
    correlation_finding,
    local_finding,
    ratio_finding,
    spread_finding,
    training_finding,
    traits_finding,
)


def unclear(changes, metric):
    row = changes["metric"] == metric
    return changes.assign(high=changes["high"].mask(row, 0.1))


def test_a_clear_gain_is_said_and_an_unclear_one_is_not(local_table, changes):
    words = local_finding(local_table, label="ROAD λ 2", changes=changes)
    assert words == "ROAD λ 2 cuts the worst gap from 0.30 to 0.15"
    words = local_finding(
        local_table, label="ROAD λ 2", changes=unclear(changes, "worst_1_di")
    )
    assert words == "Worst local gaps: 0.15 and 0.30, the intervals overlap"


def test_one_model_alone_names_its_worst_subgroup_or_chance(local_table):
    assert local_finding(local_table, label="ROAD λ 2") == (
        "The gap is largest in Men 25–34: 0.15"
    )
    assert local_finding(local_table, label="ROAD λ 2", chance=0.2) == (
        "The largest gap, 0.15, is what chance alone shows"
    )
    none = local_table.assign(estimable=False)
    assert local_finding(none, label="ROAD λ 2").startswith("No subgroup is estimable")


def test_an_undefined_comparison_falls_back_to_the_model_itself(local_table, changes):
    undefined = changes.assign(low=np.nan, high=np.nan)
    words = local_finding(local_table, label="ROAD λ 2", changes=undefined)
    assert words == "The gap is largest in Men 25–34: 0.15"
    assert comparison_finding("ROAD", undefined).startswith("Worst-1-DI is not est")


def test_the_comparison_says_what_is_clear_and_what_overlaps(changes):
    assert comparison_finding("ROAD", changes) == (
        "ROAD cuts Worst-1-DI by 0.15; accuracy intervals overlap"
    )
    worse = changes.assign(
        difference=-changes["difference"], low=-changes["high"], high=-changes["low"]
    )
    assert comparison_finding("ROAD", worse).startswith("ROAD raises Worst-1-DI")
    lost = changes.assign(high=-0.001)
    assert comparison_finding("ROAD", lost).endswith("accuracy falls 1.9 pt")
    words = comparison_finding("ROAD", unclear(changes, "worst_1_di"))
    assert words == "Worst-1-DI: the intervals overlap; accuracy intervals overlap"


def test_training_says_whether_validation_loss_still_falls(curves):
    assert training_finding(curves) == "Validation loss still falls"
    turned = curves.assign(validation_loss=np.abs(curves["epoch"] - 30) / 100)
    assert training_finding(turned) == "Validation loss is lowest at epoch 30"
    assert training_finding(curves.head(4)) == "The first epochs"
    unseen = curves.drop(columns="validation_loss")
    assert training_finding(unseen) == "Loss on training rows, mean over all settings"


def test_weights_are_described_by_their_spread(ratio, quantile_table):
    assert ratio_finding(ratio) == (
        "Weights spread widest among Caucasian rows: 90% in 0.2–2.6"
    )
    assert spread_finding(quantile_table) == (
        "Other rows end with the widest spread: 90% in 0.4–1.6"
    )
    start = quantile_table[quantile_table["epoch"] == 0]
    assert spread_finding(start) == "All weights are close to 1"


@pytest.mark.parametrize(
    "low, high, words",
    [
        (0.7, 0.98, "Larger weights lie where the gaps are larger"),
        (-0.9, -0.1, "Larger weights lie where the gaps are smaller"),
        (-0.2, 0.9, "No clear link of weights and gaps: the interval covers 0"),
        (np.nan, np.nan, "Too few subgroups to relate weights and gaps"),
    ],
)
def test_a_correlation_is_claimed_only_if_its_interval_excludes_0(low, high, words):
    assert correlation_finding(low, high) == words


def test_a_trait_is_named_only_beyond_its_interval(trait_table):
    assert traits_finding(trait_table) == "Top rows: age 18–24, 55% against 20%"
    assert traits_finding(trait_table.tail(1)).startswith("The top rows are like all")


@given(st.text(st.characters(categories=["L", "Nd", "Zs"]), min_size=1, max_size=90))
def test_long_names_never_make_a_finding_longer_than_70(name):
    words = fitting(f"The gap is largest in {name}: 0.30", f"Largest gap: {name}")
    assert 0 < len(words) <= 70


def test_numbers_are_written_as_the_house_writes_them():
    assert number(-0.0761) == "−0.076"
    assert number(float("nan")) == percent(float("nan")) == "–"
    assert percent(0.6512, 1) == "65.1%"
    assert between(0.092, 0.199) == "0.092–0.199"
    assert between(-0.118, -0.031) == "−0.118 to −0.031"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert listing(["a"]) == "a"
    assert (
        wrap("African-American 18 to 24 years") == "African-American 18<br>to 24 years"
    )
