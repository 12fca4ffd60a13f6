"""Places for logins at work, which addresses take in turns."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

from fairdash.server.limits import RefusedRequest

LOGINS = 8  # of an address, at work and waiting
LOGINS_AT_ONCE = 32  # at work, of all addresses
LOGINS_WAITING = 256  # for one of these places
WAIT_SECONDS = 5  # for a place
RETRY_SECONDS = 2  # after which one that was refused may try again
Place: TypeAlias = "asyncio.Future[None]"  # done once it is given
_WORDS = "Too many logins at once. Try again in a few seconds."


class Places:
    """The places of one step of a login, in this process.

    Where all are taken, who comes waits for a while. The addresses that wait have a
    place in turns: a stranger who sends many requests waits for each of them, and does
    not keep out others. Where too many wait, the address with most of them loses its
    last.
    """

    def __init__(self) -> None:
        self._at_work: Counter[str] = Counter()
        # the address whose turn it is comes first
        self._waiting: dict[str, deque[Place]] = {}

    @asynccontextmanager
    async def take(self, address: str) -> AsyncIterator[None]:
        """Hold a place for an address; raises Refused where it gets none."""
        waiting = len(self._waiting.get(address, ()))
        if self._at_work[address] + waiting >= LOGINS:
            raise RefusedRequest(429, _WORDS, RETRY_SECONDS)
        place = self._ask(address)
        try:
            await asyncio.wait({place}, timeout=WAIT_SECONDS)
            if not _is_given(place):
                raise RefusedRequest(503, _WORDS, RETRY_SECONDS)
            yield
        finally:
            self._leave(address, place)

    def _ask(self, address: str) -> Place:
        """Return a place that is given now, or in the turn of its address."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(address, deque()).append(place)
        self._give()
        if sum(map(len, self._waiting.values())) > LOGINS_WAITING:
            self._drop_one()
        return place

    def _give(self) -> None:
        """Give a free place to the address whose turn it is."""
        if not self._waiting or self._at_work.total() >= LOGINS_AT_ONCE:
            return
        address = next(iter(self._waiting))
        places = self._waiting.pop(address)
        places.popleft().set_result(None)
        self._at_work[address] += 1
        if places:
            self._waiting[address] = places  # behind the others

    def _drop_one(self) -> None:
        address = max(self._waiting, key=lambda name: len(self._waiting[name]))
        place = self._waiting[address][-1]
        self._forget(address, place)
        place.cancel()

    def _leave(self, address: str, place: Place) -> None:
        if _is_given(place):
            self._at_work -= Counter({address: 1})  # which forgets who has none
            self._give()
        elif not place.cancelled():
            self._forget(address, place)

    def _forget(self, address: str, place: Place) -> None:
        places = self._waiting[address]
        places.remove(place)
        if not places:
            del self._waiting[address]


def _is_given(place: Place) -> bool:
    return place.done() and not place.cancelled()
