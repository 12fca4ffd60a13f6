"""Base rates are said with the verb that the column names, and levels by name."""

import numpy as np
import pandas as pd
import pytest

from fairdash._wording import spoken_outcome, spoken_value
from fairdash.audits import gaps
from fairdash.audits.gaps.rates import base_rates_verdict
from fairdash.datasets import Roles, Subgroups, make_dataset


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("approved", "1", "are approved"),
        ("Is_Hired", "yes", "are hired"),
        ("was_sold", "True", "are sold"),
        ("approved", "0", "are not approved"),
        ("survived", "1", "survived"),
        ("survived", "0", "have survived = 0"),
        ("approved", "maybe", "have approved = maybe"),
        ("Admit", "Admitted", "are admitted"),
        ("status", "good", "have status = good"),
        ("need", "1", "have need = 1"),
        ("red", "1", "have red = 1"),
        ("loan_approved", "1", "have loan_approved = 1"),
        ("two_year_recid", "1", "have two_year_recid = 1"),
        ("dead", "dead", "are “dead”"),
        ("Is_Dead", "dead", "are “dead”"),
        ("dead", "1", "have dead = 1"),
        ("<b>approved", "1", "have <b>approved = 1"),
    ],
)
def test_the_verb_is_that_of_the_column_where_its_name_is_one(column, value, said):
    assert spoken_outcome(column, f"{column} = {value}", value) == said


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("male", "1", "male = 1"),
        ("male", "male 1", "male = 1"),
        ("black", "no", "black = no"),
        ("sex", "Female", "sex Female"),
        ("age", "age 25–44", "age 25–44"),
        ("", "Female", "Female"),
    ],
)
def test_a_level_is_named_with_its_column(column, value, said):
    assert spoken_value(column, value) == said


def test_several_outcomes_or_a_cut_have_no_verb():
    about = {"target": "approved", "sensitive_feature": "sex", "features": ("x",)}
    assert Roles(**about, positive="1").outcome_verb() == "are approved"
    several = Roles(**about, positive=("1", "2"))
    assert several.outcome_verb() == "have approved = 1 or 2"


@pytest.mark.parametrize(("levels", "names"), [
    (("Female", "Male"), ("sex Female", "sex Male")),
    ((0, 1), ("sex = 0", "sex = 1")),
])  # fmt: skip
def test_the_verdict_of_base_rates_is_a_sentence(levels, names):
    rng = np.random.default_rng(0)
    place = rng.integers(0, 2, 4000)
    approved = (rng.random(4000) < np.where(place == 1, 0.7, 0.4)).astype(int)
    frame = pd.DataFrame(
        {"sex": np.array(levels)[place], "x": rng.random(4000), "approved": approved}
    )
    roles = Roles(
        target="approved", positive="1", sensitive_feature="sex", features=("x",)
    )
    rates = gaps.base_rates(make_dataset(frame, roles, name="People"), Subgroups())
    low, high = (f"{approved[place == k].mean():.0%}" for k in (0, 1))
    text = base_rates_verdict(rates, roles.outcome_verb(), "sex")
    assert text == f"{low} of {names[0]} and {high} of {names[1]} are approved."
