"""Processes beside the app: answers, errors and their end."""

import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import CancelledError

import pytest

from fairdash.jobs.aside import _SERVE, Aside, _Task


@pytest.fixture
def aside(monkeypatch):
    monkeypatch.delenv("FAIRDASH_INLINE", raising=False)
    process = Aside()
    yield process
    process.close()


def test_calls_run_in_one_other_process_which_stays(aside):
    pids = [aside.call("os:getpid").result() for _ in range(2)]
    assert pids[0] == pids[1] != os.getpid()
    assert aside.call("builtins:sorted", [2, 1], reverse=True).result() == [2, 1]


def test_an_error_of_the_function_is_raised_here_and_calls_go_on(aside):
    with pytest.raises(ValueError, match="invalid literal"):
        aside.call("builtins:int", "x").result()
    assert aside.call("builtins:int", "3").result() == 3


def test_what_a_function_prints_is_no_answer(aside):
    assert aside.call("builtins:print", "noise").result() is None


def test_a_process_that_dies_says_so_and_another_takes_its_place(aside):
    with pytest.raises(ChildProcessError, match="has ended"):
        aside.call("os:_exit", 3).result()
    assert aside.call("builtins:abs", -1).result() == 1


def test_a_running_call_is_interrupted_and_a_queued_one_dropped(aside):
    pid = aside.call("os:getpid").result()
    running = aside.call("time:sleep", 600)
    queued = aside.call("builtins:abs", -1)
    while running._process is None:
        time.sleep(0.01)
    time.sleep(0.2)  # until the process sleeps
    queued.cancel()
    running.cancel()
    for call in (running, queued):
        with pytest.raises(CancelledError):
            call.result()
    assert aside.call("os:getpid").result() == pid


def test_an_idle_process_ends(monkeypatch):
    monkeypatch.delenv("FAIRDASH_INLINE", raising=False)
    aside = Aside(idle_seconds=0)
    pid = aside.call("os:getpid").result()
    while aside._processes[0].runs:
        time.sleep(0.01)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    aside.close()


def test_two_processes_answer_at_the_same_time(tmp_path, monkeypatch):
    """A pipe opens once both ends are: one process could not open the second."""
    monkeypatch.delenv("FAIRDASH_INLINE", raising=False)
    aside = Aside(2)
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    ends = [aside.call("os:open", pipe, way) for way in (os.O_RDONLY, os.O_WRONLY)]
    for end in ends:
        assert end.result(timeout=300) > 2
    aside.close()


def test_a_warm_up_runs_in_all_processes_once(monkeypatch):
    monkeypatch.delenv("FAIRDASH_INLINE", raising=False)
    aside = Aside(2)
    aside.warm_up("os:getpid")
    while aside._pending:
        time.sleep(0.01)
    assert all(process.runs for process in aside._processes)
    aside.warm_up("os:getpid")
    assert not aside._pending
    aside.close()


def test_inline_runs_here(monkeypatch):
    monkeypatch.setenv("FAIRDASH_INLINE", "1")
    aside = Aside()
    assert aside.call("os:getpid").result() == os.getpid()
    aside.close()


def test_a_process_whose_app_has_gone_ends_without_a_word():
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", _SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    pickle.dump(_Task("time:sleep", (0.1,), {}), child.stdin)
    child.stdin.flush()
    child.stdout.close()
    child.stdin.close()
    assert child.wait(60) == 0
    assert child.stderr.read() == b""
    child.stderr.close()
