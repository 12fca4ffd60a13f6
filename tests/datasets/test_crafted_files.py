"""Small files that were made to stop a server are refused, or read like others."""

import csv
import io
import json
import zipfile

import pytest
from openpyxl import Workbook

from fairdash.datasets import read_table
from fairdash.datasets.reading.read import unique_names

pytestmark = pytest.mark.timeout(60)  # each took minutes, or had no end
MANY = 20_000


def text(*rows):
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue().encode()


def workbook(*rows):
    book, file = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


def repacked(content, **changes):
    """Return a workbook with files of it written anew."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            change = changes.get(name.rsplit("/", 1)[-1].removesuffix(".xml"))
            data = old.read(name).decode()
            new.writestr(name, change(data) if change else data)
    return packed.getvalue()


@pytest.mark.parametrize(
    "header", [["x"] * MANY, [f"x{i}" for i in range(5 * MANY)]], ids=["equal", "other"]
)
def test_too_many_columns_are_refused(header):
    with pytest.raises(ValueError, match=r"0 columns, more than 10,000; keep those"):
        read_table(text(header, ["1"] * len(header)), name="wide.csv")


def test_records_of_too_many_keys_are_refused():
    lines = "\n".join(json.dumps({f"k{i}": 1}) for i in range(MANY))
    with pytest.raises(ValueError, match=r"20,000 columns, more than 10,000"):
        read_table(lines.encode(), name="wide.jsonl")


def test_a_doubled_key_among_many_is_named():
    pairs = [f'"k{i}": 1' for i in range(50_000)]
    record = f"[{{{', '.join([*pairs, pairs[777]])}}}]".encode()
    with pytest.raises(ValueError, match="A record has 'k777' twice"):
        read_table(record, name="twice.json")


def test_names_are_told_apart_one_by_one():
    names = unique_names(["a", "a", "a.1", "", "a", "Unnamed: 3", "a.1"])
    expected = ["a", "a.2", "a.1", "Unnamed: 3", "a.3", "Unnamed: 3.1", "a.1.1"]
    assert names == expected
    assert len(set(unique_names(["x"] * MANY))) == MANY


def test_a_row_numbered_beyond_any_sheet_is_not_waited_for():
    content = workbook(["age", "sex"], [31, "w"], [32, "m"])
    far = repacked(content, sheet1=lambda xml: xml.replace('r="3"', 'r="2000000000"'))
    assert read_table(far, name="far.xlsx")["age"].tolist() == [31]


def test_cells_in_the_last_column_of_a_sheet_are_refused():
    book, file = Workbook(), io.BytesIO()
    for row in range(1, 2_000):
        book.active.cell(row, 16_384, "x")
    book.save(file)
    with pytest.raises(ValueError, match=r"16,384 columns, more than 10,000"):
        read_table(file.getvalue(), name="far.xlsx")


def test_texts_that_unpack_to_more_than_memory_should_hold_are_refused():
    content = workbook(["age", "sex"], [31, "w"])
    packed = io.BytesIO(content)
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as book:
        texts = f"<si><t>{'x' * 1_000}</t></si>" * 140_000
        book.writestr("xl/sharedStrings.xml", f"<sst>{texts}</sst>")
    bomb = packed.getvalue()
    assert len(bomb) < 1 << 20
    with pytest.raises(ValueError, match="more than 128 MiB of texts; save"):
        read_table(bomb, name="bomb.xlsx")
