"""One real host with two workers serves all tests of this file."""

import json
import os
import signal
import socket
import ssl
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import psutil
import pytest
from conftest import end_runs, wait_until, wait_until_no_engine
from toys import people_csv, specification

from fairdash.jobs import cancel, engine, submit
from fairdash.jobs._driving import TRIES
from fairdash.jobs._workers import POLITE
from fairdash.jobs.engine import engine_lives
from fairdash.store import User, open_store
from fairdash.sweep import SweepSpec

IDLE = 5  # seconds
QUICK = {"n_epochs": 3, "batch_size": 128}
LONG = {"n_epochs": 100_000, "batch_size": 128}
STUBBORN = {"n_epochs": 2, "batch_size": 4096, "n_adversary_steps": 1_000_000}
GRID = {"fairness_weight": [0.0, 5.0], "tau": [0.1, 1.0]}
BATCH = {"batch_size": 96}  # so that there are several, the last one smaller
SCHEDULED = [
    {"method": "adversarial", "params": BATCH | {"fairness_weight": [0.5, 5.0]}},
    {"method": "road", "params": BATCH | GRID},
    {"method": "fair_log_loss"},
]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engine") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRDASH_WORKERS", "2")
        patch.setenv("FAIRDASH_IDLE", str(IDLE))
        patch.setenv("FAIRDASH_LINGER", "0.5")
        patch.delenv("FAIRDASH_INLINE", raising=False)
        with engine.attach(folder):
            engine.ensure_engine(folder)
            yield folder
            end_runs(folder)
        wait_until_no_engine(folder)


@pytest.fixture
def store(home):
    opened = open_store(home)
    yield opened
    for run in opened.open_runs():
        cancel(opened, run.id)
    wait_until(lambda: not opened.open_runs())
    opened.close()


@pytest.fixture
def ask(store, tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())

    def submit_methods(*methods, **more):
        spec = specification(tmp_path / "people.csv", methods=list(methods), **more)
        return submit(store, spec)

    return submit_methods


def road(base=QUICK, **params):
    return {"method": "road", "params": {**base, **params}}


def trains(store, run_id):
    trials = store.snapshot(run_id, curves=False).trials
    return any(trial.progress and trial.progress.epoch for trial in trials)


def over(store, run_id):
    engine.ensure_engine(store.home)
    return store.run(run_id).over


def host_pid(home):
    return json.loads((home / "engine.json").read_text())["pid"]


def hosts(home):
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if {"fairdash.jobs.host", str(home)} <= set(process.info["cmdline"] or [])
    ]


def workers(home):
    host = host_pid(home)
    family = psutil.Process(host).children(recursive=True)
    return [process.pid for process in family if process.ppid() != host]


def written(store, run_id):
    keys = [trial.key for trial in store.snapshot(run_id).trials]
    return {key: store.artifact(key).folder.stat().st_mtime_ns for key in keys}


def test_only_its_owner_reads_what_a_training_writes(home, store, ask):
    run_id = ask({"method": "unconstrained", "params": QUICK}, seeds=[0])
    wait_until(lambda: over(store, run_id))
    for path in (home, *home.rglob("*")):
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:  # the engine clears up after itself
            continue
        assert stat.S_IMODE(mode) == (0o700 if stat.S_ISDIR(mode) else 0o600), path


def test_an_idle_engine_ends_beside_an_app_and_comes_back(home, store, ask):
    """It ends after `IDLE` seconds; other tests are not that far apart."""
    for tau in (0.2, 0.3):
        run = ask(road(tau=tau))
        wait_until(lambda run=run: store.run(run).over)
        assert store.run(run).status == "finished"
        if tau == 0.2:  # the engine that came back is that of the tests below
            wait_until_no_engine(home)


def niceness(thread):
    return os.getpriority(os.PRIO_PROCESS, thread)


def busiest(pid):
    return max(psutil.Process(pid).threads(), key=lambda thread: thread.user_time).id


def test_start_up_is_at_normal_niceness_and_training_below(store, ask):
    # a thread that lowered itself cannot go back: what is at 0 started there
    run_id = ask(road(LONG, tau=0.32))
    wait_until(lambda: trains(store, run_id))
    ours = [*hosts(store.home), *workers(store.home)]
    wait_until(lambda: POLITE in [niceness(busiest(pid)) for pid in ours])
    for process in psutil.Process(ours[0]).children(recursive=True):
        levels = {niceness(thread.id) for thread in process.threads()}
        assert niceness(process.pid) == niceness(ours[0]) == niceness(0)
        assert levels <= {niceness(0), POLITE if process.pid in ours else niceness(0)}
    groups = [Path(f"/proc/{pid}/autogroup") for pid in ours[1:]]
    nice = {group.read_text().split()[-1] for group in groups if group.exists()}
    assert not nice or str(POLITE) in nice
    cancel(store, run_id)


def test_a_run_says_behind_how_many_others_it_waits(store, ask):
    first = ask(road(LONG, tau=[0.33, 0.34]))
    second = ask(road(LONG, tau=0.35))
    wait_until(lambda: trains(store, first) and trains(store, second))
    third = ask(road(LONG, tau=0.36))
    wait_until(lambda: store.run(third).status == "running")
    waits = [engine.why_waits(store, store.snapshot(run)) for run in (third, first)]
    assert waits == ["Waits behind 3 other models", ""]


def test_two_sweeps_that_share_trials_train_them_once(store, ask):
    run_id = ask(road(tau=[0.41, 0.42, 0.43]))
    two = ask(road(tau=[0.41, 0.42, 0.43, 0.44]))
    wait_until(lambda: over(store, run_id) and over(store, two))
    assert store.run(run_id).status == store.run(two).status == "finished"
    assert written(store, run_id).items() <= written(store, two).items()


