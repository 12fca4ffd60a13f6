"""Limits for each user and each address: windows, bytes that come in."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

MIB = 1 << 20
WINDOWS = 64  # websockets of a user at once
IN_FLIGHT = 1024 * MIB  # of a user's requests that are being received
ADDRESS = 4  # times as much for an address, which users may share


class RefusedRequest(Exception):
    """A request is not let in: a status of HTTP, and a sentence that says why.

    ``retry`` are the seconds after which it may be asked again.
    """

    def __init__(self, status: int, words: str, retry: int | None = None) -> None:
        super().__init__(words)
        self.status = status
        self.words = words
        self.retry = retry


@dataclass(frozen=True)
class Who:
    """A user, by id, or the address of a browser: whose uses are counted."""

    kind: Literal["user", "address"]
    id: str

    @property
    def share(self) -> int:
        """How many times the limits of a user hold."""
        return ADDRESS if self.kind == "address" else 1


@dataclass
class Uses:
    """What is in use at the moment, by whom.

    Attributes
    ----------
    windows : Counter of Who
        Open websockets.
    in_flight : Counter of Who
        Bytes of requests that are being received.
    """

    windows: Counter[Who] = field(default_factory=Counter)
    in_flight: Counter[Who] = field(default_factory=Counter)

    def add(self, more: "Uses") -> None:
        """Count what is used elsewhere as well."""
        self.windows.update(more.windows)
        self.in_flight.update(more.in_flight)


class Limits:
    """Counts of what users and addresses use at the moment.

    Parameters
    ----------
    body : int
        Bytes of one request.

    Attributes
    ----------
    elsewhere : Uses
        What other replicas have told of, see `fairdash.server.peers`.
    """

    def __init__(self, body: int) -> None:
        self._body = body
        self._here = Uses()
        self.elsewhere = Uses()

    def uses(self) -> Uses:
        """Return what is used in this process, as it is now."""
        return Uses(Counter(self._here.windows), Counter(self._here.in_flight))

    @contextmanager
    def window(self, who: Sequence[Who]) -> Iterator[None]:
        """Count an open websocket; raises Refused when there are too many."""
        for holder in who:
            opened = self._here.windows[holder] + self.elsewhere.windows[holder]
            if opened >= WINDOWS * holder.share:
                words = "Too many windows are open. Close some, then reload."
                raise RefusedRequest(429, words)
        self._here.windows.update(who)
        try:
            yield
        finally:
            # Subtraction in place forgets names that use nothing any more.
            self._here.windows -= Counter(who)

    @contextmanager
    def body(self, who: Sequence[Who]) -> Iterator[Callable[[int], None]]:
        """Give a function that counts bytes of one request as they come in.

        It raises Refused where they are too many, whatever the request has announced.
        """
        size = 0

        def count(n: int) -> None:
            nonlocal size
            size += n
            self._here.in_flight.update(dict.fromkeys(who, n))
            if size > self._body:
                most = f"{self._body // MIB} MiB"
                raise RefusedRequest(
                    413, f"A request may have {most}. Send a smaller file."
                )
            for holder in who:
                coming = self._here.in_flight[holder] + self.elsewhere.in_flight[holder]
                if coming > IN_FLIGHT * holder.share:
                    raise RefusedRequest(
                        429, "Too much is uploaded at once. Wait for it."
                    )

        try:
            yield count
        finally:
            self._here.in_flight -= Counter(dict.fromkeys(who, size))
