"""Predictions, groups and subgroups checked, coded and counted in cells."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._columns import as_array, as_vector
from fairdash._counts import RowCounts, people_of
from fairdash._validation import (
    as_written,
    check_distinct,
    check_lengths,
    encode_groups,
    value_label,
)

Labels = NDArray[np.int8]
Counts = NDArray[np.float64]


class Codes(NamedTuple):
    """Names of the levels of a column and the level of every row (-1: none)."""

    names: tuple[str, ...]
    codes: NDArray[np.int64]


def binary_models(name: str, values: ArrayLike) -> Labels:
    """Return 0/1 ``values`` as (models, rows); one model may come as a vector."""
    array = as_array(name, values)
    if array.ndim not in (1, 2) or array.size == 0:
        message = f"`{name}` must be (rows,) or (models, rows), got shape"
        raise ValueError(f"{message} {array.shape}.")
    check_present(name, array)
    if array.dtype.kind in "biuf":  # comparing takes a third of the time of `isin`
        wrong = (array != 0) & (array != 1)
    else:
        wrong = ~np.isin(array, (0, 1))
    if wrong.any():
        entries = np.argwhere(wrong)
        first = as_written(array[tuple(entries[0])])
        message = (
            f"`{name}` must hold 0 and 1 only; {len(entries)} entries differ, the "
            f"first is {first} in row {entries[0][-1]}."
        )
        raise ValueError(message + _way_out(name, array))
    return np.atleast_2d(array).astype(np.int8)


def check_present(name: str, array: NDArray[Any]) -> None:
    """Raise ValueError if a value is missing, with the first row that lacks one."""
    if array.dtype.kind not in "fOMm":
        return
    missing = np.argwhere(pd.isna(array))
    if len(missing):
        raise ValueError(
            f"`{name}` is missing in {len(missing):,} rows, the first is row "
            f"{missing[0][-1]}; leave these rows out."
        )


def _way_out(name: str, array: NDArray[Any]) -> str:
    """Return what to do about values that are not 0 and 1, "" if unknown."""
    if name == "y_pred" and array.dtype.kind == "f" and abs(array - 0.5).max() <= 0.5:
        return f" Give probabilities as `scores=`, or write `{name} >= 0.5`."
    levels = pd.unique(array.ravel())
    if len(levels) != 2:
        return ""
    first, second = sorted(map(as_written, levels))
    return f" Say which is positive: `pos_label={first}` or `pos_label={second}`."


def binary_vector(name: str, values: ArrayLike) -> Labels:
    """Return 0/1 ``values`` of one model or of the outcome as a vector."""
    return binary_models(name, as_vector(name, values))[0]


def labels(name: str, values: ArrayLike, pos_label: Any = None) -> Labels:
    """Return 1 where a vector holds the positive label, else 0."""
    array = np.asarray(as_vector(name, values))
    check_present(name, array)
    if pos_label is None:
        # -1 and 1, as classifiers of margins have them.
        negative = array == -1
        if negative.any() and (negative | (array == 1)).all():
            array = np.where(negative, 0, array)
        return binary_vector(name, array)
    levels = pd.unique(pd.Series(array))
    if len(levels) > 2 or (len(levels) == 2 and pos_label not in levels):
        examples = ", ".join(as_written(value) for value in levels[:5])
        raise ValueError(
            f"`{name}` must hold `pos_label` {pos_label!r} and one other value; it "
            f"holds {examples}."
        )
    return (array == pos_label).astype(np.int8)


def probability_models(name: str, values: ArrayLike) -> NDArray[np.floating[Any]]:
    """Return probabilities as (models, rows); one model may come as a vector."""
    array = as_array(name, values)
    if array.ndim not in (1, 2) or array.size == 0 or array.dtype.kind not in "fiub":
        message = f"`{name}` must be numbers, (rows,) or (models, rows), got"
        raise ValueError(f"{message} {array.dtype} of shape {array.shape}.")
    wrong = ~((array >= 0) & (array <= 1))
    if wrong.any():
        entries = np.argwhere(wrong)
        first = as_written(array[tuple(entries[0])])
        raise ValueError(
            f"`{name}` must be probabilities in [0, 1]; {len(entries)} entries are "
            f"not, the first is {first} in row {entries[0][-1]}."
        )
    array = np.atleast_2d(array)
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def row_weights(name: str, values: ArrayLike | None, n_rows: int) -> Counts:
    """Return one weight per row, finite and not negative: 1 without ``values``."""
    if values is None:
        return np.ones(n_rows)
    weight: Counts
    if isinstance(values, RowCounts):
        weight = values  # as it is: counts of people stay counts
    else:
        weight = np.asarray(as_array(name, values), np.float64)
    if not n_rows or weight.shape != (n_rows,):
        message = f"`{name}` must be one number per row, {n_rows:,}, got"
        raise ValueError(f"{message} shape {weight.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        first = wrong[0]
        raise ValueError(
            f"`{name}` must be finite and not negative; {len(wrong)} entries "
            f"are not, the first is {weight[first]} in row {first}."
        )
    if not weight.any():
        raise ValueError(f"`{name}` is 0 in all {n_rows:,} rows; none of them counts.")
    return weight


def sampling_weights(name: str, values: ArrayLike | None, n_rows: int) -> Counts | None:
    """Return weights of rows, None where all are equal: these are not more rows.

    Counts of people are no weights: None.
    """
    if values is None or isinstance(values, RowCounts):
        return None
    weight = row_weights(name, values, n_rows)
    return None if np.ptp(weight) == 0 else weight


def people(name: str, values: ArrayLike | None, n_rows: int) -> Counts | None:
    """Return how many people rows stand for; None where each is one person."""
    counts = people_of(values)
    return None if counts is None else row_weights(name, counts, n_rows)


def finite_numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return a column as numbers; raise ValueError with its first row that is none."""
    column = pd.Series(as_vector(name, values))
    numbers: NDArray[np.float64] = pd.to_numeric(column, errors="coerce").to_numpy(
        np.float64, na_value=np.nan
    )
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        first = as_written(column.iloc[wrong[0]])
        raise ValueError(
            f"`{name}` must be finite numbers; {len(wrong):,} rows are not, the first "
            f"is row {wrong[0]} with {first}. Exclude them."
        )
    return numbers


def group_codes(sensitive_features: ArrayLike, like: Any) -> Codes:
    """Return the groups in sorted order and the group of every row of ``like``."""
    groups, codes = encode_groups(sensitive_features, like)
    names = tuple(value_label(group) for group in groups)
    check_distinct("sensitive_features", names)
    return Codes(names, codes)


def subgroup_codes(subgroups: ArrayLike, like: Any) -> Codes:
    """Return the subgroups and the subgroup of every row; a missing label is none."""
    column = as_vector("subgroups", subgroups)
    check_lengths(like, column)
    categories = pd.Categorical(column)
    names = tuple(value_label(name) for name in categories.categories)
    return Codes(names, categories.codes.astype(np.int64))


def divide(part: NDArray[np.generic], whole: NDArray[np.generic]) -> Counts:
    """Return ``part / whole``, NaN where ``whole`` is 0."""
    part, whole = np.broadcast_arrays(part, whole)
    ratio = np.full(part.shape, np.nan)
    np.divide(part, whole, out=ratio, where=whole != 0)
    return ratio


def spread(rates: Counts) -> Counts:
    """Return the largest minus the smallest rate of the last axis; NaN spreads."""
    return rates.max(axis=-1) - rates.min(axis=-1)
