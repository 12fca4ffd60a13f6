"""Turns of the event loop: who is served while many come at once."""

import asyncio
import socket
import threading
import time
from contextlib import ExitStack, contextmanager

import loops
import pytest
from cases import paired
from conftest import wait_until
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from fairdash.server import turns
from fairdash.server.serve import listen, make_server
from fairdash.server.turns import HEALTH, READY, Turns

MANY = 100
REQUEST = b"%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


class App:
    """An app that remembers who asked, and takes its time for pages."""

    def __init__(self):
        self.asked = []
        paths = [READY, HEALTH, "/page", "/whole"]
        self.routes = [Route(path, self.answer, methods=["GET"]) for path in paths]
        self.routes.append(Route("/body", self.take, methods=["PUT"]))

    async def answer(self, request):
        path = request.url.path
        self.asked.append(path)
        if path == "/page":
            time.sleep(0.005)  # of the event loop
        return PlainTextResponse(path)

    async def take(self, request):
        return PlainTextResponse(await request.body())


@contextmanager
def served(app):
    with listen("127.0.0.1", 0) as listening:
        server = make_server(Starlette(routes=app.routes))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        wait_until(lambda: server.started)
        try:
            server.address = listening.getsockname()
            yield server
        finally:
            server.should_exit = True
            thread.join()


def read(link):
    """Return all that a server answers."""
    link.settimeout(60)
    parts = []
    while part := link.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize(
    ("line", "is_connected"),
    paired(
        [f"GET {READY}", f"HEAD {READY}", f"GET {HEALTH}"], [True, False], together=1
    ),
)
def test_a_monitor_does_not_wait_behind_pages(line, is_connected):
    app = App()
    with served(app) as server, ExitStack() as links:

        def connect():
            return links.enter_context(socket.create_connection(server.address))

        monitor = connect() if is_connected else None
        strangers = [connect() for _ in range(MANY)]
        for stranger in strangers:
            stranger.sendall(REQUEST % b"GET /page")
        monitor = monitor or connect()
        monitor.sendall(REQUEST % line.encode())
        assert b" 200 OK" in read(monitor)
        before = app.asked.index(line.split()[1])
        assert before < MANY / 2
        for stranger in strangers:
            assert read(stranger).endswith(b"/page")
    assert len(app.asked) == MANY + 1


@pytest.mark.skipif(not hasattr(socket, "TCP_INFO"), reason="needs Linux")
def test_few_connections_are_accepted_in_a_turn_and_many_may_wait():
    with listen("127.0.0.1", 0) as listening:
        room = backlog(listening)
    with served(App()) as server:
        assert server.config.backlog == turns.CONNECTIONS
        (listening,) = server.servers[0].sockets
        assert backlog(listening) == room > turns.CONNECTIONS


def backlog(listening):
    """Return how many connections may wait at a socket, as Linux says."""
    state = listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return int.from_bytes(state[28:32], "little")


def test_bytes_of_a_request_stay_in_their_order():
    body = bytes(range(256)) * 4_000
    with served(App()) as server, socket.create_connection(server.address) as link:
        head = f"PUT /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}"
        link.sendall(f"{head}\r\nConnection: close\r\n\r\n".encode())
        for start in range(0, len(body), 10_000):
            link.sendall(body[start : start + 10_000])
        assert read(link).endswith(body)


def test_who_leaves_before_its_turn_is_forgotten():
    app = App()
    with served(app) as server:
        for _ in range(MANY):
            with socket.create_connection(server.address) as link:
                link.sendall(REQUEST % b"GET /page")
        with socket.create_connection(server.address) as link:
            link.sendall(REQUEST % b"GET /whole")
            assert read(link).endswith(b"/whole")
    assert app.asked[-1] == "/whole"


def test_what_fails_takes_no_turn_of_others():
    done = []

    async def scene():
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: done.append(type(context["exception"]).__name__)
        )
        work = Turns()
        work.add(lambda: 1 / 0, is_probe=False)
        for number in range(2 * turns.REQUESTS):
            work.add(lambda number=number: done.append(number), is_probe=False)
        await asyncio.sleep(0.01)

    loops.run(scene())
    assert done == ["ZeroDivisionError", *range(2 * turns.REQUESTS)]
