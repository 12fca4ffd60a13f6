"""The app's side of the box: have a process of it do a task."""

import json
import logging
import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any, BinaryIO

from fairdash.box.child import DONE, FULL, HEAD, MOST_TEXT, REFUSED
from fairdash.box.probe import TASK, Confinement
from fairdash.box.process import Process, Silent
from fairdash.box.slots import Slots, Watch

MOST_ANSWER = 64 << 20  # bytes, where a request does not say
# How a message ends: with an answer, with a reason why there is none, or by a limit, an
# error, or an end of the page.
ANSWERED = "answered"
REFUSED_BY_TASK = "refused"
ENDED = "ended"

log = logging.getLogger("fairdash")
_slots = Slots()
_ends: Counter[str] = Counter()  # how the messages of this process ended
_counting = Lock()


@dataclass(frozen=True)
class Limits:
    """Limits of a process; ``seconds`` of a processor are those of each message.

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


class Child:
    """A boxed process that does one task, message by message, until it is closed.

    It begins with its first message. At most two processes of an ``owner`` live
    (`fairdash.box.slots`): one that is idle is ended when another needs its place, and
    begins again with its next message.

    Parameters
    ----------
    task : str
        ``module:function``, see `fairdash.box.child`.
    files : sequence of files
        All that it can read (the first) and write (the others).
    opening : bytes, optional
        The message with which it begins, each time.
    single : bool
        Whether only one message is sent, so that its seconds are those of the process.
    """

    def __init__(
        self,
        task: str,
        files: Sequence[BinaryIO] = (),
        limits: Limits | None = None,
        *,
        owner: str = "",
        opening: bytes | None = None,
        single: bool = False,
    ) -> None:
        self._task = task
        self._files = files
        self._limits = limits or Limits()
        self._owner = owner
        self._opening = opening
        self._single = single
        self._process: Process | None = None

    def begin(
        self,
        watch: Watch = lambda seconds, waiting: None,
        *,
        most_seconds: float = float("inf"),
    ) -> bytearray:
        """Begin anew, and return the answer to the opening message.

        Arguments and errors are those of `ask`.
        """
        with _slots.at_work(self._owner, self, watch):
            self.end()
            return self._begin(watch, most_seconds)

    def ask(
        self,
        message: bytes,
        watch: Watch = lambda seconds, waiting: None,
        *,
        most_seconds: float = float("inf"),
        most_bytes: int = MOST_ANSWER,
    ) -> bytearray:
        """Send a message and return the answer.

        Parameters
        ----------
        watch : callable
            Called several times a second with the seconds that have passed, and with
            whether the request waits for others of its owner; what it raises is raised
            here.
        most_seconds : float
            Until the answer, after which the process is ended.
        most_bytes : int
            Of the answer; one that is longer is not read, and the process is ended.

        Raises
        ------
        Refused
            With what the process says.
        Ended
            When there is no answer.
        """
        with _slots.at_work(self._owner, self, watch):
            if self._process is None or self._process.ended:
                self.end()
                self._begin(watch, most_seconds)
            return self._converse(message, watch, most_seconds, most_bytes)

    @property
    def lives(self) -> bool:
        """Whether there is a process."""
        return self._process is not None

    def end(self) -> None:
        """End the process, if it lives; the next message begins another one."""
        process = self._process
        self._process = None  # first: another thread may end it too
        if process is not None:
            process.close()

    def close(self) -> None:
        """End the process, and give up its place."""
        self.end()
        _slots.leave(self._owner, self)

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self, watch: Watch, most_seconds: float) -> bytearray:
        self._process = Process(
            _request(self._task, self._limits, single=self._single),
            [file.fileno() for file in self._files],
        )
        if self._opening is None:
            return bytearray()
        return self._converse(self._opening, watch, most_seconds, MOST_ANSWER)

    def _converse(
        self, message: bytes, watch: Watch, most_seconds: float, most_bytes: int
    ) -> bytearray:
        """Send a message and return the answer; count how it ended."""
        end = ENDED
        try:
            content = self._exchange(message, watch, most_seconds, most_bytes)
            end = ANSWERED
            return content
        except Refused:
            end = REFUSED_BY_TASK
            raise
        finally:
            with _counting:
                _ends[end] += 1

    def _exchange(
        self, message: bytes, watch: Watch, most_seconds: float, most_bytes: int
    ) -> bytearray:
        process = self._process
        assert process is not None
        began = time.monotonic()

        def look() -> None:
            seconds = time.monotonic() - began
            watch(seconds, False)
            if seconds > most_seconds:
                raise Ended(f"it took longer than {most_seconds:g} s and was stopped")

        try:
            process.send(message, look)
            (size,) = HEAD.unpack(process.receive(HEAD.size, look))
            kind = bytes(process.receive(1, look))
            if size > (most_bytes if kind == DONE else MOST_TEXT):
                raise Ended(f"it answers with more than {most_bytes:,} bytes")
            content = process.receive(size, look)
        except Silent:
            reason = self._why_ended(process)
            self.end()
            raise Ended(reason) from None
        except BaseException:
            self.end()  # what it still says would be taken for the next answer
            raise
        if kind == DONE:
            return content
        if kind == REFUSED:
            raise Refused(content.decode(errors="replace"))
        if kind == FULL:
            raise Ended(self._too_much())
        log.warning("the box met an error:\n%s", content.decode(errors="replace"))
        raise Ended("it is damaged, or written in a way that is not read here")

    def _why_ended(self, process: Process) -> str:
        try:
            usage = process.usage()
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


def _request(task: str, limits: Limits, *, single: bool) -> dict[str, Any]:
    return {"task": task, "single": single, **asdict(limits)}


def run(
    task: str,
    message: bytes,
    files: Sequence[BinaryIO] = (),
    *,
    owner: str = "",
    limits: Limits | None = None,
    watch: Watch = lambda seconds, waiting: None,
) -> bytearray:
    """Return what a process answers to one message, and end it.

    Arguments and errors are those of `Child` and `Child.ask`.
    """
    with Child(task, files, limits, owner=owner, single=True) as child:
        return child.ask(message, watch)


def start(*tasks: str) -> None:
    """Load what tasks need beforehand, so that the first file does not wait for it."""
    for task in tasks:
        Process(_request(task, Limits(), single=True), []).close()


def uses() -> dict[str, int]:
    """Return how many messages of this process ended how, each way by its name."""
    with _counting:
        return {end: _ends[end] for end in (ANSWERED, REFUSED_BY_TASK, ENDED)}


def confinement() -> Confinement:
    """Return what the box holds on this machine, as a process of it finds by trying."""
    return Confinement(**json.loads(run(TASK, b"")))
