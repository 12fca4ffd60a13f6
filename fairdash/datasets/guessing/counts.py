"""Tables of counts: the column that says how many people a row stands for."""

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairdash.datasets.column_kinds import is_nested, is_number, is_whole, words
from fairdash.datasets.guessing.groups import MANY_VALUES
from fairdash.datasets.guessing.words import listed

COUNT_WORDS = listed("count")
MOST_CELLS = 10_000  # rows of a table of counts
MOST_CELL_VALUES = 200  # of a column of text in it
FULLEST = 4  # at most so many cells for each row


def named_count(frame: pd.DataFrame, named: Collection[str]) -> str | None:
    """Return the column of a table of counts whose name says that it counts people.

    A column that only its values make a count is offered by `more_roles`, not taken.
    """
    free = [name for name in map(str, frame) if name not in named]
    people = guess_count(frame, free)
    if people is None or not words(people) & COUNT_WORDS:
        return None
    return people


def guess_count(frame: pd.DataFrame, names: Iterable[str]) -> str | None:
    """Return the column that says how many people a row of a table of counts is.

    All other columns are categories whose rows are distinct, and the column is whole,
    not negative and not constant. Where several are, the one whose name says so comes
    first. A column that numbers the rows is neither.
    """
    if not 1 < len(frame) <= MOST_CELLS:
        return None
    frame = frame[[name for name in frame if not is_nested(frame[name])]]
    frame = frame[[name for name in frame if not _numbers_rows(frame[name])]]
    n_values: dict[str, int] = {}
    of_many_values: list[str] = []
    for name in map(str, frame):
        # A column without values parts no cell, like one with a single value.
        n_values[name] = max(1, int(frame[name].nunique()))
        most = MANY_VALUES if is_number(frame[name]) else MOST_CELL_VALUES
        if n_values[name] > most:
            of_many_values.append(name)
        # One of them would describe a cell, but by too many values.
        if len(of_many_values) > 1:
            return None
    candidates: list[str] = []
    for name in names:
        # A column of many values is the count, or there is none.
        is_possible = name in n_values and of_many_values in ([], [name])
        if is_possible and _may_count(frame, name, n_values):
            candidates.append(name)
    for name in candidates:
        if words(name) & COUNT_WORDS:
            return name
    return candidates[0] if candidates else None


def _numbers_rows(column: "pd.Series[Any]") -> bool:
    """Tell whether a column holds 0, 1, 2, … or 1, 2, 3, … down the table."""
    if not is_number(column) or column.hasnans or column.iloc[0] not in (0, 1):
        return False
    first = int(column.iloc[0])
    return np.array_equal(column, np.arange(len(column)) + first)


def _may_count(frame: pd.DataFrame, name: str, n_values: Mapping[str, int]) -> bool:
    """Tell whether a column may count people; the others have few values each."""
    column = frame[name]
    if not is_number(column) or column.hasnans or not is_whole(column):
        return False
    if column.min() < 0 or column.min() == column.max() or len(n_values) < 2:
        return False
    # Rows of a table of counts fill its cells; those of people leave most empty.
    n_cells = math.prod(n for peer, n in n_values.items() if peer != name)
    if n_cells > FULLEST * len(frame):
        return False
    return not frame.drop(columns=name).duplicated().any()
