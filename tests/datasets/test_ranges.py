"""Ranges as text: they have an order, keep their words, and are compared exactly."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.datasets import (
    Condition,
    Roles,
    Subgroups,
    check_table,
    column_kinds,
    guess_roles,
    make_dataset,
)
from fairdash.datasets.ranges import (
    are_ranges,
    are_whole,
    edges,
    ordered,
    parts_between,
    passing,
    read_range,
)

RATIOS = ["<20%", "20%-<30%", "30%-<36%", "36", "42", "49", "50%-60%", ">60%", "Exempt"]
AGES = ["<25", "25-34", "35-44", "45-54", "55-64", "65-74", ">74"]
INF = float("inf")


@pytest.mark.parametrize(
    "text, expected",
    [
        ("25-34", (25, 34, True, True)),
        (">74", (74, INF, False, False)),
        ("<62", (-INF, 62, False, False)),
        ("20%-<30%", (20, 30, True, False)),
        ("50k–75k", (50_000, 75_000, True, True)),
        ("50–75k", (50_000, 75_000, True, True)),
        ("65+", (65, INF, True, False)),
        ("under 18", (-INF, 18, False, False)),
        ("75 years and over", (75, INF, True, False)),
        ("12 or less", (-INF, 12, False, True)),
        ("$50,000 - $74,999", (50_000, 74_999, True, True)),
        ("18 to 24 years", (18, 24, True, True)),
        ("[20, 30)", (20, 30, True, False)),
        ("(20,30]", (20, 30, False, True)),
        ("(59,Inf]", (59, INF, False, False)),
        ("(-Inf,20]", (-INF, 20, False, True)),
        ("-5 to 5", (-5, 5, True, True)),
        ("36", (36, 36, True, True)),
        ("1.5m+", (1_500_000, INF, True, False)),
    ],
)
def test_a_range_is_read_in_the_ways_that_people_write_it(text, expected):
    assert read_range(text) == expected


@pytest.mark.parametrize(
    "text", ["", "Exempt", "2024-01-31", "34-25", "a-b", "10.0.0.1", "-", "9" * 100]
)
def test_other_text_is_no_range(text):
    assert read_range(text) is None


@given(st.text(max_size=80))
def test_no_text_stops_the_reading(text):
    bounds = read_range(text)
    assert bounds is None or bounds.low <= bounds.high


@given(
    st.integers(-50, 50),
    st.integers(0, 40),
    st.integers(-100, 100),
    st.sampled_from(["above", "at_least", "below", "at_most"]),
)
def test_a_range_passes_a_test_if_all_of_its_numbers_do(low, width, bound, test):
    numbers = np.linspace(low, low + width, 8 * width + 1)
    compare = {
        "above": numbers > bound,
        "at_least": numbers >= bound,
        "below": numbers < bound,
        "at_most": numbers <= bound,
    }[test]
    expected = True if compare.all() else None if compare.any() else False
    assert read_range(f"{low} to {low + width}").holds(test, bound) is expected


def test_ranges_are_ordered_by_size_and_words_come_last():
    shuffled = sorted(RATIOS)
    assert shuffled != RATIOS
    assert ordered(shuffled) == RATIOS
    assert are_ranges(RATIOS)
    assert not are_ranges(["a", "b", "25-34"])
    assert not are_ranges(["1", "2", "3"])
    assert (are_whole(AGES), are_whole(RATIOS)) == (True, False)
    assert edges(AGES) == [25, 35, 45, 55, 65, 75]  # >74 begins at 75


def test_a_bound_inside_a_range_is_refused_with_the_ends_beside_it():
    with pytest.raises(ValueError, match=r"'25-34' lies on both sides of 30.*25 or 35"):
        passing("age", AGES, "at_least", 30)
    assert parts_between("age", [*AGES, "Unknown"], [35, 65])["Unknown"] == -1


def test_of_ranges_that_share_an_end_the_upper_one_has_it():
    passed = passing("x", ["20-30", "30-40"], "at_least", 30)
    assert passed == {"20-30": False, "30-40": True}


@pytest.fixture
def loans():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "approved": rng.choice(["yes", "no"], 900),
            "age": rng.choice(AGES, 900),
            "ratio": rng.choice(RATIOS, 900),
            "amount": rng.integers(1, 99, 900).astype(float),
        }
    )


def test_a_condition_and_groups_and_subgroups_compare_ranges(loans):
    assert np.array_equal(
        Condition(column="age", at_least=35, below=65).holds(loans),
        loans["age"].isin(["35-44", "45-54", "55-64"]),
    )
    matching = loans[Condition(column="ratio", at_least=30).holds(loans)]
    assert set(matching["ratio"]) == set(RATIOS[2:-1])  # and not the word
    roles = Roles(
        target="approved",
        positive="yes",
        sensitive_feature="age",
        sensitive_cuts=(35, 65),
        features=("amount", "ratio"),
        types={"ratio": "range"},
    )
    dataset = make_dataset(loans, roles, name="loans")
    assert dataset.group_names == ("age under 35", "age 35–64", "age 65 or more")
    sizes = loans["age"].isin(["<25", "25-34"]).sum()
    assert dataset.group_sizes["age under 35"] == sizes
    labels = Subgroups(columns=("ratio",), cuts={"ratio": (30, 50)}).label(loans)
    assert list(labels.cat.categories) == [
        "ratio under 30",
        "ratio 30–50",
        "ratio 50 or more",
    ]
    assert labels.isna().sum() == (loans["ratio"] == "Exempt").sum()


def test_groups_that_are_read_as_ranges_stand_in_their_order(loans):
    roles = Roles(
        target="approved",
        positive="yes",
        sensitive_feature="age",
        features=(),
        types={"age": "range"},
    )
    dataset = make_dataset(loans, roles, name="loans")
    assert list(dataset.group_names) == AGES
    assert sorted(AGES) != AGES  # as text they stand in another order


def test_roles_of_earlier_versions_keep_the_order_of_text(loans):
    roles = Roles(
        target="approved", positive="yes", sensitive_feature="age", features=()
    )
    assert list(make_dataset(loans, roles, name="x").group_names) == sorted(AGES)


def test_a_cut_inside_a_range_is_refused_before_rows_are_counted(loans):
    roles = Roles(
        target="approved",
        positive="yes",
        sensitive_feature="age",
        sensitive_cuts=(30,),
        features=(),
    )
    with pytest.raises(ValueError, match=r"both sides of 30. Choose an end"):
        make_dataset(loans, roles, name="loans")
    assert check_table(loans, roles)["check"].tolist() == ["cut inside a range"]


def test_the_guess_reads_ranges_as_ranges(loans):
    roles = guess_roles(loans)
    assert roles.sensitive_feature == "age"
    assert roles.types == {"age": "range", "ratio": "range"}
    assert roles.sensitive_cuts in ((45,), (55,))  # the middle one of seven
    dataset = make_dataset(loans, roles, name="loans")
    assert dataset.n_rows == len(loans)
    encoded = column_kinds.label_codes(dataset.frame["ratio"])[1]
    assert encoded == RATIOS


def test_the_checks_offer_ranges_and_a_code_above_all_of_them_as_missing(loans):
    loans.loc[:40, "ratio"] = "8888"
    roles = guess_roles(loans).model_copy(update={"types": {}})
    checks = check_table(loans, roles).set_index("check")
    assert checks.loc[["ranges as text"], "column"].tolist() == ["age", "ratio"]
    coded = checks.loc["looks missing"]
    assert (coded["column"], coded["rows"]) == ("ratio", 41)
    assert coded["action"].values == ("8888",)  # noqa: PD011


def test_a_column_without_ranges_is_not_read_as_ranges(loans):
    with pytest.raises(ValueError, match=r"'approved' holds no ranges.*category"):
        column_kinds.as_kind(loans["approved"], "range")
