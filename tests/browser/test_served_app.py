"""The app that `fairdash app` serves: who reaches it, and the engine beside it."""

import http.client
import json
import urllib.request
from urllib.parse import urlsplit

from conftest import is_healthy, wait_until

from fairdash.jobs.engine import attach, engine_lives, ensure_engine


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


def test_a_page_is_served_to_the_names_of_this_app_only(server):
    port = urlsplit(server).port
    with urllib.request.urlopen(server, timeout=30) as page:
        assert page.status == 200
        policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'self'; ")
    assert "http" not in policy
    names = ("localhost", "127.0.0.1", "fair.example", "localhost.evil.example")
    reached = [connects(port, name) for name in names]
    assert reached == [True, True, True, False]


def test_two_apps_on_one_home_folder_share_one_engine(server, home):
    card = home / "engine.json"
    wait_until(lambda: ensure_engine(home) or card.exists())

    def engine():
        return json.loads(card.read_text())["pid"]

    first = engine()
    with attach(home):  # as another app
        ensure_engine(home)
        assert engine() == first
    assert is_healthy(urlsplit(server).port)
    assert engine_lives(home)
    assert engine() == first
