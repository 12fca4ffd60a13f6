"""Two processes behind one address, as an operator and as a browser see them."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import psutil
import pytest
from conftest import free_port, is_healthy, wait_until
from driving import SECONDS, open_window, upload

from fairdash.jobs._engine import engine_lives

pytestmark = pytest.mark.browser
COMMAND = [sys.executable, "-c", "from fairdash.cli import app; app()"]


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def served(home):
    """The port and the process of the app; what it logs is one file."""
    port, options = free_port(), ["--processes", "2"]
    environment = {**os.environ, "FAIRDASH_HOME": str(home), "FAIRDASH_LINGER": "0.5"}
    with open(home / "app.log", "wb") as log:
        app = subprocess.Popen(
            [*COMMAND, "app", "--port", str(port), *options],
            env=environment,
            stdout=log,
            stderr=log,
        )
    try:
        wait_until(lambda: is_healthy(port))
        yield port, app
    finally:
        children = psutil.Process(app.pid).children()
        app.send_signal(signal.SIGINT)
        status = app.wait(timeout=120)
        wait_until(lambda: not engine_lives(home))
    assert status == 0
    wait_until(lambda: all(map(gone, children)))


def gone(process):
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def ask(port, path):
    """Return status, text and cookie of an answer."""
    try:
        answer = urllib.request.urlopen(f"http://localhost:{port}{path}", timeout=30)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        told = answer.headers.get_all("Set-Cookie") or []
        found = re.search(r"fairdash_process=(\d)", " ".join(told))
        return answer.status, answer.read().decode(), found and int(found[1])


def test_a_browser_stays_with_its_process_and_outlives_it(
    served, home, browser, tmp_path
):
    port, app = served
    processes = psutil.Process(app.pid)
    servers = [
        one for one in processes.children() if "spawn_main" in str(one.cmdline())
    ]
    assert len(servers) == 2
    wait_until(lambda: {ask(port, "/ready")[2] for _ in range(4)} == {0, 1})
    assert ask(port, "/ready")[:2] == (200, "ready\n")
    hidden = b"GET / HTTP/1.1\nHost: a\n\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(("localhost", port)) as link:
        link.sendall(hidden)  # whose first head would come from this machine
        assert link.recv(100).startswith(b"HTTP/1.1 400 ")

    page = open_window(browser)
    page.goto(f"http://localhost:{port}")
    upload(page, tmp_path)  # into the memory of the process that has the window

    def cookie():
        known = {one["name"]: one["value"] for one in page.context.cookies()}
        return int(known["fairdash_process"])

    stays = cookie()
    assert ask(port, "/ready")[2] == 1 - stays  # where no window is open

    def with_window():
        return [
            server
            for server in servers
            if any(c.status == "ESTABLISHED" for c in server.net_connections("tcp"))
        ]

    # the link by which the other one was asked closes in its own time
    wait_until(lambda: len(with_window()) == 1)
    (mine,) = with_window()
    mine.kill()
    page.reload()
    page.get_by_text("Rows used").wait_for()  # at the other one, by its address
    assert cookie() == 1 - stays
    wait_until(lambda: len(processes.children()) >= 2, SECONDS)
    page.close()

    assert "another one is started" in (home / "app.log").read_text()
