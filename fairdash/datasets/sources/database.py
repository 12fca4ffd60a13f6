"""The gate of every statement that goes to a database: one SELECT, and no files.

A statement may come from an address that somebody else wrote, and the database itself,
with its views, from a stranger. So nothing here trusts the text of a statement: the
database's own parser says how many statements it is and of which kind, the connection
can only read, and what reaches beyond the database is switched off before the statement
is seen.

===========  ==========================  ============================================
database     one SELECT                  only reads, and only the database
===========  ==========================  ============================================
DuckDB       ``extract_statements``      read-only, no external access, locked
SQLite       ``execute`` of the driver   ``mode=ro`` and an authorizer
Postgres     ``DECLARE CURSOR``          read-only transaction, a login that reaches
                                         no file and no other server
===========  ==========================  ============================================
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from threading import Event
from typing import Any

import pyarrow as pa

from fairdash._validation import check_one_of
from fairdash.datasets.sources.address import Address, database_file
from fairdash.datasets.sources.cursor import BATCH_ROWS, cursor_batches
from fairdash.datasets.sources.deadline import (
    CONNECT_SECONDS,
    TooSlowError,
    deadline,
    most_seconds,
)
from fairdash.datasets.sources.faults import (
    beyond,
    damaged,
    installed,
    no_select,
    too_slow,
    unreached,
)

_DUCKDB_LIMITS = {
    "allow_community_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
    "python_enable_replacements": "false",  # variables of Python as tables
    "lock_configuration": "true",
}
# Files are named by us, and the statement is ours; sums need no room on the disk.
_DUCKDB_FILES = {
    "allow_community_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "memory_limit": "1GB",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
_SQLITE_READS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
# after comments; EXPLAIN would pass the authorizer
_SQLITE_SELECT = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*+(?:SELECT|WITH|VALUES)\b",
    re.IGNORECASE | re.DOTALL,
)
_SQLITE_UNPARSED = ("syntax error", "incomplete input", "unrecognized token")
_SQLITE_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
# These reach beyond a database of Postgres, to files of the server, other servers or
# programs: its own functions, and libraries of extensions.
_POSTGRES_FUNCTIONS = [
    "pg_read_file",
    "pg_read_binary_file",
    "pg_ls_dir",
    "pg_stat_file",
    "lo_import",
    "lo_export",
]
_POSTGRES_LIBRARIES = [
    "adminpack",
    "aws_lambda",
    "aws_s3",
    "dblink",
    "http",
    "orafce",
    "pg_cron",
    "pg_curl",
    "pg_net",
    "plproxy",
]
# Roles that a session may take on, and functions that it may call, beyond its database.
# Whoever calls a function of an untrusted language runs code on the server.
_POSTGRES_REACH = """
SELECT EXISTS (
  SELECT FROM pg_catalog.pg_roles
  WHERE (rolsuper OR rolname IN (
      'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program'))
    AND pg_catalog.pg_has_role(session_user, oid, 'MEMBER')
) OR EXISTS (
  SELECT FROM pg_catalog.pg_proc AS called
  JOIN pg_catalog.pg_language AS written ON written.oid = called.prolang
  WHERE (
    called.proname::text = ANY(%(functions)s)
    OR pg_catalog.regexp_replace(called.probin, '^.*/|[.]so$', '', 'g')
      = ANY(%(libraries)s)
    OR (NOT written.lanpltrusted AND written.lanname NOT IN ('internal', 'c'))
  )
    AND pg_catalog.has_function_privilege(session_user, called.oid, 'EXECUTE')
    AND pg_catalog.has_schema_privilege(session_user, called.pronamespace, 'USAGE')
)
"""
# A table whose rows are read as they are stored, without a function: no view.
_POSTGRES_STORED = """
SELECT relkind IN ('r', 'p', 'm') AND NOT relrowsecurity
FROM pg_catalog.pg_class WHERE oid = %s::regclass
"""
# In milliseconds; a limit that the server has set is not raised.
_POSTGRES_LIMIT = """
SELECT pg_catalog.set_config('statement_timeout', %(most)s::text, true)
FROM pg_catalog.pg_settings
WHERE name = 'statement_timeout'
  AND (setting::bigint = 0 OR setting::bigint > %(most)s)
