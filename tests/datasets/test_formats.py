"""Every kind of file gives the same rows, here and in the box; a kind is one file."""

import io
from pathlib import Path
from types import ModuleType, SimpleNamespace

import documents
import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
import python_calamine
import toy_reader
from crafted.formats import ODS, ods, ods_row
from crafted.workbooks import packed, workbook
from pandas.testing import assert_frame_equal

from fairdash.datasets import read_table, reading
from fairdash.datasets.reading import registry
from fairdash.datasets.reading.format import TableFormat

OLE = b"\xd0\xcf\x11\xe0"
BEGIN = b"\x09\x08\x10\x00\x00\x06\x05\x00"  # the first record of .xls
PEOPLE = pd.DataFrame(
    {"age": [31, 45, 52], "sex": ["f", "m", None], "score": [0.5, np.nan, 2.25]}
)
LINES = PEOPLE.to_json(orient="records", lines=True).encode()
TITLED = [["age", "sex", "n"], [31, "f", 1], [32, "m", 2]]
ROWS = [list(PEOPLE), [31, "f", 0.5], [45, "m", None], [52, None, 2.25]]


def feather(frame, compression="lz4"):
    buffer = io.BytesIO()
    frame.to_feather(buffer, compression=compression)
    return buffer.getvalue()


def odf_rows():
    texts = [["age", "sex"], ["31", "f"], ["45", "m"]]
    return "".join(ods_row([(cell, 1) for cell in row]) for row in texts)


@pytest.mark.parametrize(
    "content",
    [
        LINES,
        b"\xef\xbb\xbf" + LINES,
        feather(PEOPLE),
        feather(PEOPLE, "zstd"),
        workbook(People=ROWS),
        pa.compress(PEOPLE.to_csv(index=False).encode(), "zstd", asbytes=True),
        packed({"people.jsonl": LINES, "notes.md": b"hello"}),
    ],
    ids=["lines", "marked lines", "lz4", "zstd", "sheet", "csv.zst", "zip of lines"],
)
def test_a_file_of_any_kind_gives_the_same_rows_here_and_in_the_box(content, tmp_path):
    assert_frame_equal(read_table(content), PEOPLE)
    result_here = reading.convert_table(content, tmp_path / "here.parquet")
    result_apart = reading.convert_apart(
        content, tmp_path / "apart.parquet", name="people"
    )
    assert result_apart == result_here
    assert_frame_equal(reading.load_table(tmp_path / "apart.parquet"), PEOPLE)


def test_a_workbook_of_libreoffice_is_read():
    table = read_table(ods(odf_rows()))
    assert table.to_dict("list") == {"age": [31, 45], "sex": ["f", "m"]}


@pytest.mark.parametrize("program", ["sav", "dta"])
def test_labelled_values_are_words_and_codes_among_numbers_stay(program, tmp_path):
    path = tmp_path / f"people.{program}"
    frame = pd.DataFrame(
        {"sex": [1.0, 2.0, 1.0, np.nan], "age": [31.0, 98.0, 40.0, 52.0]}
    )
    labels = {"sex": {1: "Männlich", 2: "Female"}, "age": {98: "Refused"}}
    write = getattr(pyreadstat, f"write_{program}")
    write(frame, path, variable_value_labels=labels)
    table = read_table(path)
    assert table["sex"].fillna("-").tolist() == ["Männlich", "Female", "Männlich", "-"]
    assert table["age"].tolist() == [31, 98, 40, 52]
    apart_path = tmp_path / "apart.parquet"
    form = reading.convert_apart(
        path.read_bytes(), apart_path, name=path.name
    ).table_format
    assert_frame_equal(reading.load_table(apart_path), table)
    assert form.describe() == "Read as a file of SPSS, Stata or SAS."


@pytest.mark.parametrize(
    "content, said",
    [
        (b"Loans of 2023,,\n\nage,sex,n\n31,f,1\n32,m,2\n", (3, "2 rows")),
        (b"Loans of 2023\nage;sex;n\n31;f;1\n32;m;2\n", (2, "1 row")),
        (
            workbook(
                S=[["Loans"], [], ["age", "sex", "n"], [31, "f", 1], [32, "m", 2]]
            ),
            (3, "2 rows"),
        ),
        (workbook(S=TITLED), (None, "")),
    ],
    ids=["csv", "semicolons", "sheet", "no title"],
)
def test_a_title_above_the_header_is_left_out_and_said(content, said, tmp_path):
    row, above = said
    table = read_table(content)
    assert table.to_dict("list") == {"age": [31, 32], "sex": ["f", "m"], "n": [1, 2]}
    words = reading.convert_table(content, tmp_path / "t").table_format.describe()
    expected = f", header in row {row}; {above} above it left out." if row else "."
    assert words.endswith(expected)
    assert ("header in row" in words) == (row is not None)


def test_two_cells_above_the_header_are_no_title():
    with pytest.raises(ValueError, match="has 3 cells but the header has 2"):
        read_table(b"Loans; all\nage;sex;n\n31;f;1\n32;m;2\n33;m;2\n")


