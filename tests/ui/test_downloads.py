"""What a spreadsheet would run is written as text, everything else as it is."""

import csv
import io
from pathlib import Path

import pandas as pd
import pytest

from fairdash._escaping import as_csv

ROOT = Path(__file__).parents[2]


def written(table):
    return list(csv.reader(io.StringIO(as_csv(table))))


FORMULAS = (
    "=1+1", "\ufeff=1", " =1", "＝1", "+SUM(A1)", "-cmd|' /C calc'!A0", "@SUM(1)",
    "\t=1", "\n=1", "=1,2",
)  # fmt: skip


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_becomes_text_in_cells_and_names(formula):
    table = pd.DataFrame({formula: [formula, "plain"], "n": [1, 2]})
    table["kind"] = pd.Categorical([formula, "plain"])
    rows = written(table)
    assert rows[0] == [f"'{formula}", "n", "kind"]
    assert rows[1] == [f"'{formula}", "1", f"'{formula}"]
    assert rows[2] == ["plain", "2", "plain"]


def test_numbers_and_gaps_stay_as_they_are():
    columns = {"gap": [-0.25, None], "text": ["-3", "+4e5"], "flag": [True, False]}
    table = pd.DataFrame(columns)
    assert written(table)[1:] == [["-0.25", "-3", "True"], ["", "+4e5", "False"]]
    assert table["text"].tolist() == ["-3", "+4e5"]


def test_no_text_begins_a_row_of_its_own():
    table = pd.DataFrame({"name": ["fine\r=1+1", "fine\r\n=1+1"]})
    assert written(table) == [["name"], ["fine\n=1+1"], ["fine\n=1+1"]]


def test_tables_are_written_in_no_other_way():
    writers = {
        path.name
        for folder in ("fairdash", "pages")
        for path in (ROOT / folder).rglob("*.py")
        if ".to_csv(" in path.read_text()
    }
    assert writers == {"_escaping.py"}
