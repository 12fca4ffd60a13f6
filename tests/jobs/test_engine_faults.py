"""An engine that dies unwatched, that cannot begin, that has no room on its disk."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest
from cases import sampled
from conftest import end_runs, wait_until, wait_until_no_engine
from distributed import KilledWorker
from toys import ROLES, Question, people_csv, specification

from fairdash.jobs import _deaths, _driving, engine, queue
from fairdash.jobs._sharing import Host
from fairdash.jobs._work import end
from fairdash.jobs.engine import engine_lives
from fairdash.store import Homes, open_store


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


def test_an_engine_that_cannot_begin_says_why_once_and_is_left_alone(home, monkeypatch):
    store = open_store()
    store.close()
    (home / "store.db").write_bytes(b"x" * (home / "store.db").stat().st_size)
    with engine.attach(home):
        engine.ensure_engine(home)
        wait_until(lambda: not engine_lives(home))
        for _ in range(20):  # polls of pages
            engine.ensure_engine(home)
            assert not engine_lives(home)
        log = (home / "engine.log").read_text()
        assert log.count("is damaged. Put a backup") == 1
        assert "Traceback" not in log
        assert engine._start_failed(home)
        monkeypatch.setattr(engine, "RETRY_SECONDS", 0)
        monkeypatch.setattr(engine.subprocess, "Popen", lambda *_, **__: "the next")
        engine.ensure_engine(home)
        assert engine._children.pop(home)[0] == "the next"


def test_a_run_deleted_while_the_engine_ends_it_stops_no_other(home, monkeypatch):
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

    monkeypatch.setattr(_driving, "end", end_late)
    driver = _driving.Driver(store, no_workers(), elsewhere=False)
    driver.runs["deleted before"] = _driving.OpenRun("deleted before", deque())
    assert driver.turn()
    assert [run.status for run in store.runs()] == ["finished"]
    assert driver.runs == {}
    assert not driver.turn()
    store.close()


def test_an_app_starts_its_engine_again_while_no_page_is_open(store, ask, monkeypatch):
    starts = []
    monkeypatch.setattr(engine, "WATCH_SECONDS", 0.01)
    monkeypatch.setattr(engine, "ensure_engine", starts.append)
    home, away = store.home, store.home.with_name("away")
    home.rename(away)
    with engine.watching(store, 0.0):
        time.sleep(0.1)
        assert not starts  # without its folder a home needs none
        away.rename(home)
        wait_until(lambda: starts)
        time.sleep(0.1)
        assert starts == [home]  # an idle engine that ended stays away
        run = ask()
        wait_until(lambda: len(starts) > 3)
        store.set_status(run, "cancelled")
    assert set(starts) == {home}


def test_an_app_drops_copies_of_what_is_deleted_again_and_again(store, monkeypatch):
    """Be the engine on another machine, whose tidying does not reach this one."""
    looks = []
    monkeypatch.setattr(engine, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(engine, "TIDY_SECONDS", 0.01)
    monkeypatch.setattr(engine, "ensure_engine", lambda _: None)
    monkeypatch.setattr(Homes, "drop_copies", lambda *_: looks.append(1))
    with engine.watching(store, 0.0):
        wait_until(lambda: len(looks) > 2)


def test_an_engine_of_other_code_is_asked_to_end(home, monkeypatch):
    """Its number may be that of another process, where it is in another container."""
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("a process was killed"))
    home.mkdir()
    write_card(home, pid=os.getpid(), since=12.5, reads_mark=True)
    with engine.attach(home):  # the card of an engine that is gone
        assert not engine.is_asked_to_end(home, 12.5)
    with engine.take(home / "engine.lock"), engine.attach(home):
        assert engine.is_asked_to_end(home, 12.5)
        assert not engine.is_asked_to_end(home, 13.0)  # the next one


def test_an_engine_that_is_asked_to_end_does_so(home):
    """While an app is attached, which would keep it for ten minutes."""
    store = open_store(home)
    with closing(store), engine.attach(home):
        engine.ensure_engine(home)
        wait_until(lambda: engine.engine_card(home))
        card = engine.engine_card(home)
        write_card(home, **{**card, "code": "of last week"})
        with engine.attach(home):
            wait_until(lambda: not engine.engine_lives(home))


@pytest.mark.parametrize("is_engine", [True, False])
def test_an_engine_of_an_earlier_version_is_ended_by_its_number(home, is_engine):
    """Unless the number is of another process."""
    words = ["fairdash.jobs.host"] if is_engine else []
    code = "import time; print(flush=True); time.sleep(60)"
    command = [sys.executable, "-c", code, *words]
    sleeper = subprocess.Popen(command, stdout=subprocess.PIPE)
    sleeper.stdout.readline()  # before it has begun the system does not say what it is
    home.mkdir()
    write_card(home, pid=sleeper.pid)
    try:
        with engine.take(home / "engine.lock"), engine.attach(home):
            if is_engine:
                assert sleeper.wait(60) == -signal.SIGTERM
            else:
                time.sleep(0.2)
                assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.communicate()


def write_card(home, **facts):
    card = {"code": "of last week", **facts}
    (home / "engine.json").write_text(json.dumps(card))


@pytest.mark.parametrize(
    ("exit_code", "n_oom_kills", "reason"),
    [
        (-signal.SIGSEGV, 0, "3 times during training: by SIGSEGV, by SIGSEGV, by"),
        (-signal.SIGKILL, 1, "when memory ran out. Use fewer workers or fewer rows"),
        (3, 0, "with status 3"),
    ],
)
def test_a_stack_that_makes_three_workers_die_fails(
    exit_code, n_oom_kills, reason, ask, store
):
    run_id = ask()
    host = dying(store, exit_code, n_oom_kills)
    wait_until(lambda: not host.turn())
    (trial,) = store.snapshot(run_id).trials
    assert host.client.n_submitted == _driving.TRIES
    assert reason in trial.reason
    assert store.run(run_id).status == "failed"


@pytest.mark.parametrize(
    "exit_code", sampled([-signal.SIGKILL, -signal.SIGTERM, None, 0], 2), ids=str
)
def test_a_stack_whose_workers_are_killed_from_outside_is_tried_again(
    exit_code, ask, store, monkeypatch
):
    monkeypatch.setattr(_driving, "MOST_PAUSE", 0.01)
    monkeypatch.setattr("fairdash.jobs._deaths.REPORT_SECONDS", 0.01)
    run_id = ask()
    host = dying(store, exit_code, 0)
    wait_until(lambda: host.turn() and host.client.n_submitted > 4 * _driving.TRIES)
    assert store.snapshot(run_id).count("failed") == 0
    store.set_status(run_id, "cancelled")


def test_each_kill_from_outside_makes_a_stack_rest_longer(ask, store):
    driver = _driving.Driver(store, no_workers(), elsewhere=False)
    run = _driving.OpenRun(ask(), deque())
    stack = SimpleNamespace(key="stack")
    pauses = []
    for _ in range(40):
        driver._lost(run, stack, _deaths.judge(-signal.SIGKILL, n_oom_kills=0))
        assert not run.is_over
        pauses.append(run.resting.pop()[0] - time.monotonic())
    first = [0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5]
    np.testing.assert_allclose(pauses[:7], first, atol=0.4)
    np.testing.assert_allclose(pauses[7:], 60, atol=0.4)
    store.set_status(run.id, "cancelled")


def dying(store, exit_code, n_oom_kills):
    """Return a host whose every worker ends so; with None no nanny says how."""
    host = make_host(store, threads=1)
    host.client.n_submitted = 0

    def submit(*_, **__):
        host.client.n_submitted += 1
        worker = f"tcp://127.0.0.1:{host.client.n_submitted}"
        if exit_code is not None:
            fact = {"exit_code": exit_code, "n_oom_kills": n_oom_kills}
            host.deaths.hear({"nanny": "", "worker": worker} | fact)
        error = KilledWorker("stack", SimpleNamespace(address=worker, nanny=""), 0)
        return SimpleNamespace(
            done=lambda: True,
            status="error",
            exception=lambda: error,
            add_done_callback=lambda _: None,
        )

    host.client.submit = submit
    return host


def test_on_a_full_disk_training_waits_and_says_so(home, ask, store, monkeypatch):
    run_id = ask()
    host = make_host(store, threads=2)
    monkeypatch.setattr(engine, "ROOM", 10**18)
    waits = engine.why_waits(store, store.snapshot(run_id))
    assert waits == "Waits for room on the disk"
    host.turn()
    assert host.training == {}
    monkeypatch.setattr(engine, "ROOM", 0)
    host.turn()
    assert host.training == {f"/{run_id}": 1}
    store.set_status(run_id, "cancelled")


def make_host(store, threads):
    with store.database.claim() as claim:  # of a file, which nobody else claims
        return Host(store, claim, no_workers(threads), elsewhere=False)


def no_workers(threads=0):
    """A client of a scheduler that takes stacks and never answers."""
    waiting = SimpleNamespace(done=lambda: False, add_done_callback=lambda _: None)
    return SimpleNamespace(
        nthreads=lambda: {"worker": threads},
        run=lambda *_, **__: {},
        submit=lambda *_, **__: waiting,
    )
