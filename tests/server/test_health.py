"""What a monitor is told of the store."""

import pytest
from toys import people_csv, specification

from fairdash.jobs import queue
from fairdash.server.serve import ready
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
    assert ready(store).body == b"ready\n"

    def fail():
        raise StoreError("The database /srv/secret is damaged.")

    monkeypatch.setattr(store, "runs", fail)
    answer = ready(store)
    assert answer.status_code == 503
    assert b"secret" not in answer.body
    assert "/srv/secret" in caplog.text
