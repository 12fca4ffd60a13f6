import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import paired

from fairdash.datasets import (
    SAMPLES,
    Cut,
    Roles,
    guess_roles,
    guessing,
    make_dataset,
    read_table,
)

DATA = Path(os.environ.get("FAIRDASH_DATA", ""))
real_data = pytest.mark.skipif(
    "FAIRDASH_DATA" not in os.environ, reason="FAIRDASH_DATA names no data folder"
)
COMPAS_FEATURES = (
    "sex", "age", "age_cat", "juv_fel_count", "juv_misd_count", "juv_other_count",
    "priors_count", "days_b_screening_arrest", "c_days_from_compas", "c_charge_degree",
    "c_charge_desc",
)  # fmt: skip


def left_out_reasons(frame, roles):
    _, reasons = guessing.guess_features(
        frame, roles.target, roles.positive, roles.sensitive_feature
    )
    return reasons


@pytest.mark.parametrize("name", SAMPLES)
def test_the_roles_of_the_samples_are_guessed(name):
    sample = SAMPLES[name]
    guess = guess_roles(read_table(sample.path))
    for role in ("target", "positive", "sensitive_feature", "features"):
        assert getattr(guess, role) == getattr(sample.roles, role)


@pytest.fixture
def clinic():
    rng = np.random.default_rng(0)
    n = 300
    ill = rng.random(n) < 0.4
    return pd.DataFrame(
        {
            "patient_id": rng.permutation(n),
            "name": [f"patient {i}" for i in range(n)],
            "visited": pd.Series(["2024-03-01", "2024-11-30"] * (n // 2)),
            "country": "FR",
            "gender": rng.choice(["f", "m"], n),
            "age": rng.integers(20, 90, n),
            "pressure": rng.normal(120, 15, n) + 10 * ill,
            "test_score": rng.integers(0, 50, n),
            "split": rng.choice(["train", "test"], n),
            "risk_score": rng.random(n),
            "treated_for": np.where(ill, rng.choice(["a", "b"], n), None),
            "outcome": np.where(ill, "yes", "no"),
            "wave_filter": rng.random(n) < 0.9,
        }
    )


def test_only_columns_that_describe_people_become_features(clinic):
    roles = guess_roles(clinic)
    assert (roles.target, roles.positive) == ("outcome", "yes")
    assert roles.sensitive_feature == "gender"
    assert roles.features == ("age", "pressure", "test_score")
    assert roles.subgroup_columns == ("age",)
    assert roles.keep == {"wave_filter": ("1",)}


def test_a_sampling_weight_is_no_feature_and_what_people_weigh_is_one(clinic):
    drawn = np.random.default_rng(3).uniform(50, 90, len(clinic)).round(1)
    weighed = clinic.assign(person_weight=drawn, weight=drawn[::-1])
    twice = pd.concat([weighed, weighed])[["person_weight", *clinic.columns[1:]]]
    assert guess_roles(twice).unit == "name"
    roles = guess_roles(weighed)
    assert left_out_reasons(weighed, roles)["person_weight"] == "a sampling weight"
    assert "weight" in roles.features


def _weights(n):
    rng = np.random.default_rng(7)
    years = rng.uniform(0, 90, n)
    drawn = rng.lognormal(0, 0.6, n)
    return {
        "survey": rng.lognormal(9, 0.8, n).round(2),
        "strata": rng.choice([0.0, 1.5, 80.0, 5000.0, 57_000.0], n),
        "mean 1": drawn / drawn.mean(),
        "kilograms": (3 + 60 * np.minimum(years / 18, 1) + rng.normal(0, 0.5, n)),
        "pounds": rng.normal(165, 35, n).clip(85).round(),
        "grams": rng.normal(3300, 600, n).clip(480).round(),
        "text": np.where(years > 40, "heavy", "light"),
    }


OF_A_SAMPLE = ("survey", "strata", "mean 1")
BODY_WEIGHTS = ("kilograms", "pounds", "grams", "text")


@pytest.mark.parametrize(
    "name, values",
    paired(["weight", "WT", "wgt"], [*OF_A_SAMPLE, *BODY_WEIGHTS], together=1),
)
def test_a_bare_weight_is_what_its_values_can_be(clinic, name, values):
    table = clinic.drop(columns="pressure")
    table[name] = _weights(len(table))[values]
    roles = guess_roles(table)
    of_a_sample = values in OF_A_SAMPLE
    offer = f"Weight rows by {name}"
    assert (name in roles.features) != of_a_sample
    assert (offer in guessing.more_roles(table, roles)) == of_a_sample
    measured = table.assign(height=170.0 + table["age"] % 20)
    assert name in guess_roles(measured).features


@pytest.mark.parametrize("name", ["pweight", "perwt", "population_weight"])
def test_some_names_of_weights_are_enough(clinic, name):
    weighed = clinic.assign(**{name: 60.0 + np.arange(len(clinic)) % 40})
    reasons = left_out_reasons(weighed, guess_roles(weighed))
    assert reasons[name] == "a sampling weight"


def test_further_roles_are_offered_until_they_are_taken(clinic):
    ids = np.arange(len(clinic)) // 2
    clinic = clinic.assign(patient_id=ids, risk_score=ids % 10)
    table = clinic.assign(survey_weight=1.0 + ids % 3)
    roles = guess_roles(table).model_copy(update={"unit": None, "scores": ()})
    offered = guessing.more_roles(table, roles)
    assert list(offered) == [
        "Weight rows by survey_weight",
        "Rows share one patient_id",
        "risk_score is a model's score",
    ]
    for words, changed in offered.items():
        make_dataset(table, changed, name="x")
        assert words not in guessing.more_roles(table, changed)


def test_an_identifier_that_repeats_is_the_unit(clinic):
    assert guess_roles(clinic).unit is None
    visits = pd.concat([clinic, clinic.head(150)], ignore_index=True)
    roles = guess_roles(visits)
    assert roles.unit == "patient_id"
    assert "patient_id" not in roles.features
    assert guess_roles(visits[["patient_id", "age", "gender"]]).target == "age"
    unnamed = visits.rename(columns={"patient_id": "nr"}).drop(columns="name")
    assert "Rows share one nr" in guessing.more_roles(unnamed, guess_roles(unnamed))
    by_age = roles.model_copy(update={"unit": None, "sensitive_feature": "old"})
    aged = visits.assign(old=visits["age"] > 50).drop(columns=["patient_id", "name"])
    assert not guessing.more_roles(aged, by_age)
    assert not guessing.more_roles(aged.drop(columns="old"), by_age)  # none chosen yet
    assert len(np.unique(make_dataset(visits, roles, name="x").unit)) < len(visits)


@pytest.mark.parametrize(
    "columns, message",
    [
        (["name", "split"], "No column can be the outcome"),
        (["test_score", "pressure"], "none can be the sensitive feature"),
        (["gender", "name"], "also the only one to compare groups by"),
    ],
)
def test_tables_without_roles_raise(clinic, columns, message):
    with pytest.raises(ValueError, match=message):
        guess_roles(clinic[columns])


@pytest.mark.parametrize(
    "names, outcome, scores",
    [
        (["sex", "approved", "predicted"], "approved", ["predicted"]),
        (["y_true", "y_score", "y_pred", "sex"], "y_true", ["y_score", "y_pred"]),
        (["label", "model_decision", "model", "sex"], "label", ["model_decision"]),
        (["sex", "score", "passed"], "passed", []),
    ],
)
def test_a_table_of_decisions_alone_is_one_to_audit(names, outcome, scores):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.integers(0, 2, (300, len(names))), columns=names)
    frame["sex"] = np.where(frame["sex"] == 1, "F", "M")
    guess = guessing.rank_roles(frame)
    assert (guess.roles.target, guess.roles.sensitive_feature) == (outcome, "sex")
    assert [score.column for score in guess.roles.scores] == scores
    plain = {"passed": ("score",), "model": ("model",)}
    assert guess.roles.features == next((plain[n] for n in names if n in plain), ())
    offered = {candidate.column for candidate in (*guess.outcomes, *guess.sensitive)}
    assert offered.isdisjoint(scores)


@pytest.mark.parametrize(
    "target, positive, words",
    [
        ("two_year_recid", "1", "recidivated: the unfavourable outcome"),
        ("two_year_recid", "0", "not recidivated: the favourable outcome"),
        ("decision", "rejected", "rejected: the unfavourable outcome"),
        ("shade", "1", "shade = 1"),
    ],
)
def test_the_positive_outcome_is_told_in_words(clinic, target, positive, words):
    values = {"1": [0, 1], "0": [0, 1], "yes": ["no", "yes"]}
    other_values = values.get(positive, ["other", positive])
    frame = clinic.rename(columns={"outcome": target})
    frame[target] = np.where(frame[target] == "yes", other_values[1], other_values[0])
    roles = guess_roles(frame[["gender", "age", "pressure", target]])
    name, meaning = guessing.guess_meaning(roles.target, positive)
    facts = {"positive": positive, "positive_name": name, "positive_is": meaning}
    assert Roles(**{**roles.model_dump(), **facts}).positive_words() == words


@pytest.mark.parametrize(
    "flag, said",
    [
        (pd.Series(["train", "TEST", "test"] * 100, name="use"), "about the file"),
        (pd.Series([0] * 180 + [1] * 120, name="fold"), "about the file"),
    ],
)
def test_flags_of_the_file_are_no_features_for_a_stated_reason(clinic, flag, said):
    roles = guess_roles(clinic)
    marked = clinic.assign(**{str(flag.name): flag})
    guess = guess_roles(marked)
    assert (guess.target, guess.features) == (roles.target, roles.features)
    assert said in left_out_reasons(marked, guess)[flag.name]


@real_data
@pytest.mark.parametrize(
    "file", ["compas_two_years.parquet", "raw/compas-scores-two-years.csv"]
)
def test_compas(file):
    frame = read_table(DATA / file)
    roles = guess_roles(frame)
    assert (roles.target, roles.positive) == ("two_year_recid", "1")
    assert roles.sensitive_feature == "race"
    assert list(roles.groups) == ["Caucasian", "African-American", "All others"]
    assert roles.features == COMPAS_FEATURES
    assert roles.subgroup_columns == ("age", "sex")
    dataset = make_dataset(frame, roles, name="COMPAS")
    assert dataset.n_rows == (6172 if "propublica_filter" in frame else 7214)


@real_data
@pytest.mark.parametrize(
    "file, target, positive, sensitive, n_features, subgroups",
    [
        ("law_school_road.parquet", "bar1", "1", "race7", 9, ("age", "gender")),
        ("adult.parquet", "income", ">50K", "race", 12, ("age", "sex")),
        ("german_credit.parquet", "credit", "1", "sex", 19, ("age",)),
        (
            "credit_default.parquet",
            "default_payment_next_month",
            "1",
            "sex",
            22,
            ("age",),
        ),
    ],
)
def test_public_tables(file, target, positive, sensitive, n_features, subgroups):
    frame = read_table(DATA / file)
    roles = guess_roles(frame)
    assert (roles.target, roles.positive) == (target, positive)
    assert roles.sensitive_feature == sensitive
    assert roles.subgroup_columns == subgroups
    assert len(roles.features) == n_features
    forbidden = {"id", "lsac_id", "fnlwgt", "split", "personal_status"}
    assert not forbidden & set(roles.features)
    assert len(make_dataset(frame, roles, name=file).group_names) == 2


def labour(n=400):
    """A survey as economists publish it: dummies, logarithms, regions, row numbers."""
    rng = np.random.default_rng(3)
    wage = rng.lognormal(2, 0.5, n).round(2)
    region = rng.integers(0, 4, n)
    return pd.DataFrame(
        {
            "Unnamed: 0": np.arange(1, n + 1),
            "wage": wage,
            "educ": rng.integers(8, 18, n),
            "nonwhite": rng.integers(0, 2, n),
            "female": rng.integers(0, 2, n),
            "married": rng.integers(0, 2, n),
            "northcen": (region == 0).astype(int),
            "south": (region == 1).astype(int),
            "west": (region == 2).astype(int),
            "y96": (region == 1).astype(int),
            "y98": (region == 2).astype(int),
            "lwage": np.log(wage),
        }
    )


def test_a_dummy_of_people_is_sensitive_and_a_wage_is_cut_at_its_median():
    table = labour()
    guess = guessing.rank_roles(table)
    roles = guess.roles
    assert roles.target == "wage"
    assert roles.positive == Cut(value=7.5)  # of a median of 7.485
    assert roles.sensitive_feature in ("female", "nonwhite")
    named = {c.column for c in (*guess.outcomes, *guess.sensitive)}
    assert not named & {"y96", "y98", "northcen", "south", "Unnamed: 0"}
    assert not {"Unnamed: 0", "lwage"} & set(roles.features)
    make_dataset(table, roles, name="Wages")


def test_a_guess_names_the_runners_up_and_why():
    guess = guessing.rank_roles(labour())
    assert len(guess.outcomes) == len(guess.sensitive) == 3
    assert guess.outcomes[1].column == "lwage"
    assert {c.column for c in guess.sensitive} == {"female", "nonwhite", "married"}
    scores = [c.score for c in guess.sensitive]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "names, outcome, sensitive",
    [
        (["alter", "geschlecht", "stunden", "kredit_bewilligt"], 3, 1),
        (["deny", "dir", "hir", "black"], 0, 3),
        (["type1", "type2", "white", "died"], 3, 2),
        (["income-per-year", "hours-per-week", "race", "workclass"], 0, 2),
        (["complaint_number", "race", "ward", "wage"], 3, 1),
        (["custody", "sex", "prior_offences", "drug_class"], 0, 1),
        (["klausur_bestanden", "geschlecht", "note_vorher", "grade"], 0, 1),
    ],
)
def test_names_are_read_by_stems_of_several_languages(names, outcome, sensitive):
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.integers(0, 2, (300, 4)), columns=names)
    roles = guess_roles(table.assign(hours=rng.normal(size=300).round(2)))
    assert roles.target == names[outcome]
    assert roles.sensitive_feature == names[sensitive]


