from concurrent.futures import ThreadPoolExecutor

import sqlalchemy as sa

from fairdash.store import open_store


def test_a_new_store_may_be_opened_by_many_at_once(home):
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(open_store, [home] * 8))
    for store in stores:
        assert store.runs() == []
        with store.database.reading() as connection:
            journal = connection.execute(sa.text("PRAGMA journal_mode")).scalar()
        assert journal == "wal"
        store.close()
