"""Limits for each user and each address: windows, bytes that come in."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

MIB = 1 << 20
WINDOWS = 64  # websockets of a user at once
IN_FLIGHT = 1024 * MIB  # of a user's requests that are being received
ADDRESS = 4  # times as much for an address, which users may share


class Refused(Exception):
    """A request is not let in: a status of HTTP, and a sentence that says why.

    ``retry`` are the seconds after which it may be asked again.
    """

    def __init__(self, status: int, words: str, retry: int | None = None) -> None:
        super().__init__(words)
        self.status = status
        self.words = words
        self.retry = retry


class Limits:
    """Counts of what users and addresses use at the moment, in this process.

    ``who`` has for each name that a request counts for, a user or an address, how many
    times the limits of a user hold for it.

    Parameters
    ----------
    body : int
        Bytes of one request.
    """

    def __init__(self, body: int) -> None:
        self._body = body
        self._windows: Counter[str] = Counter()
        self._in_flight: Counter[str] = Counter()

    @contextmanager
    def window(self, who: Mapping[str, int]) -> Iterator[None]:
        """Count an open websocket; raises Refused when there are too many."""
        if any(self._windows[name] >= WINDOWS * n for name, n in who.items()):
            raise Refused(429, "Too many windows are open. Close some, then reload.")
        self._windows.update(who.keys())
        try:
            yield
        finally:
            # Subtraction in place forgets names that use nothing any more.
            self._windows -= Counter(who.keys())

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
            if any(self._in_flight[name] > IN_FLIGHT * n for name, n in who.items()):
                raise Refused(429, "Too much is uploaded at once. Wait for it.")

        try:
            yield count
        finally:
            self._in_flight -= Counter(dict.fromkeys(who, size))
