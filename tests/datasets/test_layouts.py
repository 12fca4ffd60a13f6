"""Public layouts: recognised by several columns, said, and corrected by values."""

import numpy as np
import pandas as pd
import pytest
from mortgages import mortgages

from fairdash.datasets import make_dataset, read_table
from fairdash.datasets._named import PUBLISHED
from fairdash.datasets.guessing.layouts import layout_of, layouts
from fairdash.datasets.guessing.roles import rank_roles


def test_hmda_is_recognised_and_what_follows_the_decision_is_no_feature():
    guess = rank_roles(mortgages(4_000), "2023.csv")
    roles = guess.roles
    assert guess.layout == "HMDA, loans of mortgage lenders"
    assert (roles.target, roles.positive) == ("action_taken", ("1", "2"))
    assert roles.negative == ("3",)
    assert roles.sensitive_feature == "derived_race"
    assert list(roles.groups) == ["White", "Black or African American", "Asian"]
    assert not {"interest_rate", "denial_reason_1"} & set(roles.features)
    assert roles.left_out["interest_rate"] == "known only after the decision"
    assert guess.outcomes[0].column == "action_taken"


def test_the_guess_of_hmda_makes_a_data_set_whose_rows_add_up():
    table = mortgages(4_000)
    roles = rank_roles(table).roles
    dataset = make_dataset(table, roles, name="HMDA")
    assert dataset.n_rows + dataset.excluded["rows"].sum() == len(table)
    assert set(dataset.frame["action_taken"]) == {1, 2, 3}


def test_a_table_of_counts_has_its_layout():
    table = read_table(PUBLISHED["berkeley"].path)
    names = {"people": "Freq", "department": "Dept"}
    guess = rank_roles(table.rename(columns=names))
    assert guess.layout == "Admissions of Berkeley, 1973"
    assert guess.roles.count == "Freq"


def test_codes_that_stand_for_no_value_are_missing_and_ages_are_ranges():
    table = mortgages(4_000)
    roles = rank_roles(table).roles
    steps = {step.column: step.values for step in roles.preparation}  # noqa: PD011
    assert steps["applicant_age"] == ("8888",)
    assert steps["debt_to_income_ratio"] == ("Exempt",)
    assert (
        roles.types["applicant_age"] == roles.types["debt_to_income_ratio"] == "range"
    )
    prepared = make_dataset(table, roles, name="HMDA").frame
    assert prepared["applicant_age"].cat.ordered
    assert "8888" not in set(prepared["applicant_age"].dropna())


def test_thirty_layouts_are_known():
    assert len(layouts()) >= 30


def test_what_follows_a_decision_is_no_outcome_of_any_table():
    rng = np.random.default_rng(0)
    granted = rng.integers(0, 2, 1_000)
    table = pd.DataFrame(
        {
            "race": rng.choice(["White", "Black"], 1_000),
            "loan_granted": np.where(granted == 1, "yes", "no"),
            "denial_outcome_code": np.where(
                granted == 0, rng.integers(1, 4, 1_000), np.nan
            ),
            "interest_rate": np.where(granted == 1, rng.normal(5, 1, 1_000), np.nan),
            "amount": rng.integers(1, 50, 1_000),
        }
    )
    guess = rank_roles(table)
    named = {candidate.column for candidate in guess.outcomes}
    assert guess.roles.target == "loan_granted"
    assert not named & {"denial_outcome_code", "interest_rate"}
    assert not set(guess.roles.features) & {"denial_outcome_code", "interest_rate"}


def test_one_column_of_a_layout_is_not_enough():
    table = mortgages(500).drop(columns="derived_sex")
    assert layout_of(table) is None


def test_other_values_than_those_of_the_layout_are_guessed_as_usual():
    table = mortgages(2_000)
    table["action_taken"] = table["action_taken"].map(
        lambda code: "approved" if code == 1 else "denied"
    )
    roles = rank_roles(table).roles
    assert roles.positive == "approved"
    assert roles.negative == ()


@pytest.mark.parametrize("layout", layouts(), ids=lambda layout: layout.name)
def test_a_layout_names_columns_enough_and_no_outcome_among_the_consequences(layout):
    assert len(layout.columns) >= 4
    assert not layout.is_consequence(layout.outcome)
    assert not set(layout.positive) & set(layout.negative)
    plain = [name.replace("*", "x") for name in (*layout.columns, layout.outcome)]
    table = pd.DataFrame({name: ["a"] for name in [*plain, layout.sensitive[0]]})
    assert layout.fits(list(table))
