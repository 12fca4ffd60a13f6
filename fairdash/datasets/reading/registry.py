"""Which kinds of files are read: one registry of readers.

A reader is a module of `fairdash.datasets.reading.readers` that defines ``READER``. It
says which files are of its kind, by suffix and by their first bytes, and opens them. It
loads its library late, since the core reads CSV files without any.
"""

import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from fairdash._lazy import load
from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.source import Scratch, Source
from fairdash.datasets.table_notes import TableNotes

_PACKAGE = "fairdash.datasets.reading.readers"
_ADDED: list["Reader"] = []


class Rows(Protocol):
    """An opened file.

    Attributes
    ----------
    header : list of str
        Names of the columns, as they are in the file.
    notes : TableNotes
        What the file itself says of the rows.
    """

    header: list[str]
    notes: TableNotes

    def columns(self) -> list[Any]:
        """Return the columns as arrays of Arrow."""


@dataclass(frozen=True)
class Reader:
    """One kind of files.

    Attributes
    ----------
    kind : str
        `TableFormat.kind` of such a file.
    label : str
        What messages call the kind.
    suffixes : tuple of str
        Endings of names, such as ".csv", which an upload takes.
    fits : callable
        Tells by a source and its first bytes whether it is of this kind.
    sniff : callable
        Returns how a source of this kind is written.
    read : callable
        Opens a source as `Rows`, and returns how it was read in the end.
    has_types : bool
        Whether columns have types; else they are text, of which types are found.
    library : str
        Imported to read it, as far as it needs one beside PyArrow.
    warm_up : callable
        Returns small files of the kind. They are read before the box is locked, so that
        libraries load what they load late.
    rank : int
        Files that fit several kinds are of the one with the lowest rank.
    """

    kind: str
    label: str
    suffixes: tuple[str, ...]
    fits: Callable[[Source, bytes], bool]
    sniff: Callable[[Source], TableFormat]
    read: Callable[[Source, TableFormat, Scratch], tuple[Rows, TableFormat]]
    has_types: bool = True
    library: str = "pyarrow"
    warm_up: Callable[[], list[bytes]] = list
    rank: int = 0


def add(reader: Reader) -> None:
    """Add a kind of files; a second one of the same kind replaces the first."""
    remove(reader.kind)
    _ADDED.append(reader)


def remove(kind: str) -> None:
    """Take out a kind that was added."""
    _ADDED[:] = [each for each in _ADDED if each.kind != kind]


def readers() -> list[Reader]:
    """Return all readers, those that look at more of a file first."""
    return sorted([*_ADDED, *_built_in()], key=lambda reader: reader.rank)


@cache
def _built_in() -> tuple[Reader, ...]:
    # once: the box can list no folder
    package = import_module(_PACKAGE)
    modules = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(import_module(f"{_PACKAGE}.{name}").READER for name in modules)


def suffixes() -> tuple[str, ...]:
    """Return the endings of names that are read, without those of packed files."""
    return tuple(dict.fromkeys(s for reader in readers() for s in reader.suffixes))


def reader_of(source: Source) -> Reader:
    """Return the reader of a source by its first bytes; text is CSV."""
    head = source.head()
    return next(reader for reader in readers() if reader.fits(source, head))


def reader_named(kind: str) -> Reader:
    """Return the reader of a kind; ValueError if there is none any more."""
    for reader in readers():
        if reader.kind == kind:
            return reader
    raise ValueError(
        f"Files of the kind {kind!r} are not read. Choose one of "
        f"{[reader.kind for reader in readers()]}."
    )


def sniff(source: Source) -> TableFormat:
    """Return how a file is written."""
    return reader_of(source).sniff(source)


def open_rows(
    source: Source, form: TableFormat, scratch: Scratch
) -> tuple[Rows, TableFormat, Reader]:
    """Open a file as it is written, and return its reader as well."""
    reader = reader_named(form.kind)
    load(reader.library)  # else an error names the extra
    rows, form = reader.read(source, form, scratch)
    return rows, form, reader


def small_files() -> Iterator[bytes]:
    """Yield small files of every kind, to be read before a box is locked."""
    for reader in readers():
        try:
            load(reader.library)
        except ImportError:
            continue
        yield from reader.warm_up()
