"""What a monitor is told of the store."""

import asyncio
import logging

import loops
import pytest
from toys import people_csv, specification

from fairdash import box
from fairdash.jobs import queue
from fairdash.server import serve
from fairdash.server.serve import Readiness, log_confinement
from fairdash.store import StoreError, open_store


@pytest.fixture
def store(home, tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())
    store = open_store(home)
    queue(store, specification(tmp_path / "people.csv"), name="Hiring")
    yield store
    store.close()


async def ask(ready, times=1):
    """Return the answers to so many who ask at once."""
    return await asyncio.gather(*(ready.answer(None) for _ in range(times)))


def test_a_monitor_learns_that_the_store_fails_and_the_log_why(
    store, monkeypatch, caplog
):
    (answer,) = loops.run(ask(Readiness(store)))
    assert (answer.status_code, answer.body) == (200, b"ready\n")

    def fail():
        raise StoreError("The database /srv/secret is damaged.")

    monkeypatch.setattr(store, "check", fail)
    (answer,) = loops.run(ask(Readiness(store)))
    assert answer.status_code == 503
    assert b"secret" not in answer.body
    assert "/srv/secret" in caplog.text


def test_the_store_is_read_once_a_second_however_many_ask(store, monkeypatch):
    looks = []
    moment = 100.0
    monkeypatch.setattr(store, "check", lambda: looks.append(1))
    monkeypatch.setattr(serve, "monotonic", lambda: moment)

    async def go():
        nonlocal moment
        ready = Readiness(store)
        for expected in (1, 1, 2):
            answers = await ask(ready, 50)
            assert {answer.status_code for answer in answers} == {200}
            assert len(looks) == expected
            moment += serve.READY_SECONDS / 2

    loops.run(go())


@pytest.mark.parametrize(
    ("fields", "level", "words"),
    [
        ((True, True, True, True), logging.INFO, "against code that runs in it"),
        ((True, False, True, True), logging.WARNING, "does not refuse it connections."),
    ],
)
def test_the_log_says_once_what_the_box_holds(
    fields, level, words, monkeypatch, caplog
):
    monkeypatch.setattr(box, "confinement", lambda: box.Confinement(*fields))
    with caplog.at_level(logging.INFO, "fairdash"):
        log_confinement()
    (record,) = caplog.records
    assert record.levelno == level
    assert words in record.message
