"""The home folders of one server: which of its users have open runs."""

import sqlite3
import time
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from pathlib import Path

import sqlalchemy as sa

from fairdash.store._errors import explaining
from fairdash.store._files import make_folder
from fairdash.store._records import TERMINAL, Queue
from fairdash.store._store import Store, open_store
from fairdash.store.server import postgres
from fairdash.store.server.users import USERS, server_of

MARKS = "waiting"  # of the server: a file or a row for each user with open runs
ALL_SECONDS = 60.0  # between two looks into all schemas
_TERMINAL_SQL = ", ".join(f"'{status}'" for status in sorted(TERMINAL))
_OPEN = f"SELECT 1 FROM runs WHERE status NOT IN ({_TERMINAL_SQL}) LIMIT 1"


class Homes:
    """The homes of a server's users; ``server`` is the store of its own home.

    They are too many to be asked again and again, be they files or schemas (of 300 one
    look takes .2 s): whoever queues a run leaves a mark beside the server's own home,
    which the engine takes away once no run is open. Schemas without a mark are looked
    at once a minute: an earlier version, which leaves none, may serve them too.
    """

    def __init__(self, server: Store) -> None:
        self._server = server
        self._users: set[str] = set()  # of the last look
        self._looked_into_all = time.monotonic()

    def home(self, user: str) -> Path:
        """Return the home folder of a user."""
        return self._server.root / USERS / user

    def open(self, user: str) -> Store:
        """Open the store of a user's home."""
        return open_store(self.home(user))

    def users(self) -> list[str]:
        """Return all users that have a home; none where the server is a user's home."""
        database = self._server.database
        if self._server.user or database.schema is not None:
            return []
        if database.is_sqlite:
            files = self._server.root.glob(f"{USERS}/*/store.db")
            names = [file.parent.name for file in files]
        else:
            with database.reading() as connection:
                names = postgres.schemas(connection)
        return sorted(name for name in names if self._is_user(name))

    def with_open_runs(self) -> set[str]:
        """Return the users that may have open runs."""
        database = self._server.database
        if database.is_sqlite:
            marked = {path.name for path in self._marks().glob("[!.]*")}
            return {user for user in marked if self.home(user).is_dir()}
        if database.schema is not None:
            return set()  # no server: a folder that somebody chose, with its schema
        if time.monotonic() - self._looked_into_all > ALL_SECONDS:
            self.mark_all()
        names = self._server.documents.all(MARKS).keys()
        # Where a schema was dropped meanwhile, the users of the last look stay.
        with suppress(sa.exc.ProgrammingError):
            self._users = self._with_open_schemas(names)
        return self._users

    def queue(self) -> Queue:
        """Return how many runs, and models of them, are not over in all homes.

        A home that cannot be read counts none; the engine logs why.
        """
        queue = self._server.queue()
        for user in self.with_open_runs():
            with suppress(OSError, ValueError), closing(self.open(user)) as home:
                queue += home.queue()
        return queue

    @staticmethod
    def mark(store: Store) -> None:
        """Let the engine find the open runs of a user's home."""
        if not store.user:
            return
        if store.database.is_sqlite:
            _make(store.root / MARKS / store.user)
        else:
            with closing(open_store(store.root)) as server:
                _mark(server, store.user)

    def mark_all(self) -> None:
        """Look into all homes, and mark those whose mark was lost or never made."""
        database = self._server.database
        if not database.is_sqlite:
            self._looked_into_all = time.monotonic()
            if database.schema is None and not self._server.user:
                for user in self._with_open_schemas():
                    _mark(self._server, user)
            return
        for file in self._server.root.glob(f"{USERS}/*/store.db"):
            if _may_have_open_runs(file):
                _make(self._marks() / file.parent.name)

    def unmark(self, store: Store) -> bool:
        """Take a home's mark away, and tell whether no run of it is open.

        In this order: a run that is queued meanwhile is seen, or marked again.
        """
        if store.database.is_sqlite:
            (self._marks() / store.user).unlink(missing_ok=True)
        else:
            self._server.documents.delete(MARKS, store.user)
        if store.open_runs():
            self.mark(store)
            return False
        return True

    def drop_copies(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Delete what this machine has copied of an object store and is deleted there.

        An engine does so on its machine; other machines read and show pages as well.
        Between two homes ``stopped`` is asked whether to end.
        """
        if self._server.files.away is None:
            return
        self._server.tidy()
        for folder in sorted(self._server.root.glob(f"{USERS}/*")):
            if stopped():
                return
            if self._is_user(folder.name):
                with closing(self.open(folder.name)) as store:
                    store.tidy()

    def _marks(self) -> Path:
        return self._server.root / MARKS

    def _with_open_schemas(self, among: Collection[str] | None = None) -> set[str]:
        """Return the users whose schemas have open runs, of some or of all."""
        with explaining(), self._server.database.reading() as connection:
            names = postgres.schemas_with_open_runs(connection, sorted(TERMINAL), among)
        return {name for name in names if self._is_user(name)}

    def _is_user(self, name: str) -> bool:
        return server_of(self.home(name)) == self._server.root


def _mark(server: Store, user: str) -> None:
    if server.documents.get(MARKS, user) is None:
        server.documents.write(MARKS, user, "")


def _make(path: Path) -> None:
    if not path.exists():
        make_folder(path.parent)
        path.touch(mode=0o600)


def _may_have_open_runs(file: Path) -> bool:
    """Return whether a home's database has open runs, or cannot be asked."""
    # Read-only and without a `Database`, which would make its tables current.
    address = f"{file.resolve().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as link:
            return link.execute(_OPEN).fetchone() is not None
    except sqlite3.Error:
        return True  # whoever opens it says what is wrong
