import json

import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from fairdash.datasets import (
    Condition,
    Roles,
    check_table,
    make_dataset,
    read_conditions,
)


@pytest.fixture
def loans():
    return pd.DataFrame(
        {
            "taken": [1, 2, 3, 4, 5, 3, 1, 6] * 25,
            "race": ["White", "Black", "Joint", "White", "Asian", "Black", None, "x"]
            * 25,
            "age": [25.0, 31, np.nan, 44, 8888, 52, 61, 29] * 25,
            "amount": np.arange(200.0) * 3 % 17,
        }
    )


@pytest.fixture
def recipe():
    return Roles(
        target="taken",
        positive=("1", "2"),
        negative=("3",),
        sensitive_feature="race",
        groups={"White": ("White",), "Black": ("Black",)},
        features=("amount",),
        rows=({"column": "age", "below": 60},),
        preparation=({"kind": "missing", "column": "age", "values": ["8888"]},),
    )


@pytest.mark.parametrize(
    "condition, expected, words",
    [
        ({"column": "a", "among": [1, "2.0"]}, [1, 1, 0, 0], "a = 1, 2.0"),
        ({"column": "a", "not_among": 1}, [0, 1, 1, 1], "a ≠ 1"),
        ({"column": "a", "at_least": 2, "below": 3}, [0, 1, 0, 0], "a ≥ 2 and < 3"),
        ({"column": "a", "above": 2}, [0, 0, 1, 0], "a > 2"),
        ({"column": "a", "missing": True}, [0, 0, 0, 1], "a is missing"),
        (
            {
                "any_of": [
                    {"column": "a", "missing": True},
                    {"column": "b", "among": "x"},
                ]
            },
            [1, 0, 1, 1],
            "a is missing or b = x",
        ),
        (
            {
                "any_of": [
                    {"column": "a", "among": 2},
                    {
                        "all_of": [
                            {"column": "a", "at_most": 3},
                            {"column": "b", "among": "x"},
                        ]
                    },
                ]
            },
            [1, 1, 1, 0],
            "a = 2 or (a ≤ 3 and b = x)",
        ),
    ],
)
def test_a_condition_holds_where_its_words_say(condition, expected, words):
    frame = pd.DataFrame({"a": [1, 2, 3, None], "b": ["x", "y", "x", None]})
    if words == "a = 1, 2.0":
        expected = [1, 0, 0, 0]  # the label of 2 is "2"
    parsed = Condition.model_validate(condition)
    np.testing.assert_array_equal(parsed.holds(frame), np.array(expected, bool))
    assert str(parsed) == words
    again = Condition.model_validate_json(parsed.model_dump_json(exclude_defaults=True))
    assert again == parsed


@pytest.mark.parametrize(
    "condition, message",
    [
        ({}, "one of `column`, `all_of` and `any_of`"),
        ({"column": "a"}, "'a' says nothing of its values"),
        ({"among": [1]}, "one of `column`"),
        ({"column": "a", "at_least": 5, "below": 2}, "lower end lies above"),
        ({"column": "a", "among": [1], "not_among": [1]}, "in `not_among`"),
        ({"column": "a", "equals": 1}, "Extra inputs"),
    ],
)
def test_a_condition_that_says_nothing_is_refused(condition, message):
    with pytest.raises(ValueError, match=message):
        Condition.model_validate(condition)


def test_values_by_column_of_an_earlier_version_are_conditions():
    (condition,) = read_conditions({"year": [2023]})
    assert condition == Condition(column="year", among=["2023"])


def test_a_declared_recipe_counts_every_row_it_leaves_out(loans, recipe):
    dataset = make_dataset(loans, recipe, name="loans")
    message = dataset.excluded[["reason", "column", "rows", "values"]]
    assert message.to_numpy().tolist() == [
        ["not age < 60", "age", 75, ()],
        ["outcome neither positive nor negative", "taken", 50, ("4", "6")],
    ]
    assert dataset.n_rows + dataset.excluded["rows"].sum() == len(loans)
    mask = loans[(loans["age"] < 60) & loans["taken"].isin([1, 2, 3])]
    mask = mask[mask["race"].isin(["White", "Black"])]
    assert dataset.n_rows == len(mask)
    assert dataset.y.sum() == mask["taken"].isin([1, 2]).sum()


