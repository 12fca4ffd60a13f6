import http.client
import os
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from dataclasses import replace

import pandas as pd
import pytest
from conftest import end_runs, free_port, is_healthy, wait_until, wait_until_no_engine
from toys import people, people_csv, specification
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.jobs.engine import attach, engine_lives, ensure_engine
from fairdash.methods import CATALOG
from fairdash.store import open_store

COMMAND = [sys.executable, "-c", "from fairdash.cli import app; app()"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())
    return tmp_path


@pytest.fixture
def config(folder):
    (folder / "sweep.yaml").write_text(specification("people.csv").to_yaml())
    return folder / "sweep.yaml"


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def one_line(text):
    return "\n" not in text.strip() and "Traceback" not in text


def test_run_trains_prints_and_writes_all_rows(home, config, folder):
    out = folder / "rows.csv"
    done = call("run", config, "--inline", "--name", "Nightly", "--out", out)
    assert done.exit_code == 0, done.output
    assert "worst_1_di" in done.stdout
    assert re.search(r"run \w+: finished", done.stdout)
    rows = pd.read_csv(out)
    assert rows["method"].tolist() == ["unconstrained", "road", "road"]
    store = open_store()
    (record,) = store.runs()
    assert (record.name, record.status) == ("Nightly", "finished")
    store.close()


def test_run_weighs_rows_and_refuses_a_method_that_cannot(home, folder, monkeypatch):
    people().assign(weight=2.5).to_csv(folder / "people.csv")
    text = specification("people.csv", methods=[{"method": "logistic"}]).to_yaml()
    text = text.replace("roles:", "roles:\n    sample_weight: weight")
    (folder / "sweep.yaml").write_text(text)
    done = call("run", folder / "sweep.yaml", "--inline")
    assert (done.exit_code, "finished" in done.output) == (0, True), done.output
    unable = replace(CATALOG["logistic"], no_weights="rows count once")
    monkeypatch.setitem(CATALOG, "logistic", unable)
    done = call("run", folder / "sweep.yaml", "--inline")
    assert done.exit_code == 2
    assert "Logistic cannot count rows by the column 'weight': rows" in done.output


def connects(port, host):
    """Tell whether a page of a host name, as a browser says, may talk to the server."""
    link = http.client.HTTPConnection("localhost", port, timeout=30)
    headers = {
        "Host": f"{host}:{port}",
        "Origin": f"http://{host}:{port}",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    link.request("GET", "/_stcore/stream", headers=headers)
    status = link.getresponse().status
    link.close()
    return status == 101


@contextmanager
def served(home, *options):
    """Serve the app, and see that Ctrl-C ends it as it should."""
    port = free_port()
    server = subprocess.Popen(
        [*COMMAND, "app", "--port", str(port), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "FAIRDASH_HOME": str(home)},
    )
    try:
        wait_until(lambda: is_healthy(port))
        yield port
    finally:
        server.send_signal(signal.SIGINT)
        output, _ = server.communicate(timeout=90)
    assert server.returncode == 0, output
    assert "Traceback" not in output


def test_app_serves_pages_with_an_engine_beside_them_and_ends_on_ctrl_c(home):
    engine = home / "engine.json"
    try:
        with served(home, "--name", "fair.example") as port:
            with urllib.request.urlopen(f"http://localhost:{port}", timeout=30) as page:
                assert page.status == 200
                policy = page.headers["Content-Security-Policy"]
                assert policy.startswith("default-src 'self'; ")
                assert "http" not in policy
            wait_until(lambda: ensure_engine(home) or engine.exists())
            names = ("localhost", "127.0.0.1", "fair.example", "localhost.evil.example")
            reached = [connects(port, name) for name in names]
            assert reached == [True, True, True, False]

            said = engine.read_text()
            with attach(home):  # as another app
                ensure_engine(home)
                assert engine.read_text() == said  # one engine for both
            assert is_healthy(port)
            assert engine_lives(home)
            assert engine.read_text() == said
    finally:
        end_runs(home)
        wait_until_no_engine(home)


def test_the_app_is_served_to_others_only_with_a_login_or_knowingly(home):
    refused = call("app", "--address", "0.0.0.0")
    assert refused.exit_code == 2
    assert one_line(refused.output)
    assert "--insecure" in refused.output
    assert not home.exists()
