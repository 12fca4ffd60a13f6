"""Which processes of an owner live, and which of them are at work: `AT_ONCE` at most.

It is one rule for all of the box. A process that is asked again and again counts while
it lives; it is ended while it is idle when another one of its owner needs its place.

An owner is the home folder whose files are read, or "" for nobody's. Several apps may
serve one home on one machine: locks of files in it hold the rule of who is at work for
all of them. Processes that are idle count for each app alone.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition
from typing import Protocol

AT_ONCE = 2  # processes of one owner; further requests wait
LOOK_SECONDS = 0.2  # between two calls of a watch

Watch = Callable[[float, bool], None]


class Endable(Protocol):
    """A process that may be ended while it is idle."""

    @property
    def lives(self) -> bool:
        """Whether it takes a place while it is idle."""
        ...

    def end(self) -> None:
        """End the process."""
        ...


@dataclass
class _Owned:
    working: list[Endable] = field(default_factory=list)
    idle: list[Endable] = field(
        default_factory=list
    )  # the one that waits longest first


class Slots:
    """The places of all owners."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._owners: dict[str, _Owned] = {}

    @contextmanager
    def at_work(self, owner: str, process: Endable, watch: Watch) -> Iterator[None]:
        """Wait for a place, and hold it; ``process`` keeps it when it is idle again.

        ``watch`` is called with the seconds that have passed and True while it waits.
        """
        began = time.monotonic()
        while not self._begin(owner, process):
            watch(time.monotonic() - began, True)
        try:
            with _place_of_all(owner, watch, began):
                yield
        finally:
            with self._changed:
                owned = self._owned(owner)
                owned.working.remove(process)
                if process.lives:
                    owned.idle.append(process)
                self._changed.notify_all()

    def leave(self, owner: str, process: Endable) -> None:
        """Forget a process that has ended while it was idle."""
        with self._changed:
            owned = self._owned(owner)
            if process in owned.idle:
                owned.idle.remove(process)

    def _begin(self, owner: str, process: Endable) -> bool:
        with self._changed:
            if not self._changed.wait_for(
                lambda: len(self._owned(owner).working) < AT_ONCE, LOOK_SECONDS
            ):
                return False
            owned = self._owned(owner)
            if process in owned.idle:
                owned.idle.remove(process)
            owned.working.append(process)
            while len(owned.working) + len(owned.idle) > AT_ONCE:
                owned.idle.pop(0).end()
            return True

    def _owned(self, owner: str) -> _Owned:
        return self._owners.setdefault(owner, _Owned())


@contextmanager
def _place_of_all(owner: str, watch: Watch, began: float) -> Iterator[None]:
    """Hold one of the places that all apps of this machine have for an owner."""
    home = Path(owner)
    if not owner or not home.is_dir():
        yield
        return
    while (lock := _lock_one(home)) is None:
        watch(time.monotonic() - began, True)
        time.sleep(LOOK_SECONDS)
    try:
        yield
    finally:
        os.close(lock)  # and the kernel does so for who dies


def _lock_one(home: Path) -> int | None:
    """Return the descriptor of a lock that is free, None where there is none."""
    for number in range(AT_ONCE):
        path = home / f"box{number}.lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
        else:
            return descriptor
    return None
