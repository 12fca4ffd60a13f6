"""Several servers behind one address; a browser stays with one by a cookie.

Pages keep what a window is about in the memory of their process, so that all requests
of a browser must reach the same one. A request has a connection of its own here: its
head says by a cookie where it goes, the rest is passed on as it comes, websockets too.
"""

import asyncio
import contextlib
import logging
import multiprocessing
import os
import re
import signal
import socket
import threading
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address

from fairdash.server.door import PROCESS

HEAD = 1 << 16  # bytes of a request's head
PATIENCE = 30.0  # seconds for a head to come
LOOK_SECONDS = 0.5  # between two looks at the processes
CHUNK = 1 << 16
_ASKED = re.compile(rb"(?i)\r\ncookie:[^\r]*\b%s=(\d+)" % PROCESS.encode())
_CONNECTION = re.compile(rb"(?i)\r\n(connection|keep-alive):[^\r]*")
_FORWARDED = re.compile(rb"(?i)\r\n(x-)?forwarded[\w-]*:[^\r]*")
_HIDDEN = re.compile(rb"(?<!\r)\n")  # by which a second head may hide in one
_UPGRADE = re.compile(rb"(?i)\r\nupgrade: *websocket")
_NOBODY = ("0.0.0.0",)  # who is away again
_NONE = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\nnot ready\n"
_BAD = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
log = logging.getLogger("fairdash")


class Processes:
    """``n`` processes that each serve on a port of theirs, kept alive, behind one.

    ``serve`` takes the number of the process, which the cookie names, and where to
    listen.

    A browser without a cookie goes to the process with the fewest open websockets, and
    so does one whose process does not answer.
    """

    def __init__(self, n: int, serve: Callable[[int, str, int], None]) -> None:
        self._spawn = multiprocessing.get_context("spawn")
        self._serve = serve
        self._ports = [_free_port() for _ in range(n)]
        self._children = [self._start(i) for i in range(n)]
        self._windows = [0] * n  # open websockets
        self._last = 0
        self._passing: set[asyncio.Task[None] | None] = set()

    def serve(self, address: str, port: int) -> None:
        """Pass requests on until a signal comes, then end the processes."""
        try:
            asyncio.run(self._listen(address, port))
        finally:
            for child in self._children:
                child.terminate()
            for child in self._children:
                child.join(10)
                child.kill()

    def _start(self, process: int) -> multiprocessing.process.BaseProcess:
        arguments = self._serve, process, self._ports[process]
        child = self._spawn.Process(target=_run, args=arguments)
        child.start()
        return child

    async def _listen(self, address: str, port: int) -> None:
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        server = await asyncio.start_server(self._pass, address, port, limit=HEAD)
        log.info("%d processes at http://%s:%d", len(self._ports), address, port)
        while not stop.is_set():
            for i, child in enumerate(self._children):
                if not child.is_alive():
                    log.error("process %d ended; another one is started", i)
                    self._children[i] = self._start(i)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), LOOK_SECONDS)
        server.close()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Pass one request to a process, and its answer back."""
        left = OSError, TimeoutError, asyncio.IncompleteReadError
        task = asyncio.current_task()
        self._passing.add(task)  # or it may be collected while it waits
        with contextlib.suppress(
            *left, asyncio.CancelledError
        ):  # as all are at the end
            try:
                async with asyncio.timeout(PATIENCE):
                    head = await reader.readuntil(b"\r\n\r\n")
                await self._answer(head, reader, writer)
            except asyncio.LimitOverrunError:
                writer.write(b"HTTP/1.1 431 Too Large\r\nConnection: close\r\n\r\n")
        writer.close()
        self._passing.discard(task)

    async def _answer(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if _HIDDEN.search(head):
            writer.write(_BAD)
            return
        found = _ASKED.search(head)
        asked = int(found[1]) if found and len(found[1]) < 4 else -1
        chosen, link = await self._connect(asked)
        if link is None:
            writer.write(_NONE)
            return
        answer, ask = link
        window = _UPGRADE.search(head) is not None
        peer = ip_address((writer.get_extra_info("peername") or _NOBODY)[0])
        self._windows[chosen] += window
        try:
            ask.write(passed_on(head, peer, window))
            sending = asyncio.create_task(_copy(reader, ask))
            sent = asyncio.create_task(_copy(answer, writer))
            ends = {sending, sent} if window else {sent}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for task in (sending, sent):
                task.cancel()
        finally:
            self._windows[chosen] -= window
            ask.close()

    async def _connect(
        self, asked: int
    ) -> tuple[int, tuple[asyncio.StreamReader, asyncio.StreamWriter] | None]:
        """Return a process that answers, if one does, and the connection to it."""
        n = len(self._ports)
        self._last = (self._last + 1) % n  # among equals each in turn
        order = sorted(range(n), key=lambda i: (self._windows[i], (i - self._last) % n))
        if 0 <= asked < n:
            order.sort(key=lambda i: i != asked)
        for i in order:
            with contextlib.suppress(OSError):
                link = await asyncio.open_connection(
                    "127.0.0.1", self._ports[i], limit=HEAD
                )
                return i, link
        return -1, None


def passed_on(head: bytes, peer: IPv4Address | IPv6Address, window: bool) -> bytes:
    """Return the head of a request as a process gets it.

    It is the only one of its connection, for the next one is looked at, too. Only a
    proxy on this machine is believed who asks; for others we say it.
    """
    head = _CONNECTION.sub(b"", head[:-4])
    more = [b"Connection: upgrade" if window else b"Connection: close"]
    if not peer.is_loopback:
        head = _FORWARDED.sub(b"", head)
        more.append(b"X-Forwarded-For: %s" % str(peer).encode())
    return b"\r\n".join([head, *more, b"", b""])


def _run(serve: Callable[[int, str, int], None], process: int, port: int) -> None:
    """Serve in a process that ends with the one that started it, even by a kill."""

    def end_with_parent() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end_with_parent, daemon=True).start()
    serve(process, "127.0.0.1", port)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while part := await reader.read(CHUNK):
            writer.write(part)
            await writer.drain()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
