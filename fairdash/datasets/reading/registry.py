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
from types import ModuleType
from typing import Any, Protocol

from fairdash._lazy import load
from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.source import Scratch, Source
from fairdash.datasets.table_notes import TableNotes

_PACKAGE = "fairdash.datasets.reading.readers"
_ADDED: list["Reader"] = []


class OpenedFile(Protocol):
    """An opened file.

    Attributes
    ----------
    header : list of str
        Names of the columns, as they are in the file.
    notes : TableNotes
        Notes on the rows that the file itself holds.
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
        Name of the kind in messages.
    programs : tuple of str
        Names by which users look for the kind, above an upload.
    suffixes : tuple of str
        Endings of names, such as ".csv", which an upload takes.
    fits : callable
        Returns by a source and its first bytes whether it is of this kind.
    sniff : callable
        Returns how a source of this kind is written.
    read : callable
        Opens a source as an `OpenedFile`, and returns how it was read in the end.
    finds, takes : str
        For the documentation: what is found out of a file, and which argument of
        `read_table` says it instead.
    has_sheets : bool
        Whether ``sheet`` chooses a table within such a file.
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
    programs: tuple[str, ...]
    suffixes: tuple[str, ...]
    fits: Callable[[Source, bytes], bool]
    sniff: Callable[[Source], TableFormat]
    read: Callable[[Source, TableFormat, Scratch], tuple[OpenedFile, TableFormat]]
    finds: str = ""
    takes: str = ""
    has_sheets: bool = False
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
    _ADDED[:] = [reader for reader in _ADDED if reader.kind != kind]


def all_readers() -> list[Reader]:
    """Return all readers, those that look at more of a file first."""
    return sorted([*_ADDED, *_built_in()], key=lambda reader: reader.rank)


@cache
def _built_in() -> tuple[Reader, ...]:
    # Cached from the first call on, since a locked box can list no folder.
    package = import_module(_PACKAGE)
    modules = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(_reader_in(import_module(f"{_PACKAGE}.{name}")) for name in modules)


def _reader_in(module: ModuleType) -> Reader:
    reader = getattr(module, "READER", None)
    if isinstance(reader, Reader):
        return reader
    raise TypeError(
        f"{module.__name__} must define READER, a Reader: each file of "
        "fairdash/datasets/reading/readers is one kind of files."
    )


def suffixes() -> tuple[str, ...]:
    """Return the endings of names that are read, without those of packed files."""
    return tuple(dict.fromkeys(s for reader in all_readers() for s in reader.suffixes))


def programs() -> tuple[str, ...]:
    """Return the names of what is read, the kind that needs no library first."""
    return tuple(name for reader in reversed(all_readers()) for name in reader.programs)


def label_of(kind: str) -> str:
    """Return what messages call a kind, also one that is not read any more."""
    labels = {reader.kind: reader.label for reader in all_readers()}
    return labels.get(kind, kind.capitalize())


def reader_of(source: Source) -> Reader:
    """Return the reader of a source by its first bytes; text is CSV."""
    head = source.head()
    return next(reader for reader in all_readers() if reader.fits(source, head))


def reader_named(kind: str) -> Reader:
    """Return the reader of a kind; ValueError if there is none any more."""
    for reader in all_readers():
        if reader.kind == kind:
            return reader
    raise ValueError(
        f"Files of the kind {kind!r} are not read. Choose one of "
        f"{[reader.kind for reader in all_readers()]}."
    )


def sniff(source: Source) -> TableFormat:
    """Return how a file is written."""
    return reader_of(source).sniff(source)


def open_rows(
    source: Source, form: TableFormat, scratch: Scratch
) -> tuple[OpenedFile, TableFormat, Reader]:
    """Open a file as it is written, and return its reader as well."""
    reader = reader_named(form.kind)
    load(reader.library)  # else an error names the extra
    rows, form = reader.read(source, form, scratch)
    return rows, form, reader


def small_files() -> Iterator[bytes]:
    """Yield small files of every kind, to be read before a box is locked."""
    for reader in all_readers():
        try:
            load(reader.library)
        except ImportError:
            continue
        yield from reader.warm_up()
