"""Groups in several 0/1 columns or in a multiple choice: one a row, nobody twice."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from fairdash.audits import tables
from fairdash.cli import app
from fairdash.datasets import (
    Remedy,
    Roles,
    guess_roles,
    guessing,
    make_dataset,
    remedies,
)
from fairdash.datasets.choices import one_of, separator_of, single_choice

COLUMNS = ("black", "hispan", "asian")


@pytest.fixture
def people():
    rng = np.random.default_rng(3)
    n = 1_200
    group = rng.choice(["black", "hispan", "asian", "none", "two"], n)
    return pd.DataFrame(
        {
            "income": rng.integers(20, 90, n),
            "black": np.isin(group, ["black", "two"]).astype(int),
            "hispan": (group == "hispan").astype(int),
            "asian": np.isin(group, ["asian", "two"]).astype(int),
            "hired": rng.integers(0, 2, n),
        }
    )


@given(
    st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, np.nan])] * 3), min_size=1),
    st.sampled_from(["none", "white", ""]),
    st.sampled_from(["several", ""]),
)
def test_each_row_is_in_one_group_as_counted_by_hand(rows, none, several):
    frame = pd.DataFrame(rows, columns=COLUMNS)
    single = one_of(frame, "race", COLUMNS, none, several)
    for flags, value in zip(rows, single, strict=True):
        yes = [c for c, flag in zip(COLUMNS, flags, strict=True) if flag == 1]
        if len(yes) == 1:
            expected = yes[0]
        elif len(yes) > 1:
            expected = several
        else:
            expected = "" if np.isnan(flags).any() else none
        assert (value if isinstance(value, str) else "") == expected


@pytest.mark.parametrize(
    "columns, name, message",
    [
        (("black", "nobody"), "race", r"no columns \['nobody'\]"),
        (("black", "income"), "race", "'income' are not yes or no"),
        (("black", "hispan"), "income", "has a column 'income' already"),
    ],
)
def test_columns_that_make_no_groups_are_refused(people, columns, name, message):
    with pytest.raises(ValueError, match=message):
        one_of(people, name, columns, "none", "several")


def test_one_column_is_not_enough():
    with pytest.raises(ValueError, match="two or more different columns"):
        Remedy(kind="one_of", column="race", columns=("black", "black"))


def test_a_click_makes_groups_of_one_hot_columns_and_leaves_nobody_out(people):
    roles = guess_roles(people)
    offered = guessing.more_roles(people, roles)
    chosen = offered["Groups from black, hispan, asian"]
    dataset = make_dataset(people, chosen, name="people")
    n_yes = people[list(COLUMNS)].sum(axis=1)
    assert dataset.group_sizes["none"] == (n_yes == 0).sum()
    assert dataset.group_sizes["several"] == (n_yes > 1).sum()
    assert sum(dataset.group_sizes.values()) == len(people)
    assert not set(COLUMNS) & set(chosen.features)
    again = Roles.model_validate_json(chosen.model_dump_json())
    assert make_dataset(people, again, name="people").key == dataset.key
    assert "Groups from" not in " ".join(guessing.more_roles(people, chosen))
    words = remedies.applied_remedies(chosen)[0].words()
    assert words == (
        "Make race from black, hispan, asian; in none of them: none, in two or more: "
        "several"
    )


def test_rows_in_no_group_or_in_two_can_be_left_out_and_are_counted(people):
    remedy = Remedy(
        kind="one_of", column="race", columns=COLUMNS, none="white", several=""
    )
    roles = guessing.with_groups_of(guess_roles(people), remedy)
    dataset = make_dataset(people, roles, name="people")
    n_several = (people[list(COLUMNS)].sum(axis=1) > 1).sum()
    assert dataset.n_rows + n_several == len(people)
    (left_out,) = dataset.left_out()
    assert (left_out.rows, left_out.column) == (n_several, "race")


def test_a_value_and_its_opposite_are_not_offered_as_groups(people):
    people["nonwhite"] = people[list(COLUMNS)].max(axis=1)
    offered = guessing.more_roles(people, guess_roles(people))
    assert not any("nonwhite" in words for words in offered)


def test_older_remedies_keep_the_identity_of_their_data_set():
    roles = Roles(
        target="y",
        positive="1",
        sensitive_feature="s",
        features=(),
        preparation=({"kind": "missing", "column": "a", "values": ["9"]},),
    )
    (step,) = roles.identity()["preparation"]
    assert set(step) == {
        "kind", "column", "values", "changes", "into", "to", "reason",
    }  # fmt: skip


def test_a_multiple_choice_keeps_each_choice_and_counts_several():
    column = pd.Series(["White", "White; Asian", "Asian", None, "Black;White", "White"])
    assert separator_of(column) == ";"
    single = single_choice(column, ";", "several")
    assert single.fillna("-").tolist() == [
        "White", "several", "Asian", "-", "several", "White",
    ]  # fmt: skip
    assert single_choice(column, ";", "").isna().sum() == 3


@pytest.mark.parametrize(
    "values",
    [
        ["Asian, Pacific Islander", "White", "Black"],
        ["a", "b"],
        ["25/34", "1/2"],
        [1.0, 2.0],
    ],
)
def test_a_comma_in_a_name_is_no_multiple_choice(values):
    assert separator_of(pd.Series(values)) is None


def test_the_guess_reads_a_multiple_choice(people):
    rng = np.random.default_rng(1)
    names = ["White", "Black", "Asian", "White;Asian", "Black;White", "Other"]
    people = people.drop(columns=[*COLUMNS])
    people["race"] = rng.choice(names, len(people))
    roles = guess_roles(people)
    assert roles.sensitive_feature == "race"
    assert roles.preparation == (
        Remedy(kind="single_choice", column="race", separator=";"),
    )
    dataset = make_dataset(people, roles, name="people")
    assert dataset.group_sizes["White"] == (people["race"] == "White").sum()


def test_the_command_line_makes_the_same_groups(people, tmp_path):
    table = tmp_path / "people.csv"
    out = tmp_path / "audit.json"
    people.to_csv(table, index=False)
    done = CliRunner().invoke(
        app,
        ["audit", str(table), "--decision", "hired=1", "--group", "race", "--one-of",
         "race=black,hispan,asian", "--out", str(out)],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    values = pd.DataFrame(json.loads(out.read_text())["estimates"])
    rates = values[values["measure"] == "selection_rate"].set_index("group")["value"]
    n_yes = people[list(COLUMNS)].sum(axis=1)
    group = np.where(n_yes == 0, "none", np.where(n_yes > 1, "several", ""))
    for column in COLUMNS:
        group = np.where((n_yes == 1) & (people[column] == 1), column, group)
    by_hand = people["hired"].groupby(group).mean()
    assert rates.to_dict() == pytest.approx(by_hand.to_dict())


def test_a_batch_is_prepared_alike(people):
    remedy = Remedy(kind="one_of", column="race", columns=COLUMNS)
    question = tables.TableQuestion(
        groups=("race",), decision="hired=1", preparation=(remedy,)
    )
    batch = people.iloc[:300]
    rows = tables.count_rows(batch, question)
    assert rows.n == 300
    assert set(rows.frame["race"]) == {*COLUMNS, "none", "several"}
