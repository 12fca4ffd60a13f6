"""Count many models at once in the cells of a cross table."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Codes = NDArray[np.int64]
Counts = NDArray[np.float64]


class Cells:
    """Rows of a table sorted into the cells of a cross table.

    A row belongs to the cell that its codes name, one code per axis; a row with a
    negative code belongs to none. Counting many models is one product of their
    predictions, (models, rows), with a sparse indicator matrix, (rows, cells), that
    holds at most one entry per row: the cost does not grow with the number of cells.

    Parameters
    ----------
    codes : sequence of int arrays of shape (n_rows,)
        Position of every row along each axis.
    shape : tuple of int
        Length of each axis.
    """

    def __init__(self, codes: Sequence[Codes], shape: tuple[int, ...]) -> None:
        self.shape = shape
        inside = np.all([code >= 0 for code in codes], axis=0)
        if not inside.all():
            codes = [code[inside] for code in codes]
        self._inside = inside
        self._cell = np.ravel_multi_index(tuple(codes), shape)
        self._n_cells = int(np.prod(shape))
        counts = np.bincount(self._cell, minlength=self._n_cells)
        self.rows: Counts = counts.reshape(shape).astype(np.float64)

    @cached_property
    def _indicator(self) -> "sparse.csr_matrix[np.float32]":
        entries = np.ones(len(self._cell), dtype=np.float32)
        # float32 counts exactly up to 2**24 rows, at half the traffic of float64
        places = (self._cell, np.flatnonzero(self._inside))
        size = (self._n_cells, len(self._inside))
        return sparse.csr_matrix((entries, places), shape=size)

    def count(self, values: NDArray[np.generic]) -> Counts:
        """Return the sum of 0/1 ``values``, (models, rows), in every cell.

        Returns
        -------
        counts : float64 array of shape (models, *shape)

        Raises
        ------
        ValueError
            If there are not as many values as rows.
        """
        if values.shape[1] != len(self._inside):
            have = f"predictions have {values.shape[1]:,} rows"
            raise ValueError(f"{have}, but the groups have {len(self._inside):,}.")
        if len(values) == 1:
            inside = values[0][self._inside]
            sums = np.bincount(self._cell, inside, self._n_cells).astype(np.float64)
        else:
            columns = np.ascontiguousarray(values.T, dtype=np.float32)
            sums = (self._indicator @ columns).T.astype(np.float64)
        return sums.reshape(len(values), *self.shape)


def divide(part: NDArray[np.generic], whole: NDArray[np.generic]) -> Counts:
    """Return ``part / whole``, NaN where ``whole`` is 0."""
    part, whole = np.broadcast_arrays(part, whole)
    ratio = np.full(part.shape, np.nan)
    np.divide(part, whole, out=ratio, where=whole != 0)
    return ratio


def spread(rates: Counts) -> Counts:
    """Return the largest minus the smallest rate of the last axis; NaN spreads."""
    gap: Counts = rates.max(axis=-1) - rates.min(axis=-1)
    return gap
