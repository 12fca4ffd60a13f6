"""The app's side of the box: start it, and ask a process of it."""

import atexit
import json
import logging
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import wait
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Any, BinaryIO

from fairdash.box.child import DONE, FULL, HEAD, REFUSED

AT_ONCE = 2  # processes that one user may have at work; further requests wait
_LOOK = 0.2  # seconds between two calls of a watch
_END_SECONDS = 10
_MOST_ANSWER = 1 << 30  # bytes
_BLOCK = 1 << 20
_ROOT = Path(__file__).parents[2]  # where the package lies
# the isolated interpreter finds installed packages first, and nothing in this folder
_BOOT = "import sys; sys.path.append(sys.argv[1]); "
_BOOT += "from fairdash.box.supervisor import main; main()"
_ENVIRONMENT: dict[str, str] = {
    "OMP_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}

Watch = Callable[[float, bool], None]
log = logging.getLogger("fairdash")


@dataclass(frozen=True)
class Limits:
    """What a process may take: ``seconds`` of a processor are those of each message.

    ``memory`` is beyond what loaded modules take, ``written`` what each file may grow
    to, both in bytes; ``idle`` the seconds after which a process nobody asks ends.
    """

    memory: int = 4 << 30
    seconds: int = 900
    written: int = 4 << 30
    idle: int = 300


class Refused(ValueError):
    """The process says why it does not take what it was given."""


class Ended(ValueError):
    """The process came to a limit, or stopped: a clause such as "it takes more …"."""


class _Silent(Exception):
    """Nobody speaks at the other end of the channel."""


class _Supervisor:
    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def ask(self, request: dict[str, Any], descriptors: Sequence[int]) -> None:
        """Send a request with open files, which also keep it apart from the next."""
        content = json.dumps(request).encode()
        with self._lock:
            with suppress(OSError):
                socket.send_fds(self._alive(), [content], descriptors)
                return
            self.stop()  # it ended between the look and the request
            socket.send_fds(self._alive(), [content], descriptors)

    def stop(self) -> None:
        if self._control is not None and self._process is not None:
            self._control.close()
            self._process.wait()
        self._control = self._process = None

    def _alive(self) -> socket.socket:
        if self._process is not None and self._process.poll() is not None:
            self.stop()
        if self._control is None:
            self._control, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-c", _BOOT, str(_ROOT)],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env=_ENVIRONMENT,
                )
        return self._control


_supervisor = _Supervisor()
atexit.register(_supervisor.stop)
_slots: dict[str, BoundedSemaphore] = defaultdict(lambda: BoundedSemaphore(AT_ONCE))


def start(*tasks: str) -> None:
    """Load what tasks need beforehand, so that the first file does not wait for it."""
    for task in tasks:
        Child(task).close()


class Child:
    """A boxed process that does one task, until it is closed.

    Parameters
    ----------
    task : str
        ``module:function``, see `fairdash.box.child`.
    files : sequence of files
        All that it can read (the first) and write (the others).
    """

    def __init__(
        self, task: str, files: Sequence[BinaryIO] = (), limits: Limits | None = None
    ) -> None:
        self._limits = limits or Limits()
        self._channel, channel = socket.socketpair()
        self._line, line = socket.socketpair()
        self._channel.settimeout(_LOOK)
        with channel, line:
            descriptors = [line.fileno(), channel.fileno()]
            _supervisor.ask(
                {"task": task, **asdict(self._limits)},
                [*descriptors, *(file.fileno() for file in files)],
            )

    def ask(
        self,
        message: bytes,
        watch: Watch = lambda seconds, waiting: None,
        *,
        most_seconds: float = float("inf"),
    ) -> bytes:
        """Send a message and return the answer.

        Parameters
        ----------
        watch : callable
            Called with the seconds that have passed, and with False (nothing is waited
            for), several times a second; what it raises is raised here.
        most_seconds : float
            Until the answer, after which the process is ended.

        Raises
        ------
        Refused
            With what the process says.
        Ended
            When there is no answer.
        """
        began = time.monotonic()

        def look() -> None:
            seconds = time.monotonic() - began
            watch(seconds, False)
            if seconds > most_seconds:
                raise Ended(f"it took longer than {most_seconds:g} s and was stopped")

        try:
            self._send(HEAD.pack(len(message)), look)
            self._send(message, look)
            (size,) = HEAD.unpack(self._receive(HEAD.size, look))
            if size > _MOST_ANSWER:
                raise _Silent
            answer = self._receive(size, look)
        except _Silent:
            raise Ended(self._end()) from None
        kind, content = answer[:1], bytes(answer[1:])
        if kind == REFUSED:
            raise Refused(content.decode())
        if kind == FULL:
            raise Ended(self._too_much())
        if kind != DONE:
            log.warning("the box met an error:\n%s", content.decode(errors="replace"))
            raise Ended("it is damaged, or written in a way that is not read here")
        return content

    @property
    def ended(self) -> bool:
        """Whether the process is no more."""
        return bool(wait([self._line], 0))  # select counts to 1,023 only

    def close(self) -> None:
        """End the process, if it has not ended."""
        self._channel.close()
        self._line.close()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, content: bytes, look: Callable[[], None]) -> None:
        rest = memoryview(content)
        while rest:
            with self._speaking(look):
                rest = rest[self._channel.send(rest[:_BLOCK]) :]

    def _receive(self, size: int, look: Callable[[], None]) -> bytearray:
        content = bytearray()
        while len(content) < size:
            with self._speaking(look):
                block = self._channel.recv(min(size - len(content), _BLOCK))
                if not block:
                    raise _Silent
                content += block
        return content

    @contextmanager
    def _speaking(self, look: Callable[[], None]) -> Iterator[None]:
        try:
            yield
            return
        except TimeoutError:
            pass
        except OSError:
            raise _Silent from None
        look()  # outside, since it may raise errors of the system as well

    def usage(self) -> dict[str, Any]:
        """Wait for the end of the process, and return what it took.

        That is ``seconds`` of a processor, ``memory`` in bytes, and the ``signal`` that
        ended it, or 0; or an ``error`` where it could not begin.
        """
        self._channel.close()
        self._line.settimeout(_END_SECONDS)
        return json.loads(self._line.recv(_BLOCK))

    def _end(self) -> str:
        try:
            usage = self.usage()
        except (OSError, ValueError):
            return "it stopped the process that read it"
        if "error" in usage:
            return f"a package is missing ({usage['error']})"
        if usage["signal"] == signal.SIGXCPU:
            return self._too_much()
        return "it stopped the process that read it"

    def _too_much(self) -> str:
        return (
            f"that takes more than {self._limits.seconds:,} seconds of a processor or "
            f"{self._limits.memory / 2**30:.1f} GiB of memory"
        )


def run(
    task: str,
    message: bytes,
    files: Sequence[BinaryIO] = (),
    *,
    owner: str = "",
    limits: Limits | None = None,
    watch: Watch = lambda seconds, waiting: None,
) -> bytes:
    """Return what a process answers to one message.

    At most `AT_ONCE` processes of an ``owner`` are at work; the others wait, and
    ``watch`` is called with True meanwhile. Other arguments and errors are those of
    `Child` and `Child.ask`.
    """
    with _slot(owner, watch), Child(task, files, limits) as child:
        return child.ask(message, watch)


@contextmanager
def _slot(owner: str, watch: Watch) -> Iterator[None]:
    slot, began = _slots[owner], time.monotonic()
    while not slot.acquire(timeout=_LOOK):
        watch(time.monotonic() - began, True)
    try:
        yield
    finally:
        slot.release()
