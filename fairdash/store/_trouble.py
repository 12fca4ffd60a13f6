"""What keeps a store from working, said in one sentence with the way out."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from fairdash.store.server import postgres

# by SQLite's primary result code; the page shows them, so they name no folder
_AWAY = (
    "Put a backup of it in its place, or move it away: a new one begins, and models "
    "are found again when the same table is added and the same settings are asked for."
)
DAMAGED = f"The database of this store (store.db) is damaged. {_AWAY}"
READ_ONLY = (
    "This store can be read but not written. Give the user that runs fairdash the "
    "right to write, or name another home folder."
)
_TROUBLE = {
    sqlite3.SQLITE_BUSY: "Another program keeps the database of this store (store.db) "
    "to itself. Try again in a moment, or end that program.",
    sqlite3.SQLITE_FULL: "The disk of this store is full, and nothing more is kept. "
    "Make room on it; what was finished before stands.",
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
}
_BY_ERRNO = {
    errno.ENOSPC: sqlite3.SQLITE_FULL,
    errno.EDQUOT: sqlite3.SQLITE_FULL,
    errno.EFBIG: sqlite3.SQLITE_FULL,
    errno.EROFS: sqlite3.SQLITE_READONLY,
    errno.EACCES: sqlite3.SQLITE_READONLY,
}


class StoreError(OSError):
    """The store cannot be used as it is: why, and the way out."""


class Unreachable(StoreError):
    """The server of the database does not answer; it may be on its way back."""


def trouble(error: BaseException) -> str | None:
    """Return what keeps the store from working, one sentence, or None if it is not it.

    A disk that is full or read-only says so by an `OSError` of whoever writes.
    """
    if isinstance(error, StoreError):
        return str(error)
    code = _BY_ERRNO.get(error.errno or 0) if isinstance(error, OSError) else None
    return None if code is None else _TROUBLE[code]


@contextmanager
def explaining() -> Iterator[None]:
    """Say what a database that does not work needs, instead of what it executed."""
    try:
        yield
    except (sa.exc.DatabaseError, sqlite3.DatabaseError) as error:
        cause = getattr(error, "orig", error)
        text = _sentence(error, cause)
        if text is None and isinstance(
            error, sa.exc.IntegrityError | sa.exc.ProgrammingError
        ):
            raise
        other = (
            f"The database of this store does not work ({type(cause).__name__}). Run "
            "`fairdash store check`, which says what is wrong with it."
        )
        kind = Unreachable if text == postgres.AWAY else StoreError
        raise kind(text or other) from error


def _sentence(error: Exception, cause: Any) -> str | None:
    """Return what a driver raised as a sentence, None for what has none."""
    if isinstance(cause, sqlite3.Error):
        return _TROUBLE.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF)
    return postgres.sentence(error, cause)
