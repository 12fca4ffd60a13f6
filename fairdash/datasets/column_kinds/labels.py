"""The labels of a column's values, their codes and their order."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._record import NAME_LETTERS, cut
from fairdash._validation import value_label
from fairdash.datasets import ranges
from fairdash.datasets.column_kinds.cells import is_nested, single_values
from fairdash.datasets.column_kinds.distinct import count_values
from fairdash.datasets.column_kinds.kinds import is_number


def label_codes(column: "pd.Series[Any]") -> tuple[NDArray[np.int64], list[str]]:
    """Return the code of each row's label (-1 where missing) and the labels, sorted.

    Values with one label (1, 1.0, True and "1") share one code. Labels that are all
    numbers are sorted as numbers, those of a column read as ranges by size. Raises
    ValueError if cells hold lists or records.
    """
    with single_values(column):
        codes, values = pd.factorize(column)
    labels = [value_label(value) for value in values]
    if has_order(column):
        distinct = ranges.ordered(set(labels))
    else:
        distinct = sorted_labels(set(labels))
    code_of_label = {label: code for code, label in enumerate(distinct)}
    new_codes = [code_of_label[label] for label in labels]
    return by_code(new_codes, codes, missing=-1), distinct


def by_code(
    values: Iterable[Any],
    codes: NDArray[np.int64],
    *,
    missing: Any,
    dtype: Any = None,
) -> NDArray[Any]:
    """Return the value of each row, by its code: ``missing`` where the code is -1.

    Values belong to codes 0, 1, 2 and so on, as the labels of `label_codes` do.
    """
    # Code -1 takes the last entry.
    lookup = np.array([*values, missing], dtype=dtype)
    return lookup[codes]


def count_codes(codes: NDArray[np.int64], n_codes: int) -> NDArray[np.int64]:
    """Return how many rows have each code; -1 is none."""
    return np.bincount(codes + 1, minlength=n_codes + 1)[1:]


def sorted_labels(labels: set[str]) -> list[str]:
    """Return labels in the order a reader expects: numbers by size, else by name."""
    try:
        return sorted(labels, key=lambda label: (float(label), label))
    except ValueError:
        return sorted(labels)


def ends(column: "pd.Series[Any]") -> tuple[float, float]:
    """Return the least and the largest number, or lower ends of ranges."""
    if is_number(column):
        return float(column.min()), float(column.max())
    _, labels = label_codes(column)
    lows = ranges.edges(labels)
    if not lows:
        return np.nan, np.nan
    return lows[0], lows[-1]


def count_labels(column: "pd.Series[Any]", most: int = 8) -> str:
    """Return the labels of a column with their row counts, the commonest first."""
    codes, labels = label_codes(column)
    counts = count_codes(codes, len(labels))
    commonest = np.argsort(-counts, kind="stable")[:most]
    parts = []
    for code in commonest:
        label = cut(labels[code], NAME_LETTERS)
        parts.append(f"{label} ({counts[code]:,} rows)")
    text = ", ".join(parts)
    n_rest = len(labels) - len(commonest)
    return f"{text} and {n_rest:,} more" if n_rest else text


def common_labels(column: "pd.Series[Any]") -> list[str]:
    """Return the labels of a column, the commonest first."""
    counts = column.value_counts()
    # A category may list values that no row has.
    present = counts.index[counts.to_numpy() > 0]
    labels = map(value_label, present)
    return list(dict.fromkeys(labels))


def listed_labels(column: "pd.Series[Any]") -> list[str]:
    """Return the labels of a column as a menu offers them.

    Ranges by size, others with the commonest first.
    """
    if not has_order(column):
        return common_labels(column)
    _, labels = label_codes(column)
    return labels


def has_order(column: "pd.Series[Any]") -> bool:
    """Return whether a column was read as ranges, see `as_kind`."""
    return isinstance(column.dtype, pd.CategoricalDtype) and bool(column.dtype.ordered)


def range_labels(column: "pd.Series[Any]") -> list[str] | None:
    """Return the labels of a column of ranges by size, None of another column."""
    if has_order(column):
        _, labels = label_codes(column)
        return labels
    if not pd.api.types.is_string_dtype(column) or is_nested(column):
        return None
    if count_values(column, ranges.MOST_LABELS) > ranges.MOST_LABELS:
        return None
    labels = common_labels(column)
    return ranges.ordered(labels) if ranges.are_ranges(labels) else None
