"""Whose word on the address of a browser counts."""

import loops
import pytest
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.server.serve import make_server

NETWORK = ["10.89.53.0/24", "192.0.2.7"]


@pytest.mark.parametrize(
    ("asks", "named", "believed"),
    [
        ("10.89.53.9", "203.0.113.5", "203.0.113.5"),
        ("192.0.2.7", "203.0.113.5", "203.0.113.5"),
        # what a browser claims stands before what the proxy adds
        ("10.89.53.9", "198.51.100.1, 203.0.113.5", "203.0.113.5"),
        ("10.89.54.9", "203.0.113.5", "10.89.54.9"),
        ("192.0.2.8", "203.0.113.5", "192.0.2.8"),
    ],
)
def test_a_proxy_that_is_named_says_who_asks_and_nobody_else(asks, named, believed):
    clients = []

    async def page(scope, receive, send):
        clients.append(scope["client"][0])

    config = make_server(page, NETWORK).config
    config.load()
    headers = [(b"x-forwarded-for", named.encode())]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "scheme": "http",
        "client": (asks, 1),
        "headers": headers,
    }
    loops.run(config.loaded_app(scope, None, None))
    assert clients == [believed]


@pytest.mark.parametrize("proxy", ["balancer", "*", "10.0.0.1/8", ""])
def test_what_is_no_address_is_refused(home, proxy):
    result = CliRunner().invoke(app, ["app", "--proxy", proxy])
    assert result.exit_code == 2
    assert "--proxy takes an address or a network such as 10.0.0.0/24" in result.output
