"""Predictions, groups and subgroups checked, coded and counted in cells."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import as_written, check_lengths, encode_groups, value_label

if TYPE_CHECKING:
    from scipy import sparse

Labels = NDArray[np.int8]
Counts = NDArray[np.float64]


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
            f"is {as_written(array[tuple(where[0])])} in row {where[0][-1]}."
        )
        raise ValueError(message)
    return np.atleast_2d(array).astype(np.int8)


def binary_vector(name: str, values: ArrayLike) -> Labels:
    """Return 0/1 ``values`` of one model or of the outcome as a vector."""
    if np.ndim(values) != 1:
        raise ValueError(f"`{name}` must be one vector, got shape {np.shape(values)}.")
    return binary_models(name, values)[0]


def labels(name: str, values: ArrayLike, pos_label: Any = None) -> Labels:
    """Return 1 where a vector holds the positive label, else 0."""
    array = np.asarray(values)
    if array.ndim != 1:
        return binary_vector(name, values)
    if pos_label is None:
        if array.dtype == object:
            array = np.where(pd.isna(array), np.nan, array)  # pd.NA equals nothing
        negative = array == -1
        one_sided = negative.any() and (negative | (array == 1)).all()
        return binary_vector(name, np.where(negative, 0, array) if one_sided else array)
    missing = pd.isna(array)
    if missing.any():
        raise ValueError(
            f"`{name}` is missing in {int(missing.sum())} rows, the first is row "
            f"{int(missing.argmax())}; leave these rows out."
        )
    known = pd.unique(pd.Series(array))
    if len(known) > 2 or (len(known) == 2 and pos_label not in known):
        shown = ", ".join(as_written(value) for value in known[:5])
        raise ValueError(
            f"`{name}` must hold `pos_label` {pos_label!r} and one other value; it "
            f"holds {shown}."
        )
    return (array == pos_label).astype(np.int8)


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
            f"the first is {as_written(array[tuple(where[0])])} in row {where[0][-1]}."
        )
        raise ValueError(message)
    array = np.atleast_2d(array)
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def row_weights(name: str, values: ArrayLike, n_rows: int) -> Counts:
    """Return one weight per row, finite and not negative."""
    weight = np.asarray(values, np.float64)
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
    """Return weights of rows, None where all are equal: these are not more rows."""
    if values is None:
        return None
    weight = row_weights(name, values, n_rows)
    return None if np.ptp(weight) == 0 else weight


def finite_numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return a column as numbers; raise ValueError with its first row that is none."""
    column = pd.Series(values)
    found: NDArray[np.float64] = pd.to_numeric(column, errors="coerce").to_numpy(
        np.float64, na_value=np.nan
    )
    wrong = np.flatnonzero(~np.isfinite(found))
    if len(wrong):
        first = as_written(column.iloc[wrong[0]])
        raise ValueError(
            f"`{name}` must be finite numbers; {len(wrong):,} rows are not, the first "
            f"is row {wrong[0]} with {first}. Exclude them."
        )
    return found


def group_codes(sensitive_features: ArrayLike, like: Any) -> Codes:
    """Return the groups in sorted order and the group of every row of ``like``."""
    groups, codes = encode_groups(sensitive_features, like)
    return Codes(tuple(value_label(group) for group in groups), codes)


def subgroup_codes(subgroups: ArrayLike, like: Any) -> Codes:
    """Return the subgroups and the subgroup of every row; a missing label is none."""
    column = pd.Series(subgroups) if np.ndim(subgroups) == 1 else None
    if column is None:
        shape = np.shape(subgroups)
        raise ValueError(f"`subgroups` must be one label per row, got shape {shape}.")
    check_lengths(like, column)
    categories = pd.Categorical(column)
    names = tuple(value_label(name) for name in categories.categories)
    return Codes(names, categories.codes.astype(np.int64))


class Cells:
    """Rows of a table sorted into the cells of a cross table.

    A row with a negative code belongs to none. Many models are counted by one product
    of their predictions, (models, rows), with a sparse indicator matrix, (rows, cells).

    Attributes
    ----------
    rows, mass : float64 arrays of the shape of the table
        Rows of every cell, and the sum of their weights.
    """

    def __init__(
        self,
        codes: Sequence[NDArray[np.int64]],
        shape: tuple[int, ...],
        weight: Counts | None = None,
    ) -> None:
        """Sort rows: ``codes`` are their positions along each axis, (n_rows,) each."""
        self.shape = shape
        self._inside = np.all([code >= 0 for code in codes], axis=0)
        codes = [code[self._inside] for code in codes]
        self._cell = np.ravel_multi_index(tuple(codes), shape)
        self._weight = None if weight is None else weight[self._inside]
        self.rows: Counts = self._sum(None)
        self.mass = self.rows if weight is None else self._sum(self._weight)

    @property
    def place(self) -> NDArray[np.int64]:
        """The cell of every row, -1 for none."""
        place = np.full(len(self._inside), -1)
        place[self._inside] = self._cell
        return place

    def _sum(self, values: NDArray[np.generic] | None) -> Counts:
        size = int(np.prod(self.shape))
        sums = np.bincount(self._cell, values, size).astype(np.float64)
        return sums.reshape(self.shape)

    @cached_property
    def _indicator(self) -> "sparse.csr_matrix[np.floating[Any]]":
        from scipy import sparse  # `fairdash.audit` is looked up without it

        entries: NDArray[np.floating[Any]]
        if self._weight is None:
            # float32 counts exactly up to 2**24 rows, at half the traffic of float64
            entries = np.ones(len(self._cell), dtype=np.float32)
        else:
            entries = self._weight
        places = (self._cell, np.flatnonzero(self._inside))
        size = (int(np.prod(self.shape)), len(self._inside))
        return sparse.csr_matrix((entries, places), shape=size)

    def rates(self, values: NDArray[np.generic]) -> Counts:
        """Return the weighted share of 1 of ``values``, (models, rows), in every cell.

        NaN where nothing weighs. Raises ValueError if there are not as many values as
        rows.
        """
        if values.shape[1] != len(self._inside):
            have = f"predictions have {values.shape[1]:,} rows"
            raise ValueError(f"{have}, but the groups have {len(self._inside):,}.")
        if len(values) == 1:
            inside = values[0][self._inside]
            sums = self._sum(inside if self._weight is None else self._weight * inside)
            return divide(sums[None], self.mass)
        columns = np.ascontiguousarray(values.T, dtype=self._indicator.dtype)
        sums = (self._indicator @ columns).T.astype(np.float64)
        return divide(sums.reshape(len(values), *self.shape), self.mass)


def divide(part: NDArray[np.generic], whole: NDArray[np.generic]) -> Counts:
    """Return ``part / whole``, NaN where ``whole`` is 0."""
    part, whole = np.broadcast_arrays(part, whole)
    ratio = np.full(part.shape, np.nan)
    np.divide(part, whole, out=ratio, where=whole != 0)
    return ratio


def spread(rates: Counts) -> Counts:
    """Return the largest minus the smallest rate of the last axis; NaN spreads."""
    return rates.max(axis=-1) - rates.min(axis=-1)
