"""Notes on a table that travel with its rows: how it came to be as it is.

They stand in ``frame.attrs``, which pandas carries along, and in the metadata of a
Parquet file, where pandas keeps attributes too. So they outlast a store, a bundle and
``frame.to_parquet``, and whatever shows numbers of the rows can say what they are of.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Self

import pandas as pd

from fairdash._record import Record

KEY = "fairdash"  # of the attributes
METADATA = b"PANDAS_ATTRS"  # of a Parquet file, as pandas names it
LARGEST = 1 << 20  # bytes of the notes of a file, which may be anybody's


class DrawnRows(Record):
    """That the rows are a sample of more.

    Attributes
    ----------
    n_rows, n_total : int
        Rows that were drawn, and rows that there are.
    by : tuple of str
        Columns whose proportions were kept.
    """

    n_rows: int
    n_total: int
    by: tuple[str, ...] = ()

    def _check(self) -> None:
        if not 0 < self.n_rows < self.n_total:
            raise ValueError("a sample has fewer rows than there are")

    @property
    def words(self) -> str:
        """How many rows of how many, and in proportion to what."""
        words = f"{self.n_rows:,} of {self.n_total:,} rows"
        if self.by:
            words += f", in proportion to {' and '.join(self.by)}"
        return words

    @property
    def sentence(self) -> str:
        """That numbers are of a sample, as a sentence."""
        return f"A sample: {self.words}, drawn at random."


class JoinedTable(Record):
    """That columns come from a second table.

    Attributes
    ----------
    name : str
        The second table's.
    by : tuple of str
        Columns whose values both tables have.
    other_by : tuple of str
        Their names in the second table; empty where an earlier version joined.
    columns : tuple of str
        Columns that came from it, by their names in the joined table, in its order.
    table : str
        Digest of the second table in the store; "" where it was not kept.
    n_rows, n_unmatched : int
        Rows there were, and rows among them that it has no match for.
    n_unused : int
        Rows of the second table that match no row.
    """

    name: str
    by: tuple[str, ...]
    n_rows: int
    n_unmatched: int
    n_unused: int
    other_by: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    table: str = ""

    @property
    def sentence(self) -> str:
        """The columns that were joined, and the rows without a match, in words."""
        return (
            f"Joined with {self.name} by {' and '.join(self.by)}: {self.n_unmatched:,} "
            f"of {self.n_rows:,} rows have no match; not used of it: "
            f"{self.n_unused:,}."
        )


class WideNote(Record):
    """That rows were made of counts of groups in columns.

    Attributes
    ----------
    feature : str
        Column of the groups.
    n_rows, n_counts, n_missing : int
        Rows there were, counts of a group in them, and those among them that are
        missing.
    """

    feature: str
    n_rows: int
    n_counts: int
    n_missing: int

    @property
    def sentence(self) -> str:
        """The counts that the rows were made of, and how many are missing, in words."""
        return (
            f"Made of {self.n_rows:,} rows with counts by {self.feature} in columns; "
            f"{self.n_missing:,} of {self.n_counts:,} counts are missing."
        )


class TableNotes(Record):
    """Notes on a table.

    Attributes
    ----------
    drawn : DrawnRows, optional
        Where the rows are a sample.
    joined : tuple of JoinedTable
        Tables that columns come from.
    wide : WideNote, optional
        Where rows were made of counts in columns.
    renamed : dict of str to str
        Columns whose name in the file an earlier column has, with that name.
    """

    drawn: DrawnRows | None = None
    joined: tuple[JoinedTable, ...] = ()
    wide: WideNote | None = None
    renamed: dict[str, str] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """Notes that belong beside any number of these rows."""
        drawn = [] if self.drawn is None else [self.drawn.sentence]
        wide = [] if self.wide is None else [self.wide.sentence]
        return [*drawn, *wide, *(table.sentence for table in self.joined)]

    def sampled(self, n_rows: int, n_total: int, by: Sequence[str] = ()) -> Self:
        """Return the notes on so many rows of the ``n_total`` that these notes are on.

        Rows that are a sample themselves count as what they were drawn from.
        """
        drawn = self.drawn
        if drawn is not None and drawn.n_rows != n_total:
            drawn = None  # of one of several files
        if n_rows < n_total:
            n_all = n_total if drawn is None else drawn.n_total
            drawn = DrawnRows(n_rows=n_rows, n_total=n_all, by=tuple(by))
        return self.model_copy(update={"drawn": drawn})

    def metadata(self) -> dict[bytes, bytes] | None:
        """Return the metadata of a Parquet file with these notes, None without any."""
        noted = self.model_dump(mode="json", exclude_defaults=True)
        return {METADATA: json.dumps({KEY: noted}).encode()} if noted else None

    def put(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Note them on a table; return it."""
        noted = self.model_dump(mode="json", exclude_defaults=True)
        frame.attrs.pop(KEY, None)
        if noted:
            frame.attrs[KEY] = noted
        return frame


def notes_of(frame: pd.DataFrame) -> TableNotes:
    """Return the notes on a table, empty ones where there are none."""
    return _read(frame.attrs)


def notes_in(metadata: Mapping[bytes, bytes] | None) -> TableNotes:
    """Return the notes in the metadata of a Parquet file, which may be anybody's."""
    text = (metadata or {}).get(METADATA, b"{}")
    if len(text) > LARGEST:
        return TableNotes()
    try:
        return _read(json.loads(text))
    except (ValueError, RecursionError):
        return TableNotes()


def _read(attributes: Any) -> TableNotes:
    noted = attributes.get(KEY) if isinstance(attributes, Mapping) else None
    try:
        return TableNotes.model_validate(noted or {})
    except ValueError:  # of another program
        return TableNotes()
