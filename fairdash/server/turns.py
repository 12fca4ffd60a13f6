"""Turns of the event loop: a burst of strangers does not hold up who is connected.

asyncio accepts every waiting connection in one turn of its loop, and answers all of
their requests in the next: 200 strangers stop everybody else for 100 ms. Here a turn
accepts a few connections and begins a few requests; between two turns, open windows are
served. A monitor does not wait behind pages and logins.
"""

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

READY = "/ready"
HEALTH = "/_stcore/health"
PROBES = {READY, HEALTH}  # which say a word to whoever asks, by whatever name
CONNECTIONS = 32  # accepted in a turn: 5 ms
REQUESTS = 4  # begun in a turn: 2 ms; as many of monitors
BACKLOG = 2048  # connections that wait to be accepted
_PROBE_LINES = tuple(
    f"{method} {path} ".encode() for method in ("GET", "HEAD") for path in PROBES
)


class Turns:
    """Work that is done a few pieces at a time, with a turn of the loop between."""

    def __init__(self) -> None:
        self._probes: deque[Callable[[], None]] = deque()
        self._others: deque[Callable[[], None]] = deque()

    def add(self, work: Callable[[], None], *, is_probe: bool) -> None:
        """Do a piece of work at its turn; a probe waits for no other request."""
        if not self._probes and not self._others:
            asyncio.get_running_loop().call_soon(self._take)
        (self._probes if is_probe else self._others).append(work)

    def _take(self) -> None:
        try:
            for waiting in (self._probes, self._others):
                for _ in range(min(REQUESTS, len(waiting))):
                    waiting.popleft()()
        finally:
            if self._probes or self._others:
                asyncio.get_running_loop().call_soon(self._take)


class RequestsByTurns(H11Protocol):
    """A connection of which the bytes are read at their turn, in their order.

    Parameters
    ----------
    turns : Turns
        Of all connections of a server.
    **settings
        Those of uvicorn's protocol.
    """

    def __init__(self, turns: Turns, **settings: Any) -> None:
        super().__init__(**settings)
        self._turns = turns

    def data_received(self, data: bytes) -> None:
        """Keep bytes until their turn, and take no more meanwhile."""
        self._unset_keepalive_if_required()  # it is not idle
        self.transport.pause_reading()
        is_probe = data.startswith(_PROBE_LINES)
        self._turns.add(lambda: self._read(data), is_probe=is_probe)

    def _read(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if not self.flow.read_paused:  # by uvicorn, while a body is not taken
            self.transport.resume_reading()


class Server(uvicorn.Server):
    """uvicorn's server, which accepts as many connections in a turn as its backlog."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, with room for all who wait."""
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(BACKLOG)
