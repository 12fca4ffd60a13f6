"""One value per row, whatever it comes in: lists, pandas, Polars, Arrow, torch.

The same rows give the same answer in every kind, and a missing value is missing in
every kind: NumPy alone would write a list of texts with a NaN as the text "nan".
"""

import functools
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd

P = ParamSpec("P")
T = TypeVar("T")


def as_vector(name: str, values: Any) -> Any:
    """Return a column as an array of one dimension.

    Parameters
    ----------
    name : str
        Of the argument, for the error.
    values : list, tuple, or array of NumPy, pandas, Polars, Arrow or torch
        A column of shape (n_rows,) or (n_rows, 1).

    Returns
    -------
    ndarray of shape (n_rows,), or Categorical where a Categorical was given
        Missing values are NaN, None or NA, never text.

    Raises
    ------
    ValueError
        When it is no sequence of known length and order, or has several columns.
    """
    if isinstance(values, pd.Categorical):
        return values
    if isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
        return pd.Series(values).array
    array = as_array(name, values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"`{name}` must be one vector, got shape {array.shape}.")
    return array


def as_array(name: str, values: Any) -> np.ndarray[Any, Any]:
    """Return one or several columns as an array; see `as_vector`."""
    if isinstance(values, list | tuple):
        return _of_sequence(values)
    if isinstance(values, np.ma.MaskedArray):
        return _of_masked(values)
    if hasattr(values, "detach"):
        return _of_tensor(values)
    if isinstance(values, str | bytes | dict) or not _is_sequence(values):
        kind = type(values).__name__
        raise ValueError(
            f"`{name}` must hold one value per row in their order, such as a list, an "
            f"array or a Series; got a {kind}."
        )
    return np.asarray(values)


def _of_sequence(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    array = np.asarray(values) if _is_regular(values) else _objects(values)
    if array.dtype.kind in "US" and array.ndim == 1:
        return _objects(values)  # NumPy writes NaN as text and cuts trailing NULs
    return array


def _is_regular(values: Sequence[Any]) -> bool:
    """Return whether NumPy reads the rows as one array: all or none are sequences."""
    lengths = {
        len(value) if isinstance(value, list | tuple) else None for value in values
    }
    return len(lengths) < 2


def _objects(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _of_masked(values: "np.ma.MaskedArray[Any, Any]") -> np.ndarray[Any, Any]:
    mask = np.ma.getmaskarray(values)
    if not mask.any():
        return np.asarray(values.data)
    array = values.data.astype(object)
    array[mask] = None
    return np.asarray(array)


def _of_tensor(tensor: Any) -> np.ndarray[Any, Any]:
    tensor = tensor.detach().cpu()
    if tensor.is_floating_point():
        tensor = tensor.double()  # NumPy has no type for torch's bfloat16
    return np.asarray(tensor.numpy())


def _is_sequence(values: Any) -> bool:
    if hasattr(values, "__array__") or hasattr(values, "__arrow_c_stream__"):
        return True
    return hasattr(values, "__len__") and hasattr(values, "__getitem__")


def with_columns(frame: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table with some columns replaced or added, by their names.

    ``frame.assign(**columns)`` does the same, but a name would then be that of an
    argument: a column called "self" would raise TypeError.

    Untouched columns share their memory with ``frame``, which is not changed.
    """
    changed = frame.copy(deep=False)
    for name, values in columns.items():
        changed[name] = values
    return changed


def in_one_order(function: Callable[P, T]) -> Callable[P, T]:
    """Make a function refuse columns whose row labels stand in different orders.

    Columns are matched by position. Where two of pandas hold the same row labels in
    another order, as after a shuffle or a sort, that would compare other people.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            columns = signature.bind_partial(*args, **kwargs).arguments
        except TypeError:  # Python's own words name the function
            return function(*args, **kwargs)
        check_order(columns | kwargs)
        return function(*args, **kwargs)

    return checked


def check_order(columns: dict[str, Any]) -> None:
    """Raise ValueError if two of the columns hold the same labels in another order."""
    indexes = {
        name: column.index
        for name, column in columns.items()
        if isinstance(column, pd.Series | pd.DataFrame)
    }
    if len(indexes) < 2:
        return
    for first, second in itertools.combinations(indexes, 2):
        if _is_reordered(indexes[first], indexes[second]):
            raise ValueError(
                f"`{second}` has the row labels of `{first}` in another order, so "
                "their rows are not those of the same people. Bring them into one "
                "order, "
                f"`{second}.loc[{first}.index]`, or give `{second}.to_numpy()` where "
                "the positions are right as they are."
            )


def _is_reordered(first: pd.Index, second: pd.Index) -> bool:
    """Return whether two indexes hold the same labels in another order."""
    if len(first) != len(second) or first.equals(second):
        return False
    if first.dtype != second.dtype:
        return False
    return bool(first.sort_values().equals(second.sort_values()))
