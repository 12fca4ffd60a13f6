"""Encoded rows back in the words of the table."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash.datasets._columns import is_number, is_whole
from fairdash.datasets._encoder import (
    MISSING,
    CategoryEncoding,
    Encoder,
    NumberEncoding,
)


def decode(encoder: Encoder, X: ArrayLike, *, like: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the table that encoded rows are closest to.

    A category is the level with the largest indicator; a number stays within the range
    of its column and is whole where the column is.

    Parameters
    ----------
    encoder : Encoder
    X : array-like of shape (n_rows, n_encoded)
        Encoded rows, or rows between them such as counterparts.
    like : DataFrame
        The table, for the range and kind of its columns.

    Returns
    -------
    DataFrame
        One column per feature; missing where the indicator of missing is largest.
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != len(encoder.feature_names):
        message = f"X must be (rows, {len(encoder.feature_names)}), got"
        raise ValueError(f"{message} shape {rows.shape}.")
    dropped = set(encoder.dropped)
    read = kept = 0
    columns = {}
    for column in encoder.columns:
        names = column.names()
        here = slice(read, read + len(names))
        shift, scale = np.array(encoder.shift[here]), np.array(encoder.scale[here])
        # a dropped column is constant: it is its shift
        values = np.tile(shift, (len(rows), 1))
        present = np.array([name not in dropped for name in names])
        n = int(present.sum())
        values[:, present] += rows[:, kept : kept + n] * scale[present]
        known = like[column.column]
        columns[column.column] = (
            _number(column, values, known)
            if column.kind == "number"
            else _category(column, values)
        )
        read, kept = here.stop, kept + n
    return pd.DataFrame(columns)


def _number(
    column: NumberEncoding, values: NDArray[np.float64], known: "pd.Series[float]"
) -> NDArray[np.float64]:
    number = values[:, 0].clip(known.min(), known.max())
    if is_number(known) and is_whole(known):
        number = np.round(number)
    if column.indicator:
        number = np.where(values[:, 1] > 0.5, np.nan, number)
    return number


def _category(
    column: CategoryEncoding, values: NDArray[np.float64]
) -> NDArray[np.object_]:
    labels = [name.removeprefix(f"{column.column}=") for name in column.names()]
    names = np.array([None if label == MISSING else label for label in labels])
    chosen: NDArray[np.object_] = names[values.argmax(axis=1)]
    return chosen
