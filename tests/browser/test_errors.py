"""What goes wrong without anybody having foreseen it is in the log, not on the page."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from conftest import free_port, is_healthy, wait_until
from driving import SECONDS, follow

from fairdash import APP_FOLDER

pytestmark = pytest.mark.browser
SECRET = "the file /home/somebody/secret.csv is away"


def test_no_traceback_and_no_path_reaches_the_browser(page, tmp_path):
    settings = Path(APP_FOLDER) / ".streamlit" / "config.toml"
    (tmp_path / ".streamlit").mkdir()
    shutil.copy(settings, tmp_path / ".streamlit")
    (tmp_path / "app.py").write_text(
        f"import fairdash.ui\nraise RuntimeError({SECRET!r})\n"
    )
    port, log = free_port(), tmp_path / "app.log"
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    command += ["--server.port", str(port), "--server.headless", "true"]
    with open(log, "wb") as out:
        app = subprocess.Popen(
            command, cwd=tmp_path, stdout=out, stderr=out, start_new_session=True
        )
    try:
        wait_until(lambda: is_healthy(port), SECONDS)
        page.goto(f"http://localhost:{port}")
        page.get_by_test_id("stException").wait_for()
        shown = page.content()
    finally:
        os.killpg(app.pid, signal.SIGTERM)
        app.wait(timeout=120)
    (number,) = set(re.findall(r"incident (\w{6})", shown))
    assert f"incident {number}" in log.read_text()
    assert SECRET in log.read_text()
    for hidden in (
        "Ask Google",
        "secret.csv",
        "RuntimeError",
        "Traceback",
        str(tmp_path),
    ):
        assert hidden not in shown


def test_a_dropped_connection_comes_back_with_what_was_chosen(page, server, audited):
    links = []

    def pass_on(link):
        links.append(link)
        link.connect_to_server()

    page.route_web_socket(re.compile("_stcore/stream"), pass_on)
    page.goto(f"{server}/Local_fairness?{audited}")
    page.get_by_text("Largest by chance").first.wait_for()
    links[0].close()
    while len(links) < 2:  # the page asks for another by itself
        page.wait_for_timeout(50)
    follow(page, "Runs")
    run = parse_qs(audited)["run"]
    assert parse_qs(urlparse(page.url).query)["run"] == run
