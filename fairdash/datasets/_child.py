"""A process of its own: it has limits, can be stopped, and lets pages go first."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

MOST_MEMORY = 4 << 30  # bytes beyond what the process has before it begins
MOST_SECONDS = 900  # of computing
POLITE = 5  # niceness: pages go first
_LOOK = 0.2  # seconds between two looks at the process

Watch = Callable[[float], None]


def ask(module: str, task: bytes, watch: Watch) -> bytes | None:
    """Run ``serve()`` of a module in a process; return what it writes.

    ``task`` is what it reads from standard input. ``watch`` is called with the seconds
    that have passed, several times a second; what it raises ends the process. None if
    that was ended by something else.
    """
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", f"from {module} import serve; serve()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    sent: bytes | None = task
    with process:
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    answer, _ = process.communicate(sent, timeout=_LOOK)
                    break
                sent = None  # it has it
                watch(time.monotonic() - began)
        finally:
            process.kill()
    return answer or None


def limit(memory: int, seconds: int) -> None:
    """Bound what this process may take from now on, and let others go first."""
    os.nice(POLITE)
    with suppress(OSError):  # where there is no /proc, memory is not limited
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + memory,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
