"""What this process counts as requests pass the front door, and who may read it.

A label is one of a few words of ours. No name of a user, a table or a page is one, so
whoever collects these numbers learns how much is done and nothing of whom or what.
"""

import hmac
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from google.protobuf.message import DecodeError
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
)
from starlette.requests import HTTPConnection
from starlette.types import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

METRICS = "/metrics"
TOKEN = "FAIRDASH_METRICS_TOKEN"
SHORTEST_TOKEN = 16
BUCKETS = (0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_LONGEST_END = 128  # bytes of the message that ends a release; figures are longer


def read_token() -> str:
    """Return the token by which a program reads the metrics, "" if there is none.

    Raises
    ------
    ValueError
        If it is so short that it can be guessed.
    """
    token = os.environ.get(TOKEN, "")
    if token and len(token) < SHORTEST_TOKEN:
        raise ValueError(
            f"{TOKEN} has {len(token)} characters; give it at least {SHORTEST_TOKEN}, "
            "such as those that `openssl rand -hex 16` prints."
        )
    return token


def has_token(request: HTTPConnection, token: str) -> bool:
    """Return whether a request for the metrics carries the token of the operator."""
    if not token or request.scope["path"] != METRICS:
        return False
    sent = request.headers.get("authorization", "")
    # Compared in constant time, so that how long it takes says nothing.
    return hmac.compare_digest(sent.encode(), f"Bearer {token}".encode())


class Meters:
    """What this process counts itself, as requests pass the front door."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._windows = Gauge(
            "fairdash_sessions", "Open windows of browsers.", registry=self.registry
        )
        self._logins = Counter(
            "fairdash_logins", "Sessions that a login opened.", registry=self.registry
        )
        self._refusals = Counter(
            "fairdash_refusals",
            "Requests that the front door refused, by status.",
            ["status"],
            registry=self.registry,
        )
        self._releases = Histogram(
            "fairdash_release_seconds",
            "From a change in a window, or a poll, to the end of its answer.",
            ["kind"],
            buckets=BUCKETS,
            registry=self.registry,
        )

    @contextmanager
    def window(self) -> Iterator["WindowMeter"]:
        """Count an open window, and time the releases in it."""
        with self._windows.track_inprogress():
            yield WindowMeter(self._releases)

    def refuse(self, status: int) -> None:
        """Count a refusal."""
        self._refusals.labels(str(status)).inc()

    def log_in(self) -> None:
        """Count a login."""
        self._logins.inc()


class WindowMeter:
    """Times from a window's request to run its page until the page has run.

    Streamlit answers requests that come meanwhile together with the first, so they are
    one release.
    """

    def __init__(self, releases: Histogram) -> None:
        self._releases = releases
        self._began: float | None = None
        self._kind = "release"

    def receive(self, message: Message) -> Message:
        """Look at a message of the browser; return it as it is."""
        content = message.get("bytes")
        if self._began is not None or not content:
            return message
        with suppress(DecodeError):  # Streamlit says so
            request = BackMsg.FromString(content)
            if request.WhichOneof("type") == "rerun_script":
                self._began = monotonic()
                is_poll = request.rerun_script.is_auto_rerun
                self._kind = "poll" if is_poll else "release"
        return message

    def send(self, message: Message) -> None:
        """Look at a message to the browser."""
        content = message.get("bytes")
        if self._began is None or not content or len(content) > _LONGEST_END:
            return
        with suppress(DecodeError):
            answer = ForwardMsg.FromString(content)
            if answer.WhichOneof("type") == "script_finished":
                self._finish(answer.script_finished)

    def _finish(self, status: int) -> None:
        # The run that was stopped for a newer request is part of the same release.
        if status != ForwardMsg.FINISHED_EARLY_FOR_RERUN and self._began is not None:
            self._releases.labels(self._kind).observe(monotonic() - self._began)
            self._began = None
