"""A login by OpenID Connect, from the button to a page, at a provider of our own."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from conftest import free_port, is_healthy, wait_until, wait_until_no_engine
from driving import SECONDS, faults

pytest.importorskip("authlib", reason="a login needs streamlit[auth]")
from openid import SECRETS, Provider

pytestmark = pytest.mark.browser


@pytest.fixture
def provider():
    """The address of a provider that lets Ann in without asking."""
    with Provider().open() as provider:
        yield provider.address


@contextmanager
def served(folder, provider):
    """Serve the app behind the provider's login; yield its address."""
    port = free_port()
    home = folder / "home"
    app = f"http://localhost:{port}"
    (folder / ".streamlit").mkdir()
    secrets = SECRETS.format(app=app, provider=provider, secret=os.urandom(32).hex())
    (folder / ".streamlit" / "secrets.toml").write_text(secrets)
    command = [sys.executable, "-c", "from fairdash.cli import app; app()", "app"]
    server = subprocess.Popen(
        [*command, "--port", str(port)],
        cwd=folder,
        env={**os.environ, "FAIRDASH_HOME": str(home), "FAIRDASH_LINGER": "0.5"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: is_healthy(port), SECONDS)
        yield app
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=120)
        wait_until_no_engine(home)


def test_a_login_opens_the_pages_and_a_logout_closes_them(browser, provider, tmp_path):
    with served(tmp_path, provider) as app, browser.new_context() as visitor:
        page = visitor.new_page()
        sockets = []
        page.on("websocket", lambda socket: sockets.append(socket.url))
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(f"{app}/Data")
            page.get_by_role("heading", name="Log in").wait_for()
            assert faults(page) == {}
        assert page.locator("script, input").count() == 0
        assert sockets == []
        page.get_by_role("link", name="Log in").click()
        page.get_by_role("button", name="Log out").wait_for()
        link = f"{app}/Runs"
        page.goto(link)
        page.get_by_role("heading", name="What has been tried?").wait_for()
        thief = page.context.browser.new_context()
        thief.add_cookies(page.context.cookies())
        second_page = thief.new_page()
        second_page.goto(f"{app}/Data")
        second_page.locator("input[type=file]").wait_for(state="attached")
        page.get_by_role("button", name="Log out").click()
        for window in (page, second_page):
            window.get_by_role("heading", name="Log in").wait_for()
            assert window.locator("input[type=file]").count() == 0
        refused = [
            thief.request.get(link),
            thief.request.get(f"{app}/_stcore/host-config"),
            thief.request.put(f"{app}/_stcore/upload_file/a/b", data=b"x" * 1000),
        ]
        assert [answer.status for answer in refused] == [401] * 3
        second_page.goto(link)
        second_page.get_by_role("heading", name="Log in").wait_for()
        thief.close()
