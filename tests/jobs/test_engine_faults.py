"""An engine that dies unwatched, that cannot begin, that has no room on its disk."""

import json
import os
import signal
import subprocess
import sys
from collections import deque
from types import SimpleNamespace

import pytest
from conftest import end_runs, free_port, wait_until, wait_until_no_engine
from toys import ROLES, Question, people_csv, specification

from fairdash.jobs import _engine, _serve, attach, ensure_engine, queue, why_waits
from fairdash.jobs._engine import engine_lives
from fairdash.jobs._work import end
from fairdash.store import open_store

SERVE = "from fairdash.cli import app; app()"


@pytest.fixture
def store(home):
    opened = open_store()
    yield opened
    end_runs(home)
    wait_until_no_engine(home)
    opened.close()


@pytest.fixture
def ask(store, tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())

    def queue_road(**params):
        params = {"n_epochs": 3, "batch_size": 128, **params}
        methods = [{"method": "road", "params": params}]
        return queue(store, specification(tmp_path / "people.csv", methods=methods))

    return queue_road


def test_an_engine_that_dies_while_no_page_is_open_is_started_again(home, store, ask):
    run_id = ask(n_epochs=100, batch_size=64, tau=[0.2, 0.4])
    command = [sys.executable, "-c", SERVE, "app", "--port", str(free_port())]
    app = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_until((home / "engine.json").exists)
        wait_until(lambda: store.run(run_id).status == "running")
        host = json.loads((home / "engine.json").read_text())["pid"]
        os.kill(host, signal.SIGKILL)
        wait_until(lambda: store.run(run_id).over)
    finally:
        app.send_signal(signal.SIGINT)
        app.wait(timeout=120)
    assert store.run(run_id).status == "finished"


def test_an_engine_that_cannot_begin_says_why_once_and_is_left_alone(home, monkeypatch):
    store = open_store()
    store.close()
    good = (home / "store.db").read_bytes()
    (home / "store.db").write_bytes(b"x" * len(good))
    with attach(home):
        ensure_engine(home)
        wait_until(lambda: not engine_lives(home))
        for _ in range(20):  # polls of pages
            ensure_engine(home)
            assert not engine_lives(home)
        said = (home / "engine.log").read_text()
        assert said.count("is damaged. Put a backup") == 1
        assert "Traceback" not in said
        assert _engine._start_failed(home)
        (home / "store.db").write_bytes(good)
        monkeypatch.setattr(_engine, "RETRY_SECONDS", 0)
        ensure_engine(home)
        wait_until((home / "engine.json").exists)
        assert not _engine._start_failed(home)
    wait_until_no_engine(home)


@pytest.fixture
def small_disk(home):
    """The home folder on a disk of its own, and a function that changes its size."""

    def mount(options):
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(home)]
        return subprocess.run(command, capture_output=True).returncode == 0

    home.mkdir()
    if not mount("size=20m"):
        pytest.skip("only root may mount a disk")
    yield lambda size: mount(f"remount,size={size}")
    subprocess.run(["umount", "--lazy", str(home)], check=True)


def test_on_a_full_disk_training_waits_says_so_and_goes_on(small_disk, home, ask):
    run_id = ask()
    store = open_store()
    try:
        with attach(home):
            ensure_engine(home)
            wait_until(lambda: store.run(run_id).status == "running")
            waits = why_waits(store, store.snapshot(run_id))
            assert waits == "Waits for room on the disk"
            filler = home / "filler"
            with pytest.raises(OSError, match="No space left"):
                filler.write_bytes(b"x" * (30 << 20))
            with pytest.raises(OSError, match=r"is full.*Make room"):
                store.set_status(run_id, "running", error="n" * 10_000_000)
            assert [run.id for run in store.open_runs()] == [run_id]
            filler.unlink()
            assert store.snapshot(run_id).count("queued") == 1
            assert small_disk("300m")
            wait_until(lambda: ensure_engine(home) or store.run(run_id).over)
            assert store.run(run_id).status == "finished"
    finally:
        store.close()


def test_a_run_deleted_while_the_engine_ends_it_stops_no_other(home, monkeypatch):
    workers = SimpleNamespace(
        subscribe_topic=lambda *_: None, nthreads=dict, run=lambda *_, **__: {}
    )
    store = open_store()
    data = store.add_dataset(store.add_table(people_csv(), "p.csv"), ROLES, "People")
    first, second = (
        store.add_run({}, [Question(name)], name=name, dataset_id=data)
        for name in ("first", "second")
    )
    for run_id, key in ((first, "first"), (second, "second")):
        store.put_trial(run_id, key, row={}, seconds=0)

    def end_late(store, run_id):
        if run_id == first:  # as when a reader cancels and deletes
            store.set_status(run_id, "cancelled")
            store.delete_run(run_id)
        end(store, run_id)

    monkeypatch.setattr(_serve, "end", end_late)
    host = _serve.Host(store, workers, elsewhere=False)
    host.runs["deleted before"] = _serve.OpenRun("deleted before", deque())
    assert host.turn()
    assert [run.status for run in store.runs()] == ["finished"]
    assert host.runs == {}
    assert not host.turn()
    store.close()
