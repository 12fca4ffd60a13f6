"""What a report is made of: sections of blocks, without how they look.

And what a table that leaves the house does not show of small groups. A subgroup in
which a group has too few rows is suppressed whole, for its other numbers would give
the count away. A single one could be had by subtraction from totals, so the smallest
of the others goes with it (complementary suppression; Hundepool et al., Statistical
Disclosure Control, 2012, chapter 4).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from fairdash._wording import UNDEFINED, Kpi, count, number, plural
from fairdash.metrics import BaseRates
from fairdash.plots import Picture
from fairdash.results import LocalResult


def hidden_names(counts: pd.DataFrame, least: int) -> list[str]:
    """Return the subgroups, or groups, to suppress: with fewer than ``least`` rows.

    ``counts`` are rows by subgroup (index) and group (columns, of groups alone one).
    """
    small = (counts < least).any(axis=1)
    hidden = counts.index[small].tolist()
    if len(hidden) == 1 and not small.all():
        hidden.append(counts[~small].sum(axis=1).idxmin())
    return [str(name) for name in hidden]


def without_small_groups(
    result: LocalResult, groups: tuple[str, ...], least: int
) -> tuple[LocalResult, list[str]]:
    """Return local gaps without the numbers of suppressed subgroups, and these."""
    cells, hidden = without_small_cells(result.cells, groups, least)
    return replace(result, cells=cells), hidden


def without_small_cells(
    cells: pd.DataFrame, groups: tuple[str, ...], least: int
) -> tuple[pd.DataFrame, list[str]]:
    """Return a table by ``label`` and subgroup without suppressed ones, and these.

    Its labels are of the same rows.
    """
    own = cells[cells["label"] == cells["label"].iloc[-1]]
    counts = own.set_index("subgroup")[[f"n_{name}" for name in groups]]
    counts.index = counts.index.astype(str)
    hidden = hidden_names(counts.fillna(0), least)
    return _masked(cells, hidden), hidden


def base_cells(rates: BaseRates, least: int) -> tuple[pd.DataFrame, list[str]]:
    """Return base rates by subgroup and group without suppressed ones, and these."""
    counts = rates.cells.pivot_table("n", "subgroup", "group", "sum", observed=False)
    counts.index = counts.index.astype(str)
    hidden = hidden_names(counts.fillna(0), least)
    return _masked(rates.cells, hidden), hidden


def suppressed_words(hidden: list[str], least: int) -> str:
    """Say how many subgroups are suppressed and why; nothing where none is."""
    if not hidden:
        return ""
    verb = "is" if len(hidden) == 1 else "are"
    return (
        f"{plural(len(hidden), 'subgroup')} {verb} suppressed: a group in one has "
        f"fewer than {least} rows, or totals would give such a count away."
    )


def few_words(least: int) -> str:
    """Say why numbers by group are missing altogether."""
    return f"A group has fewer than {least} rows, so numbers by group are suppressed."


def _masked(cells: pd.DataFrame, hidden: list[str]) -> pd.DataFrame:
    rows = cells["subgroup"].astype(str).isin(hidden)
    if not rows.any():
        return cells
    numbers = cells.select_dtypes("number").columns
    masked = cells.astype(dict.fromkeys(numbers, float))
    masked.loc[rows, numbers] = float("nan")
    masked["estimable"] = cells["estimable"].astype(bool) & ~rows
    masked["reason"] = cells["reason"].where(~rows, "suppressed")
    return masked


MOST_ROWS = 200  # of a table, so that a report stays small
# begin the names of counts; expected ones have a decimal
_COUNTS = ("Rows", "Seeds", "Test rows", "Settings", "To 1", "To 0", "Changed")


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
        shown = self.frame.head(MOST_ROWS)
        columns = [
            [_cell(value, str(name)) for value in shown.iloc[:, at]]
            for at, name in enumerate(shown.columns)
        ]
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
        return [
            types.is_numeric_dtype(self.frame.iloc[:, at])
            and not types.is_bool_dtype(self.frame.iloc[:, at])
            for at in range(self.frame.shape[1])
        ]


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture with its caption, and its numbers as a table."""

    picture: Picture
    caption: str
    table: Table | None = None
    kind = "figure"


Block = Words | Cards | Facts | Code | Table | Figure


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a report."""

    name: str  # by which it is chosen
    title: str
    blocks: Sequence[Block]
    # Of the one who made the report; paragraphs are parted by empty lines.
    comment: str = field(default="")


def _cell(value: Any, column: str) -> str:
    """Return a value as text: three decimals, counts whole, undefined as a dash."""
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
