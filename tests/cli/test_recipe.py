"""A recipe on the command line: rows, negative and missing values, replayed."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml
from cases import sampled
from mortgages import approved_by_hand, mortgages
from reading import check_schema
from typer.testing import CliRunner

from fairdash.audits import PortableModel, tables
from fairdash.cli import app
from fairdash.cli._recipe import read_condition
from fairdash.datasets import Condition, Roles, Subgroups, encode, make_dataset

RACES = "derived_race=White,Black or African American"
RECIPE = {
    "rows": [{"column": "loan_purpose", "among": [1, 31]}],
    "negative": ["action_taken=3"],
    "preparation": [{"kind": "missing", "column": "applicant_age", "values": ["8888"]}],
}


@pytest.fixture(scope="module")
def applications(tmp_path_factory):
    """Applications for mortgages, and their file."""
    table = mortgages(6_000)
    path = tmp_path_factory.mktemp("applications") / "hmda.csv"
    table.to_csv(path, index=False)
    return table, path


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_the_generator_has_the_published_columns():
    table = mortgages(50)
    assert len(table.columns) == 99
    assert {"lei", "action_taken", "debt_to_income_ratio", "denial_reason_4"} <= set(
        table
    )


def test_codes_are_approved_denied_or_left_out_as_by_hand(applications, tmp_path):
    table, path = applications
    out = tmp_path / "audit.json"
    page = tmp_path / "audit.html"
    done = call(
        "audit", path, "--decision", "action_taken=1,2", "--negative", "action_taken=3",
        "--group", RACES, "--out", out, "--report", page,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    written = json.loads(out.read_text())
    check_schema(written, "audit")
    rates = approved_by_hand(table)
    values = pd.DataFrame(written["estimates"])
    values = values[values["measure"] == "selection_rate"].set_index("group")["value"]
    assert values.to_dict() == pytest.approx(rates.to_dict())
    (left_out,) = (e for e in written["excluded"] if "action_taken" in e["reason"])
    assert left_out["reason"] == "another action_taken (4–8)"
    assert left_out["rows"] == (table["action_taken"] > 3).sum()
    n_left = sum(part["rows"] for part in written["excluded"])
    assert written["rows"] + n_left == len(table)
    for text in (done.output, page.read_text()):
        assert "another action_taken (4–8)" in text


def test_options_and_a_recipe_file_say_the_same(applications, tmp_path):
    _, path = applications
    file = tmp_path / "recipe.yaml"
    file.write_text(yaml.safe_dump(RECIPE))
    command = ["audit", path, "--decision", "action_taken=1,2", "--group", RACES]
    by_file = call(*command, "--recipe", file)
    by_options = call(
        *command, "--rows", "loan_purpose=1,31", "--negative", "action_taken=3",
        "--missing", "applicant_age=8888",
    )  # fmt: skip
    assert by_file.exit_code == by_options.exit_code == 0, by_file.output
    assert by_file.output == by_options.output


def test_a_policy_leaves_out_the_same_kinds_of_rows_next_month(applications):
    table, _ = applications
    limits = [{"measure": "selection_rate", "at_most": 0.5}]
    policy = tables.Policy.model_validate(
        {"decision": "action_taken=1,2", "groups": [RACES], "limits": limits, **RECIPE}
    )
    assert tables.Policy.model_validate(policy.model_dump(mode="json")) == policy
    later = mortgages(3_000, seed=1)
    later.loc[:4, "action_taken"] = 9  # a code that nobody knew
    later.loc[:4, "loan_purpose"] = 1
    for frame in (table, later):
        source = tables.Source.of_frame("t", "0" * 64, frame)
        rows = tables.check_policy(frame, policy, source).audited.rows
        assert rows.n + sum(part.rows for part in rows.excluded) == len(frame)
    reasons = [part.reason for part in rows.excluded]
    assert "another action_taken (4–9)" in reasons
    assert "another loan_purpose" in reasons


def roles_of(**more):
    """Return the roles of the applications."""
    return Roles(
        target="action_taken",
        positive=("1", "2"),
        negative=("3",),
        sensitive_feature="derived_race",
        features=("income",),
        **more,
    )


def load_a_model_of(table, monkeypatch, **more):
    """Let every model file be of a model trained on the applications."""
    roles = roles_of(**more)
    dataset = make_dataset(table, roles, name="loans")
    encoder = encode(dataset, np.arange(dataset.n_rows)).encoder
    model = PortableModel(Halves(), encoder, roles, dataset.group_names)
    monkeypatch.setattr("fairdash.cli._export.load", lambda path: model)


def test_a_monitor_of_a_data_set_begins_with_its_recipe(applications):
    table, _ = applications
    roles = roles_of(rows=RECIPE["rows"], preparation=RECIPE["preparation"])
    policy = tables.Policy.parse(
        tables.first_policy(roles, table, Subgroups()).encode(), "p.yaml"
    )
    assert policy.rows == roles.rows
    assert policy.preparation == roles.preparation
    assert policy.negative == ("action_taken=3",)
    rows = tables.count_rows(table, policy.question)
    assert set(rows.frame["action_taken"]) == {1, 2, 3}


class Halves:
    """A scorer that says one half of every row."""

    def positive(self, X, codes):
        return np.full(len(X), 0.5)


def test_predict_scores_only_rows_of_the_kind_it_was_trained_on(
    applications, tmp_path, monkeypatch
):
    table, path = applications
    rows = [*RECIPE["rows"], {"column": "action_taken", "missing": False}]
    load_a_model_of(table, monkeypatch, rows=rows)
    out = tmp_path / "scored.csv"
    done = call("model", "predict", path, path, "--out", out)
    assert done.exit_code == 0, done.output
    scored = pd.read_csv(out, low_memory=False)
    purposes = table["loan_purpose"].isin([1, 31])
    np.testing.assert_array_equal(scored["score"].notna(), purposes)
    left_out = f"No score: {(~purposes).sum():,} rows: outside the row filter"
    assert f"{left_out} (loan_purpose 2, 4, 5, 32)" in done.output


def test_predict_gets_columns_of_a_second_table(applications, tmp_path, monkeypatch):
    table, path = applications
    load_a_model_of(table, monkeypatch)
    numbered = table.assign(id=np.arange(len(table)))
    first = tmp_path / "first.csv"
    second = tmp_path / "second.csv"
    numbered.drop(columns="income").to_csv(first, index=False)
    numbered[["id", "income"]].to_csv(second, index=False)
    out = tmp_path / "scored.csv"
    alone = call("model", "predict", path, first, "--out", out)
    assert alone.exit_code == 2
    assert "income" in alone.output
    done = call(
        *("model", "predict", path, first, "--out", out),
        *("--join", second, "--by", "id"),
    )
    assert done.exit_code == 0, done.output
    scored = pd.read_csv(out, low_memory=False)
    assert (scored["score"] == 0.5).all()
    assert len(scored) == len(table)


@pytest.mark.parametrize(
    "text, condition",
    [
        ("year=2022,2023", {"column": "year", "among": ["2022", "2023"]}),
        ("age >= 18", {"column": "age", "at_least": 18}),
        ("age<65", {"column": "age", "below": 65}),
        ("note=missing", {"column": "note", "missing": True}),
        ("note!=missing", {"column": "note", "missing": False}),
        ("race != Joint", {"column": "race", "not_among": ["Joint"]}),
    ],
)
def test_a_condition_is_read_from_an_option(text, condition):
    assert read_condition(text) == Condition.model_validate(condition)


@pytest.mark.parametrize(
    "arguments, message",
    sampled(
        [
            (["--rows", "purchase"], "no condition. Write a column"),
            (["--rows", "income>much"], "compares with 'much', which is no number"),
            (
                ["--rows", "branch=1"],
                "no column 'branch', which the rows are chosen by",
            ),
            (["--negative", "loan_purpose=1"], "neither the decision nor the outcome"),
            (["--negative", "action_taken=1"], "count as positive and as negative"),
            (["--negative", "action_taken=77"], "It has no '77'"),
            (["--missing", "applicant_age"], "write a column and values"),
            (["--missing", "age=1"], "no column 'age' to change"),
        ],
        2,
    ),
)
def test_an_option_that_does_not_fit_says_what_to_change(
    applications, arguments, message
):
    _, path = applications
    command = ["audit", path, "--decision", "action_taken=1,2", "--group", RACES]
    done = call(*command, *arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_a_recipe_file_with_another_field_is_refused(applications, tmp_path):
    _, path = applications
    file = tmp_path / "recipe.yaml"
    file.write_text("columns: [a]\n")
    command = ["audit", path, "--decision", "action_taken=1", "--group", RACES]
    done = call(*command, "--recipe", file)
    assert done.exit_code == 2
    assert "recipe.yaml: columns" in done.output
