"""Facts about one column: its labels, and whether it looks like an identifier."""

import re
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import value_label

N_EXAMPLES = 5
PROBED_ROWS = 10_000
SCREEN_ROWS = 20_000
BARE_WORDS = {"yes", "no", "true", "false", "y", "n"}


def label_codes(column: "pd.Series[Any]") -> tuple[NDArray[np.int64], list[str]]:
    """Return the code of each row's label (-1 where missing) and the labels, sorted.

    Values with one label (1, 1.0, True and "1") share one code. Labels that are all
    numbers are sorted as numbers.
    """
    codes, values = pd.factorize(column)
    labels = [value_label(value) for value in values]
    distinct = sorted_labels(set(labels))
    position = {label: code for code, label in enumerate(distinct)}
    # the extra entry answers to code -1, a missing value
    relabel = np.array([*(position[label] for label in labels), -1], dtype=np.int64)
    return relabel[codes], distinct


def count_codes(codes: NDArray[np.int64], n_codes: int) -> NDArray[np.int64]:
    """Return how many rows have each code; -1 is none."""
    counts: NDArray[np.int64] = np.bincount(codes + 1, minlength=n_codes + 1)[1:]
    return counts


def sorted_labels(labels: set[str]) -> list[str]:
    """Return labels in the order a reader expects: numbers by size, else by name."""
    try:
        return sorted(labels, key=lambda label: (float(label), label))
    except ValueError:
        return sorted(labels)


def count_labels(column: "pd.Series[Any]", most: int = 8) -> str:
    """Return the labels of a column with their row counts, the commonest first."""
    codes, labels = label_codes(column)
    counts = count_codes(codes, len(labels))
    order = np.argsort(-counts, kind="stable")
    shown = [f"{labels[i]} ({counts[i]:,} rows)" for i in order[:most]]
    rest = len(labels) - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")


def count_values(column: "pd.Series[Any]", most: int) -> int:
    """Return how many different values there are, or some number above ``most``.

    The first rows and then others may settle that there are more; else all are counted.
    """
    for part in (column.head(SCREEN_ROWS), column.iloc[some_rows(len(column))]):
        n_values = int(part.nunique())
        if n_values > most or len(part) == len(column):
            return n_values
    return int(column.nunique())


@lru_cache(maxsize=16)
def some_rows(n_rows: int) -> NDArray[np.int64]:
    """Return positions of 20,000 rows drawn at random, or of all where fewer."""
    rows = np.arange(n_rows)
    if n_rows > SCREEN_ROWS:
        rng = np.random.default_rng(0)
        rows = np.sort(rng.choice(n_rows, SCREEN_ROWS, replace=False, shuffle=False))
    rows.flags.writeable = False  # shared by all who ask
    return rows


def example_rows(flags: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the numbers of the first flagged rows; the first row of data is row 1."""
    return tuple(int(row) + 1 for row in np.flatnonzero(flags)[:N_EXAMPLES])


def is_nested(column: "pd.Series[Any]") -> bool:
    """Tell whether cells hold lists or records rather than single values."""
    if not pd.api.types.is_object_dtype(column):
        return False
    return any(isinstance(v, list | dict | set | np.ndarray) for v in column)


def is_number(column: "pd.Series[Any]") -> bool:
    """Tell whether a column holds numbers; True and False are not numbers."""
    numeric = pd.api.types.is_numeric_dtype(column)
    return bool(numeric and not pd.api.types.is_bool_dtype(column))


def is_whole(column: "pd.Series[Any]") -> bool:
    """Tell whether every value of a column of numbers is whole."""
    if pd.api.types.is_integer_dtype(column):
        return True
    values = column.dropna().to_numpy(dtype=float)
    return bool(np.isfinite(values).all() and (values == np.floor(values)).all())


def words(name: str) -> set[str]:
    """Return the lower-case words of a column name: "dobYear_2" has dob, year, 2."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)", " ", name)
    return set(re.split(r"[^a-z0-9]+", spaced.lower())) - {""}


def is_age(name: str) -> bool:
    """Tell whether a column name says age."""
    return bool(words(name) & {"age", "ages"})


def is_bare(label: str) -> bool:
    """Tell whether a label such as "1" or "no" needs the name of its column."""
    return label.lower() in BARE_WORDS or not any(c.isalpha() for c in label)


def _may_number(column: "pd.Series[Any]") -> bool:
    """Tell whether the first values of a number are whole; text may always."""
    return not is_number(column) or is_whole(column.head(PROBED_ROWS))


def is_identifier(column: "pd.Series[Any]") -> bool:
    """Tell whether a column numbers or names its rows: no value twice, and no measure.

    Whole numbers count as identifiers when they only rise or fall down the table or
    when the column's name says so; text counts whenever no value comes twice.
    """
    if not column.head(PROBED_ROWS).dropna().is_unique:
        return False  # at little cost, for most columns of large tables
    present = column.dropna()
    if len(present) < 20 or not (_may_number(column) and present.is_unique):
        return False
    if not is_number(column):
        return not pd.api.types.is_datetime64_any_dtype(column)
    if not is_whole(column):
        return False
    named = bool(words(str(column.name)) & {"id", "index", "key", "number", "nr", "no"})
    return named or present.is_monotonic_increasing or present.is_monotonic_decreasing
