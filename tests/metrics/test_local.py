"""Local DI against a plain loop over subgroups."""

import numpy as np
import pandas as pd
import pytest
from by_hand import gap_interval

from fairdash.metrics import demographic_parity_difference, local_di, worst_k_di


def by_loop(y_pred, group, subgroup):
    """Return the gap of every subgroup, one mask at a time."""
    gaps = {}
    for name in subgroup.cat.categories:
        rates = [
            y_pred[(subgroup == name) & (group == g)].mean() for g in np.unique(group)
        ]
        gaps[name] = max(rates) - min(rates)
    return gaps


@pytest.mark.parametrize("fixture", ["rows", "rows_of_three_groups"])
def test_every_subgroup_equals_a_plain_loop(fixture, request):
    rows = request.getfixturevalue(fixture)
    table = local_di(rows.y_pred[0], **rows.where, min_size=1).set_index("subgroup")
    expected = by_loop(rows.y_pred[0], rows.group, rows.subgroup)
    assert table.index.tolist() == list(expected)
    assert np.allclose(table["local_di"], list(expected.values()))
    assert table["estimable"].all()
    assert (table["reason"] == "").all()
    for group in np.unique(rows.group):
        inside = rows.subgroup[rows.group == group].value_counts()
        assert table[f"n_{group}"].equals(inside.loc[table.index].rename(f"n_{group}"))


def test_the_interval_is_that_of_the_counts(rows):
    table = local_di(rows.y_pred[0], **rows.where, confidence=0.9)
    use = table[table["estimable"]]
    n = use[["n_a", "n_b"]].to_numpy()
    low, high = gap_interval(use[["rate_a", "rate_b"]] * n, n, confidence=0.9)
    assert np.allclose(use["ci_low"], low)
    assert np.allclose(use["ci_high"], high)


def test_small_subgroups_are_not_estimable_and_say_so(rows):
    table = local_di(rows.y_pred[0], **rows.where, min_size=50).set_index("subgroup")
    rare = table.loc["rare"]
    assert rare["n"] < 50
    assert not rare["estimable"]
    assert rare["reason"] == f"{rare['n']} rows"
    assert rare[["local_di", "ci_low", "ci_high"]].isna().all()
    assert table.drop("rare")["local_di"].notna().all()


def test_a_group_without_rows_takes_away_its_own_pairs_only():
    subgroup = ["x"] * 3 + ["y"] * 2 + ["z"] * 1
    group = ["a", "b", "c", "a", "b", "c"]
    table = local_di([1] * 6, sensitive_features=group, subgroups=subgroup, min_size=1)
    assert table["reason"].tolist() == ["", "", "one group only"]
    assert table["local_di"].isna().tolist() == [False, False, True]


def test_rows_without_a_subgroup_count_nowhere(rows):
    masked = rows.subgroup.where(rows.subgroup != "old")
    table = local_di(
        rows.y_pred[0], sensitive_features=rows.group, subgroups=masked, min_size=1
    ).set_index("subgroup")
    full = local_di(rows.y_pred[0], **rows.where, min_size=1).set_index("subgroup")
    assert table.loc["old", "reason"] == "0 rows"
    assert table.drop("old").equals(full.drop("old"))


def test_one_subgroup_of_all_rows_is_the_global_difference(rows):
    local = local_di(
        rows.y_pred[0], sensitive_features=rows.group, subgroups=["all"] * len(rows.y)
    )
    expected = demographic_parity_difference(
        rows.y_pred[0], sensitive_features=rows.group
    )
    assert local["local_di"].item() == pytest.approx(expected)


def test_worst_k_is_the_mean_of_the_largest_estimable():
    table = pd.DataFrame({"local_di": [0.1, np.nan, 0.4, 0.2]})
    assert worst_k_di(table) == pytest.approx(0.4)
    assert worst_k_di(table, 2) == pytest.approx(0.3)
    assert worst_k_di(table, 3) == pytest.approx(0.7 / 3)
    assert np.isnan(worst_k_di(table, 4))
    assert np.isnan(worst_k_di(table, 5))


def test_groups_may_come_as_categories_in_any_order(rows):
    names = pd.Series(rows.group).astype(str)
    reverse = sorted(set(names), reverse=True)
    labelled = pd.Categorical(names, categories=[*reverse, "nobody"])
    for subgroup in (rows.subgroup, rows.subgroup.where(names.index % 7 > 0)):
        single, two = (
            local_di(rows.y_pred[0], sensitive_features=groups, subgroups=subgroup)
            for groups in (names, labelled)
        )
        pd.testing.assert_frame_equal(single, two)
