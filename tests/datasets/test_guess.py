import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairdash.datasets import SAMPLES, guess_roles, make_dataset, read_table

DATA = Path(os.environ.get("FAIRDASH_DATA", ""))
real_data = pytest.mark.skipif(
    "FAIRDASH_DATA" not in os.environ, reason="FAIRDASH_DATA names no data folder"
)
COMPAS_FEATURES = (
    "sex",
    "age",
    "age_cat",
    "juv_fel_count",
    "juv_misd_count",
    "juv_other_count",
    "priors_count",
    "days_b_screening_arrest",
    "c_days_from_compas",
    "c_charge_degree",
    "c_charge_desc",
)
WHITE_OR_NOT = {"Caucasian": ("Caucasian",), "Not Caucasian": ()}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_roles_of_the_samples_are_guessed(name):
    sample = SAMPLES[name]
    guess = guess_roles(read_table(sample.path))
    assert guess.target == sample.roles.target
    assert guess.positive == sample.roles.positive
    assert guess.sensitive_feature == sample.roles.sensitive_feature
    assert guess.features == sample.roles.features


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


def test_a_copy_of_a_column_is_no_feature(clinic):
    copied = clinic.assign(pressure_again=clinic["pressure"])
    assert guess_roles(copied).features == guess_roles(clinic).features


def test_nested_columns_are_passed_over(clinic):
    nested = clinic.assign(history=[["a"]] * len(clinic))
    assert guess_roles(nested) == guess_roles(clinic)


def test_rare_groups_are_put_together(clinic):
    rng = np.random.default_rng(1)
    values = rng.choice(["a", "b", "c", "d"], 3000, p=[0.5, 0.46, 0.02, 0.02])
    large = pd.concat([clinic] * 10, ignore_index=True).assign(ethnicity=values)
    roles = guess_roles(large)
    assert roles.sensitive_feature == "ethnicity"
    assert roles.groups == {"a": ("a",), "b": ("b",), "All others": ()}


def test_coded_groups_are_named_after_their_column(clinic):
    coded = clinic.assign(gender=(clinic["gender"] == "m").astype(int))
    assert guess_roles(coded).groups == {"gender 0": ("0",), "gender 1": ("1",)}


@pytest.mark.parametrize(
    "columns, message",
    [
        (["age", "pressure"], "No column has exactly two values"),
        (["outcome", "pressure"], "none can be the sensitive feature"),
        (["outcome", "gender", "name"], "No column is left to predict from"),
    ],
)
def test_tables_without_roles_raise(clinic, columns, message):
    with pytest.raises(ValueError, match=message):
        guess_roles(clinic[columns])


@real_data
@pytest.mark.parametrize(
    "file", ["compas_two_years.parquet", "raw/compas-scores-two-years.csv"]
)
def test_compas(file):
    frame = read_table(DATA / file)
    roles = guess_roles(frame)
    assert (roles.target, roles.positive) == ("two_year_recid", "1")
    assert roles.sensitive_feature == "race"
    assert roles.groups == WHITE_OR_NOT
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
