"""Memory of processes and of all below them, shared pages shared out."""

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

LOOK_SECONDS = 0.2


def family(*roots: int) -> set[int]:
    """Return the ids of processes and of all that descend from them."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            state = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(state[1])
    processes = set(roots)
    while (
        more := {pid for pid, parent in parents.items() if parent in processes}
        - processes
    ):
        processes |= more
    return processes


def memory(processes: Iterable[int]) -> int:
    """Return the bytes of processes, shared pages shared out."""
    total = 0
    for process in processes:
        with suppress(OSError):
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += 1024 * int(line.split()[1])
    return total


class Watch:
    """Looks at the memory of processes all the time, in a thread of its own.

    Parameters
    ----------
    roots : callable
        Returns the processes whose families are summed, such as may have come since.
    """

    def __init__(self, roots: Callable[[], list[int]]) -> None:
        self._roots = roots
        self._peak = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def now(self) -> int:
        """Return the bytes at this moment."""
        return memory(family(*self._roots()))

    def begin(self) -> None:
        """Forget the peak so far."""
        self._peak = 0

    def peak(self) -> int:
        """Return the most bytes seen since `begin`."""
        return max(self._peak, self.now())

    def _look(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            seen = self.now()  # takes a while, in which the peak may be forgotten
            self._peak = max(self._peak, seen)
