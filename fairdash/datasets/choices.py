"""One group a row, where a table has several: 0/1 columns, or a multiple choice.

Who is in none of the columns, or in two, gets a value of their own, so they are counted
and can be left out as any value can.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets.column_kinds import (
    as_kind,
    by_code,
    count_codes,
    count_values,
    is_nested,
    is_number,
    label_codes,
)

SEPARATORS = (";", "|", ",", "/")
MOST_CHOICES = 20
MOST_COMBINED = 1_000  # distinct cells that are looked at
LEAST_ALONE = 0.5  # share of the choices that also stand alone in a cell
NONE = "none"
SEVERAL = "several"


def one_of(
    frame: pd.DataFrame, name: str, columns: Sequence[str], none: str, several: str
) -> "pd.Series[Any]":
    """Return the column of several yes/no columns that says yes, for each row.

    Parameters
    ----------
    name : str
        Name of the new column.
    columns : sequence of str
        Columns of 0 and 1, yes and no or true and false; their names are the values.
    none, several : str
        The values of rows in none of the columns, and in two or more; "" makes them
        missing. So is a row that is in none, and for which a column holds nothing.

    Raises
    ------
    ValueError
        If a column is not there or holds other values, or the name is taken.
    """
    absent = [column for column in columns if column not in frame]
    if absent:
        raise ValueError(
            f"The table has no columns {absent}, which say who is in which {name}. "
            "Take them out of `columns`."
        )
    if name in frame:
        raise ValueError(
            f"The table has a column {name!r} already; give the groups another name."
        )
    flags = np.empty((len(frame), len(columns)))
    for index, column in enumerate(columns):
        answers = as_kind(frame[column], "yes_no").astype("boolean")
        flags[:, index] = answers.to_numpy(dtype=float, na_value=np.nan)
    return _in_one(flags, list(columns), none, several, name, frame.index)


def _in_one(
    flags: NDArray[np.float64],
    values: list[str],
    none: str,
    several: str,
    name: str,
    index: pd.Index,
) -> "pd.Series[Any]":
    """Return the value whose flag is 1 in each row; see `one_of`."""
    n_yes = np.nansum(flags, axis=1)
    first_yes = np.nan_to_num(flags).argmax(axis=1)
    labels = np.array(values, dtype=object)[first_yes]
    labels[n_yes == 0] = none or None
    labels[n_yes > 1] = several or None
    is_unknown = (n_yes == 0) & np.isnan(flags).any(axis=1)
    labels[is_unknown] = None
    return pd.Series(labels, index=index, name=name, dtype="str")


def single_choice(
    column: "pd.Series[Any]", separator: str, several: str
) -> "pd.Series[Any]":
    """Return a multiple choice with one value a row.

    A cell with one choice keeps it; one with two or more, as in "White;Asian", gets
    ``several``, or is missing where that is "".
    """
    codes, labels = label_codes(column)
    single: list[str | None] = []
    for label in labels:
        choices = choices_in(label, separator) or [label]
        value = choices[0] if len(choices) == 1 else several
        single.append(value or None)
    values = by_code(single, codes, missing=None, dtype=object)
    return pd.Series(values, index=column.index, name=column.name, dtype="str")


def choices_in(label: str, separator: str) -> list[str]:
    """Return the different choices in a cell, without spaces around them."""
    parts = (part.strip() for part in label.split(separator))
    return list(dict.fromkeys(part for part in parts if part))


def separator_of(column: "pd.Series[Any]") -> str | None:
    """Return what stands between the choices of a column, None of another column.

    Cells hold one or several of at most 20 choices, and at least half of the choices
    stand alone in a cell as well.
    """
    if is_number(column) or is_nested(column):
        return None
    if count_values(column, MOST_COMBINED) > MOST_COMBINED:
        return None
    _, labels = label_codes(column)
    for separator in SEPARATORS:
        cells = [choices_in(label, separator) for label in labels]
        combined = [cell for cell in cells if len(cell) > 1]
        choices = {choice for cell in cells for choice in cell}
        alone = {cell[0] for cell in cells if len(cell) == 1}
        if not combined or len(choices) > MOST_CHOICES:
            continue
        together = {choice for cell in combined for choice in cell}
        if len(together & alone) >= LEAST_ALONE * len(together):
            return separator
    return None


def n_choices(column: "pd.Series[Any]", separator: str) -> int:
    """Return how many values `single_choice` leaves, "several" among them."""
    _, labels = label_codes(column)
    cells = [choices_in(label, separator) for label in labels]
    alone = {cell[0] for cell in cells if len(cell) == 1}
    return len(alone) + any(len(cell) > 1 for cell in cells)


def membership_words(column: "pd.Series[Any]", values: Sequence[str]) -> str:
    """Return how many rows have each of some values: "12 none, 3 several"."""
    codes, labels = label_codes(column)
    counts = Counter(dict(zip(labels, count_codes(codes, len(labels)), strict=True)))
    return ", ".join(f"{int(counts[value]):,} {value}" for value in values if value)
