"""The app's side of one boxed process: start it, speak with it, see how it ended."""

import atexit
import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from fairdash.box.child import HEAD
from fairdash.box.slots import LOOK_SECONDS

END_SECONDS = 10
MOST_USAGE = 4_096  # bytes
_BLOCK = 1 << 20
_ROOT = Path(__file__).parents[2]  # where the package lies
# the isolated interpreter finds installed packages first, and nothing in this folder
_BOOT = "import sys; sys.path.append(sys.argv[1]); "
_BOOT += "from fairdash.box.supervisor import main; main()"
_ENVIRONMENT: dict[str, str] = {
    "OMP_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


class Silent(Exception):
    """Nobody speaks at the other end of the channel."""


class Supervisor:
    """The process that boxed ones are forked from, started when it is needed."""

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
        """End the process and all that it forked."""
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
            # one that is killed is a zombie until somebody waits for it
            Thread(target=self._process.wait, daemon=True).start()
        return self._control


supervisor = Supervisor()
atexit.register(supervisor.stop)


class Process:
    """A boxed process, with a channel to it and a line on which its end is told.

    ``request`` is that of `fairdash.box.child.serve`.
    """

    def __init__(self, request: dict[str, Any], files: Sequence[int]) -> None:
        self._channel, channel = socket.socketpair()
        self._line, line = socket.socketpair()
        self._channel.settimeout(LOOK_SECONDS)
        with channel, line:
            supervisor.ask(request, [line.fileno(), channel.fileno(), *files])

    @property
    def ended(self) -> bool:
        """Whether the process is no more."""
        return bool(wait([self._line], 0))  # select counts to 1,023 only

    def close(self) -> None:
        """End the process, if it has not ended."""
        self._channel.close()
        self._line.close()

    def send(self, message: bytes, look: Callable[[], None]) -> None:
        """Send a message after its length; ``look`` is called while nobody takes it.

        Raises Silent when the process has ended, as `receive` does.
        """
        for content in (HEAD.pack(len(message)), message):
            rest = memoryview(content)
            while rest:
                with self._speaking(look):
                    rest = rest[self._channel.send(rest[:_BLOCK]) :]

    def receive(self, size: int, look: Callable[[], None]) -> bytearray:
        """Return the next bytes; ``look`` is called while there are none."""
        content = bytearray(size)
        rest = memoryview(content)
        while rest:
            with self._speaking(look):
                n = self._channel.recv_into(rest[:_BLOCK])
                if not n:
                    raise Silent
                rest = rest[n:]
        return content

    @contextmanager
    def _speaking(self, look: Callable[[], None]) -> Iterator[None]:
        try:
            yield
            return
        except TimeoutError:
            pass
        except OSError:
            raise Silent from None
        look()  # outside, since it may raise errors of the system as well

    def usage(self) -> dict[str, Any]:
        """Wait for the end of the process, and return what it took.

        That is ``seconds`` of a processor, ``memory`` in bytes, and the ``signal`` that
        ended it, or 0; or an ``error`` where it could not begin.
        """
        self._channel.close()
        self._line.settimeout(END_SECONDS)
        return json.loads(self._line.recv(MOST_USAGE))
