"""A scheduler elsewhere: its workers outlive it, and a sweep outlives both."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import dask
import numpy as np
import psutil
import pytest
import yaml
from conftest import free_port, wait_until, wait_until_no_engine
from toys import people_csv, specification
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.jobs import (
    attach,
    ensure_engine,
    queue,
    serve_worker,
    submit,
    use_scheduler,
)
from fairdash.jobs._engine import engine_lives
from fairdash.jobs._waits import engine_waits_for
from fairdash.jobs._workers import scheduler_answers
from fairdash.store import open_store
from fairdash.sweep import run_sweep

MEDIUM = {
    "n_epochs": 80,
    "batch_size": 64,
    "n_adversary_steps": 2,
    "n_ratio_steps": 2,
}
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
    where = ["--host", "127.0.0.1", "--port", str(port)]
    where += ["--protocol", urllib.parse.urlparse(address).scheme]
    return start(*module, *where, "--dashboard-address", "127.0.0.1:0")


def stop(process):
    if process.poll() is None:
        process.terminate()
    process.wait(timeout=120)


@pytest.fixture
def address(monkeypatch):
    where = f"tcp://127.0.0.1:{free_port()}"
    monkeypatch.setenv("FAIRDASH_SCHEDULER", where)
    return where


@pytest.fixture
def scheduler(address):
    """A list of one scheduler, which a test may kill and replace."""
    running = [start_scheduler(address)]
    yield running
    stop(running[0])


@pytest.fixture
def worker(address, scheduler):
    process = start(*COMMAND, "cluster", "worker", address, "--workers", "2")
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
    told = start(
        *COMMAND, "cluster", "worker", address, "--workers", "1", "--host", "127.0.0.2"
    )
    wait_until(lambda: len(listens_at(worker)) >= 6, 90)  # two nannies, two workers
    assert set(listens_at(worker)) == {"127.0.0.1"}
    wait_until(lambda: len(listens_at(scheduler[0])) == 2, 20)  # and its dashboard
    assert set(listens_at(scheduler[0])) == {"127.0.0.1"}
    try:
        wait_until(lambda: {*listens_at(told)} == {"127.0.0.1", "127.0.0.2"}, 90)
    finally:
        stop(told)


@pytest.fixture
def nobody():
    """An address that is taken, so that nobody else can begin to listen there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"tcp://127.0.0.1:{taken.getsockname()[1]}"


def test_a_scheduler_that_does_not_answer_is_told_with_the_way_to_start_one(
    home, nobody
):
    """From a notebook too, where the calling thread is inside a running event loop."""
    store = open_store(home)

    async def cell():
        use_scheduler(store, nobody)

    with ThreadPoolExecutor(1) as kernel:  # this thread may have a loop by itself
        done = kernel.submit(lambda: asyncio.run(cell()))
        with pytest.raises(ValueError, match=rf"{nobody}.*dask scheduler --host"):
            done.result()
    for wrong in ("127.0.0.1", "http://127.0.0.1:8786", "tcp://127.0.0.1"):
        with pytest.raises(ValueError, match="is like tls://10"):
            use_scheduler(store, wrong)
    store.close()


def test_what_answers_but_is_no_scheduler_is_refused():
    """As a socket does that was connected to its own port."""

    async def echo(reader, writer):
        while heard := await reader.read(65_536):
            writer.write(heard)
            await writer.drain()
        writer.close()

    async def asked():
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        async with server:
            return await scheduler_answers(f"tcp://{host}:{port}")

    with ThreadPoolExecutor(1) as aside:  # this thread may have a loop by itself
        assert not aside.submit(lambda: asyncio.run(asked())).result()


def test_other_machines_are_spoken_to_by_tls_alone(home):
    for address in ("tcp://10.0.0.5:8786", "tcp://scheduler.example:8786"):
        with pytest.raises(ValueError, match=r"runs code there.*tls://"):
            use_scheduler(open_store(home), address)
    with pytest.raises(ValueError, match=r"^0.0.0.0 is reached by other machines"):
        serve_worker("tcp://127.0.0.1:8786", n_workers=1, host="0.0.0.0")


def answers(address):
    """Whether a scheduler answers; this thread may have a loop by itself."""
    with ThreadPoolExecutor(1) as aside:
        return aside.submit(lambda: asyncio.run(scheduler_answers(address))).result()


def test_a_key_that_was_deleted_is_made_anew_with_whole_files_beside_it(tmp_path):
    for _ in range(2):
        made = CliRunner().invoke(app, ["cluster", "init", str(tmp_path)])
        assert made.exit_code == 0, made.output
        certificate = (tmp_path / "certificate.pem").read_text()
        assert certificate.endswith("END CERTIFICATE-----\n")
        yaml.safe_load((tmp_path / "dask.yaml").read_text())
        (tmp_path / "key.pem").unlink()
        for name in ("certificate.pem", "dask.yaml"):  # as with a longer path
            with open(tmp_path / name, "a") as file:
                file.write("of before")


