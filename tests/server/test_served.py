"""The app as it is served, before anybody has logged in."""

import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.client import HTTPConnection

import psutil
import pytest
from conftest import free_port, is_healthy, wait_until

pytest.importorskip("authlib", reason="a login needs streamlit[auth]")

MIB = 1 << 20
SECRETS = """
[auth]
redirect_uri = "http://localhost:{port}/oauth2callback"
cookie_secret = "a long random text"
client_id = "fairdash"
client_secret = "known to both"
server_metadata_url = "http://localhost:1/.well-known/openid-configuration"
"""
SERVE = """
import sys
from pathlib import Path
from fairdash.server import Login, Rules, serve_pages
home, port = Path(sys.argv[1]), int(sys.argv[2])
token = "a token of the operator"
rules = Rules(("localhost", "127.0.0.1"), Login.find(port), (), token)
serve_pages(home, "localhost", port, rules)
"""
WINDOW = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the app is started: its secrets, its home folder and its log."""
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def served(folder):
    """Port and process of an app behind a login; it starts slowly, so one for all."""
    port = free_port()
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit" / "secrets.toml").write_text(SECRETS.format(port=port))
    home = folder / "home"
    with open(folder / "log", "wb") as log:
        app = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(home), str(port)],
            cwd=folder,
            env=os.environ | {"FAIRDASH_HOME": str(home)},
            stdout=log,
            stderr=log,
        )
    try:
        wait_until(lambda: is_healthy(port))
        yield port, psutil.Process(app.pid)
    finally:
        app.send_signal(signal.SIGINT)
        app.wait(timeout=120)
    assert app.returncode == 0
    written = (folder / "log").read_text()
    assert "Traceback" not in written
    assert written.count("The box holds against") == 1


def ask(port, method, path, body=None, **headers):
    """Return the status of an answer, 0 where the connection was cut before one."""
    return answer(port, method, path, body, **headers)[0]


def answer(port, method, path, body=None, **headers):
    """Return the status and the text of an answer."""
    with closing(HTTPConnection("localhost", port, timeout=120)) as link:
        try:
            with suppress(ConnectionError):  # of who goes on sending
                link.request(method, path, body, headers, encode_chunked=True)
            got = link.getresponse()
            return got.status, got.read().decode()
        except ConnectionError:
            return 0, ""


def test_strangers_open_nothing_and_leave_nothing(served, times):
    port, process = served
    n_strangers = times(50)

    def upload(number):
        parts = (b"x" * MIB for _ in range(40))
        path = f"/_stcore/upload_file/{number}/1"
        return ask(port, "PUT", path, parts, **{"Transfer-Encoding": "chunked"})

    def open_window(_):
        return ask(port, "GET", "/_stcore/stream", **WINDOW)

    assert ask(port, "GET", "/", Accept="text/html") == 401
    memory = process.memory_info().rss
    with ThreadPoolExecutor(8) as strangers:
        windows = {*strangers.map(open_window, range(n_strangers))}
        uploads = {*strangers.map(upload, range(n_strangers))}
    assert windows == {403}
    assert uploads <= {401, 0}
    assert process.memory_info().rss - memory < 20 * MIB
    assert len(process.net_connections("tcp")) < n_strangers
    assert ask(port, "GET", "/", Accept="text/html") == 401


def test_a_monitor_is_answered_without_a_login_by_any_name(served):
    port, _ = served
    for host in ("localhost", "10.0.0.7:8501", "monitor.example"):
        assert answer(port, "GET", "/ready", Host=host) == (200, "ready\n")
        assert answer(port, "GET", "/_stcore/health", Host=host) == (200, "ok")
    assert ask(port, "GET", "/_stcore/host-config") == 401


def n_refused(metrics):
    """Return how many requests were refused with 401, as a text of metrics says."""
    counted = re.search(r'^fairdash_refusals_total{status="401"} (.+)$', metrics, re.M)
    return float(counted[1]) if counted else 0


def test_metrics_are_for_the_token_of_the_operator(served):
    port, _ = served
    operator = {"Authorization": "Bearer a token of the operator", "Host": "10.0.0.7"}
    # In the other format: an answer of each is kept for a while.
    accepts = {"Accept": "application/openmetrics-text"}
    _, before = answer(port, "GET", "/metrics", **operator, **accepts)
    for stranger in ({}, {"Authorization": "Bearer a token of the operatoR"}):
        assert answer(port, "GET", "/metrics", **stranger) == (401, "Log in first.\n")
    status, text = answer(port, "GET", "/metrics", **operator)
    assert status == 200
    assert n_refused(text) == n_refused(before) + 2
    assert "fairdash_store_up 1.0\n" in text
    assert ask(port, "GET", "/_stcore/host-config", **operator) == 403  # no other page


def test_logins_at_a_provider_that_is_gone_are_refused_at_once(served, folder):
    port, process = served
    path = "/oauth2callback?error=%1b%5b2J%0aforged"
    ask(port, "GET", "/auth/login")
    memory = process.memory_info().rss
    with ThreadPoolExecutor(8) as strangers:
        logins = strangers.map(lambda _: answer(port, "GET", "/auth/login"), range(200))
        logins = {*logins}
        errors = {*strangers.map(lambda _: ask(port, "GET", path), range(20))}
    assert logins == {
        (503, "The login's provider does not answer. Try again in a few seconds.\n")
    }
    assert errors == {302}
    assert process.memory_info().rss - memory < 20 * MIB
    log = (folder / "log").read_text()
    assert all(line.isprintable() for line in log.splitlines())
    assert "\nforged" not in log
