"""Small texts that are replaced at once: drafts of roles, monitors, what replicas say.

In a home whose database is a file each is a file beside it. Machines that share a
Postgres need not share a folder: there they are rows of a table.
"""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import sqlalchemy as sa

from fairdash.store._database import Database
from fairdash.store._files import write_file

DRAFTS = "drafts"
MONITORS = "monitors"
KEPT = (DRAFTS, MONITORS)  # kinds that a backup copies

# Made when it is first written to: it is no part of the form of a store, which earlier
# versions open as well.
TABLE = sa.Table(
    "documents",
    sa.MetaData(),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("written", sa.Float, nullable=False),
)


class Documents(Protocol):
    """Texts by kind and name, both of which can be names of files."""

    def get(self, kind: str, name: str) -> str | None:
        """Return a text, None if there is none."""

    def all(self, kind: str) -> dict[str, str]:
        """Return all texts of a kind, by name and in its order."""

    def write(self, kind: str, name: str, text: str) -> None:
        """Keep a text in place of the one before."""

    def delete(self, kind: str, name: str) -> None:
        """Delete a text; nothing happens if there is none."""


class DocumentFiles:
    """A file for each text, in a folder for each kind."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def get(self, kind: str, name: str) -> str | None:
        """Return a text, None if there is none."""
        try:
            return self._path(kind, name).read_text()
        except FileNotFoundError:
            return None

    def all(self, kind: str) -> dict[str, str]:
        """Return all texts of a kind, by name and in its order."""
        texts = {}
        for path in sorted((self._home / kind).glob("[!.]*.json")):
            text = self.get(kind, path.stem)
            if text is not None:  # it was deleted meanwhile
                texts[path.stem] = text
        return texts

    def write(self, kind: str, name: str, text: str) -> None:
        """Keep a text in place of the one before."""
        write_file(self._path(kind, name), text)

    def delete(self, kind: str, name: str) -> None:
        """Delete a text; nothing happens if there is none."""
        self._path(kind, name).unlink(missing_ok=True)

    def _path(self, kind: str, name: str) -> Path:
        return self._home / kind / f"{name}.json"


class DocumentTable:
    """A row for each text in a Postgres.

    Earlier versions kept files there too. Those that this machine has become rows, and
    give way to a row that is there already.
    """

    def __init__(self, database: Database, files: DocumentFiles) -> None:
        self._database = database
        self._files = files
        self._is_made = False
        self._has_moved = False

    def get(self, kind: str, name: str) -> str | None:
        """Return a text, None if there is none."""
        is_it = (TABLE.c.kind == kind) & (TABLE.c.name == name)
        return self._texts(is_it).get(name)

    def all(self, kind: str) -> dict[str, str]:
        """Return all texts of a kind, by name and in its order."""
        return self._texts(TABLE.c.kind == kind)

    def write(self, kind: str, name: str, text: str) -> None:
        """Keep a text in place of the one before."""
        self._move()
        self._keep([_row(kind, name, text)], update=["text", "written"])

    def delete(self, kind: str, name: str) -> None:
        """Delete a text; nothing happens if there is none."""
        if self.get(kind, name) is not None:
            is_it = (TABLE.c.kind == kind) & (TABLE.c.name == name)
            self._database.execute(sa.delete(TABLE).where(is_it))

    def _texts(self, condition: sa.ColumnElement[bool]) -> dict[str, str]:
        self._move()
        if not self._is_made:
            with self._database.reading() as connection:
                inspector = sa.inspect(connection)
                self._is_made = inspector.has_table(
                    TABLE.name, schema=self._database.schema
                )
        if not self._is_made:
            return {}
        query = sa.select(TABLE.c.name, TABLE.c.text).where(condition)
        rows = self._database.rows(query.order_by(TABLE.c.name))
        return {row["name"]: row["text"] for row in rows}

    def _keep(self, rows: list[dict[str, Any]], update: Iterable[str] = ()) -> None:
        with self._database.writing() as connection:
            if not self._is_made:
                TABLE.create(connection, checkfirst=True)
            self._database.upsert(connection, TABLE, rows, update=update)
        self._is_made = True

    def _move(self) -> None:
        """Make rows of the files that an earlier version has left on this machine."""
        if self._has_moved:
            return
        for kind in KEPT:
            texts = self._files.all(kind)
            if not texts:
                continue
            self._keep([_row(kind, name, text) for name, text in texts.items()])
            for name in texts:
                self._files.delete(kind, name)
        self._has_moved = True


def _row(kind: str, name: str, text: str) -> dict[str, Any]:
    return {"kind": kind, "name": name, "text": text, "written": time.time()}
