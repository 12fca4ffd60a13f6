"""`find_subgroups`: what is planted is found, chance is not, bad input is told."""

import numpy as np
import pandas as pd
import pytest

from fairdash.analysis.subgroups.conditions import Condition
from fairdash.audits import as_subgroups, find_subgroups
from fairdash.datasets import Subgroups
from fairdash.metrics import measure_by_group


def people(seed, n=1500, planted=0.0, everywhere=0.0, within=0.0):
    """Return decisions, groups and columns; women are marked down by what is asked."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 66, n),
            "site": rng.choice(["Port", "Quay", "Hill"], n),
            "score": rng.normal(size=n).round(2),
            "note": rng.choice(["a", "b"], n),
        }
    )
    woman = rng.random(n) < 0.45
    region = (frame["site"] == "Port").to_numpy()
    inner = region & (frame["note"] == "a").to_numpy()
    rate = 0.6 - woman * (everywhere + planted * region + within * inner)
    sex = np.where(woman, "Female", "Male")
    return (rng.random(n) < rate).astype(int), sex, frame


def find(data, **settings):
    decided, sex, frame = data
    settings = {"random_state": 0, "n_permutations": 99, **settings}
    return find_subgroups(decided, sensitive_features=sex, frame=frame, **settings)


def rows_of(conditions, frame):
    return np.logical_and.reduce([condition.holds(frame) for condition in conditions])


def test_a_planted_region_comes_first_with_rates_that_are_recomputed():
    decided, sex, frame = data = people(0, planted=0.35)
    table = find(data)
    first = table.iloc[0]
    assert first["subgroup"].startswith("site Port")
    assert first["p_adjusted"] == 0.01  # the least there is
    assert first["lower"], first["higher"] == ("Female", "Male")
    for row in table.itertuples():
        inside = rows_of(row.conditions, frame)
        rates = measure_by_group(
            "selection_rate", None, decided[inside], sensitive_features=sex[inside]
        ).set_index("group")
        assert row.n == inside.sum() >= 50
        assert row.rate_lower == rates.loc[row.lower, "value"]
        assert row.n_higher == rates.loc[row.higher, "n"]
        assert row.gap == pytest.approx(row.rate_higher - row.rate_lower)
        assert row.ci_low <= row.gap <= row.ci_high
        assert (row.ci_low > 0) == (row.z > table.attrs["critical"])
    beyond = table["p_adjusted"] <= 0.05
    assert beyond.is_monotonic_decreasing, "what is beyond chance comes first"
    assert table.loc[beyond, "ci_low"].iloc[0] == table["ci_low"].max()


@pytest.mark.parametrize(
    "measure", ["true_positive_rate", "false_positive_rate", "precision", "mean_error"]
)
def test_every_rate_is_about_its_own_rows(measure):
    decided, sex, frame = people(1, planted=0.4)
    y = np.random.default_rng(2).integers(0, 2, len(decided))
    table = find((decided, sex, frame), measure=measure, y_true=y, depth=2)
    for row in table.head(3).itertuples():
        inside = rows_of(row.conditions, frame)
        rates = measure_by_group(
            measure, y[inside], decided[inside], sensitive_features=sex[inside]
        ).set_index("group")
        assert row.rate_lower == pytest.approx(rates.loc[row.lower, "value"])
        assert row.n == rates["n"].sum() >= 50


def test_sampling_weights_weigh_rates_and_equal_ones_change_nothing():
    decided, sex, frame = people(13, 900, planted=0.4)
    heavy = np.where(decided == 1, 4.0, 1.0) * np.where(frame["age"] < 20, 0, 1)
    arguments = {"depth": 2, "n_permutations": 19}
    table = find((decided, sex, frame), sample_weight=heavy, **arguments)
    for row in table.head(3).itertuples():
        inside = rows_of(row.conditions, frame) & (heavy > 0)
        rates = measure_by_group(
            "selection_rate", None, decided[inside], sensitive_features=sex[inside],
            sample_weight=heavy[inside],
        ).set_index("group")  # fmt: skip
        assert row.rate_higher == pytest.approx(rates.loc[row.higher, "value"])
        assert (row.n, row.n_lower) == (inside.sum(), rates.loc[row.lower, "n"])
    plain = find((decided, sex, frame), **arguments)
    equal = find((decided, sex, frame), sample_weight=np.full(900, 3.0), **arguments)
    pd.testing.assert_frame_equal(plain, equal)
    with pytest.raises(ValueError, match="`sample_weight`"):
        find((decided, sex, frame), sample_weight=-heavy)


def test_what_its_parent_explains_is_folded_and_what_exceeds_it_is_not():
    plain = find(people(3, n=6000, planted=0.3))
    beyond = plain[plain["p_adjusted"] <= 0.05]
    assert beyond["subgroup"].tolist() == ["site Port"]
    nested = find(people(3, n=12000, planted=0.15, within=0.35))
    beyond = nested[nested["p_adjusted"] <= 0.05]
    assert beyond["subgroup"].tolist() == ["site Port and note a", "site Port"]


def test_rows_that_confirm_have_no_part_in_the_list():
    decided, sex, frame = people(7, 3000, planted=0.35)
    rng = np.random.default_rng(1)
    outcome = (rng.random(3000) < 0.5).astype(int)
    confirm = rng.random(3000) < 0.2
    arguments = {"measure": "true_positive_rate", "confirm": confirm}
    table = find((decided, sex, frame), y_true=outcome, **arguments)
    first = table.iloc[0]
    assert "site Port" in first["subgroup"]
    assert first["p_adjusted"] < 0.05
    about = confirm & (outcome == 1)
    assert first["n"] == (rows_of(first["conditions"], frame) & about).sum()

    def mixed(values):  # those of rows that confirm
        order = np.arange(3000)
        order[confirm] = rng.permutation(order[confirm])
        return values[order]

    mixed_table = pd.DataFrame({name: mixed(frame[name].to_numpy()) for name in frame})
    data = mixed(decided), mixed(sex), mixed_table
    again = find(data, y_true=mixed(outcome), **arguments)
    assert again["subgroup"].tolist() == table["subgroup"].tolist()
    assert again["conditions"].tolist() == table["conditions"].tolist()
    assert again.attrs == table.attrs
    assert again["p_adjusted"].tolist() != table["p_adjusted"].tolist()


@pytest.mark.parametrize(
    "confirm, message",
    [
        (np.ones(400, bool), "leaves no row to search"),
        (np.zeros(400, bool), "`min_size` is 50, but 'selection_rate' is about 0 rows"),
        (np.ones(7, bool), "True or False for every row"),
        (np.arange(400), "True or False for every row"),
    ],
)
def test_rows_that_cannot_confirm_are_refused(confirm, message):
    with pytest.raises(ValueError, match=message):
        find(people(8, 400), confirm=confirm)


def test_the_sensitive_feature_and_its_renaming_are_not_searched():
    decided, sex, frame = people(8, 400)
    frame = frame.assign(gender=np.where(sex == "Male", "m", "f"), when="2020")
    table = find((decided, sex, frame))
    skipped = table.attrs["skipped"]
    assert skipped["gender"] == "is the sensitive feature"
    assert skipped["when"] == "is constant"
    assert not table["subgroup"].str.contains("gender").any()


def test_a_found_subgroup_is_one_of_the_subgroups_it_is_made_into():
    decided, sex, frame = people(12, 6000, within=0.5)
    table = find((decided, sex, frame))
    assert table["subgroup"].iloc[0] == "site Port and note a"
    conditions = (*table["conditions"].iloc[0], Condition("age", (), 25.0, 40.0, True))
    subgroups = as_subgroups(conditions, Subgroups(min_size=30))
    labels = subgroups.label(frame)
    inside = rows_of(conditions, frame)
    assert len(set(labels[inside])) == 1
    assert not set(labels[inside].dropna()) & set(labels[~inside].dropna())
    assert subgroups.min_size == 30


@pytest.mark.parametrize(
    "change, message",
    [
        ({"columns": []}, "`columns` is empty"),
        ({"columns": ["sexx"]}, r"The table has no columns \['sexx'\] to search"),
        ({"min_size": 500}, "`min_size` is 500, but 'selection_rate' is about 400 ro"),
        ({"measure": "auc"}, "`measure` must be one of"),
        ({"measure": "accuracy"}, "`y_true` is needed for 'accuracy'"),
        ({"depth": 0}, "`depth` must be a whole number >= 1"),
        ({"alpha": 1.0}, "`alpha` must lie between 0 and 1"),
    ],
)
def test_what_cannot_be_searched_is_told(change, message):
    with pytest.raises(ValueError, match=message):
        find(people(10, 400), **change)


def test_columns_without_a_condition_are_told_with_the_reason():
    decided, sex, frame = people(11, 10_000)
    frame = pd.DataFrame(
        {
            "constant": 1,
            "empty": np.nan,
            "name": [f"person {i}" for i in range(10_000)],
            "gender": sex,
        }
    )
    with pytest.raises(ValueError) as error:
        find((decided, sex, frame))
    for words in (
        "No column can be searched: 'gender' is the sensitive feature",
        "'constant' is constant",
        "'empty' has no values",
        "'name' has 10,000 values, none of them in 50 rows",
        "or choose a smaller `min_size`",
    ):
        assert words in str(error.value)
    wide = pd.DataFrame({"level": np.arange(10_000) % 9_000, "site": sex == "x"})
    wide["level"] = wide["level"].where(wide.index > 4000, -1).astype(str)
    table = find((decided, sex, wide))
    assert table["subgroup"].tolist() == ["level -1"]


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("how", [{}, {"confirm": np.arange(400) % 2 == 0}])
def test_where_all_are_decided_alike_no_gap_is_beyond_chance(value, how):
    rng = np.random.default_rng(12)
    group = rng.choice(["a", "b"], 400)
    frame = pd.DataFrame({"x": rng.normal(size=400)})
    arguments = {"sensitive_features": group, "frame": frame, "random_state": 0, **how}
    result = find_subgroups(np.full(400, value), **arguments)
    assert (result["gap"] == 0).all()
    assert (result["p_adjusted"] == 1).all()
    assert (result["ci_low"] <= 0).all()
    assert (result["ci_high"] >= 0).all()
