"""Tables by address, read from the real thing each: files, object store, databases."""

import hashlib
import os
import sqlite3

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
import yaml
from pandas.testing import assert_frame_equal

from fairdash.datasets import read_table, sources


def people(n=3_000, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n, p=[0.1, 0.9]),
            "age": rng.integers(18, 80, n),
            "score": rng.normal(size=n).round(3),
            "secret": "not read",
            "approved": rng.choice(["no", "yes"], n, p=[0.8, 0.2]),
        }
    )


TABLE = people()


def as_parquet_folder(folder, request):
    for part in range(3):
        (folder / f"year={2020 + part}").mkdir()
        rows = TABLE.iloc[part * 1_000 : (part + 1) * 1_000]
        rows.to_parquet(folder / f"year={2020 + part}" / "rows.parquet")
    return str(folder)


def as_glob(folder, request):
    TABLE.head(1_000).to_parquet(folder / "a.parquet")
    TABLE.tail(2_000).to_parquet(folder / "b.parquet")
    (folder / "c.csv").write_text("not,a,part\n")
    return f"{folder}/*.parquet"


def as_objects(folder, request):
    bucket = request.getfixturevalue("bucket")
    import s3fs

    files = s3fs.S3FileSystem(use_listings_cache=False)
    for name, rows in (("a", TABLE.head(1_000)), ("b", TABLE.tail(2_000))):
        files.pipe(f"{bucket}/loans/{name}.parquet", rows.to_parquet())
    return f"{bucket}/loans"


def as_sqlite(folder, request):
    with sqlite3.connect(folder / "bank.db") as link:
        TABLE.to_sql("loan table", link, index=False)
    return f"sqlite:///{folder}/bank.db?table=loan table"


def as_duckdb(folder, request):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "bank.duckdb")) as link:
        link.register("rows", TABLE)
        link.execute('CREATE TABLE "loan table" AS SELECT * FROM rows')
    return f"duckdb:///{folder}/bank.duckdb?table=loan table"


def as_postgres(folder, request):
    address = request.getfixturevalue("new_database")()
    engine = sa.create_engine(address, poolclass=sa.pool.NullPool)
    with engine.begin() as link:
        TABLE.to_sql("loans", link, index=False, schema="public")
    url = sa.make_url(address).set(drivername="postgresql")
    return f"{url.render_as_string()}&table=public.loans"


