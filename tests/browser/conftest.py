"""One served app for all tests in Chromium, a table audited in it, a window each."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlparse

import pytest
from conftest import end_runs, free_port, is_healthy, wait_until, wait_until_no_engine
from driving import SECONDS, audit, open_window, upload
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]
# without windows it draws the same for less, as it has no interface of its own to draw
CHROMIUM = "chromium-headless-shell", "chromium"
CHROMIUM_OPTIONS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--force-prefers-reduced-motion",  # what turns while a script runs is drawn anew
)  # fmt: skip

SLOW_LINE = """
window.WebSocket = class extends WebSocket {  // what the server says comes late
  addEventListener(kind, hear, ...more) {
    const late = said => setTimeout(hear, 2500, said)
    super.addEventListener(kind, kind === "message" ? late : hear, ...more)
  }
}
"""


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """The home folder of the served app."""
    folder = tmp_path_factory.mktemp("browser") / "home"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        # a fixture that outlives a test may start the engine, before the app does
        patch.setenv("FAIRDASH_LINGER", "0.5")
        yield folder


@pytest.fixture(scope="session")
def server(home):
    """The address of `fairdash app`, which ends on Ctrl-C as it should."""
    port = free_port()
    command = [sys.executable, "-c", "from fairdash.cli import app; app()", "app"]
    settings = {"HOME": str(home), "WORKERS": "2", "LINGER": "0.5", "POLL": "0.3s"}
    ours = {f"FAIRDASH_{name}": value for name, value in settings.items()}
    with open(home / "app.log", "wb") as log:
        app = subprocess.Popen(
            [*command, "--port", str(port), "--name", "fair.example"],
            cwd=ROOT,
            env={**os.environ, **ours},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_until(lambda: is_healthy(port), SECONDS)
        yield f"http://localhost:{port}"
    finally:
        app.send_signal(signal.SIGINT)
        app.wait(timeout=120)
        end_runs(home)
        wait_until_no_engine(home)
    log = (home / "app.log").read_text()
    assert app.returncode == 0, log
    assert "Traceback" not in log


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium, driven by playwright."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        if os.environ.get("CI") == "true":
            pytest.fail("chromium is not installed, and CI must not skip the browser")
        pytest.skip("chromium is not installed")
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=list(CHROMIUM_OPTIONS)
        )
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser):
    """A desktop window."""
    page = open_window(browser)
    yield page
    page.close()


@pytest.fixture
def slow_page(browser):
    """A desktop window that hears late what the server says."""
    page = open_window(browser)
    page.add_init_script(SLOW_LINE)
    yield page
    page.close()


@pytest.fixture(scope="session")
def audited(server, browser, tmp_path_factory):
    """The query of an address: an uploaded table and the run that audited it."""
    page = open_window(browser)
    page.add_init_script(SLOW_LINE)  # polls of Train come after Local fairness opens
    page.goto(server)
    upload(page, tmp_path_factory.mktemp("upload"))
    audit(page)
    page.wait_for_timeout(3000)  # the answer to the last poll
    assert page.get_by_text("Largest by chance").first.is_visible()
    query = urlparse(page.url).query
    page.close()
    return query