def test_of_names_that_say_nothing_what_goes_with_the_others_is_the_outcome():
    rng = np.random.default_rng(7)
    parts = rng.normal(size=(500, 4))
    table = pd.DataFrame(parts, columns=["u1", "u2", "u3", "u4"])
    table.insert(2, "moz", parts.sum(axis=1))
    table.insert(0, "age", rng.integers(18, 80, 500))
    table["sex"] = rng.integers(0, 2, 500)
    assert guess_roles(table).target == "moz"
    table["moz"] = rng.permutation(table["moz"])
    assert guess_roles(table).target != "moz"


@pytest.mark.parametrize(
    "values, positive",
    [
        (["A", "N", "U", "Y"], ("Y",)),
        (["Labour", "Labour", "Tory", "Liberal"], ("Labour",)),
        ([0, 1, 2, 10], Cut(value=1.5)),
        ([1, 2, 2, 2], "1"),
        ([1, 2, 3, 3, 3], Cut(sign=">=", value=3)),
    ],
)
def test_what_counts_as_positive_is_proposed(values, positive):
    guessed = guessing.guess_positive(pd.Series(values))
    if isinstance(guessed, tuple):
        guessed = tuple(sorted(guessed))
    assert guessed == positive


@pytest.mark.parametrize(
    ("chosen", "groups"),
    [
        ((), None),
        (("a",), {"a": ("a",), "Not a": ()}),
        (("b", "a"), {"b": ("b",), "a": ("a",), "All others": ()}),
    ],
)
def test_groups_say_which_values_were_chosen(chosen, groups):
    assert guessing.groups_of(chosen, "abcd") == groups
    assert guessing.chosen_of(groups) == chosen
    assert guessing.chosen_of({"a": ("a", "c"), "others": ()}) is None


def test_a_column_without_a_value_cannot_be_the_outcome():
    with pytest.raises(ValueError, match="'later' has no value in any row"):
        guessing.guess_positive(pd.Series([None] * 30, name="later", dtype=object))