WAYS = [as_parquet_folder, as_glob, as_objects, as_sqlite, as_duckdb, as_postgres]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def address(request, tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    return request.param(folder, request)


def written(address, tmp_path, **arguments):
    path = tmp_path / "rows.parquet"
    drawn = sources.write_source(address, path, **arguments)
    return drawn, pd.read_parquet(path), hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_source_is_the_table_that_was_put_there(address, tmp_path):
    assert sources.is_address(address)
    frame = read_table(address)
    frame = frame.drop(columns="year", errors="ignore")
    assert_frame_equal(frame, TABLE, check_dtype=False)
    drawn, some, digest = written(address, tmp_path, columns=["sex", "approved"])
    assert list(some) == ["sex", "approved"]
    assert (drawn.n_rows, drawn.n_total) == (3_000, 3_000)
    assert drawn.drawn is None
    again = written(address, tmp_path, columns=["sex", "approved"])
    assert again[2] == digest


def test_of_too_many_rows_some_are_drawn_in_proportion_and_it_is_said(
    address, tmp_path
):
    arguments = {"columns": ["sex", "age", "approved"], "most_rows": 300}
    drawn, frame, digest = written(address, tmp_path, **arguments)
    assert (len(frame), drawn.n_rows, drawn.n_total) == (300, 300, 3_000)
    assert drawn.title.endswith(
        "(300 of 3,000 rows, in proportion to approved and sex)"
    )
    whole = TABLE.groupby(["sex", "approved"]).size()
    some = frame.groupby(["sex", "approved"]).size()
    assert (some - whole / 10).abs().max() <= 1
    assert written(address, tmp_path, **arguments)[2] == digest
    assert written(address, tmp_path, **arguments, random_state=1)[2] != digest


def test_a_query_is_read_and_writes_nothing(tmp_path):
    address = as_sqlite(tmp_path, None)
    place = address.partition("?")[0]
    old = read_table(f'{place}?query=SELECT age, sex FROM "loan table" WHERE age > 70')
    assert list(old) == ["age", "sex"]
    assert len(old) == (TABLE["age"] > 70).sum()
    with pytest.raises(ValueError, match="exactly one SELECT"):
        read_table(f'{place}?query=DELETE FROM "loan table"')
    assert len(read_table(address)) == 3_000


@pytest.mark.parametrize(
    "address, words",
    [
        ("postgresql://ann:hunter2@db/bank?table=loans", "holds a password"),
        ("s3://bucket/loans?aws_secret_access_key=hunter2", "holds a password"),
        ("postgresql://ann@db/bank", "names no table"),
        ("postgresql://ann@db/bank?table=a&query=SELECT 1", "one of them"),
        ("https://example.org/loans.csv", "no source that can be read"),
        ("sqlite:////nowhere/loans.db?table=loans", "no database file"),
        ("postgresql://ann:hunter2@[::1/bank?table=loans", "is no address: try"),
        ("postgresql://ann@db/bank?table=\udcff", "is no address: try"),
        ("/nowhere/*.parquet", "holds no Parquet file"),
        ("postgresql://ann@127.0.0.1:9/bank?table=loans", "could not be read from"),
    ],
)
def test_what_cannot_be_read_is_refused_without_a_secret(address, words):
    with pytest.raises(ValueError, match=words) as caught:
        read_table(address)
    assert "hunter2" not in str(caught.value)


def test_the_list_of_the_operator_says_who_may_read_which_source(tmp_path, monkeypatch):
    assert sources.listed_sources("ann") == []
    as_glob(tmp_path, None)
    listed = {
        "Loans": {"address": f"{tmp_path}/*.parquet", "most_rows": 200},
        "Secret": {"address": f"{tmp_path}/*.parquet", "users": ["bob"]},
        "Bank": {"address": "postgresql://u:hunter2@127.0.0.1:9/b?table=x"},
    }
    file = tmp_path / "sources.yaml"
    file.write_text(yaml.safe_dump(listed))
    monkeypatch.setenv("FAIRDASH_SOURCES", str(file))
    assert sources.listed_sources("ann") == ["Bank", "Loans"]
    assert sources.listed_sources("bob") == ["Bank", "Loans", "Secret"]
    path = tmp_path / "out.parquet"
    source = sources.write_listed("Loans", "ann", path)
    assert source.title == (
        "Loans (200 of 3,000 rows, in proportion to approved and sex)"
    )
    for name in ("Secret", f"{tmp_path}/*.parquet", "Nothing"):
        with pytest.raises(ValueError, match="There is no source"):
            sources.write_listed(name, "ann", path)
    with pytest.raises(ValueError) as caught:
        sources.write_listed("Bank", "ann", path)
    assert "hunter2" not in str(caught.value)
    listed["Bank"]["rows"] = 3
    file.write_text(yaml.safe_dump(listed))
    with pytest.raises(ValueError, match="could not be read") as caught:
        sources.listed_sources("ann")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("scheme, library", [("gs", "gcsfs"), ("az", "adlfs")])
def test_a_library_that_is_missing_is_named(scheme, library):
    with pytest.raises(ValueError, match=f"pip install {library}"):
        read_table(f"{scheme}://bucket/loans")


def test_an_object_store_without_credentials_is_refused_by_a_sentence(
    monkeypatch, tmp_path
):
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(ValueError, match="needs its variables, such as AWS_PROFILE"):
        read_table("s3://a-bucket-without-credentials/loans")
    with pytest.raises(ValueError, match="could not be read"):
        read_table("s3://Not_A_Name!/loans")
    with pytest.raises(ValueError, match="names several places"):
        read_table(f"s3://bucket/loans::file://{tmp_path}")


def test_rows_are_drawn_by_a_column_of_single_values(tmp_path):
    nested = TABLE.assign(team=[[1]] * len(TABLE))
    nested.to_parquet(tmp_path / "loans.parquet")
    with pytest.raises(ValueError, match="'team': its cells hold lists or records"):
        written(f"{tmp_path}/*.parquet", tmp_path, by=["team"], most_rows=10)
