"""The address of a table: what it names, and how it is shown without credentials."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "az", "abfs"}
DATABASES = {"postgresql", "sqlite", "duckdb"}
SECRETS = re.compile(r"(?i)pass|secret|token|key|sig|credential")
EXAMPLES = (
    "a folder of Parquet files, loans/*.parquet, s3://bucket/loans, "
    "postgresql://user@host/database?table=loans, sqlite:///loans.db?table=loans"
)


@dataclass(frozen=True)
class Address:
    """Where a table is.

    Attributes
    ----------
    kind : {"parquet", "postgresql", "sqlite", "duckdb"}
    place : str
        Path, glob or URL of the files, or the URL of a database without table and
        query.
    table : str, optional
        Table of a database, ``schema.table`` where it needs one.
    query : str, optional
        One SELECT instead.
    """

    kind: Literal["parquet", "postgresql", "sqlite", "duckdb"]
    place: str
    table: str | None = None
    query: str | None = None

    @property
    def name(self) -> str:
        """Name of the table in messages and data sets."""
        if self.table is not None:
            return self.table
        if self.query is not None:
            return f"query of {Path(urlsplit(self.place).path).name}"
        parts = [part for part in self.place.split("/") if part and "*" not in part]
        return parts[-1]


def is_address(text: object) -> bool:
    """Return whether text names a source rather than one file or its content."""
    if not isinstance(text, str | os.PathLike):
        return False
    named = os.fspath(text)
    if os.path.isfile(named):
        return False
    return bool(SCHEME.match(named)) or "*" in named or os.path.isdir(named)


def parse_address(text: str, *, secrets: bool = False) -> Address:
    """Read an address.

    Parameters
    ----------
    secrets : bool, default=False
        Whether it may hold a password, as the list of the operator may.

    Raises
    ------
    ValueError
        If it names no source, a database without a table, or holds a password.
    """
    if SCHEME.match(text) is None:
        return Address("parquet", text)
    scheme = _scheme(text)
    try:
        url = urlsplit(text)
        pairs = parse_qsl(url.query, keep_blank_values=True)
        text.encode()
    except ValueError:
        raise ValueError(f"{shown(text)} is no address: try {EXAMPLES}.") from None
    if not secrets and (url.password or any(SECRETS.search(k) for k, _ in pairs)):
        raise ValueError(
            f"The address {shown(text)} holds a password. Remove it: use "
            "PGPASSWORD, ~/.pgpass or the variables of the object store, or let the "
            "operator list the source."
        )
    if scheme in OBJECT_STORES and "::" in text:  # fsspec opens what follows, too
        raise ValueError(f"{shown(text)} names several places; name one.")
    if scheme in OBJECT_STORES:
        return Address("parquet", text)
    if scheme not in DATABASES:
        raise ValueError(
            f"{shown(text)} is no source that can be read: try {EXAMPLES}."
        )
    options = dict(pairs)
    table = options.pop("table", None)
    query = options.pop("query", None)
    if bool(table) == bool(query):
        raise ValueError(
            f"{shown(text)} names no table; add `?table=NAME` or `?query=SELECT …`, "
            "one of them."
        )
    rest = urlencode(options, quote_via=quote)  # Postgres reads a plus as a plus
    place = urlunsplit((url.scheme, url.netloc, url.path, rest, ""))
    if not url.netloc:  # urlunsplit drops an empty host
        place = place.replace(":/", ":///", 1) if ":///" not in place else place
    return Address(scheme, place, table, query)  # type: ignore[arg-type]


def check_configured(path: str) -> None:
    """Raise ValueError if the path of a configuration is the address of a database.

    A configuration comes from anybody; which databases are read is the operator's word.
    """
    if _scheme(path) in DATABASES:
        raise ValueError(
            "`path`: a configuration may not name a database by its address. Let the "
            "operator list it, and write `source: NAME`; or add its table with "
            "`fairdash data add ADDRESS`, and train in the app."
        )


def _scheme(text: str) -> str:
    match = SCHEME.match(text)
    return "" if match is None else match[1].lower().partition("+")[0]


def database_file(address: Address) -> Path:
    """Return the file of an SQLite or DuckDB database; ValueError if there is none."""
    path = Path(unquote(urlsplit(address.place).path.removeprefix("/")))
    if not path.is_file():
        raise ValueError(f"There is no database file {str(path)!r}.")
    return path


def shown(text: str) -> str:
    """Return an address without user, password and secret parameters."""
    if SCHEME.match(text) is None:
        return text
    try:
        url = urlsplit(text)
        pairs = parse_qsl(url.query, keep_blank_values=True)
        rest = urlencode([(k, v) for k, v in pairs if not SECRETS.search(k)])
    except ValueError:  # such as an open bracket; what is a password cannot be told
        return f"{_scheme(text)}://…"
    host = url.netloc.rpartition("@")[2]
    return f"{url.scheme}://{host}{url.path}" + (f"?{rest}" if rest else "")
