import numpy as np
import pandas as pd
import pytest

from fairdash.datasets import check_table, make_dataset

COLUMNS = [
    "severity",
    "check",
    "column",
    "rows",
    "example_rows",
    "message",
    "remedy",
    "action",
]


def finding(frame, roles, check, **changes):
    table = check_table(frame, roles.model_copy(update=changes))
    (row,) = table[table["check"] == check].to_dict("records")
    return row


def test_a_clean_table_has_no_findings(people, roles):
    findings = check_table(people, roles.model_copy(update={"subgroup_columns": ()}))
    assert findings.empty
    assert list(findings) == COLUMNS


def test_errors_are_those_of_make_dataset(people, roles):
    spoiled = people.assign(sex="Male", granted="yes", income=np.arange(400))
    findings = check_table(spoiled, roles)
    errors = findings[findings["severity"] == "error"]
    assert errors["check"].tolist() == ["target not binary", "one group", "identifier"]
    with pytest.raises(ValueError) as raised:
        make_dataset(spoiled, roles, name="spoiled")
    for _, error in errors.iterrows():
        assert error["message"] in str(raised.value)
        assert error["remedy"] in str(raised.value)


def test_one_bad_feature_does_not_hide_what_is_wrong_with_the_others(people, roles):
    frame = people.assign(same=1)
    chosen = roles.model_copy(update={"features": ("person", "same", "age")})
    assert check_table(frame, chosen)["check"].tolist()[:2] == [
        "identifier",
        "constant",
    ]


def test_a_column_known_only_after_the_outcome_is_a_leak(people, roles):
    granted = people["granted"] == "yes"
    paid = people.assign(
        amount_paid=np.where(granted, 500, 0) + np.arange(400) % 40,
        branch=np.where(granted & (np.arange(400) % 50 > 0), "Bern", "Rome"),
    )
    for column in ("amount_paid", "branch"):
        row = finding(paid, roles, "leak", features=("age", column))
        assert (row["severity"], row["column"]) == ("warning", column)
        assert "separates the outcomes" in row["message"]


def test_a_column_filled_in_for_one_outcome_only_is_a_leak(people, roles):
    granted = people["granted"] == "yes"
    signed = people.assign(signed=people["age"].where(granted).astype(float))
    row = finding(signed, roles, "leak", features=("age", "signed"))
    assert "where it is filled in, 100% of rows have one outcome" in row["message"]


def test_a_noisy_feature_and_random_gaps_are_no_leak(people, roles):
    rng = np.random.default_rng(0)
    noisy = people.assign(
        good=(people["granted"] == "yes") ^ (rng.random(400) < 0.15),
        town=rng.choice(list("abcdefgh"), 400),
        known=people["age"].where(rng.random(400) < 0.5),
    )
    findings = check_table(
        noisy, roles.model_copy(update={"features": ("good", "town", "known")})
    )
    assert "leak" not in set(findings["check"])


def test_the_output_of_another_model_is_named(people, roles):
    frame = people.assign(decile_score=people["age"] // 10)
    row = finding(frame, roles, "model score", features=("job", "decile_score"))
    assert (row["severity"], row["column"]) == ("warning", "decile_score")


def test_another_coding_of_the_groups_is_a_proxy(people, roles):
    woman = np.where(people["age"] < 40, "Miss", "Mrs")
    frame = people.assign(title=np.where(people["sex"] == "Male", "Mr", woman))
    row = finding(frame, roles, "proxy", features=("title", "age"))
    assert row["severity"] == "warning"
    assert "'title' tells the group of 99 % of the rows" in row["message"]


def test_constants_rare_levels_and_free_text_are_named(people, roles):
    frame = people.assign(
        same=1,
        job=people["job"].where(people.index >= 4, "mine"),
        remark=[f"note {i // 2}" for i in range(400)],
    )
    chosen = {"features": ("same", "job", "remark")}
    assert finding(frame, roles, "constant", **chosen)["column"] == "same"
    rare = finding(frame, roles, "rare levels", **chosen)
    assert (rare["column"], rare["rows"]) == ("job", 4)
    assert rare["example_rows"] == (1, 2, 3, 4)
    text = finding(frame, roles, "many values", **chosen)
    assert "200 different values in 400 rows" in text["message"]


@pytest.mark.parametrize("n_missing, severity", [(40, "note"), (200, "warning")])
def test_missing_values_are_counted(people, roles, n_missing, severity):
    frame = people.assign(income=people["income"].where(people.index >= n_missing))
    row = finding(frame, roles, "missing values")
    assert (row["severity"], row["rows"]) == (severity, n_missing)
    assert row["example_rows"] == (1, 2, 3, 4, 5)
    assert "training median" in row["remedy"]


def test_small_groups_and_subgroups_are_counted(people, roles):
    frame = people.assign(sex=people["sex"].where(people.index >= 30, "Other"))
    small = finding(frame, roles, "small group")
    assert (small["severity"], small["rows"]) == ("warning", 30)
    row = finding(people, roles, "small subgroups", subgroup_columns=("age", "job"))
    assert row["severity"] == "note"
    assert "subgroups have fewer than 50 rows" in row["message"]


def test_rows_left_out_are_counted(people, roles):
    frame = people.assign(granted=people["granted"].where(people.index != 6))
    row = finding(frame, roles, "rows left out")
    assert (row["column"], row["rows"], row["example_rows"]) == ("granted", 1, (7,))


@pytest.mark.parametrize(
    "cells",
    [[], [None], [[1], {}, "x"], [1, "a", 2.5, None]],
    ids=["no rows", "no values", "nested", "mixed"],
)
def test_hopeless_tables_are_described_rather_than_raised(cells, roles):
    frame = pd.DataFrame(dict.fromkeys(roles.columns(), cells))
    findings = check_table(frame, roles)
    assert (findings["severity"] == "error").any()


def test_the_gravest_findings_come_first(people, roles):
    frame = people.assign(
        same=1,
        sex="Male",
        income=people["income"].where(people.index > 3),
    )
    severities = check_table(frame, roles)["severity"].tolist()
    assert severities == sorted(severities, key=["error", "warning", "note"].index)


def test_a_table_without_the_columns_is_described(roles):
    findings = check_table(pd.DataFrame(), roles)
    assert findings["column"].tolist() == list(roles.columns())
