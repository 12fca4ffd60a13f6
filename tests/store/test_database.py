from concurrent.futures import ThreadPoolExecutor

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


def test_home_is_private_and_follows_the_environment(home, monkeypatch):
    open_store().close()
    assert (home / "store.db").exists()
    assert home.stat().st_mode & 0o077 == 0
    monkeypatch.delenv("FAIRDASH_HOME")
    monkeypatch.setenv("HOME", "/somewhere")
    assert str(home_folder()) == "/somewhere/.fairdash"
