"""A login by OpenID Connect, from the button to a page, at a provider of our own."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlparse

import pytest
from conftest import free_port, is_healthy, wait_until, wait_until_no_engine
from driving import SECONDS, faults

pytest.importorskip("authlib", reason="a login needs streamlit[auth]")
from joserfc import jwk, jwt

pytestmark = pytest.mark.browser
SECRETS = """
[auth]
redirect_uri = "{app}/oauth2callback"
cookie_secret = "{secret}"
client_id = "fairdash"
client_secret = "known to both"
server_metadata_url = "{provider}/.well-known/openid-configuration"
"""


@pytest.fixture
def provider():
    """The address of a provider that lets Ann in without asking."""
    key = jwk.RSAKey.generate_key(2048, {"kid": "1"})
    asked = {}

    class Provider(BaseHTTPRequestHandler):
        def do_GET(self):
            url, query = urlparse(self.path), parse_qs(urlparse(self.path).query)
            if url.path == "/authorize":
                asked.update({name: value[0] for name, value in query.items()})
                back = urlencode({"code": "1", "state": asked["state"]})
                self.send_response(302)
                self.send_header("Location", f"{asked['redirect_uri']}?{back}")
                self.end_headers()
            elif url.path == "/keys":
                self.answer({"keys": [key.as_dict(private=False)]})
            else:
                ends = {"authorization": "authorize", "token": "token"}
                facts = {f"{n}_endpoint": f"{here}/{p}" for n, p in ends.items()}
                self.answer({"issuer": here, "jwks_uri": f"{here}/keys", **facts})

        def do_POST(self):
            claims = {"iss": here, "aud": "fairdash", "sub": "1", "iat": time.time()}
            claims |= {"exp": time.time() + 600, "email": "ann@example.org"}
            if "nonce" in asked:
                claims["nonce"] = asked["nonce"]
            token = jwt.encode({"alg": "RS256", "kid": "1"}, claims, key)
            self.answer(
                {"access_token": "1", "token_type": "Bearer", "id_token": token}
            )

        def answer(self, content):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    here = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield here
    server.shutdown()
    server.server_close()


@contextmanager
def served(folder, provider):
    """Serve the app behind the provider's login; yield its address."""
    port, home = free_port(), folder / "home"
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
        other = thief.new_page()
        other.goto(f"{app}/Data")
        other.locator("input[type=file]").wait_for(state="attached")
        page.get_by_role("button", name="Log out").click()
        for window in (page, other):
            window.get_by_role("heading", name="Log in").wait_for()
            assert window.locator("input[type=file]").count() == 0
        refused = [
            thief.request.get(link),
            thief.request.get(f"{app}/_stcore/health"),
            thief.request.put(f"{app}/_stcore/upload_file/a/b", data=b"x" * 1000),
        ]
        assert [answer.status for answer in refused] == [401] * 3
        other.goto(link)
        other.get_by_role("heading", name="Log in").wait_for()
        thief.close()
