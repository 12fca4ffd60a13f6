"""Reasons of a worker's death: out of memory, by a crash, from outside.

A scheduler notices only that a worker is gone. Its nanny, the process that started it,
knows how it ended and whether the kernel killed for memory meanwhile; `Witness` has
nannies say so, and `Deaths` hears it.
"""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distributed import NannyPlugin

TOPIC = "fairdash: a worker ended"
REPORT_SECONDS = 15.0  # after which the nanny is taken for gone with its worker
MEMORY = "memory"
CRASH = "crash"
OUTSIDE = "outside"
# Signals that a process is sent for what it does itself.
_CRASH_SIGNALS = {
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGSEGV,
    signal.SIGSYS,
    signal.SIGTRAP,
    signal.SIGXCPU,
    signal.SIGXFSZ,
}
_UNKNOWN_EXIT = 255  # as the standard library says where nobody waited for a process


@dataclass(frozen=True)
class Death:
    """End of a worker: its kind, and a clause that says it, such as "by SIGSEGV"."""

    kind: str
    how: str

    @property
    def counts(self) -> bool:
        """Whether it says something about what the worker was doing."""
        return self.kind != OUTSIDE


def judge(exit_code: int, *, n_oom_kills: int) -> Death:
    """Return the death of a worker.

    ``exit_code`` is that of `multiprocessing`: less a signal's number, or a status.
    ``n_oom_kills`` counts how often the kernel has killed for memory while it lived;
    that it was killed by SIGKILL without that means that somebody else did so.
    """
    if exit_code >= 0:
        stopped = exit_code in (0, _UNKNOWN_EXIT)  # told to, or nobody knows
        return Death(OUTSIDE if stopped else CRASH, f"with status {exit_code}")
    number = -exit_code
    try:
        name = signal.Signals(number).name
    except ValueError:  # a real-time signal
        name = f"signal {number}"
    if number == signal.SIGKILL and n_oom_kills > 0:
        return Death(MEMORY, "when memory ran out")
    return Death(CRASH if number in _CRASH_SIGNALS else OUTSIDE, f"by {name}")


def count_oom_kills(
    proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")
) -> int:
    """Return the number of processes that the kernel has killed for memory.

    That is in the control group of this process, or on the whole machine where the
    group does not say; 0 where nothing does.
    """
    for file in (*_group_files(proc, groups), proc / "vmstat"):
        try:
            facts = dict(line.split() for line in file.read_text().splitlines())
            return int(facts["oom_kill"])
        except (OSError, KeyError, ValueError):
            continue
    return 0


def _group_files(proc: Path, groups: Path) -> list[Path]:
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return []
    files = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        inside = path.lstrip("/")
        if not controllers:
            files.append(groups / inside / "memory.events")
        elif "memory" in controllers.split(","):
            files.append(groups / "memory" / inside / "memory.oom_control")
    return files


class Witness(NannyPlugin):
    """Have each nanny say how its worker ended."""

    name = "fairdash-witness"
    idempotent = True  # a scheduler elsewhere outlives several engines

    def setup(self, nanny: Any) -> None:
        """Report the end of this nanny's worker, and of those that follow."""
        oom_kills = count_oom_kills()
        last = None
        # Dask tells a plugin of no end, so its own reaction to one is preceded.
        react: Callable[[int], Any] = nanny._on_worker_exit

        async def report(exit_code: int) -> None:
            nonlocal oom_kills, last
            before = oom_kills
            oom_kills = count_oom_kills()
            # One that died as soon as it had begun has not told its address yet; the
            # nanny then still has that of an earlier worker.
            address = nanny.worker_address
            fact = {
                "nanny": nanny.address,
                "worker": None if address == last else address,
                "exit_code": exit_code,
                "n_oom_kills": oom_kills - before,
            }
            last = address
            nanny.log_event(TOPIC, fact)
            await react(exit_code)

        nanny._on_worker_exit = report


@dataclass
class Deaths:
    """Reports of nannies, until a scheduler asks for one of their workers."""

    # By nanny: the address of its worker, as far as the nanny knew it, and the death.
    _reports: dict[str, list[tuple[str | None, Death]]] = field(default_factory=dict)
    _answers: dict[str, Death] = field(default_factory=dict)  # by address of a worker
    _missed: dict[str, float] = field(default_factory=dict)

    def listen(self, client: Any) -> None:
        """Ask all nannies of a scheduler, present and future, to report here."""
        client.subscribe_topic(TOPIC, lambda event: self.hear(event[1]))
        client.register_plugin(Witness())

    def hear(self, fact: dict[str, Any]) -> None:
        """Take a nanny's report."""
        death = judge(fact["exit_code"], n_oom_kills=fact["n_oom_kills"])
        self._reports.setdefault(fact["nanny"], []).append((fact["worker"], death))

    def why(self, worker: Any) -> Death | None:
        """Return the death of a worker; None while its nanny may still report it.

        A nanny that says nothing has gone with its worker, as when a machine stops.
        """
        if worker.address in self._answers:  # it had several tasks
            return self._answers[worker.address]
        missed = self._missed.setdefault(worker.address, time.monotonic())
        death = self._reported(worker)
        if death is None and time.monotonic() - missed > REPORT_SECONDS:
            death = Death(OUTSIDE, "with its machine")
        if death is not None:
            del self._missed[worker.address]
            self._answers[worker.address] = death
        return death

    def _reported(self, worker: Any) -> Death | None:
        """Take the report of this worker, or one that can be of no other."""
        reports = self._reports.get(worker.nanny, [])
        for report in reports:
            address, death = report
            if address == worker.address:
                reports.remove(report)
                return death
        # A report without an address, or with that of a worker that is accounted for,
        # is of the next worker: see `Witness.setup`.
        for report in reports:
            address, death = report
            if address is None or address in self._answers:
                reports.remove(report)
                return death
        return None
