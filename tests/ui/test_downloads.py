"""What a spreadsheet would run is written as text, everything else as it is."""

import csv
import io
import itertools
import re
import unicodedata
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash._escaping import as_csv

ROOT = Path(__file__).parents[2]


def written(table):
    return list(csv.reader(io.StringIO(as_csv(table))))


PREFIXES = "".join(map(chr, (
    0x00, 0x1F, 0x20, 0x22, 0xA0, 0xAD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x180E,
    0x200B, 0x200E, 0x2028, 0x2060, 0x2063, 0x206A, 0x2800, 0x3000, 0x3164, 0xFE0F,
    0xFEFF, 0xFFA0, 0xFFF9, 0x1D173, 0xE0001, 0xE0100,
)))  # fmt: skip
STARTS = "=+-@＝＋－＠﹦﹢﹣﹫⁼⁺﬩"
FORMULAS = (
    "=1+1", "+SUM(A1)", "-cmd|' /C calc'!A0", "@SUM(1)", "=1,2", "-1_000", "-inf",
    *(f"{prefix}=1" for prefix in PREFIXES), *(f"{start}A1" for start in STARTS),
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


@pytest.mark.parametrize("separator", ";\t\n")
@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_behind_another_separator_becomes_text(separator, formula):
    table = pd.DataFrame({"name": [f"x{separator}{formula}", f"{separator}{formula}"]})
    assert written(table)[1:] == [
        [f"x{separator}'{formula}"],
        [f"{separator}'{formula}"],
    ]


@pytest.mark.parametrize(
    "text", ["a;b", "a - b; c", "x;y=1", "a, -b", "−3 points", "(-0.2, -0.1)"]
)
def test_other_text_stays_as_it_is(text):
    assert written(pd.DataFrame({"name": [text]})) == [["name"], [text]]


def test_no_text_begins_a_row_of_its_own():
    table = pd.DataFrame({"name": ["fine\r=1+1", "fine\r\nmore"]})
    assert written(table) == [["name"], ["fine\n'=1+1"], ["fine\nmore"]]


CELLS = st.text(st.sampled_from(f"{PREFIXES}{STARTS}'a1. ,;\t\r\n"), max_size=9)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=4))
def test_no_separator_begins_a_formula(rows):
    """A reader of its own: it looks at the sign that remains of each cell."""
    table = pd.DataFrame(rows, columns=["a", "b"])
    table.insert(0, "row", range(len(rows)))
    for delimiter in ",;\t":
        # none of them reads a zero byte the same way
        text = as_csv(table).replace("\0", "\x01")
        for cell in itertools.chain(
            *csv.reader(io.StringIO(text), delimiter=delimiter)
        ):
            shapes = [
                sign for sign in unicodedata.normalize("NFKC", cell) if shaped(sign)
            ]
            if shapes[:1] and shapes[0] in "=+-@":
                assert re.fullmatch(r" *[+-][0-9.]+ *", cell), (delimiter, cell)


def shaped(sign):
    return unicodedata.category(sign)[0] in "LNPS" and sign not in '"\u1160\u115f\u2800'


def test_tables_are_written_in_no_other_way():
    writers = {
        path.name
        for folder in ("fairdash", "pages")
        for path in (ROOT / folder).rglob("*.py")
        if ".to_csv(" in path.read_text()
    }
    assert writers == {"table.py"}
