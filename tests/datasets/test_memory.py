"""What a table takes in memory is counted where it is read, for all kinds of files."""

import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from fairdash.datasets import read_table, reading
from fairdash.datasets.reading import memory, read, source

ROWS = 1_000
COLUMNS = {
    "answers": pa.array([True, False] * 500),
    "answers_with_gaps": pa.array([True, None] * 500),
    "whole": pa.array(range(ROWS), pa.int16()),
    "whole_with_gaps": pa.array([1, None] * 500, pa.int8()),
    "too_large_for_floats": pa.array([2**60, None] * 500),
    "texts": pa.array(["ab", None] * 500),
    "moments": pa.array(range(ROWS), pa.timestamp("us", "Europe/Berlin")),
}
SAID = "more than 16 MiB of memory once it is read, and more than 100 times its"


def written(**columns):
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


def workbook(n_rows, text):
    file = io.BytesIO()
    pd.DataFrame({"text": [text] * n_rows}).to_excel(file, index=False)
    return file.getvalue()


SWELLING = {
    "t.parquet": lambda: written(x=pa.repeat(0.0, 3_000_000)),
    "t.csv.gz": lambda: gzip.compress(b"a,b\n" + b"1,\n" * 2_000_000),
    "t.xlsx": lambda: workbook(800, "x" * 30_000),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_as_much_is_counted_as_a_page_holds(tmp_path, name):
    path = tmp_path / "table"
    reading.convert_table(written(**{name: COLUMNS[name]}), path)
    n_bytes = reading.load_table(path)[name].memory_usage(index=False)
    column = parquet.read_table(path).column(name)
    assert memory.as_series(column).memory_usage(index=False) == n_bytes
    least = ROWS * memory.least_bytes(COLUMNS[name].type)
    assert least <= n_bytes


@pytest.mark.parametrize("name", SWELLING)
def test_every_kind_of_file_is_refused_by_one_sentence_here_and_in_the_box(
    tmp_path, name
):
    content = SWELLING[name]()
    for opened in (
        lambda: read_table(content, name=name),
        lambda: reading.convert_apart(content, tmp_path / "table", name=name),
    ):
        with pytest.raises(ValueError, match=SAID) as refused:
            opened()
        assert str(refused.value).startswith(f"{name} takes ")
        assert f"{len(content):,} bytes" in str(refused.value)


def test_a_table_that_takes_too_much_of_any_page_is_refused(monkeypatch):
    monkeypatch.setattr(source, "MOST_MEMORY", 1 << 12)
    with pytest.raises(ValueError, match="more than 0 GiB of memory once it is read"):
        read_table(written(x=np.arange(600.0)))


@pytest.mark.parametrize(
    ("cells", "words"),
    [([[1]], "lists"), ([{"x": 1}], "records"), ([[{"x": [1]}]], "lists")],
)
def test_a_column_of_lists_or_records_is_refused_by_its_name(tmp_path, cells, words):
    content = written(plain=pa.array([1]), tags=pa.array(cells))
    text = rf"t\.parquet: the cells of the column 'tags' hold {words}, not single"
    with pytest.raises(ValueError, match=text):
        read_table(content, name="t.parquet")
    with pytest.raises(ValueError, match=text):
        reading.convert_apart(content, tmp_path / "table", name="t.parquet")


def test_moments_of_a_zone_are_read_in_the_box(tmp_path):
    content = written(moments=COLUMNS["moments"])
    reading.convert_apart(content, tmp_path / "table", name="t.parquet")
    table = reading.load_table(tmp_path / "table")
    pd.testing.assert_frame_equal(table, read_table(content))
    assert str(table["moments"].dt.tz) == "Europe/Berlin"


def test_a_loaded_table_can_be_written_to(tmp_path):
    reading.convert_table(written(x=np.arange(3.0)), tmp_path / "table")
    table = reading.load_table(tmp_path / "table")
    table.iloc[0, 0] = 7.0
    assert table["x"].to_list() == [7.0, 1.0, 2.0]


def test_the_reader_without_pyarrow_has_the_same_bound(monkeypatch):
    monkeypatch.setattr(read, "is_installed", lambda library: False)
    with pytest.raises(ValueError, match=SAID):
        read_table(SWELLING["t.csv.gz"](), name="t.csv.gz")
    within = gzip.compress(b"a,b\n" + b"1,\n" * 1_000_000)
    assert read_table(within, name="t.csv.gz").shape == (1_000_000, 2)


def test_the_reader_without_pyarrow_counts_before_all_rows_are_in_memory(monkeypatch):
    monkeypatch.setattr(read, "is_installed", lambda library: False)
    n_read = []
    read_csv = pd.read_csv

    def parts(*arguments, chunksize, **options):
        assert chunksize is not None  # not all rows at once
        for part in read_csv(*arguments, chunksize=chunksize, **options):
            n_read.append(len(part))
            yield part

    monkeypatch.setattr(pd, "read_csv", parts)
    with pytest.raises(ValueError, match=SAID):
        read_table(SWELLING["t.csv.gz"](), name="t.csv.gz")
    assert sum(n_read) < 2_000_000
    monkeypatch.setattr(source, "MOST_ROWS", 5)
    with pytest.raises(ValueError, match="6 rows of 2 columns; more than 5"):
        read_table(b"a,b\n" + b"1,2\n" * 6, name="t.csv")
    with pytest.raises(ValueError, match="has 2,001 columns"):
        read_table(b",".join([b"a"] * 2_001) + b"\n", name="t.csv")
