"""Data sets whose rows stand for several people."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairdash.audits.gaps import base_rates, reversal_words
from fairdash.audits.gaps.cuts import cuts_of
from fairdash.datasets import (
    PUBLISHED,
    Roles,
    Subgroups,
    encode,
    guess_roles,
    load_sample,
    make_dataset,
    read_table,
    split,
)
from fairdash.methods import Unconstrained
from fairdash.sweep import score


@pytest.fixture
def berkeley():
    return load_sample("berkeley")


def test_the_counts_are_the_published_ones(berkeley):
    assert berkeley.n_people == PUBLISHED["berkeley"].n_people == 4526
    assert berkeley.group_sizes == {"Female": 1835, "Male": 2691}
    admitted = np.average(berkeley.y, weights=berkeley.sample_weight)
    assert admitted == pytest.approx(1755 / 4526)


def test_base_rates_are_those_of_people(berkeley):
    people = berkeley.frame.loc[berkeley.frame.index.repeat(berkeley.frame["people"])]
    roles = Roles.model_validate({**vars(berkeley.roles), "count": None})
    single = make_dataset(people.reset_index(drop=True), roles, name="people")
    subgroups = Subgroups(columns=("department",))
    from_counts, from_rows = (
        base_rates(part, subgroups) for part in (berkeley, single)
    )
    np.testing.assert_allclose(from_counts.whole, from_rows.whole)
    np.testing.assert_allclose(from_counts.gap, from_rows.gap)
    pd.testing.assert_frame_equal(from_counts.cells, from_rows.cells)


def test_the_gap_of_all_departments_is_in_none_of_them(berkeley):
    words = reversal_words(berkeley, PUBLISHED["berkeley"].subgroups)
    assert "Female are admitted less often than gender: Male, by 14.2 points" in words
    assert "no gap is against them beyond chance; in A they are admitted" in words
    assert reversal_words(berkeley, Subgroups(columns=("people",))) == ""


def test_a_loss_weighted_by_people_is_that_of_repeated_rows(berkeley):
    train = split(berkeley).train
    encoded = encode(berkeley, train)
    X = encoded.rows(train).astype(np.float64)
    y = berkeley.y[train]
    weight = np.asarray(berkeley.weight_of(train)).astype(int)
    groups = berkeley.sensitive_features[train]
    weighted = LogisticRegression(tol=1e-10).fit(X, y, sample_weight=weight)
    repeated = LogisticRegression(tol=1e-10).fit(
        np.repeat(X, weight, 0), y.repeat(weight)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    trained = Unconstrained(random_state=0, n_epochs=2).fit(
        X, y, sensitive_features=groups, sample_weight=berkeley.weight_of(train)
    )
    assert np.isfinite(trained.predict_proba(X)).all()


def test_a_table_of_counts_is_recognised():
    table = read_table(PUBLISHED["berkeley"].path)
    guess = guess_roles(table, "berkeley.csv")
    assert (guess.target, guess.positive) == ("admit", "Admitted")
    assert (guess.sensitive_feature, guess.count) == ("gender", "people")
    assert guess.subgroup_columns == ("department",)
    assert "people" not in guess.features
    lone = table.loc[table.index.repeat(2)].reset_index(drop=True)
    assert guess_roles(lone, "twice.csv").count is None  # rows are not distinct


COUNTED = {
    # columns with their values, what parts the people, and who is counted
    "departments": (
        {"Admit": 2, "Gender": 2, "Dept": 6},
        ("Admit", "Gender", "Freq"),
        "Dept",
    ),
    "schools": (
        {"school": 60, "passed": 2, "sex": 2, "region": 4},
        ("passed", "sex", "count"),
        "region",
    ),
    "years": (
        {"year": 3, "city": 3, "hired": 2, "sex": 2},
        ("hired", "sex", "n"),
        "city",
    ),
    "classes": (
        {"Class": 4, "Sex": 2, "Age": 2, "Survived": 2},
        ("Survived", "Sex", "Freq"),
        "Class",
    ),
    "numbers": ({"paid": 2, "floor": 7, "sex": 2}, ("paid", "sex", "people"), "floor"),
    "bare": ({"sex": 2, "passed": 2}, ("passed", "sex", "count"), None),
}
NAMED = {"Gender": ["Female", "Male"], "Sex": ["Female", "Male"], "sex": ["f", "m"]}
NUMBERS = {"year": range(2019, 2022), "floor": range(1, 8)}


@pytest.mark.parametrize("index", ["", "rownames", "Unnamed: 0"])
@pytest.mark.parametrize("name", COUNTED)
def test_a_table_of_counts_is_parted_by_a_column_of_few_values(name, index):
    columns, (target, group, count), subgroup = COUNTED[name]
    values = {
        column: NAMED.get(column)
        or NUMBERS.get(column)
        or [f"{column} {i}" for i in range(n)]
        for column, n in columns.items()
    }
    values[target] = ["no", "yes"]
    table = pd.MultiIndex.from_product(values.values(), names=values).to_frame(
        index=False
    )
    table[count] = np.random.default_rng(0).poisson(30, len(table))
    if index:
        table.insert(0, index, np.arange(len(table)) + 1)
    roles = guess_roles(table, "table.csv")
    assert (roles.target, roles.sensitive_feature, roles.count) == (
        target,
        group,
        count,
    )
    assert roles.subgroup_columns == ((subgroup,) if subgroup else ())
    assert not {index, count} & {*roles.features}


@pytest.mark.parametrize("other", [{"sample_weight": "w"}, {"unit": "w"}])
def test_counts_stand_beside_no_weight_and_no_unit(other):
    with pytest.raises(ValueError, match="'w' cannot be a weight or a unit beside it"):
        Roles(
            target="y", positive="1", sensitive_feature="s", features=(), count="n",
            **other,
        )  # fmt: skip


def test_people_used_and_left_out_are_all_people(berkeley):
    table = read_table(PUBLISHED["berkeley"].path)
    roles = Roles.model_validate(
        {**vars(berkeley.roles), "rows": [{"column": "department", "among": "A"}]}
    )
    some = make_dataset(table, roles, name="A")
    assert some.n_people == 933
    assert some.n_read == some.n_people + some.excluded["rows"].sum() == 4526


@pytest.fixture
def ages():
    """A table of counts by age, few people in most rows, and their people as rows."""
    rng = np.random.default_rng(0)
    age = np.arange(18, 78)
    parts = [
        pd.DataFrame({"age": age, "sex": sex, "hired": hired})
        for sex in ("Female", "Male")
        for hired in ("yes", "no")
    ]
    table = pd.concat(parts, ignore_index=True)
    table["people"] = np.where(table["age"] < 25, 400, rng.integers(1, 9, len(table)))
    roles = Roles(
        target="hired",
        positive="yes",
        sensitive_feature="sex",
        features=("age",),
        count="people",
    )
    counts = make_dataset(table, roles, name="counts")
    index = np.repeat(np.arange(counts.n_rows), counts.people.astype(int))
    alone = Roles.model_validate({**vars(roles), "count": None})
    frame = counts.frame.iloc[index].drop(columns="people").reset_index(drop=True)
    people = replace(
        counts,
        frame=frame,
        roles=alone,
        **{name: getattr(counts, name)[index] for name in ("y", "group", "lot")},
    )
    return counts, people, index


@pytest.mark.parametrize(
    "subgroups",
    [Subgroups(columns=("age",), quantiles={"age": 4}), Subgroups(columns=("age",))],
    ids=["quantiles", "usual"],
)
def test_bins_of_numbers_follow_people(ages, subgroups):
    counts, people, index = ages
    labels = counts.label_subgroups(subgroups)
    of_people = people.label_subgroups(subgroups)
    assert labels.iloc[index].tolist() == of_people.tolist()
    assert list(labels.cat.categories) == list(of_people.cat.categories)
    assert labels.tolist() != subgroups.label(counts.frame).tolist()


def test_what_is_measured_in_bins_of_counts_is_that_of_people(ages):
    counts, people, _ = ages
    subgroups = Subgroups(columns=("age",), quantiles={"age": 4}, min_size=20)
    tables = [base_rates(part, subgroups).cells for part in (counts, people)]
    pd.testing.assert_frame_equal(*tables)
    scores = np.linspace(0.2, 0.9, 60)
    scored = [
        score(part, 0, scores[None, part.frame["age"] - 18], subgroups)
        for part in (counts, people)
    ]
    pd.testing.assert_frame_equal(*scored)
    usual = Subgroups(columns=("age",))
    ways = [[way.words for way in cuts_of(part, usual)] for part in (counts, people)]
    assert ways[0] == ways[1]