"""


def select(address: Address, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table or query in batches; only ``columns`` if given.

    Raises ValueError, with one sentence, when the query is not exactly one SELECT, when
    it or a view reaches beyond the database, and when the rows cannot be read.
    """
    for batch in _batches(address, address.query or _statement(address, columns)):
        names = batch.schema.names
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise ValueError(
                f"{address.name} has two columns named {min(repeated)!r}; name one of "
                "them anew with AS."
            )
        if columns is None:
            yield batch
            continue
        for column in columns:
            check_one_of("column", column, names)
        yield batch.select(list(columns))


def column_names(address: Address) -> list[str]:
    """Return the names of the columns of a table or query, from its first row.

    Raises ValueError as `select` does, and when there is no row.
    """
    first_row = f"SELECT * FROM {_rows(address)} LIMIT 1"
    for batch in _batches(address, first_row, most_seconds()):
        return list(batch.schema.names)
    raise ValueError(f"{address.name} has no rows.")


def count_rows(
    address: Address, columns: Sequence[str], count: str, most: int
) -> Iterator[pa.RecordBatch]:
    """Yield each combination of values of ``columns`` with its number of rows.

    The database groups the rows; at most ``most`` combinations come back, in no order.

    Parameters
    ----------
    count : str
        Name of the column of numbers; none of ``columns``.

    Raises
    ------
    ValueError
        As `select` does, and when it takes longer than `most_seconds`.
    """
    statement = _count_statement(_rows(address), columns, count, most)
    yield from _batches(address, statement, most_seconds())


@dataclass(frozen=True)
class GroupingSets:
    """Several choices of columns by which rows are counted, each beside the others.

    Attributes
    ----------
    base, searched : tuple of str
        Columns of every choice, and those of which each choice has some.
    choices : tuple of tuple of str
    mark : str
        Name of a column that says by bits, the first column's highest, which of
        ``searched`` a row does not have.
    """

    base: tuple[str, ...]
    searched: tuple[str, ...]
    choices: tuple[tuple[str, ...], ...]
    mark: str

    def statement(self, rows: str, count: str, most: int) -> str:
        """Return the statement that counts by all of them."""
        sets = ", ".join(f"({_names([*self.base, *c])})" for c in self.choices)
        return (
            f"SELECT {_names([*self.base, *self.searched])}, "
            f"GROUPING({_names(self.searched)}) AS {_quoted(self.mark)}, "
            f"COUNT(*) AS {_quoted(count)} FROM {rows} "
            f"GROUP BY GROUPING SETS ({sets}) LIMIT {most:d}"
        )

    def mark_of(self, choice: Sequence[str]) -> int:
        """Return the mark of the rows of a choice."""
        bits = ["0" if name in choice else "1" for name in self.searched]
        return int("".join(bits), 2)


def count_sets(
    address: Address, sets: GroupingSets, count: str, most: int
) -> Iterator[pa.RecordBatch]:
    """Yield what `count_rows` does, for several choices of columns in one query.

    SQLite has no grouping sets. Raises ValueError as `count_rows` does.
    """
    statement = sets.statement(_rows(address), count, most)
    yield from _batches(address, statement, most_seconds())


def _count_statement(rows: str, columns: Sequence[str], count: str, most: int) -> str:
    places = ", ".join(str(place + 1) for place in range(len(columns)))
    return (
        f"SELECT {_names(columns)}, COUNT(*) AS {_quoted(count)} FROM {rows} "
        f"GROUP BY {places} LIMIT {most:d}"
    )


