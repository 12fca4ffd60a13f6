from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import sqlalchemy as sa

from fairdash.store import home_folder, open_store


def test_a_new_store_may_be_opened_by_many_at_once(home):
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(open_store, [home] * 8))
    for store in stores:
        assert store.runs() == []
        with store.database.reading() as connection:
            journal = connection.execute(sa.text("PRAGMA journal_mode")).scalar()
        assert journal == "wal"
        store.close()


def test_a_journal_that_another_process_has_just_removed_is_passed_over(home):
    home.mkdir()
    (home / "store.db-journal2").symlink_to(home / "gone")  # stat() finds no file
    with closing(open_store()) as store:
        assert store.runs() == []


def test_home_is_private_and_follows_the_environment(home, monkeypatch):
    open_store().close()
    assert (home / "store.db").exists()
    assert home.stat().st_mode & 0o077 == 0
    monkeypatch.delenv("FAIRDASH_HOME")
    monkeypatch.setenv("HOME", "/somewhere")
    assert str(home_folder()) == "/somewhere/.fairdash"
