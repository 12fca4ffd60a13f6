"""The database of a home folder: its tables, made when it is first opened."""

import fcntl
import glob
import json
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import (
    AbstractContextManager,
    closing,
    contextmanager,
    nullcontext,
    suppress,
)
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from fairdash.store._errors import (
    DAMAGED,
    HALF_BACKUP,
    READ_ONLY,
    StoreError,
    explaining,
)
from fairdash.store.server import postgres
from fairdash.store.server.users import server_of

BUSY_SECONDS = 10.0
BACKUP = "backup.json"  # in a folder that `fairdash store backup` has written
BACKUP_FIELDS = {"home", "written", "databases"}
FORM = "0001"  # of the tables; a store of another form is refused

METADATA = sa.MetaData()
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # Integer there has 64 bits

TABLES = sa.Table(
    "tables",
    METADATA,
    sa.Column("sha256", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("n_rows", sa.Integer, nullable=False),
    sa.Column("n_columns", sa.Integer, nullable=False),
    sa.Column("size", BIG, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)

DATASETS = sa.Table(
    "datasets",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("table_sha256", sa.Text, sa.ForeignKey("tables.sha256"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("roles", sa.Text, nullable=False),
    sa.Column("subgroups", sa.Text, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)

RUNS = sa.Table(
    "runs",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("dataset_id", sa.Text, sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("spec", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False, index=True),
    sa.Column("error", sa.Text),
    sa.Column("summary", sa.Text),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("started", sa.Float),
    sa.Column("cancel_asked", sa.Float),
    sa.Column("finished", sa.Float),
)

TRIALS = sa.Table(
    "trials",
    METADATA,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("params", sa.Text, nullable=False),
    sa.Column("seed", BIG, nullable=False),
)

# A trial is trained once; its figures belong to the run that asked, because they
# depend on that run's subgroups.
RUN_TRIALS = sa.Table(
    "run_trials",
    METADATA,
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column(
        "key", sa.Text, sa.ForeignKey("trials.key"), primary_key=True, index=True
    ),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("row", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("seconds", sa.Float),
)

PROGRESS = sa.Table(
    "progress",
    METADATA,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("epoch", sa.Integer, nullable=False),
    sa.Column("n_epochs", sa.Integer, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("event", sa.Text, nullable=False),
)


# Alembic's, with which earlier versions made the tables.
VERSIONS = sa.Table(
    "alembic_version",
    METADATA,
    sa.Column("version_num", sa.String(32), primary_key=True),
)


class Database:
    """An engine whose tables are current, and idempotent writes to them.

    Its SQLite file lies in ``home``, unless ``url`` is the SQLAlchemy address of
    another database. In a Postgres its tables are those of ``schema``, by default of
    the one that the address leads to.
    """

    def __init__(
        self, home: Path, url: str | None = None, schema: str | None = None
    ) -> None:
        self.home = home
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(home, os.W_OK):
            raise StoreError(READ_ONLY)
        record = backup_record(server_of(home))
        if record is not None and record["written"] is None:
            raise StoreError(HALF_BACKUP)
        _keep_private(home)
        self.schema = schema if url else None
        self._pool: postgres.Pool | None = None
        address = sa.make_url(url) if url else _file_in(home)
        if address.get_backend_name() == "sqlite" and self.schema is None:
            self._prepare_file(Path(address.database or ""))
            options = {"timeout": BUSY_SECONDS}
            self.engine = sa.create_engine(address, connect_args=options)
            sa.event.listen(self.engine, "connect", _set_pragmas)
            sa.event.listen(self.engine, "begin", _begin)
        else:  # where users of one server share a database, that is a Postgres
            self._pool = postgres.pool(address)
            self._pool.open(self)
            self.engine = self._pool.engine_of(self.schema)
        try:
            self._make_tables()
        except BaseException:
            self.close()
            raise

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file; else it is a Postgres."""
        return self._pool is None

    def close(self) -> None:
        """Close all connections; what is asked afterwards opens new ones.

        Those of a Postgres stay open for other homes of this process.
        """
        if self._pool is None:
            self.engine.dispose()
        else:
            self._pool.close(self)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Give a connection on which all queries see the same moment."""
        with explaining(), self.engine.connect() as connection:
            # SQLite's transactions do so by themselves.
            if not self.is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Give a connection that holds the write lock; commit at the end."""
        with explaining(), self._turn_to_write(), self.engine.connect() as connection:
            connection.execution_options(write=True)
            if self._pool is not None:  # one writer at a time there, too
                postgres.wait_to_write(connection, self.schema)
            yield connection
            connection.commit()

    def _turn_to_write(self) -> AbstractContextManager[None]:
        if self._pool is None:
            return nullcontext()
        return self._pool.turn_to_write(self.schema)

    def rows(self, query: "sa.Select[Any]") -> list[sa.RowMapping]:
        """Return the rows of a query, read at one moment."""
        with self.reading() as connection:
            return list(connection.execute(query).mappings())

    def execute(self, statement: sa.Executable) -> None:
        """Write one statement."""
        with self.writing() as connection:
            connection.execute(statement)

    @contextmanager
    def claim(self) -> Iterator["Claim | None"]:
        """Give the right to drive the runs of this home, or None: another has it.

        It ends with the process or the connection. A lock of the home folder is the
        right where the database is a file; a Postgres may serve several machines.
        """
        if self.is_sqlite:
            yield FolderClaim()
            return
        with explaining(), self.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            claim = postgres.Claim(connection)
            try:
                is_free = claim.take(self.schema)
                yield claim if is_free else None
            finally:
                connection.invalidate()  # closed, not pooled: locks are its session's

    def is_claimed(self, schema: str | None) -> bool:
        """Tell whether an engine, of any machine, has claimed the runs of a schema."""
        if self._pool is None:
            return False
        with explaining(), self._pool.engine.connect() as connection:
            return postgres.is_claimed(connection, schema)

    def check(self) -> None:
        """Raise StoreError unless the database answers."""
        with self.reading() as connection:
            connection.execute(sa.select(VERSIONS))

    def upsert(
        self,
        connection: sa.Connection,
        table: sa.Table,
        rows: Iterable[Mapping[str, Any]],
        *,
        update: Iterable[str] = (),
    ) -> None:
        """Insert ``rows``; where the primary key exists, set the ``update`` columns."""
        values = [dict(row) for row in rows]
        if not values:
            return
        insert: Any = sqlite.insert if self.is_sqlite else postgresql.insert
        statement = insert(table)
        keys = [column.name for column in table.primary_key]
        columns = {name: statement.excluded[name] for name in update}
        if columns:
            statement = statement.on_conflict_do_update(
                index_elements=keys, set_=columns
            )
        else:
            statement = statement.on_conflict_do_nothing(index_elements=keys)
        connection.execute(statement, values)

    def _prepare_file(self, database: Path) -> None:
        if not database.name:
            return  # in memory
        began = database.exists() and (self.home / "tables").exists()
        if began and not database.stat().st_size:
            raise StoreError(DAMAGED)
        database.touch(mode=0o600)  # SQLite gives its other files the same mode
        for path in database.parent.glob(f"{glob.escape(database.name)}*"):
            _keep_private(path)
        if not database.stat().st_size:
            # Of two that turn a new file to this journal at once, one fails.
            with (
                self._folder_locked(),
                closing(sqlite3.connect(database)) as connection,
            ):
                connection.execute("PRAGMA journal_mode=WAL")

    def _make_tables(self) -> None:
        """Make the tables of a new store; refuse a store of another form."""
        with self.reading() as connection:
            form = self._form(connection)
        if form is None:
            with self.writing() as connection:
                if self.schema is not None:
                    create = sa.schema.CreateSchema(self.schema, if_not_exists=True)
                    connection.execute(create)
                # Asked again under the lock: another process may have been faster.
                if self._form(connection) is None:
                    METADATA.create_all(connection)
                    connection.execute(sa.insert(VERSIONS), {"version_num": FORM})
        elif form != FORM:
            raise StoreError(
                f"This store was written by a newer fairdash (its form is {form}, this "
                f"one knows {FORM}). Install that version, or name another home folder."
            )

    def _form(self, connection: sa.Connection) -> str | None:
        if not sa.inspect(connection).has_table(VERSIONS.name, schema=self.schema):
            return None
        form: str | None = connection.scalar(sa.select(VERSIONS.c.version_num))
        if form is None:
            raise StoreError(DAMAGED)
        return form

    @contextmanager
    def _folder_locked(self) -> Iterator[None]:
        lock = os.open(self.home / "migrate.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


class FolderClaim:
    """The right to drive runs where a lock of each home folder gives it already."""

    def take(self, schema: str | None) -> bool:
        """Claim a home, which nothing keeps from it."""
        return True

    def give_up(self, schema: str | None) -> None:
        """Let another process claim a home."""

    def check(self) -> None:
        """Raise nothing: no connection can be lost."""


Claim = FolderClaim | postgres.Claim


def backup_record(folder: Path) -> dict[str, Any] | None:
    """Return what the folder of a backup says of it, None where it holds none.

    ``written`` is None until a first backup into the folder is whole.
    """
    try:
        record = json.loads((folder / BACKUP).read_text())
    except (FileNotFoundError, ValueError):
        return None
    is_record = isinstance(record, dict) and record.keys() == BACKUP_FIELDS
    return record if is_record else None


def _file_in(home: Path) -> sa.URL:
    return sa.URL.create("sqlite", database=str(home / "store.db"))


def _keep_private(path: Path) -> None:
    """Take a file or a folder from all but its owner: tables hold people.

    What belongs to somebody else stays as it is; its owner decides. A journal may be
    gone by now: another process that opened the database has finished with it.
    """
    with suppress(FileNotFoundError):
        facts = path.stat()
        if facts.st_mode & 0o077 and facts.st_uid == os.getuid():
            path.chmod(0o700 if stat.S_ISDIR(facts.st_mode) else 0o600)


def _set_pragmas(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # SQLAlchemy begins transactions, see _begin
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin(connection: sa.Connection) -> None:
    # A transaction that reads and writes only later fails when another process wrote in
    # between, however long it would be ready to wait.
    write = connection.get_execution_options().get("write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
