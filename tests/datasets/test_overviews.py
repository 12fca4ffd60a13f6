"""What Data shows first is the same, computed at once, in the box or one by one."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from cases import sampled
from crafted import TABLES

from fairdash.datasets import (
    SAMPLES,
    check_table,
    find_wide_counts,
    guessing,
    overviews,
    reading,
    remedies,
)
from fairdash.datasets.overviews import apart

NAMES = [
    *SAMPLES,
    "wide_prefixes.parquet",
    "wide_sexes.parquet",
    "wide_accents.parquet",
    "values_marks.parquet",
    "values_long_groups.parquet",
    "values_many_outcomes.parquet",
    "values_negative_zero.parquet",
]


@pytest.fixture(params=sampled(NAMES, 3))
def file(request, tmp_path):
    """The path of a table that was read, and the name of its file."""
    name = request.param
    content = TABLES[name].make() if name in TABLES else SAMPLES[name].path.read_bytes()
    path = tmp_path / "table.parquet"
    reading.convert_table(content, path, name=name)
    return path, name


def test_an_overview_holds_what_each_function_says(file):
    path, name = file
    frame = reading.load_table(path)
    made = overviews.overview_of(frame, name)
    assert list(made.zero_one) == guessing.zero_one_columns(frame)
    assert made.has_wide_counts == (find_wide_counts(frame) is not None)
    if isinstance(made.guess, str):
        with pytest.raises(ValueError, match=re.escape(made.guess)):
            guessing.rank_roles(frame, name)
        return
    assert made.guess == guessing.rank_roles(frame, name)
    roles = made.roles
    pd.testing.assert_frame_equal(made.checks(), check_table(frame, roles))
    prepared = remedies.prepare(frame, roles)
    chosen = (roles.target, roles.positive, roles.sensitive_feature)
    features, reasons = guessing.guess_features(prepared, *chosen)
    assert made.features_for(*chosen) == tuple(features)
    assert made.reasons == reasons
    few = [column for column in prepared if prepared[column].nunique() <= 8]
    assert list(made.few_valued) == few
    for guessed in (True, False):  # a confirmed guess has the same answers
        sure = roles.model_copy(update={"guessed": guessed})
        assert made.offers_beside(sure) == guessing.more_roles(frame, sure)
        assert made.is_checked_as(sure)
        assert made.is_prepared_as(sure)


def test_the_box_computes_the_same(file):
    path, name = file
    made = overviews.overview_of(reading.load_table(path), name)
    assert overviews.overview_apart(path, name) == made


def test_an_overview_survives_being_written(file):
    path, name = file
    made = overviews.overview_of(reading.load_table(path), name)
    content = made.model_dump_json().encode()
    again = overviews.read_overview(content, name)
    assert again == made
    assert again.guess == made.guess


@pytest.fixture
def made(people):
    return overviews.overview_of(people, "people.csv")


def test_other_roles_get_no_answer_of_the_guess(made, people):
    others = {
        "target": "job",
        "positive": "no",
        "features": ("age",),
        "keep": {"job": ("shop",)},
        "types": {"age": "category"},
    }
    for part, value in others.items():
        changed = made.roles.model_copy(update={part: value})
        assert not made.is_checked_as(changed), part
        assert made.offers_beside(changed) is None, part
    assert not made.is_prepared_as(changed)  # which has other types
    assert made.features_for("job", made.roles.positive, "sex") is None
    assert made.features_for("granted", "no", "sex") is None


def test_an_overview_of_another_file_is_none(made):
    content = made.model_dump_json().encode()
    assert overviews.read_overview(content, "people.csv") == made
    assert overviews.read_overview(content, "churn.csv") is None


@pytest.mark.parametrize("change", [{"roles": 5}, {"more": 1}, {"zero_one": [{}]}])
def test_a_damaged_overview_is_none(made, change):
    facts = json.loads(made.model_dump_json())
    content = json.dumps(facts | change).encode()
    assert overviews.read_overview(content, "people.csv") is None
    assert overviews.read_overview(b"{", "people.csv") is None


def test_a_table_whose_overview_meets_a_limit_has_none(tmp_path, monkeypatch, people):
    path = tmp_path / "table.parquet"
    reading.convert_table(people.to_csv(index=False).encode(), path, name="people.csv")
    assert overviews.overview_apart(path, "people.csv") is not None
    monkeypatch.setattr(apart, "MOST_BYTES", 100)
    assert overviews.overview_apart(path, "people.csv") is None


def test_the_box_loads_what_it_needs_beforehand(tmp_path):
    rng = np.random.default_rng(0)
    n_rows = 25_000  # more than are looked at: some are drawn
    table = pd.DataFrame(
        {
            "sex": rng.choice(["woman", "man", None], n_rows),
            "hired": rng.choice(["yes", "no"], n_rows),
            "day": rng.choice(["2024-01-31", "31.01.2024"], n_rows),
            "salary": rng.choice(["1,234.5", "12.5%", "n/a"], n_rows),
            "age group": rng.choice(["20-29", "30-39", "65+"], n_rows),
            "skills": rng.choice(["law;art", "law", "art"], n_rows),
            "proxy": rng.normal(size=n_rows),
            "id": np.arange(n_rows),
        }
    )
    path = tmp_path / "table.parquet"
    reading.convert_table(table.to_csv(index=False).encode(), path, name="people.csv")
    made = overviews.overview_apart(path, "people.csv")
    assert made == overviews.overview_of(reading.load_table(path), "people.csv")
