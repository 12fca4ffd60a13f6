"""How a worker died is told by who started it, not guessed."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import wait_until

from fairdash.jobs._deaths import CRASH, MEMORY, OUTSIDE, Deaths, count_oom_kills, judge

GROUPS = Path("/sys/fs/cgroup/memory")
# Workers of a cluster are killed one after the other, each under a task.
KILLS = """
import json, os, signal, sys, time
import distributed.utils
from distributed import Client, KilledWorker
from fairdash.jobs._deaths import Deaths
from fairdash.jobs._workers import local_cluster

def die(number):
    os.kill(os.getpid(), number)
    time.sleep(60)

def grow(_):
    return len(bytearray(os.urandom(1 << 20) * 2_000))

def leave(status):
    os._exit(status)

if __name__ == "__main__":
    ways = {
        "kill": (die, signal.SIGKILL),
        "term": (die, signal.SIGTERM),
        "segv": (die, signal.SIGSEGV),
        "exit": (leave, 3),
        "grow": (grow, 0),
    }
    cluster = local_cluster(1)
    with Client(cluster, security=cluster.security) as client:
        deaths = Deaths()
        deaths.listen(client)
        said = {}
        for way in sys.argv[1:]:
            function, argument = ways[way]
            error = client.submit(function, argument, key=way).exception()
            assert isinstance(error, KilledWorker), error
            while (death := deaths.why(error.last_worker)) is None:
                time.sleep(0.05)
            said[way] = [death.kind, death.how]
        print(json.dumps(said))
    cluster.close()
"""


@pytest.mark.parametrize(
    ("exit_code", "n_oom_kills", "kind", "how"),
    [
        (-signal.SIGKILL, 1, MEMORY, "when memory ran out"),
        (-signal.SIGKILL, 0, OUTSIDE, "by SIGKILL"),
        (-signal.SIGTERM, 1, OUTSIDE, "by SIGTERM"),
        (-signal.SIGHUP, 0, OUTSIDE, "by SIGHUP"),
        (-signal.SIGSEGV, 1, CRASH, "by SIGSEGV"),
        (-signal.SIGABRT, 0, CRASH, "by SIGABRT"),
        (-40, 0, OUTSIDE, "by signal 40"),
        (0, 0, OUTSIDE, "with status 0"),
        (255, 0, OUTSIDE, "with status 255"),
        (1, 0, CRASH, "with status 1"),
    ],
)
def test_a_death_is_of_memory_a_crash_or_from_outside(
    exit_code, n_oom_kills, kind, how
):
    death = judge(exit_code, n_oom_kills=n_oom_kills)
    assert (death.kind, death.how) == (kind, how)
    assert death.counts == (kind != OUTSIDE)


@pytest.mark.parametrize(
    ("lines", "file", "content"),
    [
        ("0::/app.slice\n", "groups/app.slice/memory.events", "low 0\noom_kill 7\n"),
        (
            "9:name=systemd:/\n4:cpu,memory:/app\n0::/\n",
            "groups/memory/app/memory.oom_control",
            "oom_kill_disable 0\noom_kill 7\n",
        ),
        ("0::/\n", "proc/vmstat", "nr_free_pages 9\noom_kill 7\n"),
        ("", "proc/vmstat", "oom_kill 7\n"),
    ],
    ids=["cgroup", "cgroup of old", "machine", "no group"],
)
def test_kills_for_memory_are_those_of_the_own_group(lines, file, content, tmp_path):
    (tmp_path / "proc/self").mkdir(parents=True)
    assert count_oom_kills(tmp_path / "proc", tmp_path / "groups") == 0
    (tmp_path / "proc/vmstat").write_text("oom_kill 100\n")
    (tmp_path / "proc/self/cgroup").write_text(lines)
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(content)
    assert count_oom_kills(tmp_path / "proc", tmp_path / "groups") == 7


def report(deaths, worker, exit_code):
    deaths.hear(
        {"nanny": "n", "worker": worker, "exit_code": exit_code, "n_oom_kills": 0}
    )


def test_a_report_with_the_address_of_an_earlier_worker_is_of_the_later_one():
    """A worker that dies at once has not told its nanny where it listens."""
    first, second, third = (SimpleNamespace(address=a, nanny="n") for a in "abc")
    deaths = Deaths()
    report(deaths, "a", -signal.SIGKILL)
    assert deaths.why(first).how == "by SIGKILL"
    report(deaths, None, -signal.SIGTERM)
    assert deaths.why(second).how == "by SIGTERM"
    report(deaths, "b", -signal.SIGSEGV)
    assert deaths.why(third).how == "by SIGSEGV"
    assert deaths.why(first).how == "by SIGKILL"  # asked again, for another task
    assert deaths.why(SimpleNamespace(address="d", nanny="n")) is None


def deaths_of(tmp_path, *ways, group=None):
    """Return how the workers of a real cluster died, which ran in a control group."""
    script = tmp_path / "kills.py"
    script.write_text(KILLS)

    def enter():
        if group is not None:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    ended = subprocess.run(
        [sys.executable, str(script), *ways],
        capture_output=True,
        text=True,
        timeout=240,
        preexec_fn=enter,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2_000:]
    return json.loads(ended.stdout)


@pytest.fixture(scope="module")
def small_group():
    """A control group of 700 MB, None where none can be made."""
    if not os.access(GROUPS / "memory.limit_in_bytes", os.R_OK) or os.geteuid():
        yield None
        return
    group = GROUPS / f"fairdash-test-{os.getpid()}"
    group.mkdir()
    (group / "memory.limit_in_bytes").write_text(str(700 << 20))
    yield group

    def is_removed():  # its last processes end after the one that started them
        with suppress(OSError):
            group.rmdir()
        return not group.exists()

    wait_until(is_removed)


@pytest.fixture(scope="module")
def deaths(tmp_path_factory, small_group, thorough):
    """How the workers of one cluster died, by the way that they were ended."""
    ways = ["kill", "term", "segv"]
    if thorough:
        ways.append("exit")
    if small_group is not None:
        ways.insert(0, "grow")  # a kill that follows is not taken for another of these
    return deaths_of(tmp_path_factory.mktemp("deaths"), *ways, group=small_group)


def test_nannies_tell_how_their_workers_died(deaths, thorough):
    assert deaths["kill"] == [OUTSIDE, "by SIGKILL"]
    assert deaths["term"] == [OUTSIDE, "by SIGTERM"]
    assert deaths["segv"] == [CRASH, "by SIGSEGV"]
    if thorough:
        assert deaths["exit"] == [CRASH, "with status 3"]


def test_only_a_limit_that_was_met_counts_as_memory(deaths):
    if "grow" not in deaths:
        pytest.skip("no control group can be made here")
    assert deaths["grow"] == [MEMORY, "when memory ran out"]
    assert deaths["kill"] == [OUTSIDE, "by SIGKILL"]
