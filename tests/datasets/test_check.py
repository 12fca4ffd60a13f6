import documents
import numpy as np
import pandas as pd
import pytest

from fairdash.datasets import (
    Roles,
    check_table,
    checks,
    make_dataset,
    readable_checks,
    remedies,
)
from fairdash.datasets._problems import Problem
from fairdash.datasets.checks import catalog

COLUMNS = ["severity", "check", "column", "rows", "message", "remedy", "action"]


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


@pytest.mark.parametrize(
    "cells",
    [[], [None], [[1], {}, "x"], [1, "a", 2.5, None]],
    ids=["no rows", "no values", "nested", "mixed"],
)
def test_hopeless_tables_are_described_rather_than_raised(cells, roles):
    frame = pd.DataFrame(dict.fromkeys(roles.columns(), cells))
    findings = check_table(frame, roles)
    assert (findings["severity"] == "error").any()


def test_cells_with_question_marks_and_codes_are_counted(people, roles):
    frame = people.assign(
        job=people["job"].where(people.index != 4, "N/A"),
        age=people["age"].where(people.index > 1, 999),
    )
    problems = check_table(frame, roles)
    problems = problems[problems["check"] == "looks missing"].set_index("column")
    assert problems.loc["job", "rows"] == 1
    assert problems.loc["age", "rows"] == 2
    assert problems.loc["age", "action"].words() == "Read '999' in age as missing"


def test_a_change_that_does_not_fit_is_an_error_and_no_traceback(people, roles):
    broken = roles.model_copy(update={"types": {"job": "number"}})
    (row,) = check_table(people, broken).to_dict("records")
    assert (row["severity"], row["check"]) == ("error", "change does not fit")
    assert "'job' are not a number" in row["message"]


def test_every_remedy_of_a_spoiled_table_is_gone_once_applied(people, roles):
    n = np.arange(400)
    frame = people.assign(
        income=people["income"].where(n > 2, np.inf),
        age=people["age"].where(n % 50 > 0, -999),
        height=pd.Series(n % 60 + 140).astype(str).where(n % 80 > 0, "tall"),
    )
    wanted = {
        "infinite values": "income",
        "looks missing": "age",
        "numbers as text": "height",
    }
    changed = roles.model_copy(update={"features": (*roles.features, "height")})
    findings = check_table(frame, changed)
    for check, column in wanted.items():
        rows = findings[findings["check"] == check]
        assert rows["column"].tolist() == [column]
        changed = remedies.apply_remedy(changed, rows["action"].iloc[0])
    after = check_table(frame, changed)
    assert not set(wanted) & set(after["check"])
    make_dataset(frame, changed, name="mended")


def test_repeated_rows_and_small_groups_are_counted(people, roles):
    frame = pd.concat([people, people.head(20)], ignore_index=True)
    row = finding(frame, roles, "repeated rows")
    assert (row["severity"], row["rows"]) == ("note", 20)
    after = check_table(frame, remedies.apply_remedy(roles, row["action"]))
    assert "repeated rows" not in set(after["check"])
    frame = people.assign(sex=people["sex"].where(people.index >= 30, "Other"))
    assert finding(frame, roles, "small group")["rows"] == 30
    woman = people["sex"] == "Female"
    rare = people["granted"].mask(woman & (woman.cumsum() > 4), "no")
    message = finding(people.assign(granted=rare), roles, "small group")["message"]
    assert "of one outcome" in message


def test_marks_of_missing_among_many_texts_are_found_as_among_few():
    marks = [" N/A", "?", "n/a", "-", "N/A"]
    texts = pd.Series([*marks, *(f"w{i}" for i in range(400))], dtype="str")
    rows = np.arange(len(texts))
    columns = {"y": rows % 2, "group": np.where(rows % 3, "a", "b")}
    roles = Roles(target="y", positive="1", sensitive_feature="group", features=("t",))
    problems = [
        check_table(pd.DataFrame({**columns, "t": column}), roles)
        for column in (texts, texts.astype(object))
    ]
    (looks,) = problems[0][problems[0]["check"] == "looks missing"].to_dict("records")
    assert looks["rows"] == 5
    assert set(looks["action"].values) == set(marks)
    pd.testing.assert_frame_equal(*problems)


@pytest.fixture
def toy_check(monkeypatch):
    """A check of ages in the list, as long as a test lasts."""
    monkeypatch.setattr(catalog, "_CHECKS", list(catalog._CHECKS))

    def find(table):
        rows = int((table.used.table["age"] > 120).sum())
        if rows:
            message = f"{rows:,} people are older than 120."
            yield Problem("warning", "too old", "age", rows, message, "Look at them.")

    note = checks.CheckNote("too old", "people older than 120", "look at them")
    return checks.add(checks.Check(find, (note,)))


def test_a_check_is_a_function_and_an_entry(toy_check, people, roles):
    assert "too old" not in set(check_table(people, roles)["check"])
    aged = people.assign(age=people["age"].where(people.index > 2, 130))
    row = finding(aged, roles, "too old")
    assert row["message"] == "3 people are older than 120."
    assert "too old" in set(readable_checks(check_table(aged, roles))["Check"])
    listed = documents.tables().filled("data.md")
    assert "|too old|people older than 120|look at them|" in listed


def test_two_checks_of_one_finding_are_refused(toy_check):
    with pytest.raises(ValueError, match=r"'too old' already\. Name it otherwise"):
        checks.add(toy_check)


def test_each_check_finds_what_its_entry_says(people, roles):
    granted = people["granted"] == "yes"
    spoiled = people.assign(
        amount_paid=np.where(granted, 500, 0) + np.arange(400) % 40,
        town=np.where(people.index > 30, "Bern", "n/a"),
        income=people["income"].astype(str).where(people.index > 20, "none at all"),
    )
    spoiled = pd.concat([spoiled, spoiled.head(5)], ignore_index=True)
    features = (*roles.features, "amount_paid", "town")
    roles = roles.model_copy(update={"features": features})
    examined = checks.Examined.of(spoiled, roles, broken=())
    results = set()
    for check in checks.checks():
        names = {problem.check for problem in check.find(examined)}
        assert names <= {note.name for note in check.notes}
        results |= names
    assert {"leak", "looks missing", "numbers as text", "repeated rows"} <= results
