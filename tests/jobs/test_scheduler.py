"""A scheduler elsewhere: its workers outlive it, and a sweep outlives both."""

import contextlib
import os
import signal
import subprocess
import sys
import urllib.parse

import dask
import numpy as np
import psutil
import pytest
import yaml
from conftest import free_port, wait_until, wait_until_no_engine
from toys import people_csv, specification
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.jobs import engine, serve_worker, submit
from fairdash.store import open_store
from fairdash.sweep import run_sweep

MEDIUM = {"n_epochs": 15, "batch_size": 64, "n_adversary_steps": 2, "n_ratio_steps": 2}
COMMAND = [sys.executable, "-c", "from fairdash.cli import app; app()"]


def start(*command):
    return subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def start_scheduler(address):
    port = urllib.parse.urlparse(address).port
    module = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    options = ["--host", "127.0.0.1", "--port", str(port)]
    options += ["--protocol", urllib.parse.urlparse(address).scheme]
    return start(*module, *options, "--dashboard-address", "127.0.0.1:0")


def stop(process):
    if process.poll() is None:
        process.terminate()
    process.wait(timeout=120)


@pytest.fixture
def address(monkeypatch):
    place = f"tcp://127.0.0.1:{free_port()}"
    monkeypatch.setenv("FAIRDASH_SCHEDULER", place)
    return place


@pytest.fixture
def scheduler(address):
    """A list of one scheduler, which a test may kill and replace."""
    running = [start_scheduler(address)]
    yield running
    stop(running[0])


@pytest.fixture
def worker(address, scheduler):
    process = start(*COMMAND, "cluster", "worker", address, "--workers", "1")
    yield process
    stop(process)


def listens_at(process):
    """Return the addresses that a process and what it started listen on."""
    family = psutil.Process(process.pid)
    sockets = []
    for member in [family, *family.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            sockets += member.net_connections("inet")
    return [s.laddr.ip for s in sockets if s.status == psutil.CONN_LISTEN]


def test_workers_and_scheduler_listen_on_this_machine_alone(address, scheduler, worker):
    """Workers that are told another address listen there, with their dashboard here."""
    process = start(
        *COMMAND, "cluster", "worker", address, "--workers", "1", "--host", "127.0.0.2"
    )
    # nanny, worker, dashboard
    wait_until(lambda: len(listens_at(worker)) >= 3, 90, pause=0.5)
    assert set(listens_at(worker)) == {"127.0.0.1"}
    wait_until(lambda: len(listens_at(scheduler[0])) == 2, 20)  # and its dashboard
    assert set(listens_at(scheduler[0])) == {"127.0.0.1"}
    try:
        both = {"127.0.0.1", "127.0.0.2"}
        wait_until(lambda: {*listens_at(process)} == both, 90, pause=0.5)
    finally:
        stop(process)


def test_other_machines_are_spoken_to_by_tls_alone():
    for address in ("tcp://10.0.0.5:8786", "tcp://scheduler.example:8786"):
        with pytest.raises(ValueError, match=r"runs code there.*tls://"):
            serve_worker(address, n_workers=1)
    with pytest.raises(ValueError, match=r"^0.0.0.0 is reached by other machines"):
        serve_worker("tcp://127.0.0.1:8786", n_workers=1, host="0.0.0.0")
    for wrong in ("127.0.0.1", "http://127.0.0.1:8786", "tcp://127.0.0.1"):
        with pytest.raises(ValueError, match="is like tls://10"):
            serve_worker(wrong, n_workers=1)


def test_workers_elsewhere_have_certificates_and_a_run_outlives_their_scheduler(
    postgres, bucket, tmp_path, monkeypatch
):
    """They take the run from Postgres, its table from S3, and leave models there."""
    grid = {"method": "road", "params": {**MEDIUM, "fairness_weight": [0.5, 2.0]}}
    path = tmp_path / "people.csv"
    spec = specification(path, methods=[grid], seeds=[0, 1])
    home_path, elsewhere, tls = (
        tmp_path / name for name in ("home", "elsewhere", "tls")
    )
    result = CliRunner().invoke(app, ["cluster", "init", str(tls)])
    assert result.exit_code == 0
    assert f"DASK_CONFIG={tls}/dask.yaml" in result.output
    assert {path.stat().st_mode & 0o777 for path in tls.iterdir()} == {0o600}
    again = CliRunner().invoke(app, ["cluster", "init", str(tls)])
    assert (again.exit_code, again.output.count("\n")) == (2, 1)
    monkeypatch.setenv("FAIRDASH_FILES", bucket)
    monkeypatch.setenv("DASK_CONFIG", str(tls / "dask.yaml"))
    configuration = yaml.safe_load((tls / "dask.yaml").read_text())
    configuration = dask.config.merge(dask.config.config, configuration)
    address = f"tls://127.0.0.1:{free_port()}"
    (tmp_path / "people.csv").write_bytes(people_csv())
    with contextlib.ExitStack() as ends:
        store = ends.enter_context(contextlib.closing(open_store()))
        ends.enter_context(dask.config.set(configuration))
        scheduler = [start_scheduler(address)]
        ends.callback(lambda: stop(scheduler[0]))

        def work():
            """Start a worker, as whoever restarts services does."""
            with monkeypatch.context() as patch:
                patch.setenv("FAIRDASH_HOME", str(elsewhere))
                worker = start(*COMMAND, "cluster", "worker", address, "--workers", "1")
            ends.callback(stop, worker)

        work()

        def finished():
            engine.ensure_engine(home_path)
            return [t for t in store.snapshot(run_id).trials if t.status == "finished"]

        monkeypatch.setenv("FAIRDASH_SCHEDULER", address)
        with engine.attach(home_path):
            run_id = submit(store, spec)
            wait_until(finished, pause=0.3)
            done = {t.key: store.artifact(t.key).written() for t in finished()}
            os.kill(scheduler[0].pid, signal.SIGKILL)
            scheduler[0].wait()
            scheduler[0] = start_scheduler(address)
            work()
            wait_until(lambda: store.run(run_id).over or not finished(), pause=0.5)
        for key, written in done.items():
            assert store.artifact(key).written() == written
        snapshot = store.snapshot(run_id)
        assert snapshot.run.status == "finished"
        through = snapshot.table()
        alone = run_sweep(spec)
        assert through["key"].tolist() == alone["key"].tolist()
        difference = through["test_accuracy"] - alone["test_accuracy"]
        assert np.abs(difference).max() < 1e-9
        assert list(home_path.glob("artifacts/*/*")) == []  # nothing was trained here
        for trial in snapshot.trials:
            scores = store.artifact(trial.key).scores()
            assert (scores.shape, scores.min() >= 0) == ((600,), True)
        wait_until_no_engine(home_path)
    assert {path.name for path in elsewhere.iterdir()} >= {"tables", "artifacts"}
    assert not (elsewhere / "store.db").exists()
