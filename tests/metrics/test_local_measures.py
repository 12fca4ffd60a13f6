"""Any measure inside subgroups, held to every group and subgroup taken alone."""

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import pytest
from by_hand import local_measure, newcombe_interval
from cases import examples, paired, sampled
from hypothesis import given
from hypothesis import strategies as st
from peers import elsewhere, table

from fairdash import metrics


def rows(n=1500, groups=3, seed=0):
    y, p, group, weight = table(n, groups, seed)
    part = np.random.default_rng(seed + 1).choice(["north", "south", "west"], n)
    return y, p, group, weight, part


def given_to(measure, p):
    return p if measure in metrics.catalog.SCORE_MEASURES else (p > 0.5).astype(int)


@pytest.mark.parametrize(
    ("measure", "weighted"), paired(metrics.MEASURES, [False, True], together=1)
)
def test_cells_are_those_of_fairlearn_within_the_subgroups(measure, weighted):
    y, p, group, weight, part = rows()
    pred = given_to(measure, p)
    extra = {"sample_params": {"sample_weight": weight}} if weighted else {}
    frame = fairlearn.MetricFrame(
        metrics=elsewhere(measure),
        y_true=y,
        y_pred=pred,
        sensitive_features=group,
        control_features=part,
        **extra,
    )
    ours = local_measure(
        measure,
        y,
        pred,
        sensitive_features=group,
        subgroups=part,
        sample_weight=weight if weighted else None,
    ).set_index("subgroup")
    for (name, cell), value in frame.by_group.items():
        assert ours.loc[name, f"value_{cell}"] == pytest.approx(value, abs=1e-12)
    np.testing.assert_allclose(ours["gap"], frame.difference(), atol=1e-12)
    inside = (ours["ci_low"] <= ours["gap"]) & (ours["gap"] <= ours["ci_high"])
    assert inside.all()
    if metrics.catalog.measure_of(measure).limits[0] >= 0:
        np.testing.assert_allclose(ours["ratio"], frame.ratio(), atol=1e-12)
        inside = ours["ratio_low"] < ours["ratio"]
        assert (inside & (ours["ratio"] <= ours["ratio_high"])).all()


def test_of_the_selection_rate_it_is_local_di():
    _, p, group, _, part = rows(700, seed=3)
    pred = (p > 0.6).astype(int)
    arguments = {"sensitive_features": group, "subgroups": part, "min_size": 230}
    ours = local_measure("selection_rate", None, pred, **arguments)
    theirs = metrics.local_di(pred, **arguments)
    assert 0 < theirs["estimable"].sum() < len(theirs)
    renamed = theirs.rename(columns=lambda name: name.replace("rate_", "value_"))
    renamed = renamed.rename(columns={"local_di": "gap"})
    pd.testing.assert_frame_equal(ours[renamed.columns.tolist()], renamed)
    whole = metrics.LocalMeasure.of("selection_rate", None, pred, **arguments)
    assert whole.worst().value == metrics.worst_k_di(theirs)
    by_chance = whole.noise_floor()
    np.testing.assert_array_equal(
        by_chance.samples, metrics.noise_floor(pred, **arguments).samples
    )


def test_what_has_no_support_is_not_estimable_and_says_why():
    y = np.r_[np.ones(30), np.zeros(90)]
    part = np.r_[["a"] * 60, ["b"] * 60]
    group = np.tile(["x", "y"], 60)
    group[:30] = "x"
    arguments = {"sensitive_features": group, "subgroups": part, "min_size": 40}
    pred = np.arange(120) % 3 == 0
    local = local_measure("false_negative_rate", y, pred, **arguments)
    assert local["reason"].tolist() == [
        "30 rows with outcome 1",
        "0 rows with outcome 1",
    ]
    arguments["min_size"] = 20
    local = local_measure("false_negative_rate", y, pred, **arguments)
    assert local["reason"].tolist() == [
        "one group only with outcome 1",
        "0 rows with outcome 1",
    ]
    assert local[["gap", "ci_low", "ci_high", "ratio"]].isna().all(axis=None)
    local = local_measure("auc", y, pred, **arguments)
    assert local["reason"].tolist() == ["undefined for y", "undefined for x and y"]


