"""Digests of columns that say the same: by their values, or by how they split rows."""

from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd

from fairdash.datasets._columns import label_codes


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
