"""A process beside the app, in which functions of the package run one after another.

It is for what a page shows within seconds and nobody stores, such as models of the
playground: a run of the engine would be queued, recorded and kept. torch is loaded
there and not by the app. With ``FAIRDASH_INLINE=1`` functions run in the app itself.
"""

import importlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from types import FrameType
from typing import Any, NamedTuple

IDLE_SECONDS = 300.0  # after which the process ends; the next call starts another
_SERVE = "from fairdash.jobs.aside import serve; serve()"


class _Task(NamedTuple):
    """A function of the package by its name, and its arguments."""

    name: str
    arguments: tuple[Any, ...]
    named: dict[str, Any]

    def run(self) -> Any:
        module, _, name = self.name.partition(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return function(*self.arguments, **self.named)


class Call:
    """A call on its way; it is made by `Aside.call`."""

    def __init__(self, aside: "Aside", task: _Task) -> None:
        self.task = task
        self.future: Future[Any] = Future()
        self._aside = aside

    def result(self, timeout: float | None = None) -> Any:
        """Return what the function returns; wait at most ``timeout`` seconds.

        Raises
        ------
        TimeoutError
            When it is still queued or running.
        CancelledError
            When it was cancelled.
        ChildProcessError
            When the process died.
        """
        return self.future.result(timeout)

    def cancel(self) -> None:
        """Drop the call, or interrupt it where it is running."""
        if not self.future.cancel():
            self._aside.interrupt(self)


class Aside:
    """One process beside this one, started by the first call, ended when idle."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._calls = ThreadPoolExecutor(1, thread_name_prefix="aside")
        self._lock = threading.Lock()  # of the process, while it answers
        self._running: Call | None = None
        self._marking = threading.Lock()  # of what is running
        self._end: threading.Timer | None = None

    def call(self, task: str, *arguments: Any, **named: Any) -> Call:
        """Queue a call of ``module:function``, whose arguments can be pickled."""
        call = Call(self, _Task(task, arguments, named))
        if os.environ.get("FAIRDASH_INLINE") == "1":
            _settle(call.future, *_answer(call.task))
        else:
            self._calls.submit(self._run, call)
        return call

    def interrupt(self, call: Call) -> None:
        """Interrupt a call if it is the one that is running."""
        with self._marking:
            if self._running is call and self._child is not None:
                self._child.send_signal(signal.SIGUSR1)

    def close(self) -> None:
        """Drop what is queued, interrupt what is running and end the process."""
        running = self._running
        if running is not None:
            running.cancel()
        self._calls.shutdown(cancel_futures=True)
        self._stop()

    def _run(self, call: Call) -> None:
        if not call.future.set_running_or_notify_cancel():
            return
        with self._lock:
            if self._end is not None:
                self._end.cancel()
            child = self._started()
            with self._marking:
                self._running = call
            try:
                failed, result = _exchange(child, call.task)
            except (EOFError, OSError, pickle.UnpicklingError):
                child.kill()
                _bury(child)
                self._child = None
                failed = True
                result = ChildProcessError("The process that trains has ended.")
            finally:
                with self._marking:
                    self._running = None
            self._end = threading.Timer(self._idle_seconds, self._stop)
            self._end.daemon = True
            self._end.start()
        _settle(call.future, failed, result)

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._child is None or self._child.poll() is not None:
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-c", _SERVE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # out of reach of Ctrl-C in the app's terminal
            )
        return self._child

    def _stop(self) -> None:
        with self._lock:
            if self._end is not None:
                self._end.cancel()
            if self._child is not None:
                _bury(self._child)
            self._child = None


@cache
def aside() -> Aside:
    """Return the process beside this app, one for all its pages."""
    return Aside()


class _Interrupted(BaseException):
    """A call was cancelled; no handler of a library takes it for an error."""


def serve() -> None:
    """Answer calls from the standard input until it ends."""
    running = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        if running:
            raise _Interrupted

    signal.signal(signal.SIGUSR1, interrupt)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    while True:
        try:
            task = pickle.load(sys.stdin.buffer)
        except (EOFError, pickle.UnpicklingError):
            return  # the app has ended, perhaps in the middle of a call
        try:
            running = True
            answer = _answer(task)
            running = False
        except _Interrupted:
            running = False
            answer = True, CancelledError()
        try:
            pickle.dump(answer, answers)
            answers.flush()
        except BrokenPipeError:
            # The app has ended: nobody waits. An ordinary end would flush once more.
            os._exit(0)


def _exchange(child: "subprocess.Popen[bytes]", task: _Task) -> tuple[bool, Any]:
    assert child.stdin is not None
    assert child.stdout is not None
    pickle.dump(task, child.stdin)
    child.stdin.flush()
    answer: tuple[bool, Any] = pickle.load(child.stdout)
    return answer


def _answer(task: _Task) -> tuple[bool, Any]:
    """Return whether a task failed, and its result or error."""
    try:
        return False, task.run()
    except Exception as error:  # it is raised where the result is asked for
        return True, error


def _settle(future: "Future[Any]", failed: bool, result: Any) -> None:
    if failed:
        future.set_exception(result)
    else:
        future.set_result(result)


def _bury(child: "subprocess.Popen[bytes]") -> None:
    """Close the pipes of a process, at which it ends, and wait for its end."""
    assert child.stdin is not None
    assert child.stdout is not None
    with suppress(OSError):  # what was not sent yet
        child.stdin.close()
    child.stdout.close()
    child.wait()
