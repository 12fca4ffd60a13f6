"""The parts of a report: sections of blocks, without how they look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from fairdash import plots
from fairdash._wording import UNDEFINED, Kpi, count, number, without_sentences
from fairdash.audits import Answer, Listing, tables
from fairdash.plots import Picture

MOST_ROWS = 200  # of a table, so that a report stays small
# begin the names of counts; expected ones have a decimal
_COUNTS = (
    "Rows",
    "People",
    "Seeds",
    "Test rows",
    "Settings",
    "To 1",
    "To 0",
    "Changed",
)


@dataclass(frozen=True)
class Words:
    """A paragraph; a finding is set in stronger type."""

    text: str
    finding: bool = False
    kind = "words"


@dataclass(frozen=True)
class Cards:
    """Numbers with what makes them honest."""

    items: Sequence[Kpi]
    kind = "cards"


@dataclass(frozen=True)
class Facts:
    """Terms, each with what it is."""

    items: Mapping[str, str]
    title: str = ""
    kind = "facts"


@dataclass(frozen=True)
class Code:
    """Text to copy."""

    title: str
    text: str
    kind = "code"


@dataclass(frozen=True, eq=False)
class Table:
    """A table with what it is of; of a very long one the first rows."""

    title: str
    frame: pd.DataFrame
    note: str = ""
    kind = "table"

    @property
    def header(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.frame.columns]

    @property
    def rows(self) -> list[list[str]]:
        """The cells as they are shown."""
        first_rows = self.frame.head(MOST_ROWS)
        columns = []
        # By position: two columns may have the same name.
        for index, name in enumerate(first_rows.columns):
            values = first_rows.iloc[:, index]
            columns.append([_cell(value, str(name)) for value in values])
        return [list(row) for row in zip(*columns, strict=True)]

    @property
    def caption(self) -> str:
        """The note, and how many rows are not shown."""
        n = len(self.frame)
        more = f"The first {MOST_ROWS} of {count(n)} rows." if n > MOST_ROWS else ""
        return " ".join(filter(None, [self.note, more]))

    @cached_property
    def numeric(self) -> list[bool]:
        """Which columns hold numbers, and so stand to the right."""
        types = pd.api.types
        numeric = []
        for dtype in self.frame.dtypes:
            is_number = types.is_numeric_dtype(dtype)
            numeric.append(is_number and not types.is_bool_dtype(dtype))
        return numeric


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture with its caption, and its numbers as a table."""

    picture: Picture
    caption: str
    table: Table | None = None
    kind = "figure"


@dataclass(frozen=True)
class Pictures:
    """Linked pictures of a sweep, moved by sliders in the page itself.

    Attributes
    ----------
    data : bytes
        Of `fairdash.linked.linked_data`.
    place : int
        Of the setting that they begin with, and that is printed.
    """

    title: str
    data: bytes
    place: int
    caption: str
    kind = "pictures"


Block = Words | Cards | Facts | Code | Table | Figure | Pictures


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a report."""

    name: str  # by which it is chosen
    title: str
    blocks: Sequence[Block]


def blocks_of(answer: Answer) -> list[Block]:
    """Return an answer as blocks: finding, cards, figure with its table, changes."""
    blocks: list[Block] = []
    if answer.verdict:
        blocks.append(Words(answer.verdict, finding=True))
    if answer.cards:
        blocks.append(Cards(answer.cards))
    details = without_sentences(answer.details, answer.verdict)
    if details:
        blocks.append(Words(details))
    table = None if answer.table is None else _table(answer.table)
    if answer.figure is not None:
        blocks.append(Figure(answer.figure.picture(plots), answer.caption, table))
    elif table is not None:
        blocks.append(table)
    if answer.changes is not None:
        blocks.append(_table(answer.changes))
    return blocks


def outcome_blocks(audit: tables.OutcomesAudit) -> list[Block]:
    """Return the verdict of predictions that are not 0 or 1, and all their tables."""
    blocks: list[Block] = [Words(audit.verdict, finding=True), Words(audit.details)]
    return [*blocks, *map(_table, audit.listings())]


def _table(listing: Listing) -> Table:
    return Table(listing.title, listing.frame, listing.note)


def _cell(value: Any, column: str) -> str:
    """Return a value as text: counts with commas, shares with three decimals."""
    # A truth value is an int to Python, so it comes first.
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value or UNDEFINED
    if pd.isna(value):
        return UNDEFINED
    if isinstance(value, int):
        return count(value)
    if column.startswith(_COUNTS) and "%" not in column:
        return count(int(value)) if float(value).is_integer() else f"{value:,.1f}"
    return number(float(value))
