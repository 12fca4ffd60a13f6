"""A process beside the app, in which functions of the package run one after another.

With ``FAIRDASH_INLINE=1`` they run in the app itself.

It is for what a page shows within seconds and nobody stores, such as models of the
playground: a run of the engine would be queued, recorded and kept. torch is loaded
there and not by the app.
"""

import importlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any

IDLE_SECONDS = 300.0  # after which the process ends; the next call starts another
_SERVE = "from fairdash.jobs.aside import serve; serve()"


class Aside:
    """One process beside this one, started by the first call, ended when idle."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._calls = ThreadPoolExecutor(1, thread_name_prefix="aside")
        self._lock = threading.Lock()
        self._end: threading.Timer | None = None

    def call(self, task: str, *arguments: Any, **named: Any) -> "Future[Any]":
        """Queue a call and return its future; a queued call can be cancelled.

        Parameters
        ----------
        task : str
            ``module:function``, of which module and arguments can be pickled.

        Returns
        -------
        Future
            Its result is what the function returns. It raises what the function raises,
            or ChildProcessError when the process died.
        """
        call = task, arguments, named
        if os.environ.get("FAIRDASH_INLINE") == "1":
            return _answered(call)
        return self._calls.submit(self._run, call)

    def close(self) -> None:
        """End the process and drop what is queued."""
        self._calls.shutdown(cancel_futures=True)
        self._stop()

    def _run(self, call: tuple[str, tuple[Any, ...], dict[str, Any]]) -> Any:
        with self._lock:
            if self._end is not None:
                self._end.cancel()
            child = self._started()
            try:
                failed, result = _exchange(child, call)
            except (EOFError, OSError, pickle.UnpicklingError):
                child.kill()
                _bury(child)
                self._child = None
                message = "The process that trains has ended; try it again."
                raise ChildProcessError(message) from None
            self._end = threading.Timer(self._idle_seconds, self._stop)
            self._end.daemon = True
            self._end.start()
        if failed:
            raise result
        return result

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._child is None or self._child.poll() is not None:
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-c", _SERVE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
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


def serve() -> None:
    """Answer calls from the standard input until it ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    while True:
        try:
            call = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = False, _called(call)
        except Exception as error:  # it is raised where the call came from
            answer = True, error
        pickle.dump(answer, answers)
        answers.flush()


def _exchange(child: "subprocess.Popen[bytes]", call: Any) -> tuple[bool, Any]:
    assert child.stdin is not None
    assert child.stdout is not None
    pickle.dump(call, child.stdin)
    child.stdin.flush()
    answer: tuple[bool, Any] = pickle.load(child.stdout)
    return answer


def _answered(call: tuple[str, tuple[Any, ...], dict[str, Any]]) -> "Future[Any]":
    """Run a call here and now, and return its future."""
    future: Future[Any] = Future()
    try:
        future.set_result(_called(call))
    except Exception as error:  # it is raised where the result is asked for
        future.set_exception(error)
    return future


def _bury(child: "subprocess.Popen[bytes]") -> None:
    """Close the pipes of a process, at which it ends, and wait for its end."""
    assert child.stdin is not None
    assert child.stdout is not None
    with suppress(OSError):  # what was not sent yet
        child.stdin.close()
    child.stdout.close()
    child.wait()


def _called(call: tuple[str, tuple[Any, ...], dict[str, Any]]) -> Any:
    task, arguments, named = call
    module, _, name = task.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function(*arguments, **named)
