"""Errors of a store, each said in one sentence with the way out."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

# pages show these, so they name no folder
DAMAGED = (
    "The database of this store (store.db) is damaged. Put a backup of it in its "
    "place, or move it away: then a new one begins. It finds models again when the "
    "same table is added and the same settings are trained."
)
READ_ONLY = (
    "This store can be read but not written. Give the user that runs fairdash the "
    "right to write, or name another home folder."
)
FULL = (
    "The disk of this store is full, and nothing more is kept. Make room on it; what "
    "was finished before stands."
)
BUSY = (
    "Another program keeps the database of this store to itself. Try again in a "
    "moment, or end that program."
)
AWAY = (
    "The database of this store is not reached. See that its server runs, and that "
    "FAIRDASH_DATABASE is its address, a login and a database that exist."
)
TOO_MANY = (
    "The database of this store takes no more connections. Try again in a moment. If "
    "this lasts, raise max_connections of Postgres, or lower FAIRDASH_CONNECTIONS."
)
ALL_BUSY = (
    "All connections of this process to the database of this store are busy. Try again "
    "in a moment. If this lasts, raise FAIRDASH_CONNECTIONS."
)
HALF_BACKUP = (
    "This folder holds half a backup: `fairdash store backup` has not come to its end. "
    "Let it make the backup into this folder again, or name another home folder."
)
_BY_CODE = {  # SQLite's primary result code, or the SQLSTATE of Postgres
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
    "53100": FULL,
    "55P03": BUSY,
    "25006": READ_ONLY,
    "42501": READ_ONLY,
}
# A server that refuses to connect sends no SQLSTATE, only words.
_REFUSALS = ("too many clients", "connection slots", "too many connections")
_BY_ERRNO = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EFBIG: FULL,
    errno.EROFS: READ_ONLY,
    errno.EACCES: READ_ONLY,
}


class StoreError(OSError):
    """The store cannot be used as it is: why, and the way out."""


class Unreachable(StoreError):
    """The database cannot be asked now; it may be in a moment."""


def trouble(error: BaseException) -> str | None:
    """Return the trouble of the store in one sentence, None if it has no part in it.

    A disk that is full or read-only says so by an `OSError` of whoever writes.
    """
    if isinstance(error, StoreError):
        return str(error)
    if isinstance(error, OSError):
        return _BY_ERRNO.get(error.errno or 0)
    return None


@contextmanager
def explaining() -> Iterator[None]:
    """Say what a database that does not work needs, instead of what it executed."""
    try:
        yield
    except UnicodeDecodeError as error:  # SQLite quotes what it cannot read
        raise StoreError(DAMAGED) from error
    except sa.exc.TimeoutError as error:  # of the pool
        raise Unreachable(ALL_BUSY) from error
    except (sa.exc.DatabaseError, sqlite3.DatabaseError) as error:
        cause = getattr(error, "orig", error)
        state = getattr(cause, "sqlstate", None)
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        text = _BY_CODE.get(state or code)
        if text is not None:
            raise StoreError(text) from error
        if "decode to UTF-8" in str(cause):  # SQLite has no code for it
            raise StoreError(DAMAGED) from error
        if isinstance(error, sa.exc.IntegrityError | sa.exc.ProgrammingError):
            raise
        # 08: no connection, 57P: the server ends. Without a state it never answered.
        lost = not state or state.startswith(("08", "57P"))
        if lost and isinstance(error, sa.exc.OperationalError) and not code:
            refused = any(words in str(cause) for words in _REFUSALS)
            raise Unreachable(TOO_MANY if refused else AWAY) from error
        raise StoreError(
            f"The database of this store does not work ({type(cause).__name__})."
        ) from error
