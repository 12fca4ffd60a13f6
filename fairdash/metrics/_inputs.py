"""What every metric asks of predictions, groups and subgroups."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from fairdash._validation import encode_groups, value_label

Labels = NDArray[np.int8]


class Codes(NamedTuple):
    """Names of the levels of a column and the level of every row (-1: none)."""

    names: tuple[str, ...]
    codes: NDArray[np.int64]


def binary_models(name: str, values: ArrayLike) -> Labels:
    """Return 0/1 ``values`` as (models, rows); one model may come as a vector."""
    array = np.asarray(values)
    if array.ndim not in (1, 2) or array.size == 0:
        message = f"`{name}` must be (rows,) or (models, rows), got shape"
        raise ValueError(f"{message} {array.shape}.")
    wrong = ~np.isin(array, (0, 1))
    if wrong.any():
        where = np.argwhere(wrong)
        message = (
            f"`{name}` must hold 0 and 1 only; {len(where)} entries differ, the first "
            f"is {array[tuple(where[0])]!r} in row {where[0][-1]}."
        )
        raise ValueError(message)
    return np.atleast_2d(array).astype(np.int8)


def binary_vector(name: str, values: ArrayLike) -> Labels:
    """Return 0/1 ``values`` of one model or of the outcome as a vector."""
    if np.ndim(values) != 1:
        raise ValueError(f"`{name}` must be one vector, got shape {np.shape(values)}.")
    vector: Labels = binary_models(name, values)[0]
    return vector


def probability_models(name: str, values: ArrayLike) -> NDArray[np.floating[Any]]:
    """Return probabilities as (models, rows); one model may come as a vector."""
    array = np.asarray(values)
    if array.ndim not in (1, 2) or array.size == 0 or array.dtype.kind not in "fiub":
        message = f"`{name}` must be numbers, (rows,) or (models, rows), got"
        raise ValueError(f"{message} {array.dtype} of shape {array.shape}.")
    wrong = ~((array >= 0) & (array <= 1))
    if wrong.any():
        where = np.argwhere(wrong)
        message = (
            f"`{name}` must be probabilities in [0, 1]; {len(where)} entries are not, "
            f"the first is {array[tuple(where[0])]!r} in row {where[0][-1]}."
        )
        raise ValueError(message)
    array = np.atleast_2d(array)
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def group_codes(sensitive_features: ArrayLike, like: Any) -> Codes:
    """Return the groups in sorted order and the group of every row of ``like``."""
    groups, codes = encode_groups(sensitive_features, like)
    return Codes(tuple(value_label(group) for group in groups), codes)


def subgroup_codes(subgroups: ArrayLike, like: Any) -> Codes:
    """Return the subgroups and the subgroup of every row; a missing label is none.

    The order is that of the categories of a categorical column, else sorted.
    """
    column = pd.Series(subgroups) if np.ndim(subgroups) == 1 else None
    if column is None:
        shape = np.shape(subgroups)
        raise ValueError(f"`subgroups` must be one label per row, got shape {shape}.")
    check_consistent_length(like, column)
    categories = pd.Categorical(column)
    names = tuple(value_label(name) for name in categories.categories)
    return Codes(names, categories.codes.astype(np.int64))