def test_workers_elsewhere_need_certificates_and_outlive_their_scheduler(
    postgres, bucket, tmp_path, monkeypatch
):
    """They take the run from Postgres, its table from S3, and leave models there."""
    grid = {"method": "road", "params": {**MEDIUM, "fairness_weight": [0.5, 2.0]}}
    path = tmp_path / "people.csv"
    spec = specification(path, methods=[grid], seeds=[0, 1, 2])
    here, elsewhere, tls = (tmp_path / name for name in ("home", "elsewhere", "tls"))
    made = CliRunner().invoke(app, ["cluster", "init", str(tls)])
    assert made.exit_code == 0
    assert f"DASK_CONFIG={tls}/dask.yaml" in made.output
    assert {path.stat().st_mode & 0o777 for path in tls.iterdir()} == {0o600}
    again = CliRunner().invoke(app, ["cluster", "init", str(tls)])
    assert (again.exit_code, again.output.count("\n")) == (2, 1)
    monkeypatch.setenv("FAIRDASH_FILES", bucket)
    monkeypatch.setenv("DASK_CONFIG", str(tls / "dask.yaml"))
    known = yaml.safe_load((tls / "dask.yaml").read_text())
    known = dask.config.merge(dask.config.config, known)
    address = f"tls://127.0.0.1:{free_port()}"
    (tmp_path / "people.csv").write_bytes(people_csv())
    with contextlib.ExitStack() as ends:
        store = ends.enter_context(contextlib.closing(open_store()))
        ends.enter_context(dask.config.set(known))
        scheduler = [start_scheduler(address)]
        ends.callback(lambda: stop(scheduler[0]))
        with monkeypatch.context() as there:
            there.setenv("FAIRDASH_HOME", str(elsewhere))
            work = start(*COMMAND, "cluster", "worker", address, "--workers", "1")
        ends.callback(stop, work)
        wait_until(lambda: answers(address))
        assert not answers(address.replace("tls", "tcp"))

        def finished():
            ensure_engine(here)
            return [t for t in store.snapshot(run_id).trials if t.status == "finished"]

        with attach(here):
            use_scheduler(store, address)
            run_id = submit(store, spec)
            wait_until(finished)
            done = {t.key: store.artifact(t.key).written() for t in finished()}
            os.kill(scheduler[0].pid, signal.SIGKILL)
            scheduler[0].wait()
            scheduler[0] = start_scheduler(address)
            wait_until(lambda: store.run(run_id).over or not finished())
        assert work.poll() is None
        for key, written in done.items():
            assert store.artifact(key).written() == written
        snapshot = store.snapshot(run_id)
        assert snapshot.run.status == "finished"
        through, alone = snapshot.table(), run_sweep(spec)
        assert through["key"].tolist() == alone["key"].tolist()
        apart = through["test_accuracy"] - alone["test_accuracy"]
        assert np.abs(apart).max() < 1e-9
        assert list(here.glob("artifacts/*/*")) == []  # nothing was trained here
        for trial in snapshot.trials:
            scores = store.artifact(trial.key).scores()
            assert (scores.shape, scores.min() >= 0) == ((600,), True)
        wait_until_no_engine(here)
    assert {path.name for path in elsewhere.iterdir()} >= {"tables", "artifacts"}
    assert not (elsewhere / "store.db").exists()


def test_an_idle_engine_gives_way_and_a_busy_one_is_not_disturbed(
    home, monkeypatch, address, scheduler, tmp_path
):
    (tmp_path / "people.csv").write_bytes(people_csv())
    store = open_store(home)
    monkeypatch.delenv("FAIRDASH_SCHEDULER")
    with attach(home):
        ensure_engine(home)
        wait_until((home / "engine.json").exists)
        run_id = queue(store, specification(tmp_path / "people.csv"))
        with pytest.raises(ValueError, match=run_id):
            use_scheduler(store, address)
        assert engine_lives(home)
        wait_until(lambda: store.run(run_id).over)
        wait_until(lambda: not refused(store, address))
        wait_until(lambda: not engine_lives(home))
        ensure_engine(home)
        waits = "Waits for the scheduler at ", "Waits for a worker at "
        assert engine_waits_for(home).words == f"{waits[0]}{address}"
        wait_until(lambda: engine_waits_for(home).words == f"{waits[1]}{address}")
    wait_until_no_engine(home)
    store.close()


def refused(store, address):
    try:
        use_scheduler(store, address)
    except ValueError:
        return True
    return False
