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
    counts = Health(store).metrics(None).body.decode()
    assert 'fairdash_runs{status="queued"} 1\n' in counts
    assert 'fairdash_open_models{status="queued"} 3\n' in counts
    assert "fairdash_engine_up 0\n" in counts
    assert "Hiring" not in counts

    def fail():
        raise StoreError("The database /srv/secret is damaged.")

    monkeypatch.setattr(store, "runs", fail)
    health = Health(store)
    for answer in (health.ready(None), health.metrics(None)):
        assert answer.status_code == 503
        assert b"secret" not in answer.body
    assert "/srv/secret" in caplog.text


def test_however_many_ask_the_store_is_looked_at_once_a_second(store, monkeypatch):
    now, looks = [100.0], []
    monkeypatch.setattr(serve, "monotonic", lambda: now[0])
    monkeypatch.setattr(serve, "metrics", lambda _: looks.append(1) or "counts")
    health = Health(store)
    for _ in range(50):
        health.ready(None)
        health.metrics(None)
    assert len(looks) == 1
    now[0] += serve.HEALTH_SECONDS
    health.ready(None)
    assert len(looks) == 2
