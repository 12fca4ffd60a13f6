"""The database of a server: Postgres, in which each user has a schema."""

from typing import Any

import sqlalchemy as sa

BUSY_SECONDS = 10.0  # to connect
SLOW_MS = 60_000  # for which writing may wait: files may lie far away
WRITING_LOCK, ENGINE_LOCK = 0xFA1D01, 0xFA1D02  # advisory locks
_SCHEMA = sa.func.hashtext(sa.func.current_schema())  # each user has one

SENTENCES = {  # by the start of SQLSTATE
    "53100": "The disk of this store is full, and nothing more is kept. "
    "Make room on it; what was finished before stands.",
    "55P03": "Another program keeps the database of this store to itself. Try again in "
    "a moment, or end that program.",
    "25006": "The database of this store can be read but not written. Connect to the "
    "server that can be written.",
    "42501": "The login of FAIRDASH_DATABASE may not use this database. Give it the "
    "right to create tables.",
}
AWAY = (
    "The database of this store is not reached. See that its server runs, and that "
    "FAIRDASH_DATABASE is its address, a login and a database that exist."
)


def sentence(error: Exception, cause: Any) -> str | None:
    """Return what a driver raised as a sentence, None for what has none."""
    state = getattr(cause, "sqlstate", None) or ""
    for begin, text in SENTENCES.items():
        if state.startswith(begin):
            return text
    # 08: no connection, 57P: the server ends; without a state it never answered
    away = state[:2] == "08" or state[:3] == "57P" or not state
    return AWAY if away and isinstance(error, sa.exc.OperationalError) else None


def connect(address: sa.URL) -> sa.Engine:
    """Return the engine of a Postgres; ValueError for what is no such address."""
    if address.get_backend_name() != "postgresql":
        raise ValueError(
            f"The database {address.drivername!r} is not supported; FAIRDASH_DATABASE "
            "takes postgresql+psycopg://user@host/name."
        )
    try:
        return sa.create_engine(
            address.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,  # the server may have been started anew
            connect_args={"connect_timeout": int(BUSY_SECONDS)},
        )
    except ImportError as error:
        raise ValueError(
            'Postgres needs its driver: `pip install "fairdash[cluster]"`.'
        ) from error


def wait_to_write(connection: sa.Connection) -> None:
    """Take the lock of the one writer, until the transaction ends."""
    connection.execute(sa.text(f"SET LOCAL lock_timeout = {SLOW_MS}"))
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(WRITING_LOCK, _SCHEMA)))


def take_engine_lock(connection: sa.Connection) -> bool:
    """Take the lock of the one engine, for as long as the connection lives."""
    lock = sa.func.pg_try_advisory_lock(ENGINE_LOCK, _SCHEMA)
    return bool(connection.execute(sa.select(lock)).scalar())
