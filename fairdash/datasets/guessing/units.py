"""Columns that say whose a row is: a person with several visits, a household."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets.column_kinds import (
    all_differ,
    count_codes,
    is_nested,
    is_number,
    is_whole,
    words,
)
from fairdash.datasets.guessing.weights import is_weight
from fairdash.datasets.guessing.words import listed

UNIT_WORDS = listed("unit")
FEWEST_UNITS = 20
REPEATED = 0.05  # further rows for each unit
SOME_ROWS = 1_000  # among which most columns tell no people apart


def guess_unit(frame: pd.DataFrame, names: Iterable[str], group: str) -> str | None:
    """Return the first of some columns that says whose a row is, and repeats.

    Its name says identifier, or all rows with one of its values are of one ``group``.
    """
    for name in names:
        column = frame[name]
        if is_nested(column) or all_differ(column) or is_weight(frame, name):
            continue
        says_unit = bool(words(name) & UNIT_WORDS)
        if not says_unit and not _tells_people(column, frame.get(group)):
            continue
        n_rows = int(column.count())
        n_units = int(column.nunique())
        if n_units >= FEWEST_UNITS and n_units * (1 + REPEATED) <= n_rows:
            return name
    return None


def _tells_people(column: "pd.Series[Any]", group: "pd.Series[Any] | None") -> bool:
    """Return whether each value of a column seems to be one person.

    Rows with one value are of one group, and rows with the next value are of another
    as often as by chance. A year of birth fails: it settles who is young, but so does
    the next year.
    """
    # None is chosen yet.
    if group is None:
        return False
    if is_number(column) and not is_whole(column.iloc[:SOME_ROWS]):
        return False
    # Some rows rule out most columns before all are sorted.
    for step in (max(1, len(column) // SOME_ROWS), 1):
        same_value, other_group = _neighbours(column.iloc[::step], group.iloc[::step])
        if other_group[same_value].any():
            return False
    chance = _chance_of_two_groups(group)
    n_same = int(same_value.sum())
    n_next = len(same_value) - n_same
    if chance * min(n_same, n_next) < FEWEST_UNITS:
        return False
    return bool(other_group[~same_value].mean() >= chance / 2)


def _neighbours(
    column: "pd.Series[Any]", group: "pd.Series[Any]"
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Compare each row with the next one, in the order of a column's values.

    Returns whether both have one value, and whether they are of two groups. Rows
    without a value or a group are left out.
    """
    values, _ = pd.factorize(column, sort=is_number(column))
    groups, _ = pd.factorize(group)
    order = np.argsort(values, kind="stable")
    order = order[(values[order] >= 0) & (groups[order] >= 0)]
    same_value = np.diff(values[order]) == 0
    other_group = np.diff(groups[order]) != 0
    return same_value, other_group


def _chance_of_two_groups(group: "pd.Series[Any]") -> float:
    """Return the probability that two rows drawn at random are of two groups."""
    codes, labels = pd.factorize(group)
    shares = count_codes(codes, len(labels)) / len(codes)
    return float(1 - np.square(shares).sum())
