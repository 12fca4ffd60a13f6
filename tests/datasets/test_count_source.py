"""A source that counts its own rows says what they would say, read one by one."""

import sqlite3
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from cases import examples, sampled
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from fairdash.datasets import read_table, sources

NAMES = ["a", 'a"; DROP TABLE rows; --', "people", "select", "é\u202eb", "Ä b"]


def table(n=400, seed=0, names=NAMES):
    rng = np.random.default_rng(seed)
    columns = [
        rng.choice(["x", "y'", 'z"', None, ""], n),
        pd.array(rng.choice([1, 2, None], n), "Int64"),
        rng.choice([0.5, np.nan, -2.0], n),
        rng.choice([True, False], n),
        rng.choice(["007", "7", "7.0"], n),
        rng.integers(0, 3, n),
    ]
    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def in_folder(frame, folder, request):
    for part, rows in enumerate(np.array_split(np.arange(len(frame)), 3)):
        path = folder / f"it's {part}.parquet"
        frame.iloc[rows].to_parquet(path)
    return str(folder)


def in_folder_without_duckdb(frame, folder, request):
    patch = request.getfixturevalue("monkeypatch")
    patch.setattr(sources.counted, "counts_files", lambda: False)
    return in_folder(frame, folder, request)


def in_sqlite(frame, folder, request):
    with sqlite3.connect(folder / "bank.db") as link:
        frame.to_sql("rows", link, index=False)
    return f"sqlite:///{folder}/bank.db?table=rows"


def in_a_query(frame, folder, request):
    return in_sqlite(frame, folder, request).replace(
        "table=rows", "query=SELECT * FROM rows -- all of them"
    )


def in_duckdb(frame, folder, request):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "bank.duckdb")) as link:
        link.register("given", frame)
        link.execute("CREATE TABLE rows AS SELECT * FROM given")
    return f"duckdb:///{folder}/bank.duckdb?table=rows"


WAYS = [in_folder, in_folder_without_duckdb, in_sqlite, in_a_query, in_duckdb]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def address_of(request, tmp_path):
    """A function that puts a table where rows can be counted."""
    return lambda frame: request.param(frame, tmp_path, request)


def counted_in_memory(frame, columns, count):
    sums = frame.groupby(columns, dropna=False, observed=True).size()
    return sums.rename(count).reset_index()


@pytest.mark.parametrize(
    "columns", sampled(map(pytest.param, [NAMES, NAMES[1:2], NAMES[:3]]), 3)
)
def test_counts_are_those_of_the_rows(columns, address_of):
    address = address_of(table())
    counted = sources.count_source(address, columns)
    rows = read_table(address)
    expected = counted_in_memory(rows, columns, counted.count)
    assert counted.n_rows == len(rows) == 400
    assert counted.columns == columns
    assert counted.count not in NAMES
    order = {"by": columns, "kind": "stable", "ignore_index": True}
    assert_frame_equal(
        counted.frame.sort_values(**order),
        expected.sort_values(**order),
        check_dtype=False,
    )


def test_the_same_counts_have_the_same_digest(address_of):
    address = address_of(table())
    digests = {
        sources.count_source(address, names).digest
        for names in (NAMES, NAMES, NAMES[:2])
    }
    assert len(digests) == 2


def test_a_column_that_is_not_there_is_named(address_of):
    address = address_of(table())
    with pytest.raises(ValueError, match=r"`column` must be one of .*'b'"):
        sources.count_source(address, ["a", "b"])


