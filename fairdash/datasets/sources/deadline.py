"""How long a source may take to count its rows before it is told to stop."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Timer

VARIABLE = "FAIRDASH_SOURCE_SECONDS"
SECONDS = 600.0
CONNECT_SECONDS = 30  # until a server of databases answers at all


class TooSlowError(Exception):
    """A source was told to stop; whoever knows its name says so."""


def most_seconds() -> float:
    """Return the seconds that counting may take; ValueError if they are no number."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{VARIABLE} must be a number of seconds, got {text!r}.")
    return seconds


@contextmanager
def deadline(seconds: float | None, interrupt: Callable[[], None]) -> Iterator[Event]:
    """Call ``interrupt`` after some seconds, unless the block is over by then.

    It gives an event that says whether that has happened. None is no deadline.
    """
    passed = Event()
    if seconds is None:
        yield passed
        return

    def stop() -> None:
        passed.set()
        interrupt()

    timer = Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield passed
    finally:
        timer.cancel()
        timer.join()  # else it may interrupt what is closed by then