def bits(artifact):
    """Return all that is kept of a trained model, as bytes."""
    arrays = {"scores": artifact.scores(), **(artifact.network() or {})}
    if artifact.ratio() is not None:
        arrays |= {"ratio": artifact.ratio(), **artifact.ratio_history()}
    arrays["history"] = artifact.history().to_numpy(float)
    return {name: np.asarray(array).tobytes() for name, array in arrays.items()}


def trained(store, spec):
    """Return the snapshot of a sweep that was trained to its end."""
    run = submit(store, spec)
    wait_until(lambda: store.run(run).over)
    assert store.run(run).status == "finished"
    return store.snapshot(run)


def test_workers_train_the_models_that_one_process_trains(store, tmp_path, monkeypatch):
    """Over the full schedule: rounding that differs grows into another model."""
    (tmp_path / "people.csv").write_bytes(people_csv(240))
    spec = specification(tmp_path / "people.csv", methods=SCHEDULED, seeds=[3])
    snapshot = trained(store, spec)
    monkeypatch.setenv("FAIRDASH_INLINE", "1")
    alone = open_store(tmp_path / "alone")
    again = trained(alone, SweepSpec.from_yaml(spec.to_yaml()))
    assert [t.key for t in again.trials] == [t.key for t in snapshot.trials]
    for trial in snapshot.trials:
        expected = alone.artifact(trial.key)
        received = store.artifact(trial.key)
        assert bits(expected) == bits(received), trial
    alone.close()


def test_a_run_that_does_not_listen_is_killed_alone(store, ask):
    doomed = ask(road(STUBBORN, tau=0.53))
    other_run = ask(road(LONG, tau=0.54))
    wait_until(lambda: store.snapshot(doomed).count("running") == 1)
    wait_until(lambda: trains(store, other_run))
    cancel(store, doomed)
    wait_until(lambda: over(store, doomed))
    epoch = store.snapshot(other_run).trials[0].progress.epoch
    wait_until(lambda: store.snapshot(other_run).trials[0].progress.epoch > epoch)
    after = ask(road(tau=0.55))
    wait_until(lambda: over(store, after))
    assert store.run(after).status == "finished"


def test_a_stack_outlives_more_kills_than_crashes(store, ask):
    run_id = ask(road(LONG, tau=0.71))
    wait_until(lambda: trains(store, run_id))

    def progress():
        (trial,) = store.snapshot(run_id).trials
        return trial.progress.epoch, trial.progress.seconds

    for _ in range(TRIES + 1):
        for worker in workers(store.home):
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        last = progress()
        wait_until(lambda: progress() != last)  # noqa: B023  # within this round
    assert not over(store, run_id)
    assert store.snapshot(run_id).count("failed") == 0


def written_so_far(store, run_id):
    done = [t.key for t in store.snapshot(run_id).trials if t.status == "finished"]
    return {key: store.artifact(key).folder.stat().st_mtime_ns for key in done}


def test_the_engine_answers_nobody_without_its_certificate(home):
    engine.ensure_engine(home)
    wait_until((home / "engine.json").exists)
    address = json.loads((home / "engine.json").read_text())["scheduler"]
    parts = urlsplit(address)
    assert (parts.scheme, parts.hostname) == ("tls", "127.0.0.1")
    stranger = ssl.create_default_context()
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection((parts.hostname, parts.port)) as link,
        pytest.raises(ssl.SSLError, match="CERTIFICATE_REQUIRED"),
        stranger.wrap_socket(link) as secret,
    ):
        secret.recv(1)


def n_finished(store, run_id):
    return store.snapshot(run_id, curves=False).count("finished")


def test_users_share_one_engine_that_comes_back_once_after_a_kill(home, tmp_path):
    """Their runs go on where they stopped, each in its own home."""
    (tmp_path / "people.csv").write_bytes(people_csv())
    users = [User.of({"sub": name}) for name in ("ann", "bob")]
    with ExitStack() as opened:
        stores = [
            opened.enter_context(closing(open_store(user.home(home)))) for user in users
        ]
        medium = {"n_epochs": 40, "batch_size": 64}
        methods = [road(medium, tau=0.6)]
        spec = specification(tmp_path / "people.csv", methods=methods, seeds=[0, 1])
        runs = {store: submit(store, spec) for store in stores}
        wait_until(lambda: any(trains(store, run) for store, run in runs.items()))
        os.kill(workers(home)[0], signal.SIGKILL)
        wait_until(lambda: sum(n_finished(*pair) for pair in runs.items()) >= 2)
        before = {store: written_so_far(store, run) for store, run in runs.items()}
        family = workers(home)
        os.kill(host_pid(home), signal.SIGKILL)
        wait_until(lambda: not any(map(psutil.pid_exists, family)))
        with ThreadPoolExecutor(20) as pool:
            list(pool.map(engine.ensure_engine, [home] * 20))
        assert engine_lives(home)
        assert len(hosts(home)) == 1
        wait_until(lambda: all(store.run(run).over for store, run in runs.items()))
        ends = {store.run(run).status for store, run in runs.items()}
        assert ends == {"finished"}
        wait_until((home / "engine.json").exists)
        assert hosts(home) == [host_pid(home)]
        for store, run in runs.items():
            assert before[store].items() <= written(store, run).items()
        for user_store in stores:
            wait_until(lambda home=user_store.home: not engine_lives(home))  # let go
            keys = [trial.key for trial in user_store.snapshot(runs[user_store]).trials]
            stored = user_store.files.listed("artifacts")
            assert sorted(folder.name for folder in stored) == sorted(keys)
