"""How many different values a column has, without a look at all cells where it can."""

import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any
from weakref import ReferenceType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets.column_kinds.cells import (
    SCREEN_ROWS,
    single_values,
    some_rows,
)

# Whether all texts differ, by the id of their cells, see `_texts_differ`.
_differing: dict[int, tuple["ReferenceType[Any]", bool]] = {}


def count_values(column: "pd.Series[Any]", most: int) -> int:
    """Return how many different values there are, or some number above ``most``.

    The first rows and then others may already show that there are more; else all
    are counted. Raises ValueError if cells hold lists or records.
    """
    with single_values(column):
        for part in _looks(column):
            n_values = int(part.nunique())
            if n_values > most:
                break
        return n_values


def all_differ(column: "pd.Series[Any]") -> bool:
    """Tell whether no value comes twice.

    Where one does, the first rows or some others show it for most columns.
    """
    for part in _looks(column):
        if part is column and len(column) > SCREEN_ROWS and _is_arrow_text(column):
            return _texts_differ(column)
        if part.nunique(dropna=False) < len(part):
            return False
    return True


def _looks(column: "pd.Series[Any]") -> "Iterator[pd.Series[Any]]":
    """Yield the first rows and some other rows of a long column, then all of it."""
    if len(column) > SCREEN_ROWS:
        yield column.head(SCREEN_ROWS)
        yield column.iloc[some_rows(len(column))]
    yield column


def _is_arrow_text(column: "pd.Series[Any]") -> bool:
    """Return whether pandas holds the texts of a column as Arrow does."""
    return isinstance(column.array, pd.arrays.ArrowStringArray)


def _texts_differ(column: "pd.Series[Any]") -> bool:
    """Tell whether no text comes twice, from all cells.

    Several questions about a table need it, so the answer is kept as long as the cells
    are: pandas takes new ones where one is changed.
    """
    cells = column.array.__arrow_array__()
    key = id(cells)
    if key in _differing:
        reference, answer = _differing[key]
        if reference() is cells:
            return answer
    answer = column[_repeated_hashes(column)].is_unique
    reference = weakref.ref(cells, partial(_forget, key))
    _differing[key] = (reference, answer)
    return answer


def _forget(key: int, reference: "ReferenceType[Any]") -> None:
    """Drop an answer once its cells are gone; others may have their id by then."""
    if key in _differing and _differing[key][0] is reference:
        del _differing[key]


def _repeated_hashes(column: "pd.Series[Any]") -> NDArray[np.bool_]:
    """Flag the cells of a column of text whose hash another cell has as well.

    They are read by parts, so that not all of a long text is in memory a second time.
    """
    hashes = np.empty(len(column), dtype=np.int64)
    for start in range(0, len(column), SCREEN_ROWS):
        part = slice(start, start + SCREEN_ROWS)
        cells = column.iloc[part].to_numpy(dtype=object, na_value=np.nan)
        hashes[part] = np.fromiter(map(hash, cells), np.int64, len(cells))
    repeated: NDArray[np.bool_] = pd.Series(hashes).duplicated(keep=False).to_numpy()
    return repeated
