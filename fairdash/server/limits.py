"""Limits for each user and each address: open windows, and bytes that come in."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

MIB = 1 << 20
WINDOWS = 64  # websockets of a user at once
IN_FLIGHT = 1024 * MIB  # of a user's requests that are being received
RECENT = 2048 * MIB  # of a user within PERIOD
LOGINS = 60  # of a user within PERIOD: each asks the provider
PERIOD = 600.0  # seconds
ADDRESS = 4  # times as much for an address, which users may share


class Refused(Exception):
    """A request is not let in: a status of HTTP, and a sentence that says why."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class Limits:
    """What users and addresses use at the moment, in this process.

    ``who`` has for each name that a request counts for, a user or an address, how many
    times the limits of a user hold for it.

    Parameters
    ----------
    body : int
        Bytes of one request.
    """

    def __init__(
        self, body: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._body, self._clock = body, clock
        self._windows: Counter[str] = Counter()
        self._in_flight: Counter[str] = Counter()
        self._recent: Counter[str] = Counter()
        self._began = clock()  # of the period that `_recent` counts

    @contextmanager
    def window(self, who: Mapping[str, int]) -> Iterator[None]:
        """Count an open websocket; raises Refused when there are too many."""
        if any(self._windows[name] >= WINDOWS * n for name, n in who.items()):
            raise Refused(429, "Too many windows are open. Close some, then reload.")
        self._windows.update(who.keys())
        try:
            yield
        finally:
            _take_off(self._windows, dict.fromkeys(who, 1))

    def login(self, who: Mapping[str, int]) -> None:
        """Count the begin of a login; raises Refused when there are too many."""
        for name, times in who.items():
            if self._add_recent(f"logins of {name}", 1) > LOGINS * times:
                raise Refused(429, "Too many logins were begun. Wait ten minutes.")

    @contextmanager
    def body(self, who: Mapping[str, int]) -> Iterator[Callable[[int], None]]:
        """Give a function that counts bytes of one request as they come in.

        It raises Refused where they are too many, whatever the request has announced.
        """
        size = 0

        def count(n: int) -> None:
            nonlocal size
            size += n
            self._in_flight.update(dict.fromkeys(who, n))
            if size > self._body:
                most = f"{self._body // MIB} MiB"
                raise Refused(413, f"A request may have {most}. Send a smaller file.")
            for name, times in who.items():
                if self._in_flight[name] > IN_FLIGHT * times:
                    raise Refused(429, "Too much is uploaded at once. Wait for it.")
                if self._add_recent(f"bytes of {name}", n) > RECENT * times:
                    raise Refused(429, "Too much was uploaded. Wait ten minutes.")

        try:
            yield count
        finally:
            _take_off(self._in_flight, dict.fromkeys(who, size))

    def _add_recent(self, what: str, n: int) -> int:
        if self._clock() - self._began > PERIOD:
            self._recent.clear()
            self._began = self._clock()
        self._recent[what] += n
        return self._recent[what]


def _take_off(counts: Counter[str], taken: Mapping[str, int]) -> None:
    """Subtract, and forget who uses nothing: addresses are as many as one likes."""
    for name, n in taken.items():
        counts[name] -= n
        if counts[name] <= 0:
            del counts[name]