def test_one_column_and_a_header_without_some_names_have_no_title():
    assert read_table(b"age\n31\n32\n")["age"].tolist() == [31, 32]
    assert list(read_table(b",x,y\n1,2,3\n4,5,6\n")) == ["Unnamed: 0", "x", "y"]
    assert list(read_table(workbook(S=[["age"], [31], [32]]))) == ["age"]


@pytest.mark.parametrize(
    "content, message",
    [
        (b'{"a": 1}\n{"a": "x"}\n', "not readable as JSON lines.*one type for"),
        (b'{"a": 1}\n{"a": 2\n', "not readable as JSON lines"),
        (b'{"a": [1]}\n', "column 'a' hold lists"),
        (feather(PEOPLE)[:-40], "damaged Arrow file"),
        (b"$FL2" + b"\0" * 300, "damaged file of SPSS"),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, "damaged workbook"),
        (b"\x28\xb5\x2f\xfd" + b"\1" * 90, "damaged Zstandard file"),
        (b'[{"a": 1}]', "is a web page, XML or JSON.*as JSON lines"),
    ],
)
def test_a_damaged_file_of_a_new_kind_is_refused_by_a_sentence(content, message):
    with pytest.raises(ValueError, match=message):
        read_table(content)


LOCKED_ODS = packed(
    {
        "mimetype": ODS,
        "META-INF/manifest.xml": "<manifest:encryption-data/>",
    }
)


@pytest.mark.parametrize(
    "content",
    [
        OLE + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"),
        OLE + b"\0" * 508 + BEGIN + b"\0" * 12 + b"\x2f\x00\x36\x00",
        LOCKED_ODS,
    ],
    ids=["xlsx", "xls", "ods"],
)
def test_a_workbook_with_a_password_says_so(content):
    with pytest.raises(ValueError, match="locked with a password; save it without one"):
        read_table(content)


def test_a_workbook_that_excel_97_wrote_is_read():
    """By LibreOffice as .xls: numbers, texts, dates, booleans and empty cells."""
    table = read_table(Path(__file__).with_name("people.xls"))
    assert table.to_dict("list") == {
        "id": [1, 2, 3],
        "größe": [1.5, 2.25, 4.0],
        "day": ["2023-01-02", "2023-02-03", "2024-12-31"],
        "ok": [True, False, True],
        "zip": ["01234", "02345", "00001"],
        "name": ["Ä, b", "c\nd", "e"],
    }


class _Book:
    """A workbook with a sheet that is a chart, which cannot be read as cells."""

    def __init__(self, kinds):
        self.book = python_calamine.load_workbook(io.BytesIO(workbook(People=ROWS)))
        chart = SimpleNamespace(name="Chart", typ=kinds.ChartSheet)
        self.sheets_metadata = [*self.book.sheets_metadata, chart]

    def get_sheet_by_name(self, name):
        if name == "Chart":
            raise OSError("failed to fill whole buffer")
        return self.book.get_sheet_by_name(name)


def test_a_sheet_that_is_a_chart_is_no_table(monkeypatch):
    book = _Book(python_calamine.SheetTypeEnum)
    monkeypatch.setattr(python_calamine, "load_workbook", lambda file: book)
    assert_frame_equal(read_table(workbook(People=ROWS)), PEOPLE)
    book.sheets_metadata[0] = SimpleNamespace(
        name="Chart", typ=python_calamine.SheetTypeEnum.WorkSheet
    )
    with pytest.raises(ValueError, match="is a damaged workbook"):
        read_table(workbook(People=ROWS))


@pytest.fixture
def pairs():
    registry.add(toy_reader.READER)
    yield
    registry.remove("pairs")


def test_a_further_kind_of_files_is_one_reader(pairs, tmp_path):
    table = read_table(toy_reader.FILE)
    assert table.to_dict("list") == {"age": [31, 45], "sex": ["f", "m"]}
    assert "pairs" in reading.upload_suffixes()
    form = reading.convert_table(toy_reader.FILE, tmp_path / "t").table_format
    assert form.describe() == "Read as name=value pairs."
    with pytest.raises(ValueError, match="do not give `sheet`"):
        reading.convert_table(toy_reader.FILE, tmp_path / "t", sheet="S")
    assert "|Pairs (`.pairs`)|||" in documents.tables().filled("data.md")


def test_a_stored_table_of_a_kind_that_is_gone_says_which_kinds_are_read():
    with pytest.raises(ValueError, match=r"kind 'pairs' are not read.*'csv'"):
        read_table(b"x", table_format=TableFormat(kind="pairs"))


def test_every_reader_of_the_registry_is_described():
    kinds = [reader.kind for reader in registry.all_readers()]
    assert len(kinds) == len(set(kinds)) >= 6
    assert all(reader.suffixes and reader.label for reader in registry.all_readers())
    assert kinds[-1] == "csv"  # whatever is nothing else


def test_a_file_without_a_reader_is_named():
    with pytest.raises(TypeError, match=r"toys must define READER"):
        registry._reader_in(ModuleType("toys"))
