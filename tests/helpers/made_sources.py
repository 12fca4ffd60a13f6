"""Tables put where a source is: files, and databases of each kind."""

import sqlite3

import pytest
import sqlalchemy as sa

from fairdash.datasets.sources import counted


def put(kind, frame, folder, request):
    """Put a table where a kind of source is; return its address."""
    if kind == "arrow":  # without the library that counts files
        patch = request.getfixturevalue("monkeypatch")
        patch.setattr(counted, "counts_files", lambda: False)
    if kind in ("parquet", "arrow"):
        for part in range(3):
            frame.iloc[part::3].to_parquet(folder / f"{part}.parquet")
        return str(folder)
    if kind == "sqlite":
        with sqlite3.connect(folder / "bank.db") as link:
            frame.to_sql("people", link, index=False)
        return f"sqlite:///{folder}/bank.db?table=people"
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(str(folder / "bank.duckdb")) as link:
            link.register("given", frame)
            link.execute("CREATE TABLE people AS SELECT * FROM given")
        return f"duckdb:///{folder}/bank.duckdb?query=SELECT * FROM people"
    address = request.getfixturevalue("new_database")()
    engine = sa.create_engine(address, poolclass=sa.pool.NullPool)
    with engine.begin() as link:
        frame.to_sql("people", link, index=False, schema="public")
    url = sa.make_url(address).set(drivername="postgresql")
    return f"{url.render_as_string()}&table=public.people"
