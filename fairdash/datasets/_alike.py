"""Columns that say the same, found without comparing each one with each other."""

from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd

from fairdash.datasets._columns import PROBED_ROWS, label_codes

Mark = Callable[["pd.Series[Any]"], bytes]


class Alike:
    """Columns kept so far, which can be asked for one with the same mark.

    A mark is a digest that two columns share if they say the same. Columns are told
    apart by the marks of their first rows; where these are equal all rows are looked
    at, once for each column.
    """

    def __init__(self, frame: pd.DataFrame, mark: Mark) -> None:
        def start(name: str) -> bytes:
            return mark(pd.Series(frame[name].iloc[:PROBED_ROWS]))

        def whole(name: str) -> bytes:
            return mark(frame[name]) if len(frame) > PROBED_ROWS else self._start(name)

        self._start, self._whole = cache(start), cache(whole)
        self._kept: dict[bytes, list[str]] = {}  # by first rows
        self._first: dict[bytes, str] = {}  # by all rows, where first rows came twice

    def keep(self, name: str) -> None:
        """Keep a column; of several with one mark the first is found."""
        self._kept.setdefault(self._start(name), []).append(name)

    def first(self, name: str) -> str | None:
        """Return the first column kept that has the mark of a column, None if none."""
        kept = self._kept.get(self._start(name))
        if kept is None:
            return None
        for other in kept:
            self._first.setdefault(self._whole(other), other)
        kept.clear()
        return self._first.get(self._whole(name))


def mark_values(column: "pd.Series[Any]") -> bytes:
    """Return a digest of the values in their order; of equal columns it is the same."""
    rows = pd.util.hash_pandas_object(column, index=False).to_numpy()
    return blake2b(f"{column.dtype} {len(rows)}".encode() + rows.tobytes()).digest()


def mark_split(column: "pd.Series[Any]") -> bytes:
    """Return a digest of how a column splits the rows, whatever its values are called.

    It is the same if each label of one column goes with one of the other and back, and
    the same rows are missing.
    """
    codes, labels = label_codes(column)
    _, places = np.unique(codes[codes >= 0], return_index=True)
    turn = np.full(len(labels) + 1, -1)  # the last entry answers to a missing value
    turn[np.argsort(places)] = np.arange(len(labels))
    return blake2b(turn[codes].tobytes()).digest()
