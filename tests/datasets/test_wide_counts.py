"""Counts of groups in columns become a table of counts, and every count is kept."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fairdash.audits import tables
from fairdash.cli import app
from fairdash.datasets import (
    WideCounts,
    find_wide_counts,
    make_dataset,
    notes_of,
    rows_of_counts,
)


@pytest.fixture
def colleges():
    """Admissions as IPEDS publishes them; open colleges report no applicants."""
    rng = np.random.default_rng(0)
    n = 60
    table = pd.DataFrame({"UNITID": 100_000 + np.arange(n)})
    for letter, mean in (("M", 900), ("W", 1_100)):
        table[f"APPLCN{letter}"] = rng.poisson(mean, n).astype(float)
        admitted = rng.binomial(table[f"APPLCN{letter}"].astype(int), 0.6)
        table[f"ADMSSN{letter}"] = admitted.astype(float)
    for stem in ("APPLCN", "ADMSSN"):
        table[stem] = table[f"{stem}M"] + table[f"{stem}W"]
    counts = [name for name in table if name != "UNITID"]
    table.loc[50:, counts] = np.nan
    return table.assign(CONTROL=rng.choice(["Public", "Private"], n))


def test_ipeds_is_recognised_by_its_columns(colleges):
    wide = find_wide_counts(colleges)
    assert wide.layout == "IPEDS, admissions of colleges"
    assert (wide.feature, wide.outcome) == ("sex", "admitted")
    columns = [(group.name, group.asked, group.chosen) for group in wide.groups]
    assert columns == [("men", "APPLCNM", "ADMSSNM"), ("women", "APPLCNW", "ADMSSNW")]
    assert wide.totals == ("APPLCN", "ADMSSN")


def test_rows_of_counts_hold_all_people_once(colleges):
    rows = rows_of_counts(colleges)
    assert list(rows) == ["UNITID", "CONTROL", "sex", "admitted", "people"]
    assert len(rows) == 50 * 2 * 2
    assert rows["people"].sum() == colleges["APPLCN"].sum()
    people = rows.groupby(["sex", "admitted"])["people"].sum()
    assert people["women", "yes"] == colleges["ADMSSNW"].sum()
    assert people["men", "no"] == (colleges["APPLCNM"] - colleges["ADMSSNM"]).sum()
    assert notes_of(rows).sentences == [
        "Made of 60 rows with counts by sex in columns; 20 of 120 counts are missing."
    ]


def test_an_audit_of_them_has_the_rates_of_the_columns(colleges):
    wide = find_wide_counts(colleges)
    rows = rows_of_counts(colleges)
    dataset = make_dataset(rows, wide.roles, name="IPEDS")
    assert dataset.n_people == colleges["APPLCN"].sum()
    question = tables.TableQuestion(
        decision="admitted=yes", groups=("sex",), count="people"
    )
    source = tables.Source.of_frame("ipeds.csv", "0", rows)
    audited = tables.audit_table(rows, question, source)
    estimates = pd.DataFrame(audited.to_dict()["estimates"])
    rates = estimates[estimates["measure"] == "selection_rate"].set_index("group")
    for name, letter in (("men", "M"), ("women", "W")):
        sums = colleges[[f"ADMSSN{letter}", f"APPLCN{letter}"]].sum()
        assert rates.loc[name, "value"] == pytest.approx(sums.iloc[0] / sums.iloc[1])
    assert "20 of 120 counts are missing" in audited.rows.remarks[0]


@pytest.mark.parametrize(
    "columns, groups",
    [
        (("applicants_men", "admitted_men", "applicants_women", "admitted_women"),
         ["men", "women"]),
        (("Black applicants", "Black hired", "White applicants", "White hired"),
         ["black", "white"]),
    ],
)  # fmt: skip
def test_pairs_of_other_names_are_found(columns, groups):
    table = pd.DataFrame([[30, 10, 20, 5], [8, 8, 9, 0]], columns=columns)
    wide = find_wide_counts(table)
    assert [group.name for group in wide.groups] == groups
    assert wide.layout == ""
    rows = rows_of_counts(table)
    assert rows["people"].tolist() == [10, 20, 5, 15, 8, 9]


@pytest.mark.parametrize(
    "columns",
    [
        ["applied_date", "admitted_date", "age"],
        ["applicants", "admitted", "sex"],
        ["applicants_men", "admitted_women", "income"],
        ["applied_online", "approved_online", "applied_before", "approved_before"],
    ],
)
def test_other_columns_are_no_pairs(columns):
    table = pd.DataFrame([[1] * len(columns)], columns=columns)
    assert find_wide_counts(table) is None
    with pytest.raises(ValueError, match="applicants_men and admitted_men"):
        rows_of_counts(table)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"ADMSSNM": 5_000}, "'ADMSSNM' is larger than 'APPLCNM' in 50 rows, first row "
         "1 with 5,000 of"),
        ({"APPLCNW": -1}, "'APPLCNW' holds no whole number of 0 or more in 60 rows"),
        ({"ADMSSNW": 2.5}, "first row 1 with 2.5"),
        ({"sex": "x"}, "a column 'sex' already. Rename it"),
        ({"APPLCNM": np.nan, "APPLCNW": np.nan}, "missing or 0, so nobody is counted"),
    ],
)  # fmt: skip
def test_counts_that_do_not_fit_are_refused(colleges, change, message):
    with pytest.raises(ValueError, match=message):
        rows_of_counts(colleges.assign(**change))


def test_groups_have_different_names():
    twice = {"name": "men", "asked": "a", "chosen": "b"}
    with pytest.raises(ValueError, match="two or more of different names"):
        WideCounts(outcome="admitted", feature="sex", groups=(twice, twice))


def test_the_command_line_writes_rows_that_it_can_audit(colleges, tmp_path):
    colleges.to_csv(tmp_path / "adm.csv", index=False)
    rows = tmp_path / "rows.parquet"
    done = CliRunner().invoke(
        app, ["data", "counts", str(tmp_path / "adm.csv"), str(rows)]
    )
    assert done.exit_code == 0, done.output
    text, command = done.output.splitlines()
    assert text.endswith("20 of 120 counts are missing.")
    audited = CliRunner().invoke(app, command.split()[1:])
    assert audited.exit_code == 0, audited.output
    assert "20 of 120 counts are missing" in audited.output
    none = CliRunner().invoke(app, ["data", "counts", str(rows), str(rows)])
    assert none.exit_code == 2
    assert "Rename the columns" in none.stderr
