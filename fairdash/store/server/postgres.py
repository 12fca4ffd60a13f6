"""The database of a server: Postgres, in which each user has a schema.

All homes of a process share the connections of one pool. No connection is ever turned
towards a schema: every statement names its tables in full, so whoever takes the
connection next finds nothing of the one before.
"""

import os
import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any
from weakref import WeakSet

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from fairdash.store._errors import BUSY, StoreError, explaining

BUSY_SECONDS = 10  # to connect, or to wait for a connection of the pool
SLOW_MS = 60_000  # for which writing may wait: files may lie far away
CONNECTIONS = max(3, int(os.environ.get("FAIRDASH_CONNECTIONS") or 6))  # of a process
# A machine that is cut off keeps its locks, and so the claim of its engine, for as long
# as Postgres takes its connection for sound: by default for more than two hours.
# Whoever is cut off knows it first, so that two engines do not overlap.
CUT_OFF = {
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 15_000,  # milliseconds
}
CUT_OFF_THERE = {
    "tcp_keepalives_idle": "15",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
SPARE = 2  # of these for reading: writing waits for files, too
WRITING_LOCK = 0xFA1D01  # advisory lock
ENGINE_LOCK = 0xFA1D02  # advisory lock
# Schemas with the tables of a store, but that of the server itself.
_SCHEMAS = (
    "SELECT space.nspname FROM pg_class AS runs"
    " JOIN pg_namespace AS space ON space.oid = runs.relnamespace"
    " WHERE runs.relname = 'runs' AND runs.relkind = 'r'"
    " AND space.nspname <> current_schema()"
    " AND has_schema_privilege(space.oid, 'USAGE')"
    " AND has_table_privilege(runs.oid, 'SELECT')"
    " AND EXISTS (SELECT FROM pg_class AS trials WHERE trials.relname = 'run_trials'"
    " AND trials.relnamespace = runs.relnamespace)"
)
_AMONG = " AND space.nspname = ANY (CAST(:names AS text[]))"
_IN_ORDER = " ORDER BY space.nspname"


class Pool:
    """The connections of this process to one Postgres, at most `CONNECTIONS`.

    Attributes
    ----------
    engine : Engine
        Whose tables are those of the server itself; `engine_of` a user has others.
    """

    def __init__(self, address: sa.URL) -> None:
        self.engine = _engine(address)
        self._databases: WeakSet[Any] = WeakSet()
        self._writers: dict[str | None, threading.Lock] = {}
        self._writing = threading.BoundedSemaphore(CONNECTIONS - SPARE)

    def engine_of(self, schema: str | None) -> sa.Engine:
        """Return an engine on the same connections for the tables of a schema."""
        if schema is None:
            return self.engine
        return self.engine.execution_options(schema_translate_map={None: schema})

    def open(self, database: object) -> None:
        """Count a database that uses the pool."""
        self._databases.add(database)

    def close(self, database: object) -> None:
        """Close all connections once no database uses them any more."""
        self._databases.discard(database)
        if not self._databases:
            self.engine.dispose()

    @contextmanager
    def turn_to_write(self, schema: str | None) -> Iterator[None]:
        """Wait until this process may take a connection for writing to a schema.

        A schema takes one at a time, and all together leave some for reading: whoever
        waits here waits without a connection. Raises StoreError after `SLOW_MS`.
        """
        # First the schema's lock, then a place among all writers: in one order for all,
        # so that no two wait for each other.
        with ExitStack() as locks:
            writer = self._writers.setdefault(schema, threading.Lock())
            for lock in (writer, self._writing):
                if not lock.acquire(timeout=SLOW_MS / 1000):
                    raise StoreError(BUSY)
                locks.callback(lock.release)
            yield


@cache
def pool(address: sa.URL) -> Pool:
    """Return this process's pool of a Postgres; ValueError for no such address."""
    if address.get_backend_name() != "postgresql":
        raise ValueError(
            f"The database {address.drivername!r} is not supported; FAIRDASH_DATABASE "
            "takes postgresql+psycopg://user@host/name."
        )
    return Pool(address)


def _engine(address: sa.URL) -> sa.Engine:
    try:
        engine = sa.create_engine(
            address.set(drivername="postgresql+psycopg"),
            pool_size=CONNECTIONS,
            max_overflow=0,
            pool_timeout=BUSY_SECONDS,
            pool_pre_ping=True,  # the server may have been started anew
            connect_args={"connect_timeout": BUSY_SECONDS, **CUT_OFF},
        )
    except ImportError as error:
        raise ValueError(
            'Postgres needs its driver: `pip install "fairdash[cluster]"`.'
        ) from error
    sa.event.listen(engine, "connect", _notice_who_is_cut_off)
    return engine


def _notice_who_is_cut_off(connection: Any, _record: object) -> None:
    """Have the server end a connection whose machine has not answered for 30 s."""
    connection.autocommit = True  # a setting ends with its transaction, if that fails
    with connection.cursor() as cursor:
        for name, value in CUT_OFF_THERE.items():
            cursor.execute("SELECT set_config(%s, %s, false)", (name, value))
    connection.autocommit = False


def wait_to_write(connection: sa.Connection, schema: str | None) -> None:
    """Take the lock of the one writer of a schema, until the transaction ends."""
    connection.execute(sa.text(f"SET LOCAL lock_timeout = {SLOW_MS}"))
    lock = sa.func.pg_advisory_xact_lock(WRITING_LOCK, _number(schema))
    connection.execute(sa.select(lock))


class Claim:
    """The right to drive the runs of schemas, held by one connection.

    It ends with the process, or with the connection.
    """

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def take(self, schema: str | None) -> bool:
        """Claim a schema; False where another process has it."""
        lock = sa.func.pg_try_advisory_lock(ENGINE_LOCK, _number(schema))
        with explaining():
            return bool(self._connection.scalar(sa.select(lock)))

    def give_up(self, schema: str | None) -> None:
        """Let another process claim a schema."""
        lock = sa.func.pg_advisory_unlock(ENGINE_LOCK, _number(schema))
        with explaining():
            self._connection.execute(sa.select(lock))

    def check(self) -> None:
        """Raise StoreError when the connection, and so the right, is lost."""
        with explaining():
            self._connection.execute(sa.text("SELECT 1"))


def is_claimed(connection: sa.Connection, schema: str | None) -> bool:
    """Tell whether any process has the claim of a schema."""
    locks = sa.table("pg_locks", *map(sa.column, ("database", "classid", "objid")))
    this_database = sa.text(
        "(SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    unsigned = sa.cast(_number(schema), sa.BigInteger).op("&")(0xFFFFFFFF)
    query = sa.select(locks).where(
        locks.c.database == this_database,
        locks.c.classid == sa.cast(ENGINE_LOCK, postgresql.OID),
        locks.c.objid == sa.cast(unsigned, postgresql.OID),
    )
    return connection.execute(query).first() is not None


def schemas(
    connection: sa.Connection, among: Collection[str] | None = None
) -> list[str]:
    """Return the schemas of users that are there, of some or of all."""
    if among is None:
        return list(connection.scalars(sa.text(_SCHEMAS + _IN_ORDER)))
    query = sa.text(_SCHEMAS + _AMONG + _IN_ORDER)
    return list(connection.scalars(query, {"names": sorted(among)}))


def schemas_with_open_runs(
    connection: sa.Connection,
    terminal: list[str],
    among: Collection[str] | None = None,
) -> list[str]:
    """Return the schemas of users with a run whose status is not ``terminal``.

    ``among`` are those to be asked, by default all.
    """
    if among is not None and not among:
        return []
    names = schemas(connection, among)
    if not names:
        return []
    quote = connection.dialect.identifier_preparer.quote_identifier
    parts = [
        f"SELECT {number} WHERE EXISTS (SELECT FROM {quote(name)}.runs"
        " WHERE status <> ALL (%(terminal)s))"
        for number, name in enumerate(names)
    ]
    query = " UNION ALL ".join(parts)
    rows = connection.exec_driver_sql(query, {"terminal": terminal})
    return [names[number] for number in rows.scalars()]


def _number(schema: str | None) -> Any:
    """Return the second number of an advisory lock, which takes two integers."""
    return sa.func.hashtext(schema or sa.func.current_schema())
