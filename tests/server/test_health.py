"""What a monitor is told of the store."""

import pytest
from toys import people_csv, specification

from fairdash.jobs import queue
from fairdash.server import serve
from fairdash.server.serve import Health
from fairdash.store import StoreError, open_store


@pytest.fixture
def store(home, tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())
    store = open_store(home)
    queue(store, specification(tmp_path / "people.csv"), name="Hiring")
    yield store
    store.close()


def test_a_monitor_learns_that_the_store_fails_and_the_log_why(
    store, monkeypatch, caplog
):
    assert Health(store).ready(None).body == b"ready\n"

    def fail():
        raise StoreError("The database /srv/secret is damaged.")

    monkeypatch.setattr(store, "runs", fail)
    answer = Health(store).ready(None)
    assert answer.status_code == 503
    assert b"secret" not in answer.body
    assert "/srv/secret" in caplog.text


def test_however_many_ask_the_store_is_looked_at_once_a_second(store, monkeypatch):
    now, looks = [100.0], []
    monkeypatch.setattr(serve, "monotonic", lambda: now[0])
    monkeypatch.setattr(store, "runs", lambda: looks.append(1))
    health = Health(store)
    for _ in range(50):
        health.ready(None)
    assert len(looks) == 1
    now[0] += serve.HEALTH_SECONDS
    health.ready(None)
    assert len(looks) == 2
