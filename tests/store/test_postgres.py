"""What SQLite does by itself: one writer, one moment, one engine."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
import sqlalchemy as sa
from toys import people_csv, specification

from fairdash.cli import _run
from fairdash.jobs import engine, host, queue, run_open, wake
from fairdash.store import StoreError, open_store
from fairdash.store.server import postgres as server


@pytest.fixture
def store(postgres):
    with closing(open_store()) as opened:
        yield opened


def test_an_empty_server_may_be_opened_by_many_at_once(home, new_database, monkeypatch):
    monkeypatch.setenv("FAIRDASH_DATABASE", new_database("template0"))
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(open_store, [home / str(n) for n in range(8)]))
    for store in stores:
        assert store.runs() == []
        store.close()


def test_a_write_waits_for_the_one_before_and_then_says_so(store, monkeypatch):
    monkeypatch.setattr(server, "SLOW_MS", 50)
    with (
        store.database.writing(),
        pytest.raises(StoreError, match=r"Another program keeps .* Try again"),
    ):
        store.add_table(people_csv(100), "people.csv")
    assert store.add_table(people_csv(100), "people.csv")


def test_one_engine_of_all_machines_drives_the_runs(store, tmp_path, monkeypatch):
    """Two machines are two home folders; one that dies leaves its claim."""
    (tmp_path / "people.csv").write_bytes(people_csv(200))
    run = queue(store, specification(tmp_path / "people.csv"))
    end = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE classid = :lock"
    with (
        closing(open_store(tmp_path / "elsewhere")) as other_store,
        other_store.database.claim() as claim,
    ):
        run_open(store)
        assert store.run(run).status == "queued"
        with store.database.claim() as second:
            assert second is None
        host._drive(store.home)  # an engine of this machine ends at once
        monkeypatch.setenv("FAIRDASH_SCHEDULER", "tls://10.0.0.5:8786")
        wake(store)
        assert not engine.engine_lives(store.home)  # the other machine has one
        assert engine.why_waits(store, store.snapshot(run)) == ""
        with monkeypatch.context() as patch:  # nor need it look for open runs
            patch.setattr(engine, "has_open_runs", lambda _: pytest.fail("it looked"))
            assert not engine.lacks_engine(store)
        claim.check()
        with store.database.writing() as connection:
            connection.execute(sa.text(end), {"lock": server.ENGINE_LOCK})
        with pytest.raises(StoreError, match="is not reached"):
            claim.check()
        with store.database.claim() as second:
            assert second is not None
        assert engine.lacks_engine(store)


def test_a_run_waits_for_a_server_that_restarts(
    store, postgres_control, tmp_path, monkeypatch, capsys
):
    """It stops in the midst of a training, which is no failure of the model."""
    (tmp_path / "people.csv").write_bytes(people_csv(200))
    run = queue(store, specification(tmp_path / "people.csv"))
    control = postgres_control[0]
    write = store.put_progress

    def put_progress(events):
        monkeypatch.setattr(store, "put_progress", write)
        control("stop")
        try:
            write(events)
        finally:
            control("start")

    monkeypatch.setattr(store, "put_progress", put_progress)
    assert _run.follow(store, run, inline=True).run.status == "finished"
    assert "Waits for Postgres" in capsys.readouterr().err


def test_a_machine_that_is_cut_off_loses_its_locks_within_a_minute(store):
    """By default Postgres takes a silent connection for sound for two hours."""
    settings = "SELECT name FROM pg_settings WHERE source = 'session'"
    with store.database.reading() as connection:
        names = set(connection.scalars(sa.text(settings)))
        driver = connection.connection.driver_connection
    there = server.CUT_OFF_THERE
    assert there.keys() <= names
    asked = driver.info.get_parameters()
    here = {name: int(asked[name]) for name in server.CUT_OFF}
    assert here == server.CUT_OFF

    def seconds(prefix, facts):
        idle, interval, n = (
            int(facts[f"{prefix}keepalives_{name}"])
            for name in ("idle", "interval", "count")
        )
        return idle + interval * n

    # whoever is cut off knows it before another may have the claim
    assert seconds("", here) < seconds("tcp_", there) < 60
    assert here["tcp_user_timeout"] < int(there["tcp_user_timeout"]) < 60_000
