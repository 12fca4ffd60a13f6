"""Summaries over seeds."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from fairdash.metrics import (
    evaluate,
    local_di,
    mean_local_di,
    seed_interval,
    summarise_seeds,
)

ROWS = pd.DataFrame(
    {
        "method": ["road", "plain", "road", "plain", "road"],
        "seed": [0, 0, 1, 1, 2],
        "auc": [0.6, 0.7, 0.8, np.nan, 0.7],
        "auc_low": [0.5, 0.6, 0.7, np.nan, 0.6],
        "note": list("abcde"),
    }
)


def test_mean_spread_and_number_of_seeds_are_those_of_numpy():
    table = summarise_seeds(ROWS, "method")
    assert table.columns.tolist() == [
        "method", "n_seeds", "auc", "auc_sd", "auc_seeds", "auc_low",
    ]  # fmt: skip
    road, plain = table.iloc[0], table.iloc[1]
    assert (road["method"], road["n_seeds"], road["auc_seeds"]) == ("road", 3, 3)
    assert road["auc"] == pytest.approx(0.7)
    assert road["auc_sd"] == pytest.approx(np.std([0.6, 0.8, 0.7], ddof=1))
    assert road["auc_low"] == pytest.approx(0.6)
    assert (plain["n_seeds"], plain["auc_seeds"], plain["auc"]) == (2, 1, 0.7)
    assert np.isnan(plain["auc_sd"])


def test_intervals_keep_their_width(rows):
    one = evaluate(rows.y, rows.scores[0], **rows.where).assign(method="m")
    three = pd.concat([one] * 3)
    table = summarise_seeds(three, ["method"])
    assert table["accuracy_low"].item() == pytest.approx(one["accuracy_low"].item())
    assert table["worst_1_di_sd"].item() == pytest.approx(0)


def test_tables_of_local_di_are_averaged_by_subgroup(rows):
    tables = [local_di(y_pred, **rows.where) for y_pred in rows.y_pred]
    table = summarise_seeds(pd.concat(tables), "subgroup").set_index("subgroup")
    expected = pd.concat(tables).groupby("subgroup")["local_di"].mean()
    assert np.allclose(table["local_di"], expected[table.index], equal_nan=True)
    assert table.loc["rare", "local_di_seeds"] == 0
    assert table.loc["young", "local_di_seeds"] == 3


def test_an_unknown_column_is_refused():
    with pytest.raises(ValueError, match=r"lack: \['lambda'\]"):
        summarise_seeds(ROWS, ["method", "lambda"])


def test_mean_local_di_averages_over_the_seeds_where_a_subgroup_is_estimable(rows):
    first = local_di(rows.y_pred[0], **rows.where)
    second = local_di(rows.y_pred[1], **rows.where, min_size=1)
    table = mean_local_di([first, second])
    assert table["subgroup"].tolist() == first["subgroup"].tolist()
    assert table["n_seeds"].tolist() == [2, 2, 2, 1]
    both = table.head(3)
    expected = (first["local_di"] + second["local_di"]).head(3) / 2
    assert np.allclose(both["local_di"], expected)
    rare, alone = table.iloc[3], second.iloc[3]
    assert rare["estimable"]
    assert rare["reason"] == ""
    assert rare["ci_low"] == alone["ci_low"]
    assert np.isnan(rare["local_di_sd"])


def test_the_mean_over_one_seed_is_the_table_itself(rows):
    one = local_di(rows.y_pred[0], **rows.where)
    table = mean_local_di([one])[one.columns]
    shown = one["estimable"]
    pd.testing.assert_frame_equal(table[shown], one[shown])
    assert table[~shown]["reason"].tolist() == one[~shown]["reason"].tolist()
    with pytest.raises(ValueError, match="at least one seed"):
        mean_local_di([])


def test_a_subgroup_that_few_seeds_can_estimate_is_not_estimable(rows):
    never = local_di(rows.y_pred[0], **rows.where)
    once = local_di(rows.y_pred[0], **rows.where, min_size=1)
    rare = mean_local_di([once, never, never]).iloc[3]
    assert not rare["estimable"]
    assert rare["reason"] == f"{never['n'].iloc[3]} rows"
    assert rare["n_seeds"] == 1
    assert np.isnan(rare["local_di"])


def test_several_models_are_averaged_each_over_the_seeds_it_has(rows):
    first = local_di(rows.y_pred, **rows.where)
    second = local_di(1 - rows.y_pred[:2], **rows.where, min_size=1)
    together = mean_local_di([first, second])
    for model in range(3):
        tables = [t[t["model"] == model].drop(columns="model") for t in (first, second)]
        alone = mean_local_di([table for table in tables if len(table)])
        mine = together[together["model"] == model].drop(columns="model")
        pd.testing.assert_frame_equal(
            mine.reset_index(drop=True), alone, check_dtype=False
        )


def test_a_subgroup_that_most_tables_lack_has_no_rows_there():
    def table(name):
        labels, groups = np.repeat(["u", name], 60), np.tile(["a", "a", "b", "b"], 30)
        return local_di([1, 0] * 60, sensitive_features=groups, subgroups=labels)

    rare = mean_local_di([*(table("v") for _ in range(4)), table("w")]).iloc[2]
    assert (rare["subgroup"], rare["estimable"], rare["n"]) == ("w", False, 12)
    assert (rare["reason"], rare["n_a"], rare["n_seeds"]) == ("0 rows", 6, 1)


def test_undefined_seeds_do_not_enter_an_interval():
    found = seed_interval([0.1, np.nan, 0.4, 0.3], confidence=0.9)
    ends = ttest_1samp([0.1, 0.4, 0.3], 0).confidence_interval(0.9)
    assert np.allclose(found, [0.8 / 3, ends.low, ends.high])
    assert np.isnan(seed_interval([0.1, np.nan])[1:]).all()
    assert np.isnan(seed_interval([np.nan])[0])