def _batches(
    address: Address, statement: str, seconds: float | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield what a statement gives; it is told to stop after some seconds."""
    texts = (statement, address.query or "", address.place)
    if not all(map(_is_text, texts)):
        raise no_select(address)
    yield from _READERS[address.kind](address, statement, seconds)


def _rows(address: Address) -> str:
    """Return what follows FROM: the rows of a table or of a query.

    A query that closes the bracket makes another statement; the gate takes that as it
    takes any: if it is one SELECT of this database.
    """
    if address.query is None:
        return f'{_identifier(address.table or "")} AS "rows"'
    return f'({address.query.rstrip().rstrip(";")}\n) AS "rows"'


def _is_text(text: str) -> bool:
    """Return whether a driver takes a text whole: UTF-8 without a zero byte."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def _statement(address: Address, columns: Sequence[str] | None) -> str:
    return f"SELECT {_names(columns or ()) or '*'} FROM {_rows(address)}"


def _names(columns: Sequence[str]) -> str:
    # "rows"."age" and not "age": SQLite takes a lone name it does not know as text
    return ", ".join(f'"rows".{_quoted(name)}' for name in columns)


def _identifier(table: str) -> str:
    return ".".join(map(_quoted, table.split(".")))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _duckdb(
    address: Address, statement: str, seconds: float | None
) -> Iterator[pa.RecordBatch]:
    duckdb = installed("duckdb")
    path = str(database_file(address).resolve())
    try:
        link = duckdb.connect(path, read_only=True, config=_DUCKDB_LIMITS)
    except duckdb.PermissionException:  # a file for which it needs an extension
        raise damaged(address) from None
    except duckdb.Error as error:
        raise _duckdb_fault(address, error) from None
    try:
        with link, deadline(seconds, link.interrupt):
            statements = link.extract_statements(statement)
            kinds = [parsed.type for parsed in statements]
            if kinds != [duckdb.StatementType.SELECT]:
                raise no_select(address)
            yield from link.sql(statements[0]).to_arrow_reader(BATCH_ROWS)
    except duckdb.InterruptException:
        raise too_slow(address.name, seconds or 0.0) from None
    except duckdb.ParserException:
        raise no_select(address) from None
    except duckdb.PermissionException:
        raise beyond(address) from None
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise _duckdb_fault(address, error) from None


def _duckdb_fault(address: Address, error: Exception) -> ValueError:
    duckdb = installed("duckdb")
    text = str(error)
    refusals = ("read-only mode", "configuration")
    if isinstance(error, duckdb.InvalidInputException) and any(
        refusal in text for refusal in refusals
    ):
        return beyond(address)
    if isinstance(error, duckdb.IOException) and "lock" in text:
        return unreached(address, error)
    # a wrong checksum has no class of its own
    if type(error) is duckdb.Error or isinstance(
        error,
        (
            duckdb.FatalException,
            duckdb.IOException,
            duckdb.InternalException,
            duckdb.SerializationException,
        ),
    ):
        return damaged(address)
    return unreached(address, error)


def counts_files() -> bool:
    """Return whether the library that `count_files` needs is installed."""
    return find_spec("duckdb") is not None


def count_files(
    files: Sequence[str], columns: Sequence[str], count: str, most: int
) -> pa.Table:
    """Return what `count_rows` yields, of Parquet files on this machine.

    Columns of folders (``year=2024``) are text.

    Raises
    ------
    TooSlowError
        When it takes longer than `most_seconds`.
    duckdb.Error
        As DuckDB does; `fairdash.datasets.sources.counted` knows what it means.
    """
    duckdb = installed("duckdb")
    paths = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    options = "hive_partitioning=true, hive_types_autocast=0"
    rows = f'read_parquet([{paths}], {options}) AS "rows"'
    statement = _count_statement(rows, columns, count, most)
    seconds = most_seconds()
    try:
        with (
            duckdb.connect(config=_DUCKDB_FILES) as link,
            deadline(seconds, link.interrupt),
        ):
            return link.sql(statement).to_arrow_table()
    except duckdb.InterruptException:
        raise TooSlowError from None


def _sqlite(
    address: Address, statement: str, seconds: float | None
) -> Iterator[pa.RecordBatch]:
    if _SQLITE_SELECT.match(statement) is None:
        raise no_select(address)
    file = f"{database_file(address).resolve().as_uri()}?mode=ro"
    refused: list[int] = []

    def authorize(action: int, first: str | None, second: str | None, *_: Any) -> int:
        if action in _SQLITE_READS and second != "load_extension":
            return sqlite3.SQLITE_OK
        refused.append(action)
        return sqlite3.SQLITE_DENY

    passed = Event()
    try:
        with (
            closing(sqlite3.connect(file, uri=True)) as link,
            deadline(seconds, link.interrupt) as passed,
        ):
            link.execute("PRAGMA query_only = ON")
            link.execute("PRAGMA trusted_schema = OFF")
            link.set_authorizer(authorize)
            cursor = link.execute(statement)
            names = [column[0] for column in cursor.description]
            yield from cursor_batches(cursor, names, address.name)
    except sqlite3.Warning:  # several statements, before Python 3.12
        raise no_select(address) from None
    except UnicodeDecodeError:  # in a message that quotes what cannot be read
        raise damaged(address) from None
    except sqlite3.Error as error:
        if passed.is_set():
            raise too_slow(address.name, seconds or 0.0) from None
        raise _sqlite_fault(address, error, bool(refused)) from None


def _sqlite_fault(
    address: Address, error: sqlite3.Error, is_refused: bool
) -> ValueError:
    text = str(error)
    if is_refused:
        return beyond(address)
    # text that is none has no code of its own
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code & 0xFF in _SQLITE_DAMAGED or "decode to UTF-8" in text:
        return damaged(address)
    is_unparsed = any(words in text for words in _SQLITE_UNPARSED)
    if is_unparsed or isinstance(error, sqlite3.ProgrammingError):
        return no_select(address)
    return unreached(address, error)


def _postgres(
    address: Address, statement: str, seconds: float | None
) -> Iterator[pa.RecordBatch]:
    psycopg = installed("psycopg")
    _, _, place = address.place.partition("://")
    try:
        with psycopg.connect(
            f"postgresql://{place}", connect_timeout=CONNECT_SECONDS
        ) as link:
            link.read_only = True
            if seconds is not None:
                link.execute(_POSTGRES_LIMIT, {"most": max(round(1000 * seconds), 1)})
            # else a scan may begin where another is, and rows have another order
            link.execute("SET LOCAL synchronize_seqscans = off")
            _check_login(link, address)
            # A cursor takes a SELECT and nothing else; the server refuses a second
            # statement, since psycopg declares it by the extended protocol.
            with link.cursor(name="rows") as cursor:
                cursor.execute(statement.encode())
                names = [column.name for column in cursor.description]
                yield from cursor_batches(cursor, names, address.name)
    except psycopg.errors.QueryCanceled as error:
        if seconds is None:
            raise unreached(address, error) from None
        raise too_slow(address.name, seconds) from None
    except (psycopg.errors.SyntaxError, psycopg.errors.InvalidCursorDefinition):
        raise no_select(address) from None
    except (
        psycopg.errors.FeatureNotSupported,
        psycopg.errors.ReadOnlySqlTransaction,
    ):
        raise beyond(address) from None
    except psycopg.Error as error:
        raise unreached(address, error) from None


def _check_login(link: Any, address: Address) -> None:
    """Raise ValueError if the statement could reach beyond its database.

    A login with that right may read a table as it is stored, which calls no function.
    """
    names = {"functions": _POSTGRES_FUNCTIONS, "libraries": _POSTGRES_LIBRARIES}
    (reaches_out,) = link.execute(_POSTGRES_REACH, names).fetchone()
    if not reaches_out:
        return
    if address.table is not None:
        name = _identifier(address.table)
        (is_stored,) = link.execute(_POSTGRES_STORED, [name]).fetchone()
        if is_stored:
            return
    raise ValueError(
        f"{address.name} was not read: the login may reach files of the server, or "
        "other servers, so it may read tables, but no query and no view. Use a login "
        "that can only read: CREATE ROLE reader LOGIN; GRANT pg_read_all_data TO "
        "reader; and REVOKE what PUBLIC may call, such as dblink."
    )


_READERS = {"duckdb": _duckdb, "sqlite": _sqlite, "postgresql": _postgres}
