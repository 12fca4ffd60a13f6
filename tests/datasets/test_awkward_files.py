"""Small awkward files: each is read as documented or refused with the way out."""

import bz2
import codecs
import csv
import gzip
from contextlib import suppress

import pandas as pd
import pytest
from cases import examples
from conftest import FUZZ
from crafted.damage import CHANGES, mutated
from crafted.parquets import parquet_file as parquet
from crafted.workbooks import packed, workbook
from hypothesis import example, given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from fairdash.datasets import read_table
from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.registry import sniff
from fairdash.datasets.reading.source import as_source

AB = {"a": [1, 3], "b": [2, 4]}
READ = {
    "comma": (b"a,b\n1,2\n3,4\n", AB),
    "old mac line ends": (b"a,b\r1,2\r3,4\r", AB),
    "blank lines": (b"\n\na,b\n\n1,2\n\n3,4\n\n", AB),
    "byte order mark": (codecs.BOM_UTF8 + b"a,b\n1,2\n3,4\n", AB),
    "utf-16": ("a,b\n1,2\n3,4\n".encode("utf-16"), AB),
    "windows-1252": ("p,n\n5 €,1\nZoë,2\n".encode("cp1252"), {"p": ["5 €", "Zoë"]}),
    "late accents": (
        b"p\n" + b"plain\n" * 300_000 + "é\n".encode("cp1252"),
        {"p": ["plain"] * 300_000 + ["é"]},
    ),
    "decimal comma": (b"a;b\n1,5;2\n3;4,25\n", {"a": [1.5, 3], "b": [2, 4.25]}),
    "thousands": (b'a,b\n"1,234",2\n"1,000,000",4\n', {"a": [1234, 1_000_000]}),
    "leading zeros": (b"a,b\n007,2\n123,4\n", {"a": ["007", "123"], "b": [2, 4]}),
    "numbers of 19 digits": (
        b"a,b\n12345678901234567890,2\n1,4\n",
        {"a": ["12345678901234567890", "1"]},
    ),
    "a late word": (
        b"a\n" + b"1\n" * 1_000_000 + b"none\n",
        {"a": ["1"] * 1_000_000 + ["none"]},
    ),
    "true and false": (b"a,b\nTrue,2\nFALSE,4\n", {"a": [True, False]}),
    "None is a value": (b"a,b\nNone,2\nx,4\n", {"a": ["None", "x"]}),
    "quoted quotes": (b'a,b\n"x ""y""",1\nz,2\n', {"a": ['x "y"', "z"]}),
    "comments below": (b"# above\na,b\n1,2\n# between\n3,4\n# the end\n", AB),
    "sep line": (b"sep=;\na;b\n1;2\n3;4\n", AB),
    "no header": (
        b"31,x,1\n45,y,2\n31,x,1\n45,y,2\n",
        {"column 1": [31, 45, 31, 45], "column 2": ["x", "y", "x", "y"]},
    ),
    "codes without header": (
        b"p,x,s\n" + b"e,x,s\np,y,t\n" * 5,
        {"column 1": ["p", *"ep" * 5], "column 2": ["x", *"xy" * 5]},
    ),
    "years as header": (b"land,2019,2020\nKenya,1,2\nPeru,3,4\n", {"2019": [1, 3]}),
    "two columns of one name": (b"a,a\n1,2\n3,4\n", {"a": [1, 3], "a.1": [2, 4]}),
    "copies beside a taken name": (b"a,a,a.1\n1,1,5\n", {"a": [1], "a.2": [1]}),
    "zip with a folder and notes": (
        packed({"d/t.csv": b"a,b\n1,2\n3,4\n", "__MACOSX/x": b"", "notes": b"hi"}),
        AB,
    ),
    "zip": (packed({"t.csv": b"a,b\n1,2\n3,4\n"}), AB),
    "gzip in zip": (packed({"t.gz": gzip.compress(b"a,b\n1,2\n3,4\n")}), AB),
    "excel": (workbook(One=[["a", "b"], [1, 2], [3, 4]]), AB),
    "excel beside an empty sheet": (
        workbook(One=[], Two=[["a", "b"], [1, 2], [3, 4]]),
        AB,
    ),
    "parquet with dates": (
        parquet(a=pd.to_datetime(["2024-01-31", "2024-02-29"]), b=[2, 4]),
        {"b": [2, 4]},
    ),
}
REFUSED = {
    "nothing": (b"", "is empty"),
    "a short row": (b"a,b\n1,2\n3\n", "row 2 (line 3) has 1 cells"),
    "a long row": (b"a,b\n1,2,3\n4,5\n", "row 1 (line 2) has 3 cells"),
    "a short row after a quoted newline": (
        b'a,b\n"x\ny",2\n3\n',
        "row 2 (line 4) has 1 cells",
    ),
    "an open quote": (b'a,b\n1,2\n3,"4\n', "quote is never closed"),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00", "is a binary file"),
    "a web page": (b"<!DOCTYPE html><table></table>", "is a web page"),
    "bzip2": (bz2.compress(b"a,b\n1,2\n"), "of a kind that is not read"),
    "json": (b'[{"a": 1}]', "JSON, not a table"),
    "half a zip": (
        packed({"t.csv": b"a,b\n1,2\n"})[:-30],
        "is a damaged or locked ZIP file",
    ),
    "two tables in a zip": (
        packed({"one.csv": b"a,b\n1,2\n", "two.csv": b"a,b\n1,2\n"}),
        "choose one with `sheet`: 'one.csv', 'two.csv'",
    ),
    "two sheets": (
        workbook(One=[["a"], [1]], Two=[["b"], [2]]),
        "choose one with `sheet`: 'One', 'Two'",
    ),
    "an empty workbook": (workbook(One=[]), "no sheet has a cell"),
    "a cell beyond the header": (
        workbook(One=[["a"], [1, "x"]]),
        "row 1 has the cell 'x' beyond the 1 columns",
    ),
}


