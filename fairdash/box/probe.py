"""A test from within of how well the box holds on this machine.

`fairdash.box.confine` takes what the kernel lets it take. Whether that worked is not
concluded from the kernel's version: a boxed process tries, as code would that took it
over, and says what it was refused.
"""

import json
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import BinaryIO

from fairdash.box.child import Handler

TASK = f"{__name__}:open_probe"


@dataclass(frozen=True)
class Confinement:
    """The refusals to code that has taken a boxed process over.

    Each field tells whether it is refused: to read and write ``files`` other than those
    of the request, to open ``connections`` of any kind, to start ``processes``, and to
    send ``signals`` to other processes.
    """

    files: bool
    connections: bool
    processes: bool
    signals: bool

    @property
    def holds(self) -> bool:
        """Whether the box holds against code that runs in it."""
        return all(asdict(self).values())

    @property
    def sentence(self) -> str:
        """The sentence that an operator reads."""
        if self.holds:
            return "The box holds against code that runs in it."
        free = [what for what, refused in asdict(self).items() if not refused]
        return (
            "The box holds against resources, not against code that runs in it: this "
            f"system does not refuse it {', '.join(free)}. A Linux kernel with seccomp "
            "does, from 3.17 on."
        )


def open_probe(files: Sequence[BinaryIO]) -> Handler:
    """Return what answers with a `Confinement`, in the box."""
    folder = tempfile.gettempdir()

    def handle(message: bytes) -> bytes:
        for number in (0, 1, 2):  # so that no file is refused for lack of a number
            with suppress(OSError):
                os.close(number)
        measured = Confinement(
            files=all(map(_is_refused, _file_attempts(folder))),
            connections=all(map(_is_refused, _connection_attempts())),
            processes=_is_refused(_fork),
            signals=_is_refused(lambda: os.kill(os.getppid(), 0)),
        )
        return json.dumps(asdict(measured)).encode()

    return handle


def _is_refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except PermissionError:
        return True
    except OSError:
        return False  # it failed for another reason, which another try may not meet
    return False


def _file_attempts(folder: str) -> list[Callable[[], object]]:
    def read() -> None:
        os.close(os.open(sys.executable, os.O_RDONLY))

    def write() -> None:
        descriptor, path = tempfile.mkstemp(dir=folder)
        os.close(descriptor)
        os.unlink(path)

    return [read, write]


def _connection_attempts() -> list[Callable[[], object]]:
    return [
        lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
        lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
        lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).close(),
    ]


def _fork() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
