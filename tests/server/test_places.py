"""Places for logins at work: who waits for one, in which order, and who gets none."""

import asyncio
from collections import Counter

import loops
import pytest

from fairdash.server import places
from fairdash.server.limits import RefusedRequest
from fairdash.server.places import Places


class Logins:
    """Logins at a few places, which end when they are told."""

    def __init__(self):
        self.places, self.over = Places(), asyncio.Event()
        self.order, self.tasks = [], []

    async def come(self, *addresses):
        """Have these addresses come, one after the other."""
        for address in addresses:
            self.tasks.append(asyncio.create_task(self._log_in(address)))
            await asyncio.sleep(0)

    async def end(self):
        """Let all end; return how many of each address were refused."""
        self.over.set()
        outcomes = await asyncio.gather(*self.tasks, return_exceptions=True)
        return Counter(outcome for outcome in outcomes if isinstance(outcome, tuple))

    async def _log_in(self, address):
        try:
            async with self.places.take(address):
                self.order.append(address)
                await self.over.wait()
        except RefusedRequest as refusal:
            return address, refusal.status
        return None


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(places, "LOGINS_AT_ONCE", 2)
    monkeypatch.setattr(places, "LOGINS_WAITING", 6)


def run(scene):
    """Run a scene within seconds, in a loop of its own."""
    loops.run(asyncio.wait_for(scene, 20))


def test_addresses_have_a_place_in_turns(few):
    async def scene():
        logins = Logins()
        await logins.come(*"aaaaa", "bob", "b")
        await asyncio.sleep(0.01)
        assert logins.order == ["a", "a"]
        assert await logins.end() == {}
        assert logins.order == ["a", "a", "a", "bob", "b", "a", "a"]

    run(scene())


def test_an_address_loses_its_last_where_too_many_wait(few):
    async def scene():
        logins = Logins()
        await logins.come("a", "b", *"aaaaaa", "bob", "c")
        await asyncio.sleep(0.01)
        assert await logins.end() == {("a", 503): 2}
        assert {"bob", "c"} < set(logins.order)

    run(scene())


def test_one_address_has_few_at_work_and_waiting(few):
    async def scene():
        logins = Logins()
        await logins.come(*["a"] * (places.LOGINS + 3))
        await asyncio.sleep(0.01)
        assert await logins.end() == {("a", 429): 3}
        await logins.come("a")  # its places are free again
        assert (await logins.end())["a", 429] == 3

    run(scene())


def test_who_waits_too_long_is_refused_and_takes_no_place(few, monkeypatch):
    monkeypatch.setattr(places, "WAIT_SECONDS", 0.05)

    async def scene():
        logins = Logins()
        await logins.come("a", "b", "c", "c")
        await asyncio.sleep(0.2)
        assert await logins.end() == {("c", 503): 2}
        assert logins.order == ["a", "b"]

    run(scene())


def test_who_is_cancelled_gives_its_place_to_the_next(few):
    async def scene():
        logins = Logins()
        await logins.come("a", "b", "waits", "c", "d")
        await asyncio.sleep(0.01)
        works, _, waits, next_one, _ = logins.tasks
        waits.cancel()
        await asyncio.sleep(0.01)
        works.cancel()
        next_one.cancel()  # while it waits, or once the place is given to it
        await asyncio.sleep(0.01)
        assert logins.order == ["a", "b", "d"]
        logins.over.set()
        await asyncio.gather(*logins.tasks, return_exceptions=True)
        logins.over.clear()
        await logins.come("e", "f", "g")
        await asyncio.sleep(0.01)
        assert logins.order[3:] == ["e", "f"]
        assert await logins.end() == {}

    run(scene())