@pytest.mark.parametrize("name", READ)
def test_an_awkward_file_is_read_as_documented(name):
    content, expected = READ[name]
    table = read_table(content)
    for column, values in expected.items():
        wanted = pd.Series(values, name=column)
        result = table[column]
        assert pd.api.types.is_bool_dtype(result) == pd.api.types.is_bool_dtype(wanted)
        pd.testing.assert_series_equal(result, wanted, check_dtype=False)


@pytest.mark.parametrize("name", REFUSED)
def test_an_awkward_file_is_refused_with_the_reason(name):
    content, words = REFUSED[name]
    with pytest.raises(ValueError) as caught:
        read_table(content, name="upload")
    assert words in str(caught.value)


def test_what_was_understood_is_said_in_words():
    content = "größe;b\n1,5;2\n".encode("cp1252")
    sentence = "Read as semicolon-separated, decimal comma, Windows-1252."
    assert sniff(as_source(content, None, None)).describe() == sentence
    sentence = "Read as comma-separated, UTF-8, header in row 2; 1 row above it "
    sentence += "left out."
    assert sniff(as_source(b"# x\na,b\n1,2\n", None, None)).describe() == sentence


words = st.text(
    st.sampled_from("abcäß €\"'#;,|\t\n\\-_.z"), min_size=1, max_size=8
).filter(lambda text: text.strip() == text and any(c in "abz" for c in text))
names = st.text(st.sampled_from("abcdefgä_"), min_size=1, max_size=6)
numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3))
columns = st.one_of(
    st.tuples(st.just("int64"), st.lists(st.integers(-999, 999), min_size=5)),
    st.tuples(st.just("float64"), st.lists(numbers, min_size=5)),
    st.tuples(st.just("str"), st.lists(words, min_size=5)),
)


@examples(50)
@given(
    table=st.dictionaries(names, columns, min_size=2, max_size=5),
    delimiter=st.sampled_from(",;\t|"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    decimal=st.sampled_from(".,"),
    newline=st.sampled_from(["\n", "\r\n"]),
    pack=st.sampled_from([bytes, gzip.compress, lambda c: packed({"t.csv": c})]),
)
def test_any_frame_comes_back_from_any_dialect(
    table, delimiter, quoting, encoding, decimal, newline, pack
):
    frame = pd.DataFrame(
        {name: pd.Series(v[:5], dtype=kind) for name, (kind, v) in table.items()}
    )
    text = frame.to_csv(
        index=False,
        sep=delimiter,
        quoting=quoting,
        decimal=decimal,
        lineterminator=newline,
    )
    body = read_table(pack(text.encode(encoding)))
    floats = frame.select_dtypes("float")
    if delimiter == "," and decimal == "," and quoting == csv.QUOTE_NONNUMERIC:
        body = body.drop(columns=floats)
        frame = frame.drop(columns=floats)
    assert_frame_equal(body, frame, check_dtype=False)


@examples(100 * FUZZ)
@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
def test_what_is_no_table_ends_in_no_other_error_than_a_value_error(content):
    with suppress(ValueError):
        assert len(read_table(content))


@examples(30 * FUZZ)
@given(st.sampled_from(sorted(READ)), st.integers(0, 400), st.binary(max_size=3))
@example("excel", 242, b"\0")  # zlib.error
@example("zip", 8, b"\x63")  # NotImplementedError
def test_a_damaged_file_ends_in_no_other_error_than_a_value_error(name, at, patch):
    content = READ[name][0]
    if len(content) > 10_000:
        return
    damaged = content[:at] + patch + content[at + 1 :]
    with suppress(ValueError):
        assert len(read_table(damaged))


@examples(30 * FUZZ)
@given(
    st.integers(0, 9),
    st.integers(0, 2_000),
    st.sampled_from(CHANGES),
    st.binary(min_size=1, max_size=3),
)
@example(0, 0, "drop", b"")
def test_a_workbook_damaged_inside_ends_in_no_other_error_than_a_value_error(
    part, at, change, patch
):
    with suppress(ValueError):
        assert len(read_table(mutated(part, at, change, patch)))


@pytest.mark.parametrize(
    "encoding, content, words",
    [
        ("utf-8", "a,b\n1,2\nGröße,3\n".encode("latin-1"), "line 3 .*0xF6.*not UTF-8"),
        ("cp1252", b"a,b\n1,\x81\n", "line 2 .*0x81.*not Windows-1252"),
        ("utf-16", "a,b\n1,2\n".encode("utf-16") + b"x", "line 3 .*0x78.*not UTF-16"),
        ("utf-8", b"a," * 1_100_000 + b"\n\xff\n", "line 2 .*0xFF.*not UTF-8"),
    ],
)
@pytest.mark.parametrize("comments", [False, True])
def test_a_byte_of_another_encoding_is_named_with_its_line(
    encoding, content, words, comments
):
    form = TableFormat(encoding=encoding, comments=comments)
    with pytest.raises(ValueError, match=words) as caught:
        read_table(content, table_format=form)
    assert type(caught.value) is ValueError
    assert "codec" not in str(caught.value)
    assert "Choose another encoding, such as" in str(caught.value)
