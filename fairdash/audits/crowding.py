"""How much longer training takes on this machine at this moment than on an idle one.

Workers train at the lowest priority, so that pages go before them: beside processes
that keep all processors busy they hardly get on. What they get is the share of time
that the processors are idle, or at work for processes as polite as they are.
"""

import os
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

COUNTS = Path("/proc/stat")  # of Linux
MOST = 20.0  # times: even a busy machine leaves gaps
_LONGEST, _SHORTEST = 60.0, 3.0  # seconds over which a share of time is measured
_FIRST = 0.1  # likewise, where nothing was counted lately
_LEAST_NICE = 10  # from here on a process takes only what others leave


@dataclass(frozen=True)
class Ticks:
    """The time that all processors have worked since the machine started, at a moment.

    Attributes
    ----------
    at : float
        Seconds of a clock that only grows.
    free : int
        Ticks of the clock spent idle or for polite processes.
    total : int
    """

    at: float
    free: int
    total: int

    @classmethod
    def now(cls) -> "Ticks | None":
        """Return the ticks until now; None where the system does not count them."""
        try:
            with COUNTS.open() as file:
                counts = [int(count) for count in file.readline().split()[1:9]]
            _, nice, _, idle, waiting, *_ = counts
        except (OSError, ValueError):
            return None
        return cls(time.monotonic(), nice + idle + waiting, sum(counts))


def crowd(n_workers: int) -> float:
    """Return how many times as long workers take as on idle processors.

    Examples
    --------
    >>> 1.0 <= crowd(1) <= MOST
    True
    """
    n_processors = os.cpu_count() or 1
    polite = int(os.environ.get("FAIRDASH_NICE") or 19) >= _LEAST_NICE
    free = free_share()
    rest = n_processors * free
    if not polite:  # shared alike with whatever else runs
        busy = n_processors - rest
        rest = max(rest, n_processors * n_workers / (busy + n_workers))
    return min(MOST, max(1.0, n_workers / max(rest, 1e-9)))


def free_share() -> float:
    """Return the share of their time that processors had for training, lately."""
    return _WATCH.free_share()


class Watch:
    """Remembers counts of the last minute, so that asking rarely has to wait."""

    def __init__(self) -> None:
        self._seen: deque[Ticks] = deque()
        self._share = 1.0

    def free_share(self) -> float:
        """Return the share of time that was free in the last minute or since asked."""
        ticks = Ticks.now()
        if ticks is None:
            load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
            return max(0.0, 1 - load / (os.cpu_count() or 1))
        while self._seen and ticks.at - self._seen[0].at > _LONGEST:
            self._seen.popleft()
        if self._seen and ticks.at - self._seen[-1].at < _SHORTEST:
            return self._share
        if not self._seen:
            self._seen.append(ticks)
            time.sleep(_FIRST)
            ticks = Ticks.now() or ticks
        before = self._seen[0]
        self._seen.append(ticks)
        if ticks.total > before.total:
            self._share = (ticks.free - before.free) / (ticks.total - before.total)
        return self._share


_WATCH = Watch()
