import numpy as np
import pandas as pd
import pytest

from fairdash.datasets import Cut, load_sample, make_dataset


def with_roles(roles, **changes):
    return roles.model_validate({**roles.model_dump(), **changes})


def test_outcome_and_groups_follow_the_roles(people, roles):
    dataset = make_dataset(people, roles, name="people")
    assert dataset.n_rows == 400
    assert dataset.y.dtype == np.int8
    np.testing.assert_array_equal(dataset.y, people["granted"] == "yes")
    assert dataset.group.dtype == np.int64
    assert dataset.group_names == ("Female", "Male")
    np.testing.assert_array_equal(dataset.sensitive_features, people["sex"])
    assert dataset.excluded.empty
    columns = ["reason", "column", "rows", "example_rows", "values", "about"]
    assert list(dataset.excluded) == columns


def test_groups_unite_values_and_take_the_rest(people, roles):
    groups = {"land": ("farm",), "town": ()}
    by_job = with_roles(
        roles, sensitive_feature="job", features=("age",), groups=groups
    )
    dataset = make_dataset(people, by_job, name="people")
    assert dataset.group_names == ("land", "town")
    np.testing.assert_array_equal(dataset.group == 0, people["job"] == "farm")


def test_every_row_left_out_is_counted_once_with_its_reason(people, roles):
    people.loc[[2, 7], "granted"] = None
    people.loc[[7, 9], "sex"] = None
    people.loc[[9, 11, 12], "age"] = np.nan
    people.loc[[12, 20], "job"] = None
    people["wave"] = np.where(people.index < 390, 1, 2)
    chosen = with_roles(roles, keep={"wave": ("1",)}, missing="exclude")
    dataset = make_dataset(people, chosen, name="people")
    assert dataset.excluded.to_numpy().tolist() == [
        [
            "outside the row filter",
            "wave",
            10,
            (391, 392, 393, 394, 395),
            ("2",),
            "rows",
        ],
        ["outcome missing", "granted", 2, (3, 8), (), "outcome"],
        ["sensitive feature missing", "sex", 1, (10,), (), "groups"],
        ["feature missing", "age", 2, (12, 13), (), "rows"],
        ["feature missing", "job", 1, (21,), (), "rows"],
    ]
    assert dataset.n_rows + dataset.excluded["rows"].sum() == len(people)
    np.testing.assert_array_equal(
        dataset.frame["person"], people["person"].iloc[dataset.row_number]
    )
    assert list(dataset.frame.index) == list(range(dataset.n_rows))


@pytest.mark.parametrize("column, value", [("income", 1.5), ("job", "mine")])
def test_one_changed_feature_changes_the_key(people, roles, column, value):
    changed = people.copy()
    changed.loc[399, column] = value
    keys = {make_dataset(f, roles, name="p").key for f in (people, changed)}
    assert len(keys) == 2


def spoil(**columns):
    return lambda frame: frame.assign(**columns)


@pytest.mark.parametrize(
    "change, role_changes, message",
    [
        (
            spoil(granted=lambda f: np.where(f["age"] < 30, "maybe", f["granted"])),
            {},
            r"'granted' has 3 values where two are needed: .*\(\d+ rows\)",
        ),
        (
            spoil(),
            {"positive": "Yes"},
            "No row has the positive value 'Yes'.*Choose one",
        ),
        (
            spoil(),
            {"groups": {"a": ("Female",), "b": ("Male",), "c": ("x",)}},
            r"in the groups \['c'\]",
        ),
        (
            spoil(income=lambda f: f["income"].where(f.index > 2, np.inf)),
            {},
            "'income' is infinite in 3 rows",
        ),
        (
            spoil(),
            {"sensitive_feature": "age", "features": ("job",), "subgroup_columns": ()},
            r"'age' makes 52 groups; at most 20 .*sensitive_cuts",
        ),
        (
            lambda f: f.assign(tags=[[1]] * len(f)),
            {"features": ("age", "tags")},
            "'tags' hold lists or records",
        ),
        (
            lambda f: pd.concat([f, f[["age"]]], axis=1),
            {},
            r"more than one column named \['age'\]",
        ),
    ],
)
def test_unusable_tables_raise(people, roles, change, role_changes, message):
    with pytest.raises(ValueError, match=message):
        make_dataset(change(people), with_roles(roles, **role_changes), name="people")


@pytest.mark.parametrize(
    "name, key",
    [
        ("loans", "0dc01b5d78077b13"),
        ("hiring", "50a8d244fca4252e"),
        ("readmission", "f36ea350e5c7d9a5"),
    ],
)
def test_keys_of_data_sets_made_before_stand(name, key):
    assert load_sample(name).key.startswith(key)


@pytest.mark.parametrize(
    "sign, compare, words",
    [
        (">", np.greater, "age > 40"),
        (">=", np.greater_equal, "age ≥ 40"),
        ("<", np.less, "age < 40"),
        ("<=", np.less_equal, "age ≤ 40"),
    ],
)
def test_a_number_is_cut_in_two_outcomes(people, roles, sign, compare, words):
    frame = people.assign(age=people["age"].where(people.index % 10 > 0))
    chosen = {"target": "age", "positive": Cut(sign=sign, value=40)}
    chosen |= {"features": ("income",), "subgroup_columns": ()}
    dataset = make_dataset(frame, roles.model_copy(update=chosen), name="x")
    age = people["age"][people.index % 10 > 0]
    assert dataset.y.tolist() == compare(age, 40).astype(int).tolist()
    assert dataset.excluded["reason"].tolist() == ["outcome missing"]
    assert dataset.roles.outcome() == words


def test_groups_of_several_columns_are_crossed(people, roles):
    chosen = {"crossed_with": ("job",), "features": ("age", "income")}
    dataset = make_dataset(people, roles.model_copy(update=chosen), name="x")
    wanted = people["sex"] + " · " + people["job"]
    assert dataset.sensitive_features.tolist() == wanted.tolist()
    assert dataset.group_names == tuple(sorted(set(wanted)))


def test_missing_groups_are_left_out_or_a_group_of_their_own(people, roles):
    frame = people.assign(sex=people["sex"].where(people.index >= 60))
    assert make_dataset(frame, roles, name="x").n_rows == 340
    changed = roles.model_copy(update={"sensitive_missing": "group"})
    dataset = make_dataset(frame, changed, name="x")
    assert dataset.n_rows == 400
    assert dataset.group_names == ("Female", "Male", "Missing")
    assert (dataset.sensitive_features[:60] == "Missing").all()
