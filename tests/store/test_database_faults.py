"""A database that is locked, damaged, full or newer says so in a sentence."""

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest
import sqlalchemy as sa
from toys import ROLES, people_csv
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.store import StoreError, _database, open_store


def damage(database, how):
    content = database.read_bytes()
    if how == "truncated":
        content = content[: len(content) // 2]
    else:  # every page but the first
        content = content[:4096] + os.urandom(len(content) - 4096)
    database.write_bytes(content)


@pytest.mark.parametrize("how", ["pages"])
def test_a_damaged_database_is_one_sentence_with_the_way_out(home, store, table, how):
    store.close()  # and so in one file
    damage(home / "store.db", how)
    damaged = pytest.raises(
        StoreError, match=r"store\.db\) is damaged.*backup.*move it"
    )
    with damaged, closing(open_store()) as opened:
        opened.tables(), opened.datasets(), opened.runs()
    result = CliRunner().invoke(app, ["data", "list"])
    assert result.exit_code == 2
    assert "damaged" in result.output
    assert result.output.count("\n") == 1
    (home / "store.db").rename(home / "damaged.db")
    with closing(open_store()) as opened:
        assert opened.add_table(people_csv(100), "people.csv") == table
        assert len(opened.table(table)) == 100


def test_a_locked_database_says_to_try_again(home, monkeypatch):
    monkeypatch.setattr(_database, "BUSY_SECONDS", 0.1)
    with (
        closing(open_store()) as store,
        closing(sqlite3.connect(home / "store.db")) as c,
    ):
        c.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"Another program keeps.*Try again"):
            store.add_table(people_csv(100), "people.csv")
        assert store.tables() == []  # reading goes on
        c.rollback()
        assert store.add_table(people_csv(100), "people.csv")


def test_a_home_that_cannot_be_written_is_refused(home, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(StoreError, match="can be read but not written"):
        open_store(home)


def set_always(store, pragma):
    """Open every further connection of a store with a limit that SQLite imposes."""
    store.close()
    engine = store.database.engine
    sa.event.listen(engine, "connect", lambda link, _: link.execute(f"PRAGMA {pragma}"))


def test_a_full_disk_says_so_and_what_stood_stands(store, table):
    with store.database.reading() as connection:
        pages = connection.execute(sa.text("PRAGMA page_count")).scalar()
    set_always(store, f"max_page_count = {pages}")
    with pytest.raises(StoreError, match=r"is full.*Make room"):
        store.add_dataset(table, ROLES, "P" * 100_000)
    assert store.datasets() == []
    assert [record.sha256 for record in store.tables()] == [table]


def test_a_newer_store_is_refused_and_left_as_it_is(home, store):
    with store.database.writing() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0099'"))
    with pytest.raises(
        StoreError, match=r"newer fairdash .*0099.*Install that version"
    ):
        open_store()
    result = CliRunner().invoke(app, ["data", "list"])
    assert (result.exit_code, result.output.count("\n")) == (2, 1)


def test_adding_beside_deleting_leaves_no_table_without_its_file(
    home, store, table, times
):
    """Whatever their order, what is listed can be read."""

    def add(_):
        with suppress(ValueError):  # that it was deleted just now
            store.add_dataset(store.add_table(people_csv(100), "p.csv"), ROLES, "P")

    def delete(_):
        for first in store.kept():
            with suppress(ValueError):  # that another window did, or is using it
                store.remove(first.id)

    with ThreadPoolExecutor(8) as windows:
        list(windows.map(lambda n: (add, delete)[n % 2](n), range(times(60))))
    for record in store.tables():
        assert store.table(record.sha256).shape[0] == 100
