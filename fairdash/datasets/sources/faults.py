"""Reasons why a source cannot be read, each a sentence with the way out.

A library's messages are written for programmers and may hold credentials. A sentence
here takes only the kind of an error from them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fairdash._lazy import load
from fairdash.datasets.sources.address import Address, shown
from fairdash.datasets.sources.deadline import VARIABLE, TooSlowError

_TITLES = {"duckdb": "DuckDB", "sqlite": "SQLite", "postgresql": "Postgres"}
# by scheme, as fsspec finds them
_OBJECT_LIBRARIES = {
    "abfs": "adlfs",
    "az": "adlfs",
    "gcs": "gcsfs",
    "gs": "gcsfs",
    "s3": "s3fs",
    "s3a": "s3fs",
}


def installed(library: str) -> Any:
    """Import the library of a source; ValueError says how to install it."""
    try:
        return load(library)
    except ImportError as error:
        raise ValueError(f"{error}.") from None


def check_object_library(scheme: str) -> None:
    """Raise ValueError if the library of an object store is not installed."""
    library = _OBJECT_LIBRARIES[scheme]
    try:
        load(library)
    except ImportError:
        raise ValueError(
            f"Addresses of {scheme}:// need {library}: pip install {library}. Or copy "
            "the files to a folder, and name that."
        ) from None


@contextmanager
def reached(name: str) -> Iterator[None]:
    """Say that files cannot be read, whatever their library raises.

    Clients of object stores raise classes of their own, without a common base. No
    ValueError of ours may be raised within.
    """
    try:
        yield
    except (MemoryError, TooSlowError):
        raise
    except Exception as error:
        raise ValueError(
            f"{name} could not be read ({type(error).__name__}). See that it is there, "
            "that its files hold tables of the same columns, and that this machine may "
            "read it; an object store needs its variables, such as AWS_PROFILE."
        ) from None


def unreached(address: Address, error: Exception) -> ValueError:
    """Return an error that names the table, and no more than the kind of trouble."""
    return ValueError(
        f"{address.name} could not be read from {shown(address.place)} "
        f"({type(error).__name__}). See that the database is there, that it has the "
        "table and columns, that this login may read them, and that no other program "
        "keeps it to itself."
    )


def too_slow(name: str, seconds: float) -> ValueError:
    """Return the error of a source that was told to stop."""
    return ValueError(
        f"{name} took longer than {seconds:g} s and was told to stop. Count by fewer "
        "columns, name a query that chooses fewer rows, or give it more time: "
        f"{VARIABLE}."
    )


def damaged(address: Address) -> ValueError:
    """Return the error of a file that its database cannot read."""
    return ValueError(
        f"{address.name} could not be read from {shown(address.place)}: the file is "
        f"damaged, or no database of this version of {_TITLES[address.kind]}. Put a "
        "backup of it in its place."
    )


def no_select(address: Address) -> ValueError:
    """Return the error of a statement that is not exactly one SELECT."""
    return ValueError(
        f"{address.name} was not read: give exactly one SELECT, in the words of "
        f"{_TITLES[address.kind]}, and nothing after it."
    )


def beyond(address: Address) -> ValueError:
    """Return the error of a statement or view that reaches beyond its database."""
    return ValueError(
        f"{address.name} was not read: a statement, and a view, may read the tables of "
        "its database and no more. It may not write, change settings, or reach files "
        "and other databases. Read Parquet files by the address of their folder."
    )
