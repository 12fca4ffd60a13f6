"""Weights by subgroup, by epoch, and their correlation with local DI."""

import numpy as np
import pytest

from fairdash.metrics import (
    effective_rows,
    local_di,
    ratio_by_subgroup,
    ratio_correlation,
    ratio_quantiles,
)


@pytest.fixture
def ratio(rows):
    """Weights that are large where the rows' own subgroup is young."""
    draw = np.random.default_rng(0).exponential(size=len(rows.y))
    return draw + 2 * (rows.subgroup == "young").to_numpy()


def test_effective_rows_are_all_rows_only_for_equal_weights():
    assert effective_rows(np.full(7, 3.0)) == pytest.approx(7)
    assert effective_rows([1, 0, 0, 0]) == pytest.approx(1)
    assert effective_rows([1, 3]) == pytest.approx(16 / 10)


def test_mean_weight_stands_beside_local_di(rows, ratio):
    table = ratio_by_subgroup(ratio, rows.y_pred[0], **rows.where)
    plain = local_di(rows.y_pred[0], **rows.where)
    assert table[plain.columns].equals(plain)
    for _, row in table.iterrows():
        inside = ratio[(rows.subgroup == row["subgroup"]).to_numpy()]
        half = 1.959964 * inside.std(ddof=1) / np.sqrt(len(inside))
        assert row["mean_ratio"] == pytest.approx(inside.mean())
        assert row["ratio_high"] - row["mean_ratio"] == pytest.approx(half)


def test_correlation_is_pearsons_over_estimable_subgroups(rows, ratio):
    found = ratio_correlation(ratio, rows.y_pred[0], **rows.where, n_resamples=200)
    table = ratio_by_subgroup(ratio, rows.y_pred[0], **rows.where).query("estimable")
    expected = np.corrcoef(table["local_di"], table["mean_ratio"])[0, 1]
    assert found.value == pytest.approx(expected)
    assert found.n_subgroups == 3
    line = np.polyfit(table["local_di"], table["mean_ratio"], 1)
    assert (found.slope, found.intercept) == pytest.approx(tuple(line))
    assert -1 <= found.low < found.high <= 1


def test_correlation_of_two_subgroups_or_of_equal_weights_is_undefined(rows, ratio):
    pair = rows.subgroup.where(rows.subgroup.isin(["young", "old"]))
    pair_of = {"sensitive_features": rows.group, "subgroups": pair}
    two = ratio_correlation(ratio, rows.y_pred[0], **pair_of)
    assert np.isnan(two[:3]).all()
    assert two.n_subgroups == 2
    ones = np.ones(len(rows.y))
    flat = ratio_correlation(ones, rows.y_pred[0], **rows.where, n_resamples=10)
    assert np.isnan(flat[:3]).all()


def test_quantiles_by_group_and_epoch_are_those_of_numpy(rows, ratio):
    history = np.stack([np.ones_like(ratio), ratio])
    table = ratio_quantiles([0, 10], history, rows.group)
    assert table[["group", "epoch"]].to_numpy().tolist() == [
        ["a", 0], ["a", 10], ["b", 0], ["b", 10],
    ]  # fmt: skip
    last = table.iloc[3]
    expected = np.quantile(ratio[rows.group == "b"], [0.05, 0.25, 0.5, 0.75, 0.95])
    assert np.allclose(
        last[["q05", "q25", "q50", "q75", "q95"]].astype(float), expected
    )
    assert last["mean"] == pytest.approx(ratio[rows.group == "b"].mean())
