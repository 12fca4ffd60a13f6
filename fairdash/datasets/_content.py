"""The identity of a table's content, whatever file it was read from."""

import hashlib
import json
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types


def content_digest(table: pd.DataFrame) -> str:
    """Return the sha256 of all names, kinds and values of a table.

    For each column in order: its name and kind as JSON and a line end, then its values.
    Whole numbers are signed 64-bit integers, numbers IEEE doubles (one NaN, no negative
    zero), both little-endian; all else is a JSON array of texts and nulls. A file in
    another encoding, with other delimiters or line ends, has the same content.

    Parameters
    ----------
    table : DataFrame

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for name, column in table.items():
        kind, values = _canonical(column)
        digest.update(json.dumps([str(name), kind]).encode() + b"\n")
        digest.update(values)
    return digest.hexdigest()


def _canonical(column: "pd.Series[Any]") -> tuple[str, bytes]:
    if types.is_bool_dtype(column) or not types.is_numeric_dtype(column):
        cells = column.astype(object).where(column.notna(), None).tolist()
        texts = [None if cell is None else str(cell) for cell in cells]
        return "text", json.dumps(texts).encode()
    if types.is_integer_dtype(column) and column.notna().all():
        return "whole", column.to_numpy(dtype="<i8").tobytes()
    numbers = column.to_numpy(dtype="<f8", na_value=np.nan) + 0.0  # -0.0 becomes 0.0
    numbers[np.isnan(numbers)] = np.nan
    return "number", numbers.tobytes()
