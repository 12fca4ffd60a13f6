"""One queue for all homes of a server: whose runs are driven, who is next."""

import itertools
import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fairdash.jobs._deaths import Deaths
from fairdash.jobs._driving import Driver, OpenRun
from fairdash.jobs._work import describe
from fairdash.jobs.engine import ENGINE, lacks_room, take
from fairdash.store import Claim, Homes, Store, Unreachable, trouble

SCAN_SECONDS = 0.5  # between looks for homes with open runs
LOOKS = 20  # homes that are looked into in a turn, besides those with news
REST_SECONDS = 30.0  # for which a home is left alone that could not be driven

log = logging.getLogger("fairdash.jobs")


@dataclass
class Home:
    """A home whose runs are driven, and what keeps others from driving them."""

    driver: Driver
    locks: ExitStack
    looked: float = 0.0  # when its store was last asked
    served: int = 0  # which of all stacks its last one was


class Host:
    """Drives the open runs of the server's own home and of its users' homes.

    Workers are shared fairly between homes: whoever has the fewest stacks at workers
    is next, and of these who has waited longest. So a user alone gets all of them.
    What fails in the home of a user stops no other.

    Parameters
    ----------
    server : Store
        Of the server's own home.
    claim : Claim
        The right to drive its runs, which is widened to the homes of users.
    elsewhere : bool
        Whether workers may be on other machines.
    """

    def __init__(
        self, server: Store, claim: Claim, client: Any, *, elsewhere: bool
    ) -> None:
        self.bell = threading.Event()  # rung when a stack has ended: do not sleep on
        self._server = server
        self._claim = claim
        self.client = client
        self._elsewhere = elsewhere
        self.deaths = Deaths()  # of the workers of all homes
        self.ended: Counter[str] = Counter(finished=0, failed=0)  # models, by how
        self._users = Homes(server)
        self._homes = {"": Home(self._driver(server), ExitStack())}
        self._resting: dict[str, float] = {}  # until when
        self._logged: dict[str, str] = {}  # why they rest, as the log says once
        self._tidied: set[str] = set()
        self._scanned = -SCAN_SECONDS
        self._count = itertools.count(1)
        self._users.mark_all()

    @property
    def n_threads(self) -> int:
        """Number of threads that all workers have together."""
        return sum(self.client.nthreads().values())

    @property
    def training(self) -> dict[str, int]:
        """Number of models at workers, by user and run."""
        n_models: dict[str, int] = {}
        for user, home in self._homes.items():
            for run_id, n_of_run in home.driver.training.items():
                n_models[f"{user}/{run_id}"] = n_of_run
        return n_models

    def turn(self) -> bool:
        """Begin, collect, end and give out. True while runs are open."""
        self._take_in()
        open_here = False
        for user in self._due():
            is_open = self._drive(user)
            open_here |= is_open and not user
        self._give_out()
        return open_here or len(self._homes) > 1

    def close(self) -> None:
        """Give up the homes of users."""
        for user in list(self._homes):
            if user:
                self._let_go(user)

    def _driver(self, store: Store) -> Driver:
        return Driver(
            store,
            self.client,
            self.bell,
            self.deaths,
            self.ended,
            elsewhere=self._elsewhere,
        )

    def _take_in(self) -> None:
        """Begin to drive homes that have open runs by now."""
        clock = time.monotonic()
        if clock - self._scanned < SCAN_SECONDS:
            return
        self._scanned = clock
        for user in sorted(self._users.with_open_runs() - self._homes.keys()):
            if clock < self._resting.get(user, 0.0):
                continue
            with self._isolated(user), ExitStack() as locks:
                # Two rights: the folder's lock on this machine, the claim among all.
                lock = take(self._users.home(user) / ENGINE)
                if lock is None:
                    continue  # another process is at it
                locks.callback(lock.close)
                if not self._claim.take(user):
                    continue  # on another machine
                locks.callback(self._claim.give_up, user)
                store = self._users.open(user)
                locks.callback(store.close)
                self._homes[user] = Home(self._driver(store), locks.pop_all())

    def _due(self) -> list[str]:
        """Return whose store to ask in this turn: to ask all may take too long."""
        news = {user for user, home in self._homes.items() if home.driver.has_news}
        quiet = sorted(
            self._homes.keys() - news, key=lambda user: self._homes[user].looked
        )
        return [*news, *quiet[:LOOKS]]

    def _drive(self, user: str) -> bool:
        """Take a turn with the runs of a home; return whether some are open."""
        home = self._homes[user]
        home.looked = time.monotonic()
        if not user:
            return home.driver.turn()
        is_open = False
        with self._isolated(user):
            is_open = home.driver.turn()
            # A run may be queued between these two: then `unmark` says no.
            if not is_open and self._users.unmark(home.driver.store):
                self._tidy(user)
                self._let_go(user)
        return is_open

    def _give_out(self) -> None:
        """Give stacks to workers while a thread is free, a home at a time."""
        # Nothing waits at a worker: a death has one culprit, a cancelled run no queue.
        # Nothing begins whose result would find no room.
        if lacks_room(self._server.home):
            return
        n_at_work = sum(home.driver.n_at_work for home in self._homes.values())
        free = self.n_threads - n_at_work
        while free > 0:
            ready: dict[str, OpenRun] = {}
            for user, home in self._homes.items():
                run = home.driver.next_run()
                if run is not None:
                    ready[user] = run
            if not ready:
                return
            home = min((self._homes[user] for user in ready), key=_turn)
            home.driver.give_out(ready[home.driver.store.user])
            home.served = next(self._count)
            free -= 1

    @contextmanager
    def _isolated(self, user: str) -> Iterator[None]:
        """Go on with the others when the home of a user fails, and let it rest."""
        try:
            yield
        except Unreachable:  # the database of all homes
            raise
        except Exception as error:  # whatever it is, it is of this home
            self._resting[user] = time.monotonic() + REST_SECONDS
            why = trouble(error) or describe(error)
            if self._logged.get(user) != why:
                log.error("the runs of user %s rest: %s", user, why)
                self._logged[user] = why
            if user in self._homes:
                self._homes[user].driver.stop()
                self._let_go(user)

    def _tidy(self, user: str) -> None:
        """Clean up once in the life of an engine, as it does in the server's home."""
        if user not in self._tidied:
            self._tidied.add(user)
            self._homes[user].driver.store.tidy()

    def _let_go(self, user: str) -> None:
        with suppress(OSError):  # of a claim that went with its connection
            self._homes.pop(user).locks.close()


def _turn(home: Home) -> tuple[int, int]:
    """Return the key that orders homes: stacks at workers, then the last turn."""
    return home.driver.n_at_work, home.served
