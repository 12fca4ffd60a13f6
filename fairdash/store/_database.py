"""The database of a home folder: its tables, brought up to date when it is opened."""

import errno
import fcntl
import glob
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

BUSY_SECONDS = 10.0
SLOW_MS = 60_000  # for which writing may wait on Postgres: files may lie far away
WRITING_LOCK, ENGINE_LOCK = 0xFA1D01, 0xFA1D02  # Postgres' advisory locks
NEWEST = "0001"  # the last file of migrations/versions; a test holds them together
_SCHEMA = sa.func.hashtext(sa.func.current_schema())  # each user has one

# `migrations/` brings an older store to this shape.
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


# by SQLite's primary result code; the page shows them, so they name no folder
_AWAY = (
    "Put a backup of it in its place, or move it away: a new one begins, and models "
    "are found again when the same table is added and the same settings are asked for."
)
DAMAGED = f"The database of this store (store.db) is damaged. {_AWAY}"
_TROUBLE = {
    sqlite3.SQLITE_BUSY: "Another program keeps the database of this store (store.db) "
    "to itself. Try again in a moment, or end that program.",
    sqlite3.SQLITE_FULL: "The disk of this store is full, and nothing more is kept. "
    "Make room on it; what was finished before stands.",
    sqlite3.SQLITE_READONLY: "This store can be read but not written. Give the user "
    "that runs fairdash the right to write, or name another home folder.",
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
}
_TO_SERVER = {  # by the start of Postgres' SQLSTATE
    "53100": _TROUBLE[sqlite3.SQLITE_FULL],
    "55P03": "Another program keeps the database of this store to itself. Try again in "
    "a moment, or end that program.",
    "25006": "The database of this store can be read but not written. Connect to the "
    "server that can be written.",
    "42501": "The login of FAIRDASH_DATABASE may not use this database. Give it the "
    "right to create tables.",
}
_AWAY_NOW = (
    "The database of this store is not reached. See that its server runs, and that "
    "FAIRDASH_DATABASE is its address, a login and a database that exist."
)
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
def _told() -> Iterator[None]:
    """Say what a database that does not work needs, instead of what it executed."""
    try:
        yield
    except (sa.exc.DatabaseError, sqlite3.DatabaseError) as error:
        cause = getattr(error, "orig", error)
        told = _said(error, cause)
        if told is None and isinstance(
            error, sa.exc.IntegrityError | sa.exc.ProgrammingError
        ):
            raise
        other = (
            f"The database of this store does not work ({type(cause).__name__}). Run "
            "`fairdash store check`, which says what is wrong with it."
        )
        kind = Unreachable if told == _AWAY_NOW else StoreError
        raise kind(told or other) from error


def _said(error: Exception, cause: Any) -> str | None:
    """Return the sentence for what a driver raised, None for what has none."""
    if isinstance(cause, sqlite3.Error):
        return _TROUBLE.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF)
    state = getattr(cause, "sqlstate", None) or ""
    for begin, sentence in _TO_SERVER.items():
        if state.startswith(begin):
            return sentence
    # 08: no connection, 57P: the server ends; without a state it never answered
    away = state[:2] == "08" or state[:3] == "57P" or not state
    return _AWAY_NOW if away and isinstance(error, sa.exc.OperationalError) else None