def test_a_recipe_survives_as_json_and_older_roles_keep_their_identity(recipe):
    assert Roles.model_validate_json(recipe.model_dump_json()) == recipe
    plain = Roles(target="y", positive="1", sensitive_feature="s", features=())
    assert not {"rows", "negative"} & set(plain.identity())
    stored = json.loads(plain.model_dump_json())
    for later in ("rows", "negative"):
        del stored[later]
    assert Roles.model_validate(stored).identity() == plain.identity()


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"rows": ({"column": "year", "among": 1},)}, "no column 'year'"),
        ({"rows": ({"column": "race", "above": 1},)}, "holds text: .*Choose among"),
        (
            {"rows": ({"column": "race", "among": ["White", "Blak"]},)},
            "No row has 'race' = Blak.*its values are.*Remove",
        ),
        ({"negative": ("9",)}, "No row has the negative value '9'"),
        ({"negative": ("2", "3")}, r"\['2'\] of 'taken' count as positive and as"),
        ({"rows": ({"column": "age", "above": 9999},)}, "200 rows: not age > 9,999"),
    ],
)
def test_a_recipe_that_does_not_fit_says_what_to_change(
    loans, recipe, changes, message
):
    def prepare():
        changed = Roles.model_validate({**vars(recipe), **changes})
        make_dataset(loans, changed, name="loans")

    with pytest.raises(ValueError, match=message):
        prepare()


def test_the_checks_name_a_condition_that_does_not_fit(loans, recipe):
    changes = {"rows": ({"column": "race", "among": ["Blak"]},)}
    changed = Roles.model_validate({**vars(recipe), **changes})
    checks = check_table(loans, changed)
    assert checks["check"].tolist() == ["value of condition absent"]


values = st.sampled_from(["a", "b", "c", None])
tables = st.lists(
    st.tuples(values, values, st.one_of(st.none(), st.integers(0, 6))), min_size=8
)
leaves = st.one_of(
    st.builds(
        lambda column, some: {"column": column, "among": some},
        st.sampled_from(["outcome", "group"]),
        st.sets(st.sampled_from("abc"), min_size=1),
    ),
    st.builds(lambda low: {"column": "size", "at_least": low}, st.integers(0, 5)),
    st.builds(lambda flag: {"column": "group", "missing": flag}, st.booleans()),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.builds(
        lambda name, parts: {name: parts},
        st.sampled_from(["all_of", "any_of"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=5,
)


@examples(200)
@given(
    rows=tables,
    conditions=st.lists(conditions, max_size=3),
    negative=st.sampled_from([(), ("b",), ("b", "c")]),
    missing=st.sampled_from(["keep", "exclude"]),
    sensitive_missing=st.sampled_from(["exclude", "group"]),
)
def test_rows_in_are_rows_used_and_rows_left_out_by_reason(
    rows, conditions, negative, missing, sensitive_missing
):
    frame = pd.DataFrame(rows, columns=["outcome", "group", "size"])
    frame["size"] = frame["size"].astype(float)
    roles = Roles(
        target="outcome",
        positive=("a",),
        negative=negative,
        sensitive_feature="group",
        sensitive_missing=sensitive_missing,
        features=("size",),
        rows=conditions,
        missing=missing,
    )
    try:
        dataset = make_dataset(frame, roles, name="drawn")
    except ValueError:
        assume(False)
    excluded = dataset.excluded
    assert dataset.n_rows + excluded["rows"].sum() == len(frame)
    assert (excluded["rows"] > 0).all()
    included = frame.iloc[dataset.row_number]
    for condition in roles.rows:
        assert condition.holds(included).all()
    if negative:
        assert set(included["outcome"]) <= {"a", *negative}
