"""Processes beside the app, in which functions of the package run.

They are for what a page shows within seconds and nobody stores, such as models of the
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
from queue import LifoQueue
from types import FrameType
from typing import Any, NamedTuple

IDLE_SECONDS = 300.0  # after which a process ends; the next call starts another
N_PROCESSES = min(os.cpu_count() or 1, 2)  # each computes with one thread
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

    def __init__(self, task: _Task) -> None:
        self.task = task
        self.future: Future[Any] = Future()
        self._process: _Process | None = None  # the one that runs it
        self._marking = threading.Lock()  # of the process

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
        if self.future.cancel():
            return
        with self._marking:
            if self._process is not None:
                self._process.interrupt()

    def run_in(self, process: "_Process") -> None:
        """Run the call in a process, unless it was cancelled."""
        if not self.future.set_running_or_notify_cancel():
            return
        failed, result = process.answer(self)
        _settle(self.future, failed, result)

    def mark(self, process: "_Process | None") -> None:
        """Say which process runs the call, so that it can be interrupted there."""
        with self._marking:
            self._process = process


class _Process:
    """One process beside this one: started by a call, ended when idle."""

    def __init__(self, idle_seconds: float) -> None:
        self._idle_seconds = idle_seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()  # of the child, while it answers
        self._end: threading.Timer | None = None

    @property
    def runs(self) -> bool:
        """Whether the process has been started and has not ended."""
        return self._child is not None

    def answer(self, call: Call) -> tuple[bool, Any]:
        """Return whether a call failed, and its result or error."""
        with self._lock:
            if self._end is not None:
                self._end.cancel()
            child = self._started()
            call.mark(self)
            try:
                return _exchange(child, call.task)
            except (EOFError, OSError, pickle.UnpicklingError):
                child.kill()
                _bury(child)
                self._child = None
                return True, ChildProcessError("The process that trains has ended.")
            finally:
                call.mark(None)
                self._end = threading.Timer(self._idle_seconds, self.stop)
                self._end.daemon = True
                self._end.start()

    def interrupt(self) -> None:
        """Interrupt the call that is running; `Call` has made sure that it is."""
        if self._child is not None:
            self._child.send_signal(signal.SIGUSR1)

    def stop(self) -> None:
        """End the process once it has answered."""
        with self._lock:
            if self._end is not None:
                self._end.cancel()
            if self._child is not None:
                _bury(self._child)
            self._child = None

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._child is None or self._child.poll() is not None:
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-c", _SERVE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # out of reach of Ctrl-C in the app's terminal
            )
        return self._child


class Aside:
    """Processes beside this one, which take calls in the order of their coming."""

    def __init__(
        self, n_processes: int = 1, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        self._processes = [_Process(idle_seconds) for _ in range(n_processes)]
        # The process that was free last takes the next call: it has its modules.
        self._free: LifoQueue[_Process] = LifoQueue()
        for process in reversed(self._processes):
            self._free.put(process)
        self._calls = ThreadPoolExecutor(n_processes, thread_name_prefix="aside")
        self._pending: set[Call] = set()

    def call(self, task: str, *arguments: Any, **named: Any) -> Call:
        """Queue a call of ``module:function``, whose arguments can be pickled."""
        call = Call(_Task(task, arguments, named))
        if os.environ.get("FAIRDASH_INLINE") == "1":
            _settle(call.future, *_answer(call.task))
        else:
            self._pending.add(call)
            call.future.add_done_callback(lambda _: self._pending.discard(call))
            self._calls.submit(self._run, call)
        return call

    def warm_up(self, task: str) -> None:
        """Start all processes; each runs ``module:function``, unless it runs already.

        So a later call need not wait until modules are loaded.
        """
        if os.environ.get("FAIRDASH_INLINE") == "1":
            return
        if not all(process.runs for process in self._processes):
            for _ in self._processes:
                self.call(task)

    def close(self) -> None:
        """Drop what is queued, interrupt what is running and end the processes."""
        for call in list(self._pending):
            call.cancel()
        self._calls.shutdown(cancel_futures=True)
        for process in self._processes:
            process.stop()

    def _run(self, call: Call) -> None:
        process = self._free.get()
        try:
            call.run_in(process)
        finally:
            self._free.put(process)


@cache
def aside() -> Aside:
    """Return the processes beside this app, for all its pages."""
    return Aside(N_PROCESSES)


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
