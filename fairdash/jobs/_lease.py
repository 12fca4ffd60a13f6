"""Kernel locks that tell which processes live; they end with the process, however."""

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

APPS = "apps.lock"  # shared by all apps of a home folder
ENGINE = "engine.lock"  # held by its one engine


class Lease:
    """A held lock; it is given up by ``close`` or by the end of the process."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def close(self) -> None:
        """Give the lock up."""
        os.close(self.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def take(path: Path, *, shared: bool = False, patience: float = 0.0) -> Lease | None:
    """Return the lock on a file, or None if it is not to be had within ``patience``."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
            time.sleep(0.02)
        else:
            return Lease(descriptor)
