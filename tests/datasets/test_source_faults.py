"""What goes wrong while a source is counted is one sentence; nothing is half kept."""

import sqlite3
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

from fairdash.datasets import sources
from fairdash.datasets.sources import batches, counted, database
from fairdash.datasets.sources.address import parse_address
from fairdash.datasets.sources.deadline import TooSlowError

N = 120_000  # rows: more than one batch
ENDLESS = """WITH RECURSIVE numbers(a) AS (
    SELECT 1 UNION ALL SELECT a + 1 FROM numbers
) SELECT * FROM numbers"""


def is_a_sentence(error, *words):
    text = str(error.value)
    assert "Traceback" not in text
    assert len(text) < 400
    for word in words:
        assert word in text


def refused(address, *words, columns=("a",)):
    with pytest.raises(ValueError) as error:
        sources.count_source(address, list(columns))
    is_a_sentence(error, *words)


@pytest.fixture
def bank(tmp_path):
    """A database file with a column whose numbers become text after one batch."""
    number = np.arange(N)
    frame = pd.DataFrame({"a": number % 90_000, "b": number % 3})
    frame["mixed"] = frame["a"].astype(object).where(number < N - 5, "unknown")
    with sqlite3.connect(tmp_path / "bank.db") as link:
        link.execute("CREATE TABLE rows (a, b, mixed)")  # columns without a type
        frame.to_sql("rows", link, index=False, if_exists="append")
    return f"sqlite:///{tmp_path}/bank.db?table=rows"


def query(address, text):
    return address.replace("table=rows", f"query={quote(text)}")


def test_a_column_that_changes_its_type_is_named(bank):
    # Counted in the order of values, text comes after all numbers.
    refused(bank, "'mixed'", "values of several kinds", columns=["mixed"])


def test_files_whose_columns_have_several_types_are_refused(tmp_path, monkeypatch):
    pd.DataFrame({"a": [1, 2]}).to_parquet(tmp_path / "0.parquet")
    pd.DataFrame({"a": ["x", "y"]}).to_parquet(tmp_path / "1.parquet")
    refused(str(tmp_path), "could not be read", "tables of the same columns")
    monkeypatch.setattr(counted, "counts_files", lambda: False)
    refused(str(tmp_path), "could not be read", "tables of the same columns")


def test_a_file_that_goes_away_in_the_middle_is_said(tmp_path, monkeypatch):
    for part in range(3):
        path = tmp_path / f"{part}.parquet"
        pd.DataFrame({"a": np.arange(60_000) % 7}).to_parquet(path)
    read = batches.ParquetRows.batches

    def lose_and_read(rows, columns):
        (tmp_path / "2.parquet").unlink()
        yield from read(rows, columns)

    with monkeypatch.context() as patch:
        patch.setattr(counted, "counts_files", lambda: False)
        patch.setattr(batches.ParquetRows, "batches", lose_and_read)
        refused(str(tmp_path), "could not be read")
    (tmp_path / "1.parquet").write_bytes(b"PAR1 and no more")
    refused(str(tmp_path), "could not be read")


def test_a_database_that_fails_in_the_middle_is_said(bank):
    late = "SELECT abs(iif(a > 89000, -9223372036854775807 - 1, a)) AS a FROM rows"
    refused(query(bank, late), "could not be read")


def test_a_server_that_goes_away_in_the_middle_is_said(new_database):
    """The session that counts is ended from another one after its first batch."""
    made = new_database()
    engine = sa.create_engine(made, poolclass=sa.pool.NullPool)
    with engine.begin() as link:
        link.execute(sa.text("CREATE TABLE public.rows (a bigint)"))
        link.execute(sa.text(f"INSERT INTO public.rows SELECT generate_series(1, {N})"))
    url = sa.make_url(made).set(drivername="postgresql").render_as_string()
    address = parse_address(f"{url}&table=public.rows")
    rows = database.count_rows(address, ["a"], "people", N)
    next(rows)
    with engine.begin() as link:
        ended = link.execute(
            sa.text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                "datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
        assert ended.scalars().all() == [True]
    with pytest.raises(ValueError) as error:
        list(rows)
    is_a_sentence(error, "could not be read from")
    assert engine.url.password is None or engine.url.password not in str(error.value)


def test_a_statement_that_takes_too_long_is_told_to_stop(
    bank, tmp_path, monkeypatch, new_database
):
    monkeypatch.setenv("FAIRDASH_SOURCE_SECONDS", "0.2")
    words = "took longer than 0.2 s", "FAIRDASH_SOURCE_SECONDS"
    refused(query(bank, ENDLESS), *words)
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "bank.duckdb")) as link:
        link.execute("CREATE TABLE rows (a INTEGER)")
    endless = "SELECT a.range AS a FROM range(100000000) a, range(100000000) b"
    refused(query(f"duckdb:///{tmp_path}/bank.duckdb?table=rows", endless), *words)
    made = new_database()
    engine = sa.create_engine(made, poolclass=sa.pool.NullPool)
    with engine.begin() as link:
        # a plain table, which a login of any rights may read, locked by another
        link.execute(sa.text("CREATE TABLE public.rows AS SELECT 1 AS a"))
    url = sa.make_url(made).set(drivername="postgresql").render_as_string()
    with engine.begin() as link:
        link.execute(sa.text("LOCK TABLE public.rows IN ACCESS EXCLUSIVE MODE"))
        refused(f"{url}&table=public.rows", *words)
    assert sources.count_source(f"{url}&table=public.rows", ["a"]).n_rows == 1


def test_files_that_take_too_long_are_told_so(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    pd.DataFrame({"a": [1, 2]}).to_parquet(tmp_path / "0.parquet")

    def interrupted(*_):
        raise TooSlowError

    monkeypatch.setattr(counted, "count_files", interrupted)
    refused(str(tmp_path), "took longer than 600 s")


@pytest.mark.parametrize("text", ["soon", "-1", "0", "inf", "nan"])
def test_a_time_that_is_none_is_refused(bank, text, monkeypatch):
    monkeypatch.setenv("FAIRDASH_SOURCE_SECONDS", text)
    refused(bank, "must be a number of seconds")
