"""The noise floor against permutations of real rows."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from fairdash.metrics import local_cells, local_di, noise_floor, worst_k_di


@pytest.mark.parametrize("fixture, k", [("rows", 1), ("rows_of_three_groups", 2)])
def test_drawn_counts_follow_the_law_of_permuted_rows(fixture, k, request):
    rows = request.getfixturevalue(fixture)
    drawn = noise_floor(rows.y_pred[0], **rows.where, k=k, n_permutations=4000)
    rng = np.random.default_rng(0)
    shuffled = rows.group.copy()
    permuted = []
    for _ in range(1000):
        for name in rows.subgroup.cat.categories:
            inside = np.flatnonzero(rows.subgroup == name)
            shuffled[inside] = rng.permutation(shuffled[inside])
        cells = local_cells(sensitive_features=shuffled, subgroups=rows.subgroup)
        permuted.append(cells.worst_k_di(rows.y_pred[0], k)[0])
    assert ks_2samp(drawn.samples, permuted).pvalue > 1e-3
    assert drawn.mean == pytest.approx(np.mean(permuted), rel=0.05)
    assert drawn.quantile == pytest.approx(np.quantile(permuted, 0.95), rel=0.1)


def test_a_planted_gap_exceeds_the_floor_and_does_not_move_it(rows):
    unfair = rows.y_pred[0].copy()
    young = (rows.subgroup == "young").to_numpy()
    order = np.argsort(rows.group[young], kind="stable")
    unfair[np.flatnonzero(young)[order]] = np.sort(unfair[young])
    floor = noise_floor(unfair, **rows.where)
    same = noise_floor(rows.y_pred[0], **rows.where)
    assert np.array_equal(floor.samples, same.samples)
    assert worst_k_di(local_di(unfair, **rows.where)) > floor.quantile


def test_the_floor_is_reproducible_and_ordered(rows):
    first, again = (noise_floor(rows.y_pred[0], **rows.where) for _ in range(2))
    assert np.array_equal(first.samples, again.samples)
    assert first.samples.shape == (1000,)
    assert 0 < first.mean < first.quantile < 1


def test_without_an_estimable_subgroup_the_floor_is_nan(rows):
    floor = noise_floor(rows.y_pred[0], **rows.where, min_size=10_000)
    assert np.isnan([floor.mean, floor.quantile]).all()
