"""Summaries over seeds."""

import numpy as np
import pandas as pd
import pytest

from fairdash.metrics import LocalMeasure, summarise_seeds, views

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
    road = table.iloc[0]
    plain = table.iloc[1]
    assert (road["method"], road["n_seeds"], road["auc_seeds"]) == ("road", 3, 3)
    assert road["auc"] == pytest.approx(0.7)
    assert road["auc_sd"] == pytest.approx(np.std([0.6, 0.8, 0.7], ddof=1))
    assert road["auc_low"] == pytest.approx(0.6)
    assert (plain["n_seeds"], plain["auc_seeds"], plain["auc"]) == (2, 1, 0.7)
    assert np.isnan(plain["auc_sd"])


def test_a_mean_has_an_interval_where_each_of_its_seeds_has_one():
    rows = ROWS.assign(auc_low=[np.nan, 0.6, 0.7, np.nan, 0.6])
    road, plain = summarise_seeds(rows, "method").to_dict("records")
    assert np.isnan(road["auc_low"])  # 0.65 of two seeds, of a mean over three
    assert plain["auc_low"] == 0.6  # its only seed


def estimates_of(y_pred, where, seed=0, **changed):
    inside = {**where, **changed}
    local = LocalMeasure.of("selection_rate", None, y_pred, **inside)
    return local.estimates(seed=seed)


def averaged(*tables):
    mean = views.over_seeds(pd.concat(tables, ignore_index=True))
    return views.gap_table(mean, "selection_rate")


def test_gaps_are_averaged_over_the_seeds_where_a_subgroup_is_estimable(rows):
    first = estimates_of(rows.y_pred[0], rows.where)
    second = estimates_of(rows.y_pred[1], rows.where, seed=1, min_size=1)
    table = averaged(first, second)
    first_table, second_table = (
        views.gap_table(seed, "selection_rate") for seed in (first, second)
    )
    assert table["subgroup"].tolist() == first_table["subgroup"].tolist()
    assert table["n_seeds"].tolist() == [2, 2, 2, 1]
    expected = (first_table["gap"] + second_table["gap"]).head(3) / 2
    assert np.allclose(table["gap"].head(3), expected)
    rare = table.iloc[3]
    assert (rare["estimable"], rare["reason"]) == (True, "")
    assert rare["ci_low"] == second_table["ci_low"].iloc[3]
    assert np.isnan(rare["gap_sd"])


def test_a_subgroup_that_few_seeds_can_estimate_is_not_estimable(rows):
    never = [estimates_of(rows.y_pred[0], rows.where, seed) for seed in (1, 2)]
    once = estimates_of(rows.y_pred[0], rows.where, 0, min_size=1)
    rare = averaged(once, *never).iloc[3]
    assert (rare["estimable"], rare["n_seeds"]) == (False, 1)
    assert rare["reason"] == f"{rare['n']} rows"
    assert np.isnan(rare["gap"])


def test_words_of_users_are_values_in_estimates_and_change_no_number():
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b"], 400)
    part = rng.choice(["north", "south"], 400)
    decided = rng.integers(0, 2, 400)
    pairs = [["gap", "value"], ["n", "rate_a"], ["other", "Rows"], ["self", "group"]]
    plain = LocalMeasure.of(
        "selection_rate", None, decided, sensitive_features=group, subgroups=part
    ).estimates()
    for names in [*pairs, ["", "é"]]:
        renamed = dict(zip("ab", names, strict=True))
        places = dict(zip(["north", "south"], names, strict=True))
        hostile = LocalMeasure.of(
            "selection_rate",
            None,
            decided,
            sensitive_features=pd.Series(group).map(renamed),
            subgroups=pd.Series(part).map(places),
        ).estimates()
        relabelled = plain.assign(
            group=plain["group"].map(renamed), subgroup=plain["subgroup"].map(places)
        )
        keys = ["subgroup", "group", "measure"]
        numbers = ["value", "low", "high", "n"]
        mine, theirs = (
            table.sort_values(keys)[numbers].to_numpy()
            for table in (hostile, relabelled)
        )
        np.testing.assert_allclose(mine, theirs)
