"""Limits of a user who is at several replicas."""

import asyncio
from contextlib import ExitStack, closing

import loops
import pytest

from fairdash.server import limits, peers
from fairdash.server.limits import Limits, RefusedRequest, Uses, Who
from fairdash.server.peers import KIND, Peers
from fairdash.store import StoreError, open_store

ANN = Who("user", "ann")
BOB = Who("user", "bob")
HERE = Who("address", "10.0.0.1")


@pytest.fixture(params=["files", "table"])
def stores(request, home):
    """Stores of two replicas that share a home folder, or a Postgres."""
    homes = [home, home]
    if request.param == "table":
        home = request.getfixturevalue("postgres")
        homes = [home, home.parent / "another machine"]
    with ExitStack() as ends:
        yield [ends.enter_context(closing(open_store(one))) for one in homes]


@pytest.fixture
def clock(monkeypatch):
    """The time that replicas see, which a test may put on."""
    moment = [1000.0]
    monkeypatch.setattr(peers, "monotonic", lambda: moment[0])
    return moment


@pytest.fixture
def replicas(stores, clock):
    return [Replica(store) for store in stores]


class Replica:
    def __init__(self, store):
        self.limits = Limits(1000)
        self.documents = store.documents
        self.peers = Peers(store.documents, self.limits)

    def look(self):
        self.limits.elsewhere = self.peers.exchange(self.limits.uses())


def test_windows_of_a_user_are_counted_at_all_replicas(replicas, monkeypatch):
    monkeypatch.setattr(limits, "WINDOWS", 2)
    here, there = replicas
    with ExitStack() as windows:
        windows.enter_context(here.limits.window([HERE, ANN]))
        windows.enter_context(there.limits.window([HERE, ANN]))
        here.look()
        there.look()
        here.look()
        for replica in replicas:
            with pytest.raises(RefusedRequest, match="Too many windows"):
                windows.enter_context(replica.limits.window([HERE, ANN]))
            with replica.limits.window([HERE, BOB]):
                pass
    here.look()
    there.look()
    with there.limits.window([HERE, ANN]), there.limits.window([HERE, ANN]):
        pass


def test_bytes_of_a_user_are_counted_at_all_replicas(replicas, monkeypatch):
    monkeypatch.setattr(limits, "IN_FLIGHT", 100)
    here, there = replicas
    with here.limits.body([HERE, ANN]) as count:
        count(80)
        here.look()
        there.look()
        with (
            there.limits.body([HERE, ANN]) as more,
            pytest.raises(RefusedRequest, match="Too much is uploaded"),
        ):
            more(30)
        with there.limits.body([HERE, BOB]) as more:
            more(90)


def test_the_address_of_a_browser_is_kept_nowhere(replicas):
    here, _ = replicas
    with here.limits.window([HERE, ANN]):
        here.look()
        (text,) = here.documents.all(KIND).values()
    assert ANN.id in text
    assert HERE.id not in text


def test_a_replica_that_fell_silent_counts_no_more(replicas, clock):
    """By no clock but that of who listens."""
    here, there = replicas
    with here.limits.window([ANN]):
        here.look()
        for _ in range(10):  # nothing changes, and it lives
            there.look()
            assert there.limits.elsewhere.windows[ANN] == 1
            clock[0] += peers.BEAT_SECONDS
            here.look()
        clock[0] += peers.LOST_SECONDS
        there.look()  # its last word is new to who listens
        clock[0] += peers.LOST_SECONDS
        there.look()
        assert there.limits.elsewhere == Uses()
        clock[0] += peers.FORGOTTEN_SECONDS
        there.look()
        assert len(there.documents.all(KIND)) == 1  # its own


def test_a_replica_leaves_nothing_when_it_ends_and_a_store_that_is_away_stops_it_not(
    stores, monkeypatch, caplog
):
    monkeypatch.setattr(peers, "LOOK_SECONDS", 0.01)
    replica = Replica(stores[0])
    replica.limits.elsewhere.windows[ANN] = 5
    write = replica.documents.write

    def fail(*_):
        raise StoreError("The database is away.")

    async def live():
        monkeypatch.setattr(replica.documents, "write", fail)
        async with replica.peers.open():
            while replica.limits.elsewhere.windows[ANN]:
                await asyncio.sleep(0.01)
            monkeypatch.setattr(replica.documents, "write", write)
            while not stores[1].documents.all(KIND):
                await asyncio.sleep(0.01)

    loops.run(live())
    assert stores[1].documents.all(KIND) == {}
    reasons = [line for line in caplog.messages if "The database is away" in line]
    assert len(reasons) == 1
