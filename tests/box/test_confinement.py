"""Code that runs in the box reaches nothing, where the kernel can refuse it."""

import json
import platform
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from box.hostile import ATTEMPTS

from fairdash import box
from fairdash.box import process as processes

TASK = "hostile:open_hostile"
HERE = Path(__file__).parent
REFUSED = {"EPERM", "EACCES"}
KINDS = ("files", "connections", "processes", "signals")
HOSTILE = [(kind, verb) for kind in (*KINDS, "limits") for verb in ATTEMPTS[kind]]
HOLDS = box.confinement().holds
needs_a_kernel = pytest.mark.skipif(
    not HOLDS or platform.machine() != "x86_64",
    reason="this kernel does not confine processes, or numbers its calls otherwise",
)


@pytest.fixture(scope="module", autouse=True)
def supervisor():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "_ROOT", HERE)
        patch.setattr(processes, "supervisor", processes.Supervisor())
        yield processes.supervisor
        processes.supervisor.stop()


@pytest.fixture
def world(tmp_path):
    """What hostile code goes for: a file, sockets that listen, another process."""
    secret = tmp_path / "secret"
    secret.write_text("salary")
    path = str(tmp_path / "socket")
    abstract = f"\0fairdash {tmp_path}"
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX) as nameless,
        box.Child("boxed:open_anything") as sibling,
    ):
        unix.bind(path)
        nameless.bind(abstract)
        unix.listen()
        nameless.listen()
        yield {
            "secret": str(secret),
            "folder": str(tmp_path),
            "port": tcp.getsockname()[1],
            "unix": path,
            "abstract": abstract,
            "sibling": json.loads(sibling.ask(b'["pid", null]')),
        }
        assert json.loads(sibling.ask(b'["pid", null]'))
    assert secret.read_text() == "salary"
    assert {item.name for item in tmp_path.iterdir()} == {"secret", "socket"}


def attempt(kind, verb, world):
    return box.run(TASK, json.dumps([kind, verb, world]).encode()).decode()


@needs_a_kernel
@pytest.mark.parametrize(("kind", "verb"), HOSTILE)
def test_code_that_runs_in_the_box_reaches_nothing(kind, verb, world):
    assert attempt(kind, verb, world) in REFUSED


def test_the_box_still_computes_in_threads():
    for verb in ATTEMPTS["allowed"]:
        assert attempt("allowed", verb, {}) == "done"


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_the_box_has_no_privileges_and_may_start_few_tasks():
    """Also where no layer of the kernel confines it."""
    with box.Child("boxed:open_anything") as child:
        pid = json.loads(child.ask(b'["pid", null]'))
        status = Path(f"/proc/{pid}/status").read_text()
        limits = Path(f"/proc/{pid}/limits").read_text()
        tasks = Path("/proc/loadavg").read_text().split()[3]
    fields = dict(line.split(":", 1) for line in status.splitlines())
    assert int(fields["NoNewPrivs"]) == 1
    for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(fields[kind], 16) == 0
    soft, hard = limits.split("Max processes")[1].split()[:2]
    assert soft == hard
    n_tasks = int(tasks.partition("/")[2])
    assert int(soft) < 2 * (n_tasks + 512)  # tasks end and begin meanwhile


def test_the_record_tells_what_the_box_refuses():
    # the same four questions, asked by other code than the one that makes the record
    record = box.confinement()
    attempts = {
        "files": ("read", {"secret": sys.executable}),
        "connections": ("pair", {}),
        "processes": ("fork", {}),
        "signals": ("kill the supervisor", {}),
    }
    for kind, (verb, world) in attempts.items():
        assert getattr(record, kind) == (attempt(kind, verb, world) in REFUSED)


def test_where_the_kernel_refuses_nothing_the_record_says_so(monkeypatch):
    without = "import sys; sys.path.append(sys.argv[1]); "
    without += "from fairdash.box import child; "
    without += "child.close_the_kernel = lambda: None; "
    without += "from fairdash.box.supervisor import main; main()"
    monkeypatch.setattr(processes, "_BOOT", without)
    monkeypatch.setattr(processes, "supervisor", processes.Supervisor())
    try:
        record = box.confinement()
    finally:
        processes.supervisor.stop()
    assert record == box.Confinement(*[False] * len(KINDS))
    assert not record.holds
    assert "against resources, not against code that runs in it" in record.sentence
    assert "files, connections, processes, signals" in record.sentence


ALONE = """
import os, signal, socket, sys
from fairdash.box import confine

def tried(attempt):
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return "done"

version = confine.landlock_version()
parent = os.getppid()
confine.drop_privileges()
confine._restrict_by_landlock(version)
print(version, *map(tried, [
    lambda: open("/etc/passwd"),
    lambda: os.mkdir(sys.argv[1] + "/made"),
    lambda: os.execv("/bin/true", ["true"]),
    lambda: socket.socket().connect(("127.0.0.1", int(sys.argv[2]))),
    lambda: os.kill(parent, 0),
]))
"""


def test_landlock_alone_keeps_files_tcp_and_signals_out(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        words = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(ALONE), str(tmp_path), port],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
    version = int(words[0])
    outcomes = words[1:]
    if version < 1:
        pytest.skip("this kernel has no Landlock")
    expected = {1: 3, 2: 3, 3: 3, 4: 4, 5: 4}.get(version, 5)
    assert outcomes[:expected] == ["PermissionError"] * expected
