"""Sessions of a server's users, kept where all its replicas see them.

Replicas on one home folder share its files; replicas on one Postgres share a table.
A record is JSON with the moment ``opened``, in seconds since 1970.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import sqlalchemy as sa

from fairdash.store._database import Database

Record: TypeAlias = dict[str, Any]

# Made when a server first needs it: it is no part of the form of a store.
TABLE = sa.Table(
    "sessions",
    sa.MetaData(),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("opened", sa.Float, nullable=False),
    sa.Column("record", sa.Text, nullable=False),
)


class SessionRecords(Protocol):
    """Records of sessions by name."""

    def add(self, name: str, record: Record) -> None:
        """Keep a record under a new name."""

    def get(self, name: str) -> Record | None:
        """Return the record of a name, None if there is none."""

    def delete(self, name: str) -> None:
        """Delete the record of a name, if there is one."""

    def keep(self, first: float, last: float) -> None:
        """Delete all but the sessions opened from ``first`` to ``last``."""


class SessionFiles:
    """A file for each session in a folder, which its owner alone can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, name: str, record: Record) -> None:
        """Keep a record under a new name."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with open(os.open(self._folder / name, flags, 0o600), "w") as file:
            json.dump(record, file)

    def get(self, name: str) -> Record | None:
        """Return the record of a name, None if there is none."""
        try:
            return json.loads((self._folder / name).read_bytes())
        except (FileNotFoundError, ValueError):  # gone, or not yet written
            return None

    def delete(self, name: str) -> None:
        """Delete the record of a name, if there is one."""
        (self._folder / name).unlink(missing_ok=True)

    def keep(self, first: float, last: float) -> None:
        """Delete all but the sessions opened from ``first`` to ``last``.

        A file of an earlier version does not say when it was opened: its own date does.
        """
        for path in self._folder.glob("*"):
            with suppress(FileNotFoundError):
                record = self.get(path.name) or {}
                opened = record.get("opened", path.stat().st_mtime)
                if not first <= opened <= last:
                    path.unlink()


class SessionTable:
    """A row for each session in the database of the server."""

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.writing() as connection:
            TABLE.create(connection, checkfirst=True)

    def add(self, name: str, record: Record) -> None:
        """Keep a record under a new name."""
        row = {"name": name, "opened": record["opened"], "record": json.dumps(record)}
        self._database.execute(sa.insert(TABLE).values(row))

    def get(self, name: str) -> Record | None:
        """Return the record of a name, None if there is none."""
        query = sa.select(TABLE.c.record).where(TABLE.c.name == name)
        rows = self._database.rows(query)
        return json.loads(rows[0]["record"]) if rows else None

    def delete(self, name: str) -> None:
        """Delete the record of a name, if there is one."""
        self._database.execute(sa.delete(TABLE).where(TABLE.c.name == name))

    def keep(self, first: float, last: float) -> None:
        """Delete all but the sessions opened from ``first`` to ``last``."""
        outside = ~TABLE.c.opened.between(first, last)
        self._database.execute(sa.delete(TABLE).where(outside))