def test_too_many_combinations_name_the_column_with_most_values(address_of):
    frame = table().assign(number=np.arange(400) // 2)
    address = address_of(frame)
    assert len(sources.count_source(address, ["number"], most_cells=200).frame) == 200
    with pytest.raises(
        ValueError, match="more than 50 combinations of a and number"
    ) as e:
        sources.count_source(address, ["a", "number"], most_cells=50)
    assert "values has 'number'" in str(e.value)


def test_columns_that_differ_in_capitals_only_are_two(tmp_path):
    frame = pd.DataFrame({"Age": ["a"] * 6, "age": ["b", "c"] * 3})
    frame.to_parquet(tmp_path / "rows.parquet")
    counted = sources.count_source(str(tmp_path), ["age"])
    assert counted.frame.to_dict("list") == {"age": ["b", "c"], "people": [3, 3]}


def test_years_of_folders_are_columns_of_the_kind_that_reading_gives(tmp_path):
    for year in (2020, 2021):
        (tmp_path / f"year={year}").mkdir()
        table(seed=year).to_parquet(tmp_path / f"year={year}" / "rows.parquet")
    counted = sources.count_source(str(tmp_path), ["year"])
    assert counted.frame["year"].tolist() == [2020, 2021]
    assert counted.frame["year"].dtype.kind == read_table(tmp_path)["year"].dtype.kind


def test_parts_add_up_to_the_whole(tmp_path):
    whole = table(n=900)
    parts = []
    for day, rows in enumerate(np.array_split(np.arange(900), 4)):
        folder = tmp_path / str(day)
        folder.mkdir()
        whole.iloc[rows].to_parquet(folder / "rows.parquet")
        parts.append(sources.count_source(str(folder), NAMES))
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    assert merged.digest == sources.count_source(str(tmp_path), NAMES).digest
    with pytest.raises(ValueError, match="Count both by the same columns"):
        merged.merge(sources.count_source(str(tmp_path), NAMES[:2]))


@examples(10)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["x", "y", "", None]),
            st.sampled_from([1, 2, None]),
            st.sampled_from([0.5, -1.0, None]),
            st.sampled_from([True, False, None]),
            st.integers(0, 3),
        ),
        min_size=1,
        max_size=40,
    ),
    st.randoms(use_true_random=False),
)
def test_shards_and_days_add_up_in_any_order(rows, random):
    """Each shard of each day is counted apart; a column may be missing in a shard."""
    names = ["text", "whole", "number", "flag", "shard"]
    frame = pd.DataFrame(rows, columns=names).astype(
        {"text": "str", "whole": "Int64", "number": "float", "flag": "boolean"}
    )
    with TemporaryDirectory() as folder:
        parts = []
        for shard, members in frame.groupby("shard"):
            place = Path(folder) / str(shard)
            place.mkdir()
            members.to_parquet(place / "rows.parquet")
            parts.append(sources.count_source(str(place), names[:4]))
        whole = sources.count_source(folder, names[:4])
    random.shuffle(parts)
    merged = reduce(sources.CountedSource.merge, parts)
    assert merged.n_rows == len(frame)
    # A column without any value has no kind of its own.
    plain, expected = (
        part.frame.astype(object).where(part.frame.notna(), None)
        for part in (merged, whole)
    )
    assert_frame_equal(plain, expected)


def test_parts_whose_columns_hold_other_kinds_do_not_add_up(tmp_path):
    counted = []
    for name, values in (("numbers", [1, 2]), ("texts", ["1", "2"])):
        (tmp_path / name).mkdir()
        pd.DataFrame({"a": values}).to_parquet(tmp_path / name / "rows.parquet")
        counted.append(sources.count_source(str(tmp_path / name), ["a"]))
    numbers, texts = counted
    with pytest.raises(ValueError, match="'a' holds numbers in numbers and text in"):
        numbers.merge(texts)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM rows) AS x; DROP TABLE rows; --",
        "SELECT 1; SELECT 2",
        "DELETE FROM rows",
        "SELECT 1) AS x; ATTACH '/tmp/x.db' AS x; --",
    ],
)
def test_a_query_that_closes_the_bracket_does_nothing(query, tmp_path):
    address = in_sqlite(table(), tmp_path, None)
    before = (tmp_path / "bank.db").read_bytes()
    with pytest.raises(ValueError, match=r"was not read|could not be read"):
        sources.count_source(address.replace("table=rows", f"query={query}"), ["a"])
    assert (tmp_path / "bank.db").read_bytes() == before


def test_no_rows_and_no_columns_are_said(tmp_path, address_of):
    with pytest.raises(ValueError, match="has no rows"):
        sources.count_source(address_of(table().head(0)), ["a"])
    with pytest.raises(ValueError, match="at least one column"):
        sources.count_source(str(tmp_path), [])
