"""The sources that the operator of a server lists, and who may read which."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fairdash._parsing import parsed
from fairdash._record import InvalidError, Record, first_few
from fairdash._validation import Count, check_one_of
from fairdash.datasets.sources.address import Address, parse_address
from fairdash.datasets.sources.counted import (
    CountedSource,
    count_source,
    source_columns,
)
from fairdash.datasets.sources.draw import MOST_ROWS, Written, write_source

VARIABLE = "FAIRDASH_SOURCES"
EVERYBODY = "*"
ANYBODY = ""  # who has no login: a command, a configuration


class ListedSource(Record):
    """A source of the operator's list.

    Attributes
    ----------
    address : str
        As `write_source` takes it; here it may hold a password.
    columns, by, most_rows
        See `write_source`.
    users : tuple of str
        Who may read it, by the verified address of their login; ``"*"`` is everybody.
    """

    address: str
    columns: tuple[str, ...] | None = None
    by: tuple[str, ...] | None = None
    most_rows: Count = MOST_ROWS
    users: tuple[str, ...] = (EVERYBODY,)


def listed_sources(user: str) -> list[str]:
    """Return the names of the sources that a user may read, sorted.

    The list is the YAML file that ``$FAIRDASH_SOURCES`` names: by name the fields of
    `ListedSource`. Without it there are none. Raises ValueError if it is no such list.
    """
    return sorted(name for name, source in _listed().items() if _may(user, source))


def write_listed(name: str, user: str, path: Path) -> Written:
    """Write the rows of a listed source as a Parquet file; its title is the name.

    Raises ValueError as `write_source` does, and if there is no such source for the
    user: the words are the same whether it does not exist or is another's.
    """
    source = _allowed(name, user)
    written = write_source(
        _address(source),
        path,
        columns=source.columns,
        most_rows=source.most_rows,
        by=source.by,
    )
    return written._replace(title=written.titled(name))


def listed_columns(name: str, user: str) -> list[str]:
    """Return the columns of a listed source that may be read.

    Raises ValueError as `fairdash.datasets.sources.source_columns` does, and if there
    is no such source for the user.
    """
    source = _allowed(name, user)
    columns = source_columns(_address(source))
    if source.columns is None:
        return columns
    for column in source.columns:
        check_one_of("column", column, columns)
    return list(source.columns)


def count_listed(name: str, user: str, columns: Sequence[str]) -> CountedSource:
    """Count the rows of a listed source by some columns; its name is that of the list.

    Raises ValueError as `fairdash.datasets.sources.count_source` does, and if there is
    no such source for the user, or a column is none that may be read.
    """
    source = _allowed(name, user)
    if source.columns is not None:
        for column in columns:
            check_one_of("column", column, source.columns)
    return replace(count_source(_address(source), columns), name=name)


def _allowed(name: str, user: str) -> ListedSource:
    source = _listed().get(name)
    if source is None or not _may(user, source):
        raise ValueError(f"There is no source {name!r} that you may read.")
    return source


def _address(source: ListedSource) -> Address:
    return parse_address(source.address, secrets=True)


def _may(user: str, source: ListedSource) -> bool:
    return EVERYBODY in source.users or user.lower() in map(str.lower, source.users)


def _listed() -> dict[str, ListedSource]:
    file = os.environ.get(VARIABLE)
    if not file:
        return {}
    try:
        content = parsed(Path(file).read_bytes(), "YAML")
        if not isinstance(content, dict):
            raise ValueError("it is no list of sources by name")
        return {
            str(name): ListedSource.model_validate(fields)
            for name, fields in content.items()
        }
    except (OSError, ValueError) as error:
        # a value of the list may be an address with a password
        places = error.problems if isinstance(error, InvalidError) else []
        names = first_few([".".join(map(str, p.place)) for p in places], ", ")
        raise ValueError(
            f"The list of sources could not be read{f' ({names})' * bool(names)}; "
            f"see that {VARIABLE} names a YAML file of sources by name."
        ) from None