@pytest.mark.parametrize("measure", metrics.MEASURES)
def test_gaps_are_signed_and_named(measure):
    y, p, group, weight, _ = rows(seed=7)
    pred = given_to(measure, p)
    arguments = {"sensitive_features": group, "sample_weight": weight}
    by_group = metrics.measure_by_group(measure, y, pred, **arguments).set_index(
        "group"
    )["value"]
    gaps = metrics.measure_gaps(measure, y, pred, favourable=False, **arguments)
    best = (
        by_group.idxmax()
        if metrics.catalog.better_when(measure, favourable=False) == "high"
        else by_group.idxmin()
    )
    assert (gaps["reference"] == best).all()
    assert set(gaps["group"]) == set(by_group.index) - {best}
    rates_of_reference = by_group[gaps["group"]].to_numpy()
    np.testing.assert_allclose(gaps["difference"], rates_of_reference - by_group[best])
    against_reference = metrics.measure_gaps(
        measure, y, pred, reference="g0", **arguments
    )
    back = metrics.measure_gaps(measure, y, pred, reference="g1", **arguments)
    np.testing.assert_allclose(
        against_reference.set_index("group").loc[
            "g1", ["difference", "ci_low", "ci_high"]
        ],
        -back.set_index("group")
        .loc["g0", ["difference", "ci_high", "ci_low"]]
        .to_numpy(float),
    )
    if metrics.catalog.measure_of(measure).limits[0] >= 0:
        ours = against_reference.set_index("group").loc[
            "g1", ["ratio", "ratio_low", "ratio_high"]
        ]
        theirs = back.set_index("group").loc["g0", ["ratio", "ratio_high", "ratio_low"]]
        np.testing.assert_allclose(ours, 1 / theirs.to_numpy(float))


def test_the_gap_of_a_rate_has_newcombes_interval():
    y, p, group, _, _ = rows(groups=2)
    pred = (p > 0.5).astype(int)
    gap = metrics.measure_gaps(
        "true_positive_rate", y, pred, sensitive_features=group, reference="g0"
    ).iloc[0]
    counts = [
        (pred[(y == 1) & (group == name)].sum(), ((y == 1) & (group == name)).sum())
        for name in ("g1", "g0")
    ]
    low, high = newcombe_interval(*counts[0], *counts[1])
    assert (gap["ci_low"], gap["ci_high"]) == pytest.approx((low, high))


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 10_000))
@examples(40)
def test_a_ratio_with_nothing_is_undefined_or_unbounded(ones, others, seed):
    pred = np.r_[np.arange(12) < ones, np.arange(12) < others].astype(int)
    group = np.repeat(["a", "b"], 12)
    order = np.random.default_rng(seed).permutation(24)
    gap = metrics.measure_gaps(
        "selection_rate",
        None,
        pred[order],
        sensitive_features=group[order],
        reference="b",
    ).iloc[0]
    ends = gap[["ratio_low", "ratio_high"]].to_numpy(float)
    if others == 0:
        assert np.isnan([gap["ratio"], *ends]).all()
        return
    assert ends[0] <= gap["ratio"] + 1e-12
    assert gap["ratio"] <= ends[1] + 1e-12
    assert np.isfinite(ends).all()


@pytest.mark.parametrize("measure", sampled(["auc", "calibration"], 2))
def test_chance_is_what_shuffling_groups_gives(measure):
    y, p, group, _, part = rows(900, groups=3, seed=11)
    pred = given_to(measure, p)
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(250):
        shuffled = group.copy()
        for name in np.unique(part):
            in_subgroup = part == name
            shuffled[in_subgroup] = rng.permutation(group[in_subgroup])
        drawn.append(
            local_measure(
                measure, y, pred, sensitive_features=shuffled, subgroups=part
            )["gap"].max()
        )
    arguments = {"sensitive_features": group, "subgroups": part}
    ours = metrics.LocalMeasure.of(measure, y, pred, **arguments).noise_floor()
    assert ours.mean == pytest.approx(np.mean(drawn), rel=0.06)
    assert ours.quantile == pytest.approx(np.quantile(drawn, 0.95), rel=0.12)