class Database:
    """An engine whose tables are current, and idempotent writes to them.

    Its SQLite file lies in ``home``, unless ``url`` is the SQLAlchemy address of
    another database.
    """

    def __init__(self, home: Path, url: str | None = None) -> None:
        self.home = home
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.read_only = not os.access(home, os.W_OK)
        if not self.read_only:
            _keep_private(home)
        file = sa.URL.create("sqlite", database=str(home / "store.db"))
        address = sa.make_url(url) if url else file
        is_sqlite = address.get_backend_name() == "sqlite"
        database = Path(address.database or "")
        if is_sqlite and self.read_only:
            address = _read_only(database)
        elif is_sqlite and address.database:
            began = database.exists() and (home / "tables").exists()
            if began and not database.stat().st_size:
                raise StoreError(DAMAGED)
            database.touch(mode=0o600)  # SQLite gives its other files the same mode
            for path in database.parent.glob(f"{glob.escape(database.name)}*"):
                _keep_private(path)
            if not database.stat().st_size:
                # Of two that turn a new file to this journal at once, one fails.
                with self._alone(), closing(sqlite3.connect(database)) as connection:
                    connection.execute("PRAGMA journal_mode=WAL")
        self.is_sqlite = is_sqlite
        self._file = database
        if is_sqlite:
            options = {"timeout": BUSY_SECONDS}
            self.engine = sa.create_engine(address, connect_args=options)
            sa.event.listen(self.engine, "connect", _set_pragmas)
            sa.event.listen(self.engine, "begin", _begin)
        else:
            self.engine = server(address)
        try:
            self._migrate()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all connections; what is asked afterwards opens new ones."""
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Give a connection on which all queries see the same moment."""
        with _told(), self.engine.connect() as connection:
            if not self.is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Give a connection that holds the write lock; commit at the end."""
        with _told(), self.engine.connect() as connection:
            connection.execution_options(write=True)
            if not self.is_sqlite:  # one writer at a time there, too
                connection.execute(sa.text(f"SET LOCAL lock_timeout = {SLOW_MS}"))
                lock = sa.func.pg_advisory_xact_lock(WRITING_LOCK, _SCHEMA)
                connection.execute(sa.select(lock))
            yield connection
            connection.commit()

    def rows(self, query: "sa.Select[Any]") -> list[sa.RowMapping]:
        """Return what a query finds, read at one moment."""
        with self.reading() as connection:
            return list(connection.execute(query).mappings())

    def execute(self, statement: sa.Executable) -> None:
        """Write one statement."""
        with self.writing() as connection:
            connection.execute(statement)

    @contextmanager
    def claim(self) -> Iterator["Claim | None"]:
        """Give the right to drive the runs of this database, or None: another has it.

        It ends with the process. A file tells of it where the database is one; users of
        one Postgres have a schema each, and an engine.
        """
        if self.is_sqlite:
            yield Claim(None)
            return
        with _told(), self.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            lock = sa.func.pg_try_advisory_lock(ENGINE_LOCK, _SCHEMA)
            held = connection.execute(sa.select(lock)).scalar()
            try:
                yield Claim(connection) if held else None
            finally:
                connection.invalidate()  # closed, not pooled: locks are its session's

    def written(self) -> tuple[int, ...] | None:
        """Return what every write changes, without asking the database.

        None when it cannot be told from files: another database than SQLite.
        """
        if not self.is_sqlite:
            return None
        facts: list[int] = []
        for path in (self._file, f"{self._file}-wal"):
            with suppress(FileNotFoundError):
                stat = os.stat(path)
                facts += [stat.st_mtime_ns, stat.st_size]
        return tuple(facts)

    def faults(self) -> list[str]:
        """Return what SQLite finds wrong with its file; of another database nothing."""
        if not self.is_sqlite:
            return []
        with self.reading() as connection:
            said = connection.execute(sa.text("PRAGMA integrity_check")).scalars().all()
        return [f"The database says: {line}" for line in said if line != "ok"]

    def compact(self, *, dry_run: bool = False) -> int:
        """Give back the pages that SQLite no longer uses; return their bytes."""
        if not self.is_sqlite:  # Postgres does by itself
            return 0
        with self.reading() as connection:
            free, page = (
                int(connection.scalar(sa.text(f"PRAGMA {name}")) or 0)
                for name in ("freelist_count", "page_size")
            )
        if not dry_run:
            with _told(), closing(self.engine.raw_connection()) as link:
                for command in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                    link.cursor().execute(command)
        return free * page

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

    def _migrate(self) -> None:
        version = self._version()
        if version == NEWEST:
            return
        if version is not None and version > NEWEST:
            raise StoreError(
                f"This store was written by a newer fairdash (its form is {version}, "
                f"this one knows {NEWEST}). Install that version, or name another home "
                "folder."
            )
        with self._alone():
            if self._version() != NEWEST:
                self._upgrade()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        lock = os.open(self.home / "migrate.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _version(self) -> str | None:
        with self.reading() as connection:
            if not sa.inspect(connection).has_table("alembic_version"):
                return None
            query = sa.text("SELECT version_num FROM alembic_version")
            version: str | None = connection.execute(query).scalar()
        if version is None:
            raise StoreError(DAMAGED)
        return version

    def _upgrade(self) -> None:
        # Alembic is heavy and seldom needed: page processes live without it.
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", "fairdash.store:migrations")
        with self.writing() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


@dataclass(frozen=True)
class Claim:
    """The right to drive the runs of a database, for as long as a connection lives."""

    connection: sa.Connection | None

    def hold(self) -> None:
        """Raise StoreError when the connection is lost, and so the right."""
        if self.connection is not None:
            with _told():
                self.connection.execute(sa.text("SELECT 1"))


def make_schema(address: sa.URL, name: str) -> None:
    """Make a schema in a Postgres, unless it is there."""
    engine = server(address)
    try:
        with _told(), engine.begin() as connection:
            connection.execute(sa.schema.CreateSchema(name, if_not_exists=True))
    finally:
        engine.dispose()


def server(address: sa.URL) -> sa.Engine:
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


def _read_only(database: Path) -> sa.URL:
    """Return the address of a file whose folder cannot be written.

    SQLite would make a journal beside it; without one nobody else writes it either.
    """
    if not database.exists():
        raise StoreError(_TROUBLE[sqlite3.SQLITE_READONLY])
    journal = database.with_name(f"{database.name}-wal")
    still = not (journal.exists() and journal.stat().st_size)
    query = {"mode": "ro", "uri": "true"} | ({"immutable": "1"} if still else {})
    return sa.URL.create("sqlite", database=f"file:{quote(str(database))}", query=query)


def _keep_private(path: Path) -> None:
    """Take a file or a folder from all but its owner: tables hold people.

    What belongs to somebody else stays as it is; its owner decides. A journal may be
    gone by now: another process that opened the database has finished with it.
    """
    with suppress(FileNotFoundError):
        found = path.stat()
        if found.st_mode & 0o077 and found.st_uid == os.getuid():
            path.chmod(0o700 if stat.S_ISDIR(found.st_mode) else 0o600)


def _set_pragmas(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # SQLAlchemy begins transactions, see _begin
    connection.text_factory = _text
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _text(written: bytes) -> str:
    """Return a text of SQLite, which has no digests: zeros are none that we wrote."""
    try:
        if b"\0" not in written:
            return written.decode()
    except UnicodeDecodeError:
        pass
    damage = sqlite3.DatabaseError("a text holds bytes that were not written")
    damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    raise damage


def _begin(connection: sa.Connection) -> None:
    """Begin a snapshot of the database, or take the write lock at once.

    A transaction that reads and writes only later fails when another process wrote in
    between, however long it would be ready to wait.
    """
    write = connection.get_execution_options().get("write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
