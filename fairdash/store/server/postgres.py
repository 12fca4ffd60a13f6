"""The database of a server: Postgres, in which each user has a schema."""

import sqlalchemy as sa

BUSY_SECONDS = 10  # to connect
SLOW_MS = 60_000  # for which writing may wait: files may lie far away
WRITING_LOCK, ENGINE_LOCK = 0xFA1D01, 0xFA1D02  # advisory locks
_SCHEMA = sa.func.hashtext(sa.func.current_schema())  # each user has one


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
            connect_args={"connect_timeout": BUSY_SECONDS},
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
