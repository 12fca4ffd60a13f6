"""What replicas of a server tell one another: how much each user has open at them.

Limits are for a user, whose browsers may be at several replicas. Each replica writes
its counts where all see them (`fairdash.store.Documents`), and reads those of the
others, once a second. Between two looks a user may exceed a limit by what the others
have let in meanwhile.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar
from uuid import uuid4

from fairdash.server.limits import Limits, Uses, Who
from fairdash.store import Documents, trouble

KIND = "replicas"
LOOK_SECONDS = 1.0
BEAT_SECONDS = 5.0  # after which counts that did not change are written again
LOST_SECONDS = 20.0  # after which a replica that wrote nothing counts no more
FORGOTTEN_SECONDS = 3600.0  # after which its counts are deleted
log = logging.getLogger("fairdash")
T = TypeVar("T")


@dataclass
class _Heard:
    """The last words of another replica, and when they were heard first."""

    text: str
    since: float


class Peers:
    """Keeps the limits of this replica informed of the others.

    Whether a replica lives is told by whether its words change, since clocks of
    machines differ.
    """

    def __init__(self, documents: Documents, limits: Limits) -> None:
        self._documents = documents
        self._limits = limits
        self._name = uuid4().hex
        self._heard: dict[str, _Heard] = {}
        # One thread, so that what is still being told is told before it is deleted.
        self._thread = ThreadPoolExecutor(1, "peers")
        self._words: dict[str, dict[str, int]] = {}
        self._wrote = -BEAT_SECONDS
        self._n_beats = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Tell and listen for as long as the app is served."""
        telling = asyncio.create_task(self._go_on())
        try:
            yield
        finally:
            telling.cancel()
            await asyncio.wait({telling})
            try:
                await self._aside(self._documents.delete, KIND, self._name)
            except OSError as error:
                words = "what this replica has told stays for a while: %s"
                log.error(words, trouble(error) or error)
            self._thread.shutdown()

    async def _go_on(self) -> None:
        reason = ""
        while True:
            try:
                elsewhere = await self._aside(self.exchange, self._limits.uses())
                reason = ""
            except OSError as error:
                elsewhere = Uses()
                before = reason
                reason = trouble(error) or str(error)
                if reason != before:  # once, not each second
                    log.error("limits count for this replica alone: %s", reason)
            self._limits.elsewhere = elsewhere
            await asyncio.sleep(LOOK_SECONDS)

    async def _aside(self, work: Callable[..., T], *arguments: object) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, work, *arguments)

    def exchange(self, uses: Uses) -> Uses:
        """Tell the others what is used here; return what is used there."""
        self._tell(uses)
        texts = self._documents.all(KIND)
        texts.pop(self._name, None)
        elsewhere = Uses()
        clock = monotonic()
        for name, text in texts.items():
            heard = self._heard.get(name)
            if heard is None or heard.text != text:
                heard = _Heard(text, clock)
                self._heard[name] = heard
            silent = clock - heard.since
            if silent < LOST_SECONDS:
                elsewhere.add(_read(text))
            elif silent > FORGOTTEN_SECONDS:
                self._documents.delete(KIND, name)
        for name in self._heard.keys() - texts.keys():
            del self._heard[name]
        return elsewhere

    def _tell(self, uses: Uses) -> None:
        words = {
            "windows": _by_user(uses.windows),
            "in_flight": _by_user(uses.in_flight),
        }
        is_due = monotonic() - self._wrote >= BEAT_SECONDS
        if words == self._words and not is_due:
            return
        self._n_beats += 1
        text = json.dumps({"beat": self._n_beats, **words})
        self._documents.write(KIND, self._name, text)
        self._words = words
        self._wrote = monotonic()


def _by_user(counts: Counter[Who]) -> dict[str, int]:
    """Return the counts of users; the addresses of browsers are kept nowhere."""
    return {who.id: n for who, n in counts.items() if who.kind == "user"}


def _read(text: str) -> Uses:
    words = json.loads(text)
    windows, in_flight = (
        Counter({Who("user", user): n for user, n in words[kind].items()})
        for kind in ("windows", "in_flight")
    )
    return Uses(windows, in_flight)
