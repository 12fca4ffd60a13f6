"""A boxed process does its task, and can do nothing else."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from fairdash import box
from fairdash.box import process as processes
from fairdash.box.slots import AT_ONCE

TASK = "boxed:open_anything"
HERE = Path(__file__).parent
NO_FILE_LEFT = f"OSError ({errno.EMFILE}|{errno.EPERM})"


@pytest.fixture(scope="module", autouse=True)
def supervisor():
    """A supervisor that finds the tasks of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "_ROOT", HERE)
        patch.setattr(processes, "supervisor", processes.Supervisor())
        yield processes.supervisor
        processes.supervisor.stop()


@pytest.fixture
def files():
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out:
        source.write(b"age,sex\n")
        source.seek(0)
        yield source, out


def ask(verb, argument=None, files=(), **limits):
    message = json.dumps([verb, argument]).encode()
    return json.loads(box.run(TASK, message, files, limits=box.Limits(**limits)))


def is_gone(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def gone(process):
    for _ in range(200):
        if is_gone(process):
            return True
        time.sleep(0.05)
    return False


def test_it_reads_the_file_it_is_given_and_writes_the_other(files):
    _, out = files
    assert ask("source", files=files) == "age,sex\n"
    ask("write", 1_000, files=files)
    assert os.fstat(out.fileno()).st_size == 1_000


def test_it_opens_no_other_file_and_no_connection_and_starts_nothing(files, tmp_path):
    for verb, argument in {
        "read": "/etc/passwd",
        "make": str(tmp_path / "made"),
        "connect": 80,
        "start": ["true"],
    }.items():
        with pytest.raises(box.Refused, match=NO_FILE_LEFT):
            ask(verb, argument, files)
    with pytest.raises(box.Refused, match="OSError"):
        ask("temporary")
    assert list(tmp_path.iterdir()) == []
    # input, output, errors, the channel and two files
    assert ask("descriptors", 200, files) == list(range(6))


def test_its_interpreter_is_isolated(supervisor, monkeypatch, tmp_path):
    (tmp_path / "numpy.py").write_text("raise SystemExit('taken over')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    supervisor.stop()  # the next one starts here
    assert "site-packages" in ask("numpy")
    assert not {"", str(tmp_path)} & set(ask("path"))
    assert "AWS_SECRET_ACCESS_KEY" not in ask("environment")


def test_its_limits_hold(files):
    with pytest.raises(box.Ended, match=r"900 seconds of a processor or 0\.1 GiB"):
        ask("grow", 1 << 30, memory=100 << 20)
    with pytest.raises(box.Ended, match="more than 1 seconds of a processor"):
        ask("spin", seconds=1)
    with pytest.raises(box.Refused, match=f"OSError {errno.EFBIG}"):
        ask("write", 2_000, files, written=1_000)
    assert os.fstat(files[1].fileno()).st_size <= 1_000
    with (
        box.Child(TASK) as child,
        pytest.raises(box.Ended, match=r"longer than 0\.1 s"),
    ):
        child.ask(b'["sleep", 60]', most_seconds=0.1)


def test_what_it_says_is_said_and_what_nobody_foresaw_is_a_refusal(caplog):
    with pytest.raises(box.Refused, match=r"^Köln is no number$"):
        ask("refuse", "Köln is no number")
    with pytest.raises(box.Ended, match="damaged"):
        ask("fail")
    assert "KeyError: 'gone'" in caplog.text
    with (
        box.Child("no_such_module:open") as child,
        pytest.raises(box.Ended, match=r"a package is missing.*no_such_module"),
    ):
        child.ask(b"")


def test_what_the_watch_raises_ends_the_process():
    def watch(seconds, waiting):
        raise KeyboardInterrupt

    with box.Child(TASK) as child:
        process = json.loads(child.ask(b'["pid", null]'))
        with pytest.raises(KeyboardInterrupt):
            child.ask(b'["spin", null]', watch)
    assert gone(process)


def test_two_of_a_user_are_at_work_and_the_others_wait_and_are_told(monkeypatch):
    begun = threading.Semaphore(0)
    over = threading.Event()

    def hold(seconds, waiting):
        begun.release()
        if over.is_set():
            raise TimeoutError

    def occupy():
        with pytest.raises(TimeoutError):
            box.run(TASK, b'["sleep", 60]', owner="ann", watch=hold)

    threads = [threading.Thread(target=occupy) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for _ in threads:
        begun.acquire()

    messages = []

    def wait(seconds, waiting):
        messages.append(waiting)
        over.set()

    assert box.run(TASK, b'["pid", null]', owner="bob")  # another user's goes on
    assert box.run(TASK, b'["pid", null]', owner="ann", watch=wait)
    assert messages[0]
    for thread in threads:
        thread.join()


def test_a_process_that_is_asked_again_and_again_waits_for_a_place_too():
    begun = threading.Semaphore(0)
    over = threading.Event()

    def hold(seconds, waiting):
        begun.release()
        if over.is_set():
            raise TimeoutError

    def occupy():
        with box.Child(TASK, owner="ann") as child, pytest.raises(TimeoutError):
            child.ask(b'["sleep", 60]', hold)

    threads = [threading.Thread(target=occupy) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for _ in threads:
        begun.acquire()
    messages = []

    def wait(seconds, waiting):
        messages.append(waiting)
        over.set()

    with box.Child(TASK, owner="ann") as child:
        assert child.ask(b'["pid", null]', wait)
        assert messages[0]  # it waited
    for thread in threads:
        thread.join()


def test_the_one_that_waits_longest_is_ended_for_another_and_begins_again():
    children = [
        box.Child(TASK, owner="eve", opening=b'["pid", "first words"]')
        for _ in range(AT_ONCE + 1)
    ]
    ids = [json.loads(child.begin()) for child in children]
    assert gone(ids[0])
    assert not any(map(is_gone, ids[1:]))
    assert json.loads(children[0].ask(b'["message", null]')) == "first words"
    assert gone(ids[1])
    assert json.loads(children[2].ask(b'["pid", null]')) == ids[2]  # it never ended
    for child in children:
        child.close()


def test_an_answer_that_is_longer_than_asked_for_is_not_read():
    with box.Child(TASK) as child:
        assert child.ask(b'["answer", 800]', most_bytes=800) == bytes(800)
        process = json.loads(child.ask(b'["pid", null]'))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(box.Ended, match="answers with more than 800 bytes"):
            child.ask(b'["answer", 500000000]', most_bytes=800)
        assert gone(process)
        with pytest.raises(box.Refused) as error:
            child.ask(json.dumps(["refuse", "ä" * 10**6]).encode(), most_bytes=8)
        assert len(str(error.value)) < 10_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


def test_a_killed_supervisor_leaves_no_zombie_and_is_followed_by_another(supervisor):
    with box.Child(TASK) as child:
        process = json.loads(child.ask(b'["pid", null]'))
        killed = supervisor._process.pid
        os.kill(killed, signal.SIGKILL)
        assert gone(killed)  # a zombie would still be there
        assert gone(process)
        assert ask("pid")


def test_nothing_is_left_of_it_when_the_app_is_killed():
    app = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from fairdash import box\n"
            "box.process._ROOT = Path(sys.argv[1])\n"
            "child = box.Child('boxed:open_anything')\n"
            "print(child.ask(b'[\"pid\", null]').decode(), flush=True)\n"
            "child.ask(b'[\"spin\", null]')",
            str(HERE),
        ],
        stdout=subprocess.PIPE,
    )
    with app:
        process = int(app.stdout.readline())
        app.kill()
    assert gone(process)
