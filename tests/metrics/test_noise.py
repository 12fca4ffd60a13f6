"""The noise floor against permutations of real rows."""

import numpy as np
import pytest
from cases import sampled
from scipy.stats import ks_2samp

from fairdash.metrics import LocalMeasure, local_di, noise_floor, worst_k_di


@pytest.mark.parametrize(
    "fixture, k", sampled([("rows_of_three_groups", 2), ("rows", 1)], 2)
)
def test_drawn_counts_follow_the_law_of_permuted_rows(fixture, k, request):
    rows = request.getfixturevalue(fixture)
    drawn = noise_floor(rows.y_pred[0], **rows.where, k=k, n_permutations=4000)
    rng = np.random.default_rng(0)
    shuffled = rows.group.copy()
    permuted = []
    for _ in range(300):
        for name in rows.subgroup.cat.categories:
            inside = np.flatnonzero(rows.subgroup == name)
            shuffled[inside] = rng.permutation(shuffled[inside])
        table = local_di(
            rows.y_pred[0], sensitive_features=shuffled, subgroups=rows.subgroup
        )
        permuted.append(worst_k_di(table, k))
    assert ks_2samp(drawn.samples, permuted).pvalue > 1e-3
    assert drawn.mean == pytest.approx(np.mean(permuted), rel=0.08)
    assert drawn.quantile == pytest.approx(np.quantile(permuted, 0.95), rel=0.12)


def test_a_planted_gap_exceeds_the_floor_and_does_not_move_it(rows):
    unfair = rows.y_pred[0].copy()
    young = (rows.subgroup == "young").to_numpy()
    order = np.argsort(rows.group[young], kind="stable")
    unfair[np.flatnonzero(young)[order]] = np.sort(unfair[young])
    floor = noise_floor(unfair, **rows.where)
    same = noise_floor(rows.y_pred[0], **rows.where)
    assert np.array_equal(floor.samples, same.samples)
    assert worst_k_di(local_di(unfair, **rows.where)) > floor.quantile


def test_without_an_estimable_subgroup_the_floor_is_nan(rows):
    floor = noise_floor(rows.y_pred[0], **rows.where, min_size=10_000)
    assert np.isnan([floor.mean, floor.quantile]).all()
    unit = np.arange(len(rows.group)) % 3
    assert noise_floor(unit == 0, **rows.where, cluster=unit).samples.max() == 1


def test_a_floor_of_means_has_the_error_of_each_group():
    """Groups that are alike in calibration may differ in spread: no pooled error."""
    rng = np.random.default_rng(4)
    group = rng.choice(["a", "b"], 4000, p=[0.9, 0.1])
    width = np.where(group == "a", 3.0, 0.2)
    scores = 1 / (1 + np.exp(-width * rng.normal(size=4000)))
    y = (rng.random(4000) < scores).astype(int)
    local = LocalMeasure.of(
        "calibration", y, scores, sensitive_features=group, subgroups=["all"] * 4000
    )
    off = scores - y
    variance = sum(off[group == g].var(ddof=1) / (group == g).sum() for g in "ab")
    expected = np.sqrt(2 / np.pi * variance)  # mean of an absolute normal difference
    floor = local.noise_floor(n_permutations=20_000)
    assert floor.mean == pytest.approx(expected, rel=0.02)
    assert off.var(ddof=1) * sum(1 / (group == g).sum() for g in "ab") < 0.8 * variance
